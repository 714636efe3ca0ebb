"""What README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from documents.code_blocks import ROOT, blocks_of, masked, run_shell

BLOCKS = blocks_of("README.md")


def test_the_first_thing_shown_runs_and_prints_what_is_shown(tmp_path: Path) -> None:
    """One fact's life, in about twenty lines, before anything is explained."""
    script, output = BLOCKS[0], BLOCKS[1]
    assert (script.language, output.language) == ("sh", "text")
    commands = [line for line in script.text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(commands) <= 20
    assert masked(run_shell(script.text, tmp_path)) == masked(output.text)


def test_the_python_example_runs(tmp_path: Path) -> None:
    """The library is shown as it is used."""
    (example,) = [block.text for block in BLOCKS if block.language == "python"]
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    commit, snippet = done.stdout.splitlines()
    assert len(commit) == 40
    assert "staging" in snippet.lower()


def test_the_two_commands_are_single_lines_that_set_everything_up() -> None:
    """One runs the main job, the other the tests; both begin with an environment of their own."""
    lines = [block.text.strip() for block in BLOCKS if block.language == "bash"]
    assert len(lines) == 2
    for line in lines:
        assert "\n" not in line
        assert line.startswith("python3 -m venv --clear .venv && .venv/bin/python -m pip install ")
    assert lines[0].endswith(".venv/bin/gitmem demo")
    assert ".venv/bin/python -m pytest" in lines[1]


def test_every_link_of_the_pages_leads_somewhere() -> None:
    """Relative links are to files that are here."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "hooks").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text("utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"
