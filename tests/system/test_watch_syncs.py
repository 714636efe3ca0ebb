"""A watcher that is told to syncs by itself, in a process of its own that it ends with itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from machines import first_machine, next_machine

from gitmem.watch import Watcher
from gitmem.watch_home import open_parts
from gitmem.watch_parts import Pace

_PATIENCE = 60.0


def comes_true(question: Callable[[], bool]) -> bool:
    """Wait for what goes on beside; say whether it came."""
    deadline = time.monotonic() + _PATIENCE
    while not question():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.slow
def test_what_is_said_here_comes_there_without_a_command(tmp_path: Path) -> None:
    """`gitmem config set sync.every 10m` and `gitmem watch` are all that it takes."""
    one = first_machine(tmp_path)
    two = next_machine(tmp_path, "b", one.remote)
    two.say("Said on the other machine")
    two.sync()
    one.say("Said here")
    one.home.config_set("sync.every", "10m")
    watcher = Watcher(lambda: open_parts(one.root), pace=replace(Pace(), first_sync=0.1))
    thread = threading.Thread(target=watcher.run)
    thread.start()
    try:
        assert comes_true(lambda: one.hears("other machine"))
    finally:
        watcher.stop()
        thread.join(_PATIENCE)
    assert not thread.is_alive()
    two.sync()
    assert two.hears("Said here")
    one.close()
    two.close()
