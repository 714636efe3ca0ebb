"""How often a watcher syncs: what people write, and when the next one is due."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem import AgentHome
from gitmem.errors import UsageError
from gitmem.init import init_home
from gitmem.sync_pace import next_after, parse_every


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10m", 600),
        ("2h", 7200),
        ("1d", 86400),
        ("90s", 90),
        ("15min", 900),
        ("off", 0),
        ("0", 0),
        ("Off", 0),
    ],
)
def test_times_as_people_write_them(text: str, seconds: float) -> None:
    """A number and its unit, or off."""
    assert parse_every(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "1s", "m", "-5m", "10 minutes", "99999999d", "nan"])
def test_what_is_no_time_or_too_often(text: str) -> None:
    """Less than a minute serves nobody."""
    assert parse_every(text) is None


def test_many_machines_do_not_come_at_once() -> None:
    """A tenth earlier to a tenth later."""
    assert [next_after(600.0, lambda at=at: at) for at in (0.0, 0.5, 1.0)] == [540.0, 600.0, 660.0]


def test_the_setting_is_checked(tmp_path: Path) -> None:
    """A wrong value is refused with what would be right."""
    root = tmp_path / "home"
    init_home(root, agent="aria", now=0.0)
    with AgentHome.open(root) as home:
        with pytest.raises(UsageError, match="10m"):
            home.config_set("sync.every", "often")
        home.config_set("sync.every", "10m")
        assert home.config_get("gitmem.sync.every") == "10m"
