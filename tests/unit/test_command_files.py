"""The files that commands change by their own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.command_files import written_files
from gitmem.command_line import parse_command_line


def changes(line: str) -> dict[str, str]:
    """Return what the commands of a line do to files."""
    commands = parse_command_line(line).commands
    return {file.path: file.change for command in commands for file in written_files(command)}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sed -i 's/a/b/' x.py 'my file'", {"x.py": "changed", "my file": "changed"}),
        ("sed -Ei.bak -e 's/a/b/' -e 's/c/d/' 文档.md", {"文档.md": "changed"}),
        ("sed --in-place=.bak --expression='s/a/b/' x.py", {"x.py": "changed"}),
        ("sed -i -ne 's/a/b/p' x.py", {"x.py": "changed"}),
        ("sed 's/a/b/' x.py", {}),
        ("sed -n -e 's/i/b/p' x.py", {}),
        ("perl -pi -e 's/a/b/' x.pl", {"x.pl": "changed"}),
        ("perl -i -0777pe 's/a/b/' x.pl", {"x.pl": "changed"}),
        ("perl -e 'print 1' x.pl", {}),
        ("rm -f x.py -- -y.py", {"x.py": "deleted", "-y.py": "deleted"}),
        ("rm -rf build; rm *.pyc; rm $x; rm ~/x", {}),
        ("git rm x.py", {"x.py": "deleted"}),
        ("git rm --cached x.py; git rm -r src; git rm -n x.py; git mv --dry-run x.py y.py", {}),
        ("mv x.py y.py", {"x.py": "moved_away", "y.py": "moved_here"}),
        ("git mv x.py y.py", {"x.py": "moved_away", "y.py": "moved_here"}),
        (
            "mv a/x.py y.py lib",
            {
                "a/x.py": "moved_away",
                "lib/x.py": "moved_here",
                "y.py": "moved_away",
                "lib/y.py": "moved_here",
            },
        ),
        ("mv -t lib x.py", {}),
        ("cp -p x.py lib/", {"lib/x.py": "added"}),
        ("cp x.py y.py", {"y.py": "added"}),
        ("make | tee -a log.txt", {"log.txt": "changed"}),
        ("touch x.py", {"x.py": "changed"}),
        ("cat > x.py <<'EOF'\nrm y.py\nEOF", {"x.py": "changed"}),
        ("echo a >> x.md", {"x.md": "changed"}),
        ("echo a > /dev/null; echo b > /tmp/x; echo c 2> x; echo d > $x", {}),
        ("make > build.log", {}),
        ("cat x.py; grep x y.py; git status", {}),
        ("mv; cp; sed -i; rm; git", {}),
    ],
)
def test_files_that_a_command_names(line: str, expected: dict[str, str]) -> None:
    """What a command says outright to change is a file of the work, as a patch would be (issue 5, part 2)."""
    assert changes(line) == expected


@given(st.text(st.sampled_from("a -ie/'*\n>.")) | st.text())
def test_any_words_are_read(text: str) -> None:
    """Whatever stands behind such a program, there is some reading of it."""
    for program in ("sed -i", "perl -i", "mv", "cp", "rm", "git mv", "tee", "cat >"):
        assert "" not in changes(f"{program} {text}")
