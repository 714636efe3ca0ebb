"""Session search beside SQLite, on the same conversations in one run: browse, discover, scroll, read.

    python benchmarks/bench_sessions.py [--records 1000 10000 100000] [--data FOLDER] [--calls 300]

SQLite has one table of messages with an index by session, one of sessions, and an FTS5 table that a trigger
keeps, as Hermes' store has; its replies hold the same messages. Questions are those of the corpus: gitmem
ranks by any of their words, FTS5 by any of them too (OR), and by all of them (AND), as Hermes asks it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from search_corpus import Corpus, make_corpus

from gitmem import AgentHome

#: Messages of a conversation, and of a turn when a home is filled.
_SESSION = 100
_TURN = 50
_WINDOW = 5


def fill_home(home: AgentHome, texts: Sequence[str]) -> None:
    """Record conversations, many messages to a turn, because turns are not measured here."""
    for start in range(0, len(texts), _TURN):
        session = start // _SESSION
        events: list[dict[str, object]] = [
            {"kind": "message", "role": "assistant" if number % 2 else "user", "text": text}
            for number, text in enumerate(texts[start : start + _TURN])
        ]
        if start % _SESSION == 0:
            events.insert(
                0, {"kind": "session", "event": "start", "title": f"Talk {session}", "source": "cli"}
            )
        home.record(events, session=f"s{session}")


def fill_base(base: sqlite3.Connection, texts: Sequence[str]) -> None:
    """Put the same conversations into tables."""
    base.executescript(
        """
        CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, source TEXT, started_at REAL);
        CREATE TABLE messages
        (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL);
        CREATE INDEX by_session ON messages (session_id, id);
        CREATE VIRTUAL TABLE fts USING fts5(content, tokenize='unicode61');
        CREATE TRIGGER added AFTER INSERT ON messages
        BEGIN INSERT INTO fts (rowid, content) VALUES (new.id, new.content); END;
        """
    )
    with base:
        for number, text in enumerate(texts):
            session = f"s{number // _SESSION}"
            if number % _SESSION == 0:
                row = (session, f"Talk {number // _SESSION}", "cli", float(number))
                base.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", row)
            role = "assistant" if number % 2 else "user"
            base.execute(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
                (session, role, text, float(number)),
            )


_COLUMNS = "id, role, content, timestamp"


def sqlite_scroll(base: sqlite3.Connection, session: str, anchor: int) -> str:
    """Return the messages around one."""
    before = base.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE session_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
        (session, anchor, _WINDOW),
    ).fetchall()
    after = base.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE session_id = ? AND id >= ? ORDER BY id LIMIT ?",
        (session, anchor, _WINDOW + 1),
    ).fetchall()
    return json.dumps([*reversed(before), *after])


def sqlite_read(base: sqlite3.Connection, session: str) -> str:
    """Return the first and the last messages of a conversation."""
    rows = base.execute(
        f"SELECT {_COLUMNS} FROM messages WHERE session_id = ? ORDER BY id", (session,)
    ).fetchall()
    return json.dumps([*rows[:20], *rows[-10:]])


def sqlite_browse(base: sqlite3.Connection) -> str:
    """Return the latest conversations, as a session list with previews asks for them."""
    rows = base.execute(
        """SELECT s.id, s.title, s.source, s.started_at,
        (SELECT max(timestamp) FROM messages m WHERE m.session_id = s.id) AS last_active,
        (SELECT count(*) FROM messages m WHERE m.session_id = s.id),
        (SELECT content FROM messages m WHERE m.session_id = s.id AND role = 'user' ORDER BY id LIMIT 1)
        FROM sessions s ORDER BY last_active DESC LIMIT 3"""
    ).fetchall()
    return json.dumps(rows)


def sqlite_discover(base: sqlite3.Connection, question: str, joint: str) -> str:
    """Return the best message of three conversations, each with what is around it."""
    words = joint.join(f'"{word}"' for word in re.findall(r"\w+", question))
    rows = base.execute(
        """SELECT m.id, m.session_id, snippet(fts, 0, '>>>', '<<<', '...', 40) FROM fts
        JOIN messages m ON m.id = fts.rowid WHERE fts MATCH ? ORDER BY rank LIMIT 300""",
        (words,),
    ).fetchall()
    seen: dict[str, str] = {}
    for anchor, session, _ in rows:
        if session not in seen and len(seen) < 3:
            seen[session] = sqlite_scroll(base, session, anchor)
    return json.dumps(list(seen.values()))


def times(calls: int, work: Callable[[random.Random], object]) -> str:
    """Return median and 95th percentile of some calls, each with its own chance."""
    chance = random.Random(3)
    for _ in range(20):
        work(chance)
    return percentiles([timed(lambda: work(chance)) for _ in range(calls)])


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds some work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def percentiles(seconds: Sequence[float]) -> str:
    """Return median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    late = ordered[int(len(ordered) * 0.95)]
    return f"{statistics.median(ordered) * 1000:.2f} / {late * 1000:.2f} ms"


def measure_gitmem(folder: Path, corpus: Corpus, calls: int) -> dict[str, str]:
    """Fill a home and search it."""
    path, texts, asked = folder / "home", corpus.texts, corpus.questions
    with AgentHome.init(path, agent="aria") as home:
        fill_home(home, texts)
    with AgentHome.open(path) as home:
        unread = timed(lambda: home.session_search(session_id="s0"))
        home.catch_up()
    with AgentHome.open(path) as home:
        kept = timed(lambda: home.session_search(session_id="s0"))
        count = len(texts) // _SESSION
        ids = [
            [one["id"] for one in home.session_search(session_id=f"s{number}")["messages"]]
            for number in range(count)
        ]

        def scroll(chance: random.Random) -> object:
            session = chance.randrange(count)
            anchor = chance.choice(ids[session])
            return json.dumps(home.session_search(session_id=f"s{session}", around_message_id=anchor))

        def after_a_turn(chance: random.Random) -> float:
            home.record([{"kind": "message", "role": "user", "text": "one more"}], session="s0")
            return timed(lambda: scroll(chance))

        found = {
            "first read of a home": f"{unread * 1000:.0f} ms",
            "first read of a process": f"{kept * 1000:.0f} ms",
            "scroll, 11 messages": times(calls, scroll),
            "read, 30 messages": times(
                calls,
                lambda chance: json.dumps(home.session_search(session_id=f"s{chance.randrange(count)}")),
            ),
            "browse, 3 conversations": times(calls, lambda _: json.dumps(home.session_search())),
            "discover, any word": times(
                calls, lambda chance: json.dumps(home.session_search(chance.choice(asked)))
            ),
        }
        chance = random.Random(4)
        found["scroll after a turn"] = percentiles([after_a_turn(chance) for _ in range(50)])
    return found


def measure_sqlite(folder: Path, corpus: Corpus, calls: int) -> dict[str, str]:
    """Fill tables and search them."""
    path, texts, asked = folder / "state.db", corpus.texts, corpus.questions
    base = sqlite3.connect(path)
    fill_base(base, texts)
    base.close()
    began = time.perf_counter()
    base = sqlite3.connect(path)
    sqlite_read(base, "s0")
    first = time.perf_counter() - began
    count = len(texts) // _SESSION

    def scroll(chance: random.Random) -> object:
        anchor = chance.randrange(len(texts))
        return sqlite_scroll(base, f"s{anchor // _SESSION}", anchor + 1)

    found = {
        "first read of a process": f"{first * 1000:.0f} ms",
        "scroll, 11 messages": times(calls, scroll),
        "read, 30 messages": times(calls, lambda chance: sqlite_read(base, f"s{chance.randrange(count)}")),
        "browse, 3 conversations": times(calls, lambda _: sqlite_browse(base)),
        "discover, any word": times(
            calls, lambda chance: sqlite_discover(base, chance.choice(asked), " OR ")
        ),
        "discover, all words": times(
            calls, lambda chance: sqlite_discover(base, chance.choice(asked), " AND ")
        ),
    }
    base.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--data", type=Path, help="folder with locomo/locomo-dev.json")
    options = parser.parse_args()
    for count in options.records:
        corpus = make_corpus(options.data, count, 100)
        with tempfile.TemporaryDirectory() as folder:
            gitmem = measure_gitmem(Path(folder), corpus, options.calls)
            sqlite = measure_sqlite(Path(folder), corpus, options.calls)
        print(f"\n{count:,} messages in conversations of {_SESSION}; median / 95th percentile\n")
        print("| | gitmem | SQLite |\n|---|---|---|")
        for name in {**gitmem, **sqlite}:
            print(f"| {name} | {gitmem.get(name, '–')} | {sqlite.get(name, '–')} |")


if __name__ == "__main__":
    main()
