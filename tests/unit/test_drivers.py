"""The drivers' configuration: set once, kept up to date, an operator's own left, gone without a trace."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fixtures import git, make_repo, run_git
from gitmem.backends.dulwich_repository import DulwichRepository, open_repository
from gitmem.drivers import driver_settings, driver_state, install_drivers, uninstall_drivers
from gitmem.layout import Layout, find_layout

PYTHON = '/opt/it\'s 100%/python "x";#$(y)'


@pytest.fixture
def home(tmp_path: Path) -> tuple[Layout, DulwichRepository]:
    """A repository with settings of its own."""
    root = make_repo(tmp_path / "home")
    git("config", "diff.gitmem-ledger-of-mine.textconv", "cat", cwd=root)
    layout = find_layout(root)
    return layout, open_repository(layout)


def test_git_reads_what_was_set(home: tuple[Layout, DulwichRepository]) -> None:
    """Quotes, percent signs and blanks in the interpreter's path are data, in the file and in the shell."""
    layout, repository = home
    done = install_drivers(layout, repository, PYTHON)
    assert done == driver_settings(PYTHON)
    for key, value in done.items():
        assert git("config", "--local", key, cwd=layout.root) == value
    assert set(driver_state(repository, PYTHON).values()) == {"set"}
    found = git("check-attr", "diff", "ledger/2026-11/30/w0000000a-0001.jsonl", cwd=layout.root)
    assert found.endswith(": gitmem-ledger")


def test_a_second_time_changes_nothing(home: tuple[Layout, DulwichRepository]) -> None:
    """Neither settings nor attributes are doubled."""
    layout, repository = home
    install_drivers(layout, repository, PYTHON)
    before = own_files(layout)
    assert install_drivers(layout, repository, PYTHON) == {}
    assert own_files(layout) == before


def test_another_interpreter_is_taken_over(home: tuple[Layout, DulwichRepository]) -> None:
    """After an upgrade the old path leads nowhere."""
    layout, repository = home
    install_drivers(layout, repository, "/gone/python")
    assert set(driver_state(repository, PYTHON).values()) == {"set", "stale"}
    assert set(install_drivers(layout, repository, PYTHON)) == {
        key for key in driver_settings(PYTHON) if not key.endswith(".name")
    }
    assert set(driver_state(repository, PYTHON).values()) == {"set"}


def test_an_operators_own_driver_stands(home: tuple[Layout, DulwichRepository]) -> None:
    """It is neither overwritten nor removed, and it is named."""
    layout, repository = home
    git("config", "merge.gitmem-text.driver", "mine %A", cwd=layout.root)
    assert driver_state(repository, PYTHON)["merge.gitmem-text.driver"] == "foreign"
    assert "merge.gitmem-text.driver" not in install_drivers(layout, repository, PYTHON)
    assert "merge.gitmem-text.driver" not in uninstall_drivers(layout, repository)
    assert git("config", "merge.gitmem-text.driver", cwd=layout.root) == "mine %A"


@pytest.mark.parametrize("attributes", [None, b"*.jsonl -diff", b"# mine\n/ledger/** diff=mine\n"])
def test_uninstalling_leaves_no_trace(
    home: tuple[Layout, DulwichRepository], attributes: bytes | None
) -> None:
    """Configuration and attributes are byte for byte what they were, but for the end of the last line."""
    layout, repository = home
    info = layout.common_dir / "info" / "attributes"
    if attributes is not None:
        info.write_bytes(attributes)
    config, before = own_files(layout)
    install_drivers(layout, repository, PYTHON)
    if attributes is not None and b"diff=mine" in attributes:
        assert own_files(layout)[1] == before
    assert uninstall_drivers(layout, repository) == list(driver_settings(PYTHON))
    assert own_files(layout)[0] == config
    assert (own_files(layout)[1] or b"").rstrip(b"\n") == (before or b"").rstrip(b"\n")
    assert info.exists() == (attributes is not None)
    assert uninstall_drivers(layout, repository) == []
    assert run_git("config", "--list", cwd=layout.root).returncode == 0


def test_an_embedded_python_sets_nothing(home: tuple[Layout, DulwichRepository]) -> None:
    """It has no path that Git could run."""
    layout, repository = home
    before = own_files(layout)
    assert install_drivers(layout, repository, "") == {}
    assert own_files(layout) == before


def own_files(layout: Layout) -> tuple[bytes, bytes | None]:
    """Return the clone's configuration and attributes."""
    info = layout.common_dir / "info" / "attributes"
    return (layout.common_dir / "config").read_bytes(), info.read_bytes() if info.exists() else None


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ({}, ["<<<<<<< HEAD", ">>>>>>> other"]),
        (
            {"%X": "'HEAD'", "%S": "'1a2b3c'", "%Y": "'-x '\\''$(id)'\\'' %A'"},
            ["<<<<<<< HEAD", ">>>>>>> -x '$(id)' %A"],
        ),
        ({"%X": "''", "%S": "''", "%Y": "''"}, ["<<<<<<<", ">>>>>>>"]),
    ],
    ids=["git before 2.44", "later git", "rerere"],
)
def test_the_sides_of_a_conflict_have_gits_names(
    tmp_path: Path, given: dict[str, str], labels: list[str]
) -> None:
    """Where git tells them; an older one leaves the places of the names as they stand."""
    for name, text in (("base", "a\n"), ("ours", "b\n"), ("theirs", "c\n")):
        (tmp_path / name).write_text(text)
    places = {"%O": "base", "%A": "ours", "%B": "theirs", "%L": "7", **given}
    driver = driver_settings("/nowhere/python")["merge.gitmem-text.driver"]
    command = re.sub("%[OABLXSY]", lambda found: places.get(found[0], found[0]), driver)
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False)
    assert done.returncode == 1
    lines = (tmp_path / "ours").read_text().split("\n")
    assert [lines[0].rstrip(), lines[-2].rstrip()] == labels
