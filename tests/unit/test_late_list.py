"""A list that is made at the first look."""

from __future__ import annotations

from gitmem.json_view import to_json
from gitmem.late_list import LateList


def test_it_is_made_once_and_only_when_looked_at() -> None:
    """A turn pays nothing for warnings that nobody reads."""
    made = []

    def make() -> list[str]:
        made.append(1)
        return ["a", "b"]

    late = LateList(make)
    assert made == []
    assert list(late) == ["a", "b"]
    assert (len(late), late[0], late[1:], repr(late)) == (2, "a", ["b"], "['a', 'b']")
    assert made == [1]


def test_it_is_equal_to_a_list_and_becomes_one_in_json() -> None:
    """Whoever compares a receipt or prints it sees no difference."""
    assert LateList(lambda: ["a"]) == ["a"]
    assert LateList(list) == []
    assert not LateList(list)
    assert LateList(lambda: ["a"]) != "a"
    assert hash(LateList(lambda: ["a"])) == hash(LateList(lambda: ["a"]))
    assert to_json(LateList(lambda: ["a"])) == ["a"]
