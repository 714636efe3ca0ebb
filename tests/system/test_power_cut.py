"""The power goes at a random instant: what had a receipt is there when the machine is up again.

Turns run on a file system in an image. The process is stopped, the image copied as the disk holds it then,
and the copy mounted: its journal is replayed as after a power cut. What a drive's own cache would lose is not
simulated.
"""

from __future__ import annotations

import filecmp
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from fixtures import commit_all, fsck, git, make_repo
from turns import Desk, check_chains

CUTS = int(os.environ.get("POWER_CUTS", "6"))
#: MiB of the image.
SIZE = 96

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.needs("mkfs.ext4")]


def run(*command: str | Path) -> None:
    """Run a program of the system."""
    done = subprocess.run([*map(str, command)], capture_output=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr).decode()


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[Path]:
    """Mount an image."""
    folder.mkdir(exist_ok=True)
    run("mount", "-o", "loop", image, folder)
    try:
        yield folder
    finally:
        run("umount", folder)


@pytest.fixture(scope="module", autouse=True)
def loop_devices(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip where images cannot be mounted: not root, or a container without loop devices."""
    image = tmp_path_factory.mktemp("probe") / "image"
    try:
        make_image(image)
        with mounted(image, image.with_name("mount")):
            pass
    except (AssertionError, OSError) as error:
        pytest.skip(f"needs root and loop devices: {error}")


def make_image(image: Path) -> None:
    """Make an empty file system in a file."""
    with image.open("wb") as file:
        file.truncate(SIZE * 1024 * 1024)
    run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)


def record(root: Path, acks: int, name: str) -> None:
    """Record turns as fast as one can; write the text of each to `acks` once its receipt has come."""
    desk = Desk(root, time.time)
    desk.spool.close_dead(time.time())
    number = 0
    while True:
        with desk.recorder.open(session="s1") as turn:
            turn.message("user", f"{name}.{number} {'x' * random.randrange(3000)}")
            turn.tool("bash", "ls", "y" * random.choice([10, 100, 20_000]))
        assert turn.receipt.on_disk
        os.write(acks, f"{name}.{number}\n".encode())
        number += 1


def cut(image: Path, root: Path, copy: Path, name: str) -> list[str]:
    """Let turns run, stop at a random instant, copy the image; return the texts whose receipt had come."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            record(root, write, name)
        finally:
            os._exit(1)
    os.close(write)
    assert os.read(read, 1)  # the first receipt
    time.sleep(random.uniform(0.0, 1.0))
    os.kill(child, signal.SIGSTOP)
    os.waitpid(child, os.WUNTRACED)
    snapshot(image, copy)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(read, "rb") as rest:
        return (name[0] + rest.read().decode()).splitlines()


def snapshot(image: Path, copy: Path) -> None:
    """Copy an image as it is at one moment.

    It is read past the mounted file system: what is only in memory is not in it. The kernel may write on for
    a while after the process was stopped; a copy that equals the image afterwards is of one moment.
    """
    for _ in range(50):
        shutil.copyfile(image, copy)
        if filecmp.cmp(image, copy, shallow=False):
            return
    raise AssertionError("the image does not come to rest")


@pytest.mark.parametrize("number", range(CUTS))
def test_a_power_cut_loses_no_acknowledged_turn(tmp_path: Path, number: int) -> None:
    """Line and spool together hold every turn once; git and the chain are whole."""
    random.seed(number)
    image, copy = tmp_path / "image", tmp_path / "copy"
    make_image(image)
    with mounted(image, tmp_path / "mount") as folder:
        root = make_repo(folder / "home")
        commit_all(root, files={"a.md": "a\n"})
        os.sync()
        acknowledged = cut(image, root, copy, "first")
    check(copy, tmp_path / "first", acknowledged)
    # Where one cut has been, the next one comes: what was recovered must be durable too.
    with mounted(copy, tmp_path / "mount") as folder:
        acknowledged += cut(copy, folder / "home", tmp_path / "again", "second")
    check(tmp_path / "again", tmp_path / "second", acknowledged)


def check(image: Path, folder: Path, acknowledged: list[str]) -> None:
    """Open the home after the cut."""
    with mounted(image, folder), ExitStack() as stack:
        root = folder / "home"
        desk = Desk(root, time.time)
        stack.callback(desk.repository.close)
        stack.callback(desk.ledger.close)
        desk.spool.close_dead(time.time())
        receipt = desk.recorder.record([{"kind": "message", "role": "user", "text": f"after {folder.name}"}])
        assert receipt.committed, receipt.reason
        desk.settle()
        texts = [text.split(" ", 1)[0] for text in desk.texts()]
        messages = [text for text in texts if text != "after"]
        assert len(messages) == len(set(messages))
        assert set(acknowledged) <= set(messages)
        assert len(messages) <= len(acknowledged) + 2  # and the one or two whose receipt was on its way
        check_chains(desk.ledger)
        assert not [*desk.layout.spool.iterdir()]
        assert git("status", "--porcelain", "--untracked-files=no", cwd=root) == ""
        fsck(root)
        os.sync()
