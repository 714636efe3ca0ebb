"""`gitmem sessions` from outside: replies, exit codes, what a person reads."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from homes import new_home
from system.command_line import gitmem, gitmem_process

from gitmem import AgentHome
from talks import found, happened, ids, said, talk

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "sessions.json").read_text("utf-8"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with two conversations."""
    with new_home(tmp_path / "home") as home:
        talk(home, "s1", said(*(f"talk {n}" for n in range(40)), "the zebra"), title="Animals", source="cli")
        talk(home, "s2", said("大别山项目", "好"), title="项目")
    return tmp_path / "home"


def test_the_four_forms(home: Path) -> None:
    """Each form is a command; without one the latest conversations are listed."""
    browse = gitmem("sessions", "--json", cwd=home).json
    assert browse == gitmem("sessions", "list", "--json", cwd=home).json
    assert found(browse) == ["s2", "s1"]
    discover = gitmem("sessions", "search", "the", "zebra", "--json", cwd=home).json
    assert found(discover)[0] == "s1"
    anchor = discover["results"][0]["match_message_id"]
    scroll = gitmem("sessions", "scroll", "s1", anchor, "--window", "2", "--json", cwd=home).json
    assert ids(scroll["messages"])[-1] == anchor
    read = gitmem("sessions", "read", "s1", "--json", cwd=home).json
    assert (read["message_count"], len(read["messages"])) == (41, 30)
    for reply in (browse, discover, scroll, read):
        jsonschema.validate(reply, SCHEMA, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    "line", [("scroll", "nowhere", "msg_000000000000000"), ("scroll", "s1", "msg_0"), ("read", "work/s1")]
)
def test_what_cannot_be_answered_is_exit_3(home: Path, line: tuple[str, ...]) -> None:
    """A program reads the reply, a person the reason."""
    ran = gitmem("sessions", *line, "--json", cwd=home)
    assert (ran.code, ran.json["success"]) == (3, False)
    jsonschema.validate(ran.json, SCHEMA, cls=jsonschema.Draft202012Validator)
    told = gitmem("sessions", *line, cwd=home)
    assert (told.code, told.out) == (3, "")
    assert ran.json["error"] in told.err


@pytest.mark.parametrize(
    "line", [("search", " "), ("search",), ("read", ""), ("scroll", "s1"), ("scroll", "s1", " ")]
)
def test_wrong_usage_is_exit_2(home: Path, line: tuple[str, ...]) -> None:
    """A blank argument would be another form."""
    assert gitmem("sessions", *line, cwd=home).code == 2


def test_the_conversation_that_asks(home: Path) -> None:
    """`--session` names it; what it has before its eyes is passed over."""
    asked = ("sessions", "search", "zebra", "--session", "s1", "--json")
    assert found(gitmem(*asked, cwd=home).json) == []
    gitmem("turn", "--session", "s1", stdin=json.dumps(happened("compact")), cwd=home)
    assert found(gitmem(*asked, cwd=home).json) == ["s1"]
    assert gitmem("sessions", "--json", "list", "--session", "s2", cwd=home).json["count"] == 1
    assert gitmem("sessions", "list", "--session", "no id", cwd=home).code == 2


def test_people_read_on(home: Path) -> None:
    """What is printed says how to go on; these lines work as they stand."""
    listed = gitmem("sessions", cwd=home).out
    assert "Animals" in listed
    assert "s1  cli, 41 messages" in listed
    searched = gitmem("sessions", "search", "zebra", cwd=home).out
    assert "Animals" in searched
    line = next(part for part in searched.splitlines() if "gitmem sessions scroll" in part).split()[1:]
    scrolled = gitmem(*line, cwd=home).out
    assert "the zebra" in scrolled
    before = next(part for part in scrolled.splitlines() if "… before:" in part).split()[3:]
    assert "talk 33" in gitmem(*before, cwd=home).out
    read = gitmem("sessions", "read", "s1", cwd=home).out
    assert "11 more" in read
    assert read.index("talk 19") < read.index("11 more") < read.index("talk 31")
    assert "大别山项目" in gitmem("sessions", "search", "大别山", cwd=home).out
    nothing = gitmem("sessions", "search", "qqqq", cwd=home)
    assert (nothing.out, nothing.err) == ("Nothing found.\n", "found nowhere: qqqq\n")


def test_long_messages_name_the_way_to_the_rest(home: Path) -> None:
    """`gitmem get` prints what a conversation leaves out."""
    with AgentHome.open(home) as opened:
        talk(opened, "s3", said("x" * 5_000 + " the end"))
    read = gitmem("sessions", "read", "s3", cwd=home).out
    line = next(part for part in read.splitlines() if "gitmem get" in part).split()[2:]
    assert gitmem(*line, cwd=home).out == "x" * 1_000 + " the end\n"


def test_a_process_of_its_own(home: Path) -> None:
    """What one process kept another one uses."""
    first = gitmem_process("sessions", "read", "s2", "--json", cwd=home)
    again = gitmem_process("sessions", "read", "s2", "--json", cwd=home)
    assert (first.code, again.code) == (0, 0)
    assert first.json == again.json
