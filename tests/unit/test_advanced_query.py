"""Operators of the advanced search: what they mean, and that nothing can break them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.advanced_query import Logic, Operand, evaluate, find_operands
from gitmem.analysis import count_terms

TEXTS = ["staging port", "staging host", "production port", "backup of staging"]
ALL = frozenset(range(len(TEXTS)))


def find(operand: Operand) -> frozenset[int]:
    """Return the numbers of the texts that an operand matches."""
    if operand.prefix is not None:
        return frozenset(
            n for n, t in enumerate(TEXTS) if any(w.startswith(operand.prefix) for w in t.split())
        )
    if operand.phrase is not None:
        return frozenset(n for n, t in enumerate(TEXTS) if operand.phrase in t)
    return frozenset(
        n for n, t in enumerate(TEXTS) if all(unit.surface in t.split() for unit in operand.units)
    )


LOGIC: Logic[frozenset[int]] = Logic(
    find, lambda a, b: a & b, lambda a, b: a | b, lambda a: frozenset(ALL - a)
)


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("staging", {0, 1, 3}),
        ("staging port", {0}),
        ("staging AND port", {0}),
        ("port OR host", {0, 1, 2}),
        ("staging NOT port", {1, 3}),
        ("NOT staging", {2}),
        ("NOT NOT staging", {0, 1, 3}),
        ("staging (port OR host)", {0, 1}),
        ("staging port OR backup", {0, 3}),
        ("NOT (port OR host)", {3}),
        ('"staging port"', {0}),
        ('"port staging"', set()),
        ('NOT "of staging"', {0, 1, 2}),
        ("prod*", {2}),
        ("st* NOT p*", {1, 3}),
        ("OR port", {0, 2}),
        ("port OR", {0, 2}),
        ("port AND", {0, 2}),
        ("port NOT", {0, 2}),
        ("(port", {0, 2}),
        ("port)", {0, 2}),
        (") port (", {0, 2}),
        ("() port", {0, 2}),
        ('"staging', {0, 1, 3}),
        ("and or not", set()),
    ],
)
def test_operators(query: str, numbers: set[int]) -> None:
    """AND binds tighter than OR, NOT tightest; what cannot be an operator is passed over."""
    assert evaluate(query, LOGIC) == numbers


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("stag*", "the staging port"),
        ("ADR-0*", "see ADR-016"),
        ("adr-*", "see ADR-016"),
        ("char_li*", "set char_limit"),
        ("charLi*", "set char_limit"),
        ("memory.char_li*", "set memory.char_limit"),
        ("src/api/ma*", "open src/api/main.py"),
        ("src\\api\\*", "open src/api/main.py"),
        ("https://exam*", "see https://example.com/x"),
        ("v2.3*", "at v2.3.1"),
        ("2.3*", "at v2.3.1"),
        ("192.168.*", "ping 192.168.0.1"),
        ("--no-ver*", "git commit --no-verify"),
        ("记*", "记忆检索"),
        ("Sträß*", "Straße"),
        ("a384*", "commit a38443b75c1de02f"),
    ],
)
def test_prefixes_of_identifiers(query: str, text: str) -> None:
    """A name is found by its beginning, joints and all."""
    (operand,) = find_operands(query)
    assert operand.prefix
    assert any(term.startswith(operand.prefix) for term in count_terms(text).counts)


@pytest.mark.parametrize("query", ["", "  ", "()", "AND", "NOT", "( OR )", '""', '"', "*", "@ !"])
def test_without_operands_there_is_no_result(query: str) -> None:
    """Operators alone ask for nothing."""
    assert evaluate(query, LOGIC) is None


@pytest.mark.parametrize(
    "query",
    [
        "(" * 3000 + "port" + ")" * 3000,
        "NOT " * 2000 + "port",
        "port OR " * 2000,
        '"' * 5001,
        "(NOT " * 2000 + "port",
        "(port OR " * 4000,
        "x\x00y port",
        "port " * 400_000,
    ],
)
def test_hostile_queries_are_quick(query: str) -> None:
    """Whoosh's parser ran out of stack on these (OPEN-SEARCH-10)."""
    began = time.process_time()
    evaluate(query, LOGIC)
    assert len(find_operands(query)) <= 100
    assert time.process_time() - began < 0.5


@given(st.lists(st.sampled_from(["port", "host", "st*", '"of staging"', "AND", "OR", "NOT", "(", ")", '"'])))
def test_any_tokens_are_a_query(tokens: list[str]) -> None:
    """Whatever is typed has an answer within what there is."""
    found = evaluate(" ".join(tokens), LOGIC)
    assert found is None or found <= ALL
