"""How much of what was said is found: recall of evidence turns, beside other keyword searches.

    python benchmarks/bench_retrieval.py --data FOLDER [--only ladder|homes] [--plain]
    python benchmarks/bench_retrieval.py --locomo FILE --memorybank-history FILE --memorybank-questions FILE

FOLDER holds `locomo/locomo-dev.json`, `memorybank/history-dev.json` and `memorybank/questions-dev.json`;
other files of the same layout may be named instead. First the ladder: the ranking built up step by step in
memory, each step beside what its specification measured on the development conversations. Then real homes:
the messages imported, the index caught up, each question asked through `home.search(question)`. Categories 1
to 4 of LoCoMo count, one home for each conversation; all users of one language of MemoryBank share one home.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ladder import STEPS, Scorer, answers_of, climb, documents_of, question_of
from peers import missing, peers_of
from recall import Figures, figures_of
from retrieval_sets import (
    CATEGORIES,
    Asked,
    Collection,
    Form,
    Message,
    as_dashed,
    as_prefixed,
    as_published,
    in_one_home,
    in_one_session,
    read_locomo,
    read_memorybank,
)

from gitmem import AgentHome
from gitmem.memory_part import MemoryPart
from gitmem.question import Question
from gitmem.recipe import Recipe
from gitmem.records import derive_id
from gitmem.scoring.corpus import Corpus
from gitmem.scoring.score import score
from gitmem.search_index import Indexed
from gitmem.testing.plain_ranking import score_plainly

_FORMS: tuple[tuple[str, Form], ...] = (
    ("the author given", as_published),
    ("text as `Name: words [caption]`", as_prefixed),
)
#: Answers: the keys of the hits, and those of the evidence.
Answer = tuple[list[str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Given:
    """Which files to measure with.

    Attributes:
        is_development: whether the specification's figures are of these files.
    """

    locomo: Path | None
    history: Path | None
    questions: Path | None
    is_development: bool


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with locomo/ and memorybank/")
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--memorybank-history", type=Path)
    parser.add_argument("--memorybank-questions", type=Path)
    parser.add_argument("--only", choices=("ladder", "homes"))
    parser.add_argument(
        "--plain", action="store_true", help="climb the ladder with the plain ranking, slowly"
    )
    options = parser.parse_args()
    given = files_of(options)
    conversations = read_locomo(given.locomo) if given.locomo else []
    languages = read_memorybank(given.history, given.questions) if given.history and given.questions else []
    if not conversations and not languages:
        parser.error("give --data FOLDER, or files")
    if options.only != "homes" and conversations:
        print_ladder(conversations, plain=options.plain, compare=given.is_development)
    if options.only != "ladder":
        if conversations:
            print_homes(conversations)
        if languages:
            print_languages(languages)


def files_of(options: argparse.Namespace) -> Given:
    """Return the files that were named, or those of the folder."""
    data: Path | None = options.data
    return Given(
        locomo=options.locomo or (data and data / "locomo" / "locomo-dev.json"),
        history=options.memorybank_history or (data and data / "memorybank" / "history-dev.json"),
        questions=options.memorybank_questions or (data and data / "memorybank" / "questions-dev.json"),
        is_development=options.locomo is None,
    )


def print_ladder(conversations: Sequence[Collection], *, plain: bool, compare: bool) -> None:
    """Print each step of the ranking in both forms of the text."""
    scorer = score_plainly if plain else fast_scorer()
    questions = sum(q.category in (1, 2, 3, 4) for one in conversations for q in one.questions)
    print(f"The ladder, {questions} questions, in memory: R@5, R@10, MRR\n")
    for title, form in _FORMS:
        print(f"| {title} | R@5 | R@10 | MRR |" + (" off by |" if compare else ""))
        print("|---|---|---|---|" + ("---|" if compare else ""))
        for step, figures, _ in climb(conversations, form, scorer):
            off = figures - step.expected
            row = f" {off.at_5:+.3f} {off.at_10:+.3f} {off.mrr:+.3f} |" if compare else ""
            print(f"| {step.name} | {figures} |{row}", flush=True)
        print()
    print_variants(conversations, scorer, compare=compare)
    if not plain:
        most = largest_difference(conversations)
        print(f"Largest difference of any score to the plain ranking: {most:.1e}\n")


def print_variants(conversations: Sequence[Collection], scorer: Scorer, *, compare: bool) -> None:
    """Print what the whole ranking finds where something else is given than above."""
    apart = [in_one_session(one) for one in conversations]
    print("| the whole ranking, text as `Name: words [caption]` | R@5 | R@10 | MRR | expected |")
    print("|---|---|---|---|---|")
    for name, given, form, expected in (
        ("all conversations in one home", [in_one_home(conversations)], as_prefixed, ".743 / .800"),
        ("the author not known, his name a word of the text", conversations, as_dashed, ".706 / .783"),
        ("each conversation as one session, seen in windows", apart, as_prefixed, ""),
    ):
        figures = figures_of(answer for one in given for answer in answers_of(one, form, STEPS[-1], scorer))
        print(f"| {name} | {figures} | {expected if compare else ''} |", flush=True)
    print()


def fast_scorer() -> Scorer:
    """Return the product's scoring of documents in memory; its arrays are built once for many questions."""
    built: list[tuple[Sequence[Indexed], Recipe, Corpus]] = []

    def scores(documents: Sequence[Indexed], question: Question, recipe: Recipe) -> Sequence[float]:
        if not built or built[0][0] is not documents or built[0][1] != recipe:
            built[:] = [(documents, recipe, Corpus([MemoryPart(documents)], recipe))]
        corpus = built[0][2]
        return score(corpus, question, everywhere=True).total[corpus.order.number].tolist()

    return scores


def largest_difference(conversations: Sequence[Collection]) -> float:
    """Return by how much the product's scores differ from the plain ones, over every tenth question."""
    fast, most = fast_scorer(), 0.0
    for one in conversations:
        documents = documents_of(one, as_published)
        for asked in one.questions[::10]:
            question = question_of(asked, one, STEPS[-1])
            pairs = zip(
                fast(documents, question, STEPS[-1].recipe),
                score_plainly(documents, question, STEPS[-1].recipe),
                strict=True,
            )
            most = max(most, *(abs(a - b) for a, b in pairs))
    return most


# Real homes


def print_homes(conversations: Sequence[Collection]) -> None:
    """Print what real homes find, one for each conversation, and what the peers find."""
    print("LoCoMo, turn level, one home for each conversation\n")
    print("| | R@5 | R@10 | MRR | a question, median |\n|---|---|---|---|---|")
    for title, form in _FORMS:
        answers, seconds = asked_of_homes(conversations, form)
        counted = [answer for category, answer in answers if category in (1, 2, 3, 4)]
        print(f"| **gitmem**, {title} | {figures_of(counted)} | {statistics.median(seconds) * 1e3:.1f} ms |")
        for category, name in CATEGORIES.items():
            own = figures_of(answer for number, answer in answers if number == category)
            if own.questions:
                print(f"| – {category} {name} ({own.questions}) | {own} | |", flush=True)
    for name, figures, middle in peer_figures(conversations, as_prefixed):
        print(f"| {name} | {figures} | {middle * 1e3:.1f} ms |", flush=True)
    print_missing()


def print_languages(languages: Sequence[Collection]) -> None:
    """Print what is found where several users share a home; the two messages of a pair count as one hit."""
    for one in languages:
        print(f"\nMemoryBank, {one.name}, {len(one.questions)} questions, all users in one home\n")
        print("| | R@5 | R@10 | MRR | a question, median |\n|---|---|---|---|---|")
        with (
            tempfile.TemporaryDirectory() as folder,
            filled(Path(folder) / "home", one, as_published) as home,
        ):
            for name, own in (("**gitmem**", False), ("gitmem, the asker's own messages", True)):
                found, seconds = [], []
                for asked in one.questions:
                    hits, took = ask(home, one, asked, limit=20, own=own)
                    found.append((once_each(hits), asked.evidence))
                    seconds.append(took)
                middle = statistics.median(seconds)
                print(f"| {name} | {figures_of(found)} | {middle * 1e3:.1f} ms |", flush=True)
                if not own:
                    raw = [(ask(home, one, asked, limit=10)[0], asked.evidence) for asked in one.questions]
                    print(f"| – its first ten messages, not pairs | {figures_of(raw)} | |")
        for name, figures, middle in peer_figures([one], as_published):
            print(f"| {name} | {figures} | {middle * 1e3:.1f} ms |", flush=True)


def print_missing() -> None:
    """Say which peers are not installed here."""
    for name in missing():
        print(f"\nNot installed, so not measured: {name}")


def asked_of_homes(
    conversations: Sequence[Collection], form: Form
) -> tuple[list[tuple[int, Answer]], list[float]]:
    """Return the category and the answer of each question asked of a real home, and the seconds of each."""
    answers: list[tuple[int, Answer]] = []
    seconds = []
    for one in conversations:
        with tempfile.TemporaryDirectory() as folder, filled(Path(folder), one, form) as home:
            for asked in one.questions:
                hits, took = ask(home, one, asked, limit=10)
                answers.append((asked.category, (hits, asked.evidence)))
                seconds.append(took)
    return answers, seconds


def filled(folder: Path, one: Collection, form: Form) -> AgentHome:
    """Return a home into which a collection was imported, its index caught up."""
    path, lines = folder / "home", folder / "lines.jsonl"
    with AgentHome.init(path, agent="aria") as home:
        lines.write_text("".join(f"{line}\n" for line in import_lines(one, form)), "utf-8")
        report = home.import_jsonl(lines)
        assert report.records == len(one.messages), report
        home.catch_up()
    return AgentHome.open(path)


def import_lines(one: Collection, form: Form) -> Iterator[str]:
    """Yield the messages of a collection as lines for `gitmem import`."""
    for number, message in enumerate(one.messages):
        line = {
            "kind": "message",
            "role": message.role,
            "text": form(message),
            "ts": message.ts,
            "session": message.session,
            "source": one.name,
            "source_id": str(number),
        }
        if form is as_published and message.author:
            line["author"] = message.author
        if message.workspace:
            line["workspace"] = message.workspace
        yield json.dumps(line, ensure_ascii=False)


def ask(
    home: AgentHome, one: Collection, asked: Asked, *, limit: int, own: bool = False
) -> tuple[list[str], float]:
    """Return the keys of the hits of a question, best first, and the seconds it took.

    Args:
        home: filled with the collection.
        one: the collection.
        asked: the question.
        limit: how many hits.
        own: search only what belongs to who asks.
    """
    keys = keys_of(one.name, tuple(one.messages))
    where = {"workspace": asked.workspace} if own else {"all_workspaces": True}
    began = time.perf_counter()
    reply = home.search(asked.text, limit=limit, **where)
    took = time.perf_counter() - began
    # What a new home says of itself can be found too; it answers no question.
    return [keys.get(hit.source_ref, hit.source_ref) for hit in reply.results], took


def keys_of(source: str, messages: tuple[Message, ...]) -> dict[str, str]:
    """Return the key of each message by the ref under which a home has it."""
    ids = (derive_id("message", source, "message", str(number)) for number in range(len(messages)))
    return {f"message:{name}": message.key for name, message in zip(ids, messages, strict=True)}


def once_each(keys: Iterable[str]) -> list[str]:
    """Return keys without repetitions."""
    return list(dict.fromkeys(keys))


def peer_figures(collections: Sequence[Collection], form: Form) -> Iterator[tuple[str, Figures, float]]:
    """Yield each peer's name, figures and median seconds; one index for each collection."""
    answers: dict[str, list[Answer]] = {}
    seconds: dict[str, list[float]] = {}
    for one in collections:
        with tempfile.TemporaryDirectory() as folder:
            for peer, _ in peers_of(Path(folder), [form(message) for message in one.messages]):
                for asked in one.questions:
                    if asked.category > 4:
                        continue
                    began = time.perf_counter()
                    numbers = peer.ask(asked.text, 20)
                    seconds.setdefault(peer.name, []).append(time.perf_counter() - began)
                    hits = once_each(one.messages[number].key for number in numbers)
                    answers.setdefault(peer.name, []).append((hits, asked.evidence))
    for name, found in answers.items():
        yield name, figures_of(found), statistics.median(seconds[name])


if __name__ == "__main__":
    main()
