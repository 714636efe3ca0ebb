"""What a connection may cost, and how a machine says so."""

from __future__ import annotations

import pytest

from gitmem.remote_repository import TransferLimits, parse_pack_mib


@pytest.mark.parametrize(("text", "mib"), [("1", 1), (" 500 ", 500), ("1048576", 1 << 20)])
def test_a_bound_that_can_be_set(text: str, mib: int) -> None:
    """The largest pack is a number of MiB."""
    assert parse_pack_mib(text) == mib
    assert TransferLimits().with_pack(text).pack_bytes == mib << 20


@pytest.mark.parametrize("text", ["0", "-1", "", "1g", "1048577", "9" * 30, "٣", "1.5"])
def test_what_is_no_bound_changes_nothing(text: str) -> None:
    """A value that nobody can have meant leaves the bound as it is, and so does none."""
    assert parse_pack_mib(text) is None
    assert TransferLimits().with_pack(text) == TransferLimits().with_pack(None) == TransferLimits()
