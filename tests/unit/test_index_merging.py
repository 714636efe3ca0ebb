"""Which parts of an index become one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitmem.index_merging import PartSize, choose_merged

PARTS = st.lists(
    st.tuples(st.integers(1, 5000), st.floats(0, 1)).map(lambda p: PartSize(p[0], round(p[0] * p[1]))),
    max_size=40,
)


def whole(*sizes: int) -> list[PartSize]:
    """Return parts of which nothing was removed."""
    return [PartSize(size, size) for size in sizes]


def test_few_parts_stay() -> None:
    """Writing a document anew costs as much as writing it."""
    assert choose_merged(whole(1, 1, 1, 1, 1, 1, 1), 2000) == set()


def test_many_of_one_size_become_one() -> None:
    """A turn at a time must not make thousands of parts."""
    assert choose_merged(whole(500, 1, 1, 1, 1, 1, 1, 1, 1), 2000) == set(range(1, 9))


def test_what_they_become_takes_its_own_size_along() -> None:
    """Eight parts of one document and seven of eight are one in one go."""
    assert choose_merged(whole(*[8] * 7, *[1] * 8), 2000) == set(range(15))


def test_no_more_than_the_limit() -> None:
    """A commit that has to be quick leaves large merges to another."""
    assert choose_merged(whole(*[600] * 8), 2000) == set()
    assert choose_merged(whole(*[600] * 8), 5000) == set(range(8))


def test_a_part_that_is_mostly_removed_is_written_anew() -> None:
    """What was removed shall not fill the disk for ever."""
    assert choose_merged([PartSize(100, 40), PartSize(100, 60), PartSize(9000, 3000)], 2000) == {0}


def test_what_must_be_written_anew_is_whatever_it_costs() -> None:
    """What is erased must go from the disk, also from a large part."""
    assert choose_merged(whole(90_000, 5), 10, also={0}) == {0}
    assert choose_merged([PartSize(5, 0)], 10, also={0}) == set()


@given(PARTS, st.integers(0, 20_000))
def test_after_merging_there_are_few(parts: list[PartSize], limit: int) -> None:
    """Only what has something left is merged, and without a limit no order of size keeps eight parts."""
    assert all(parts[place].live for place in choose_merged(parts, limit))
    while chosen := choose_merged(parts, 10**9):
        live = sum(parts[place].live for place in chosen)
        parts = [part for place, part in enumerate(parts) if place not in chosen]
        parts.append(PartSize(live, live))
    orders = [part.live.bit_length() // 3 for part in parts if part.live]
    assert all(orders.count(order) < 8 for order in orders)
