"""What every test stands on: no home directory, no Git configuration of this machine, a clock that counts."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

# Contract suites and fixtures assert too; without this their failures would show no values.
pytest.register_assert_rewrite("contract", "fixtures")

from examples import DEV, FAST  # noqa: E402
from originals import keep_originals  # noqa: E402

from fixtures import CounterClock  # noqa: E402 - only after the rewrite is registered

if TYPE_CHECKING:
    from remote_peers import Own

_COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("dev", max_examples=DEV, **_COMMON)
settings.register_profile("fast", max_examples=FAST, **_COMMON)
settings.register_profile("ci", max_examples=150, derandomize=True, database=None, **_COMMON)
settings.register_profile("derandomised", max_examples=DEV, derandomize=True, database=None, **_COMMON)


def pytest_configure(config: pytest.Config) -> None:
    """Choose how long Hypothesis looks: `HYPOTHESIS_PROFILE`, or as suits the run."""
    here = "fast" if config.getoption("markexpr") == "not slow" else "dev"
    profile = "ci" if os.environ.get("CI") == "true" else here
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", profile))


#: Variables by which a shell, a hook or a person would reach into a test.
_FOREIGN = ("GIT_", "GITMEM_", "XDG_")
_FOREIGN_NAMES = ("EMAIL", "EDITOR", "VISUAL", "PAGER", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")


@pytest.fixture(scope="session", autouse=True)
def isolated_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Take the home directory and the machine's Git configuration out of reach.

    HOME lies below a plain file: reading finds nothing and writing fails loudly, for root too. Git's global
    configuration is a real empty file, never the null device, because a test may write to it.
    """
    folder = tmp_path_factory.mktemp("environment")
    (folder / "no-home").write_text("tests have no home directory\n")
    (folder / "gitconfig").touch()
    home = folder / "no-home" / "home"
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith(_FOREIGN) or name in _FOREIGN_NAMES:
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        for kind in ("CONFIG", "CACHE", "DATA", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
        patch.setenv("GIT_CONFIG_GLOBAL", str(folder / "gitconfig"))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("GIT_TERMINAL_PROMPT", "0")
        patch.setenv("LC_ALL", "C.UTF-8")
        yield


@pytest.fixture(scope="session", autouse=True)
def originals(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what tests get copies of for as long as they run."""
    keep_originals(tmp_path_factory.mktemp("originals"))


@pytest.fixture(scope="session", autouse=True)
def heard_signals() -> None:
    """Hear SIGINT also where the tests are a shell's background job, for which it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def clock() -> CounterClock:
    """A clock that starts on 2026-03-02 09:00 UTC and goes on by one second each time it is read."""
    return CounterClock()


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loopback is reached without this machine's proxy."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Own]:
    """An empty repository of one's own, which connects to remotes."""
    from remote_peers import Own  # noqa: PLC0415 - few tests need it, and it reads the transport

    made = Own(tmp_path / "own")
    yield made
    made.close()
