"""`gitmem.toml` is judged by its format first, and one bad value costs only itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.config import HomeConfig, mint_home_id, parse_config, toml_string
from gitmem.errors import UnsupportedFormat
from gitmem.templates import render_templates

HOME = "h0123456789abcde"
HEAD = f'format = 1\nhome = "{HOME}"\nagent = "aria"\n'


def reason_of(text: str | bytes) -> str:
    """Return why a text is refused."""
    with pytest.raises(UnsupportedFormat) as caught:
        parse_config(text if isinstance(text, bytes) else text.encode())
    assert caught.value.exit_code == 10
    assert caught.value.hint
    return str(caught.value.details["reason"])


def test_what_init_writes_is_the_defaults() -> None:
    """The template states every default, so that an operator sees what can be changed."""
    raw = render_templates(agent="aria", home_id=HOME)["gitmem.toml"]
    assert parse_config(raw) == HomeConfig(home_id=HOME, agent="aria")


@pytest.mark.parametrize("agent", ['a"b', "back\\slash", "小艾", "O'Neil", "$agent", "x" * 100])
def test_any_agent_name_survives_the_file(agent: str) -> None:
    """Names are data in TOML, not syntax."""
    assert parse_config(render_templates(agent=agent, home_id=HOME)["gitmem.toml"]).agent == agent


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_as_a_toml_string(text: str) -> None:
    """Quoting is complete."""
    raw = f"{HEAD}[x]\ny = {toml_string(text)}\n".encode()
    assert parse_config(raw).unknown == {"x": {"y": text}}


def test_three_refusals_are_told_apart() -> None:
    """Too old, too new and unreadable need different things from the reader."""
    assert reason_of("format = 2\n") == "too_new"
    assert reason_of("format = 0\n") == "too_old"
    assert reason_of("agent = 'x'\n") == "unreadable"


def test_a_newer_format_is_named_before_anything_else_is_read() -> None:
    """A later gitmem may change everything below the format line, so nothing below it is decoded."""
    assert reason_of("format = 7\nhome = <<new syntax>>\n") == "too_new"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "format = one\n",
        "[memory]\nformat = 1\n",
        HEAD + "<<<<<<< HEAD\n",
        'format = 1\nhome = "../../etc"\n',
        "format = 1\nhome = 5\n",
        b"\xff\xfe",
        HEAD + "x = " + "[" * 100_000,
    ],
)
def test_what_cannot_be_read_is_an_error_of_the_home(text: str | bytes) -> None:
    """A broken file stops gitmem with a way out, never with a traceback."""
    assert reason_of(text) == "unreadable"


def test_a_bad_value_costs_only_itself() -> None:
    """The home stays usable; `status` shows what was passed over."""
    config = parse_config(
        (
            HEAD + '[memory]\nmemory_char_limit = "many"\nuser_char_limit = 500\nmemory_enabled = false\n'
        ).encode()
    )
    assert config.memory["memory"].char_limit == 2200
    assert not config.memory["memory"].enabled
    assert config.memory["user"].char_limit == 500
    assert config.problems == ("memory.memory_char_limit is a whole number from 1 to 10000000, not 'many'",)


@pytest.mark.parametrize("value", ["0", "-1", "true", "1.5", "99999999999", '""'])
def test_a_limit_is_a_positive_whole_number(value: str) -> None:
    """Nothing else may become a budget."""
    config = parse_config(f"{HEAD}[context]\nbudget = {value}\n".encode())
    assert config.context_budget == 4096
    assert len(config.problems) == 1


def test_a_table_of_the_wrong_shape_is_passed_over() -> None:
    """A key where a table belongs does not break the rest."""
    config = parse_config(f"{HEAD}memory = 5\n[catalog]\nmax_notes = 3\n".encode())
    assert config.catalog_notes == 3
    assert config.unknown == {"memory": 5}


def test_unknown_keys_are_kept() -> None:
    """What a later version writes is not lost on this one."""
    config = parse_config(f'{HEAD}motto = "x"\n[memory]\nnew = 1\n[new.table]\na = [1]\n'.encode())
    assert config.unknown == {"motto": "x", "memory": {"new": 1}, "new": {"table": {"a": [1]}}}


def test_an_editor_of_another_system_may_save_it() -> None:
    """A byte order mark and CRLF do no harm."""
    assert parse_config(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode()).agent == "aria"


def test_home_ids_are_random() -> None:
    """An id is minted, never derived from a path."""
    assert mint_home_id() != mint_home_id()
    assert parse_config(f'format = 1\nhome = "{mint_home_id()}"\n'.encode()).agent == "agent"
