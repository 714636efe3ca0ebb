"""Issues and pull requests in addresses and commands; command lines and addresses as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.command_line import parse_command_line, shell_script
from gitmem.github_refs import created_item, created_kind, gh_calls, github_item
from gitmem.web_addresses import addresses, plain_address


def named(text: str) -> list[str]:
    """Return the items that the addresses of a text lead to, as kind and number."""
    items = filter(None, map(github_item, addresses(text)))
    return [f"{item.kind} {item.repo} {item.number}" for item in items]


def called(line: str) -> list[str]:
    """Return what the `gh` commands of a line name, and what becomes of it."""
    calls = [call for command in parse_command_line(line).commands for call in gh_calls(command)]
    return [f"{call.item.kind} {call.item.number} {call.status}" for call in calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://github.com/o/r/issues/12.", ["issue o/r 12"]),
        ("(https://github.com/o/r/pull/7/files)", ["pr o/r 7"]),
        ("(https://github.com/o/r/pull/7/files).", ["pr o/r 7"]),
        (
            "[the fix](https://github.com/o/r/pull/7), **https://github.com/o/r/issues/8**",
            ["pr o/r 7", "issue o/r 8"],
        ),
        ("https://github.com/o/r/issues/12#issuecomment-99", ["issue o/r 12"]),
        ("https://github.com/o/r/pull/7?diff=split&w=1!", ["pr o/r 7"]),
        ("<https://github.com/o/r/pull/7>, 'https://github.com/o/r/pull/8'", ["pr o/r 7", "pr o/r 8"]),
        (
            "请看https://github.com/o/r/issues/12。再看（https://github.com/o/r/pull/7）",
            ["issue o/r 12", "pr o/r 7"],
        ),
        ("https://github.com/o/r/issues/12的问题", ["issue o/r 12"]),
        ("github.com/o/r/issues/3; www.github.com/o/r/pull/4", ["issue o/r 3", "pr o/r 4"]),
        ("HTTPS://GitHub.com/o/r.js/pull/7", ["pr o/r.js 7"]),
        (
            "https://github.com/o/r/issues/1,https://github.com/o/r/issues/2;https://github.com/o/r/pull/3",
            ["issue o/r 1", "issue o/r 2", "pr o/r 3"],
        ),
        ("https://github.com/o/r/issues/1和https://github.com/o/r/pull/3", ["issue o/r 1", "pr o/r 3"]),
        (
            "https://user:word@github.com/o/r/pull/7 https://redirect.github.com/o/r/pull/8",
            ["pr o/r 7", "pr o/r 8"],
        ),
        (
            "https://api.github.com/repos/o/r/pulls/7/files https://api.github.com/repos/o/r/issues/8",
            ["pr o/r 7", "issue o/r 8"],
        ),
        ("https://github.com/me_corp/r/pull/7", ["pr me_corp/r 7"]),
        ("https://x/a),(https://github.com/o/r/pull/7)", ["pr o/r 7"]),
        ("see #12, o/r#12, GH-12", []),
        ("https://github.com/o/r/issues", []),
        ("https://github.com/o/r/issues/0 https://github.com/o/r/issues/12abc", []),
        ("https://evilgithub.com/o/r/issues/1 https://github.com.evil.example/o/r/issues/1", []),
        ("https://github.com@evil.example/o/r/issues/1", []),
        ("https://evil.example/?next=https://github.com/o/r/issues/1", []),
        ("https://evil.example/https://github.com/o/r/issues/1 https://x@evil.example/o/r/issues/1", []),
        ("https://api.github.com/repos/o/r/issues https://api.github.com/repos/o/r/pull/7", []),
        ("a/github.com/o/r/issues/1 x@github.com/o/r/issues/1", []),
    ],
)
def test_what_an_address_leads_to(text: str, expected: list[str]) -> None:
    """Neither punctuation around it nor what stands behind the number is part of what it names (W12)."""
    assert named(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gh pr view 7 -R o/r", ["pr 7 None"]),
        ("cd x && gh pr view 7 --repo=o/r", ["pr 7 None"]),
        ("gh pr view 7", []),
        ("GH_REPO=o/r gh issue view 12", ["issue 12 None"]),
        ("env GH_TOKEN=x sudo gh issue close 12 --repo o/r", ["issue 12 resolved"]),
        ("timeout 30s gh pr merge --squash -d 7 -Ro/r", ["pr 7 resolved"]),
        ("gh pr merge 7 --auto -R o/r", ["pr 7 None"]),
        ("gh pr -R github.com/o/r view '#7'", ["pr 7 None"]),
        ("gh pr view https://github.com/o/r/pull/7/files", ["pr 7 None"]),
        ('gh issue comment --body "see 5" 12 -R o/r', ["issue 12 active"]),
        ("gh issue close -c 5 12 -R o/r", ["issue 12 resolved"]),
        ("gh pr view -c 12 -R o/r", ["pr 12 None"]),
        (
            "gh issue edit 1 2 3 --add-label bug -R o/r",
            ["issue 1 active", "issue 2 active", "issue 3 active"],
        ),
        ("gh issue reopen 12 -R o/r || true", ["issue 12 active"]),
        ("gh pr checkout 7 8 -R o/r", ["pr 7 active"]),
        ("gh issue delete 12 -R o/r", ["issue 12 stale"]),
        ("gh api repos/o/r/pulls/7/comments", ["pr 7 None"]),
        ("gh api https://api.github.com/repos/o/r/issues/12 --jq .title", ["issue 12 None"]),
        ("gh api -X PATCH repos/o/r/issues/12 -f state=closed", ["issue 12 resolved"]),
        ("gh api --method=PATCH repos/o/r/issues/12 -f state=open", ["issue 12 active"]),
        ("gh api -XPUT repos/o/r/pulls/7/merge", ["pr 7 resolved"]),
        ("gh api /repos/o/r/issues/12/comments -f body='state=closed'", ["issue 12 active"]),
        ("gh api -X GET repos/o/r/issues/12 -f state=closed", ["issue 12 None"]),
        ("gh api -H repos/o/r/issues/5 repos/o/r/issues/12", ["issue 12 None"]),
        ("gh api graphql -f query=repos/o/r/issues/12", []),
        ("gh -R o/r pr view 7", ["pr 7 None"]),
        ("gh pr view 7 -R git@github.com:o/r.git", ["pr 7 None"]),
        ("GH_HOST=git.example.com gh pr view 7 -R o/r", []),
        ("gh pr view 7 -R git.example.com/o/r", []),
        ("export GH_REPO=o/r; cd x && gh pr view 7", ["pr 7 None"]),
        ("GH_REPO=o/r; gh pr view 7", []),
        ("sudo -u me env -u X GH_REPO=o/r timeout -k 5 30s gh pr view 7", ["pr 7 None"]),
        ("gh.exe pr view 7 -R o/r", ["pr 7 None"]),
        (r'"C:\Program Files\GitHub CLI\gh.exe" pr view 7 -R o/r', ["pr 7 None"]),
        ('title="$(cd x && gh pr view 7 -R "o/r" --json title)"', ["pr 7 None"]),
        ('echo "a `gh pr view 7 -R o/r` b" && gh pr merge 8 -R o/r', ["pr 8 resolved", "pr 7 None"]),
        ("echo '$(gh pr view 7 -R o/r)'", []),
        ('bash -lc "cd x && gh pr merge 7 -R o/r"', ["pr 7 resolved"]),
        ("bash -euo pipefail -c 'gh pr merge 7 -R o/r'", ["pr 7 resolved"]),
        ("GH_REPO=o/r sh -c 'gh pr view 7'", ["pr 7 None"]),
        ("eval 'gh pr view 7 -R o/r'", ["pr 7 None"]),
        ("cmd /c gh pr view 7 -R o/r; pwsh -Command 'gh pr view 8 -R o/r'", ["pr 7 None", "pr 8 None"]),
        ("bash gh.sh -c 'gh pr view 7 -R o/r'", []),
        ("gh pr list --limit 30 -R o/r", []),
        ("gh run view 7 -R o/r", []),
        ("echo gh pr view 7 -R o/r", []),
        ("gh pr view 7 -R 'not a repo'", []),
        ("gh pr merge --help 7 -R o/r", []),
        ("# gh pr merge 7 -R o/r", []),
        ("cat <<EOF\ngh pr merge 7 -R o/r\nEOF\ngh pr view 8 -R o/r", ["pr 8 None"]),
        ("for n in 1; do gh issue close 12 -R o/r; done", ["issue 12 resolved"]),
        ("gh", []),
        ("gh pr", []),
    ],
)
def test_what_a_command_names(line: str, expected: list[str]) -> None:
    """A number is an item only with its repository, wherever both stand (W13)."""
    assert called(line) == expected


@pytest.mark.parametrize(
    ("line", "certain"),
    [
        ("gh x", True),
        ("cd a && gh x", True),
        ("cd a; gh x", True),
        ("gh x && make", True),
        ("echo y | gh x", True),
        ("set -e\ngh x\nmake", True),
        ("gh x; make", False),
        ("gh x\nmake", False),
        ("gh x || true", False),
        ("false || gh x", False),
        ("gh x | cat", False),
        ("gh x & wait", False),
        ("(cd a && gh x)\n", True),
        ("(gh x); make", False),
        ("(gh x; make)", False),
        ("sh -c 'gh x && make'", True),
        ("sh -c 'gh x; make'", False),
        ("sh -c 'gh x'; make", False),
        ('a="$(b)" && gh x', True),
        ('echo "$(gh x)"', False),
        ("if true; then gh x; fi", False),
        ("! gh x", False),
        ("echo `gh x`", False),
    ],
)
def test_what_the_exit_code_of_a_line_proves(line: str, *, certain: bool) -> None:
    """That a line succeeded says something of a command only where the line would have failed with it."""
    (found,) = (command for command in parse_command_line(line).commands if command.words == ("gh", "x"))
    assert found.is_certain is certain


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('a \'b c\' "d \\" e" f\\ g', [("a", "b c", 'd " e', "f g")]),
        (r"""a "b\c" "\$d" $'e\n'""", [("a", "b\\c", "$d", "e\n")]),
        ('a "b $(c "d e") f" g', [("a", 'b $(c "d e") f', "g"), ("c", "d e")]),
        ('a "b', [("a", '"b')]),
        ("a >out 2>&1 b", [("a", "b")]),
        ("a <<< text b", [("a", "b")]),
        ("a \\\n b", [("a", "b")]),
        ("X=1 Y='2 3' a", [("a",)]),
        ("a|b;c&&d", [("a",), ("b",), ("c",), ("d",)]),
        ("a $((1<<2)) b\nc", [("a", "$((1<<2))", "b"), ("c",)]),
        ("a <<'X' <<-Y\nbody\nX\n\tbody\n\tY\nb", [("a",), ("b",)]),
        ("a <<X\nnever ends", [("a",)]),
        ("a 'never ends", [("a", "'never", "ends")]),
        ("", []),
    ],
)
def test_words_of_a_line(line: str, words: list[tuple[str, ...]]) -> None:
    """Words are what the program gets; files it writes to and heredocs are none."""
    assert [command.words for command in parse_command_line(line).commands] == words


def test_programs_of_ones_own() -> None:
    """A line that brings along a program or a text says so."""
    for line in ("cat <<X\nX", "python -c 'x'", "/usr/bin/python3.11 - < x", "bash -lc 'x'", "node -e x"):
        assert parse_command_line(line).is_inline, line
    for line in ("make test", "python x.py", "grep -e x", "cat <<< x"):
        assert not parse_command_line(line).is_inline, line
    assert shell_script(["/bin/bash", "-lc", "make test"]) == "make test"
    assert shell_script(["make", "-c", "x"]) is None


def test_what_gh_made() -> None:
    """`gh pr create` prints the address of what it made; nothing else in its output counts."""
    for line in ("gh pr create --fill", "gh -R o/r pr create --fill"):
        (command,) = parse_command_line(line).commands
        assert created_kind(command) == "pr"
    output = "Creating pull request\nsee https://github.com/o/r/pull/6\nhttps://github.com/o/r/pull/7\n"
    item = created_item("pr", output)
    assert item is not None
    assert item.ref == "github:o/r#7"
    assert created_item("issue", output) is None
    assert created_item("pr", "see https://github.com/o/r/pull/6") is None
    (command,) = parse_command_line("gh pr create --dry-run").commands
    assert created_kind(command) is None


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://user:word@X.example:8080/a?b=1#c", "https://x.example:8080/a?b=1"),
        ("HTTP://x.example", "http://x.example"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("https://bücher.example/ä", "https://bücher.example/ä"),
        ("http://[", None),
        ("http://x:port/", None),
        ("http://$HOST/x", None),
        ("http:///x", None),
    ],
)
def test_what_is_kept_of_an_address(address: str, plain: str | None) -> None:
    """Neither who logs in nor a place in the page is part of it."""
    assert plain_address(address) == plain


def test_where_addresses_end() -> None:
    """Brackets that belong to an address stay in it."""
    text = "https://x.example/a_(b)_c, (see http://y.example/(z).) http://) https://"
    assert list(addresses(text)) == ["https://x.example/a_(b)_c", "http://y.example/(z)"]


@given(st.text(st.sampled_from("a7 \n'\"\\$(){}<>|&;`#-=/:.@[]，")) | st.text())
def test_any_text_is_read(text: str) -> None:
    """A command line or a text cut anywhere has some reading."""
    for command in parse_command_line(text).commands:
        assert command.words
        list(gh_calls(command))
    for address in addresses(text + "https://" + text):
        assert address == address.strip()
        plain_address(address)
        github_item(address)


@pytest.mark.parametrize(
    "piece",
    [
        "http://)",
        "http://(",
        "https://github.com/o/r/pull/7 ",
        "https://",
        "'",
        '"',
        '"\\',
        '"$(',
        '"$("a")"',
        "eval '",
        "bash -c ",
        "$'",
        "$((",
        "a<<b\n",
        "#",
        "7",
        "(",
        "gh pr view 7 -R o/r;",
    ],
)
def test_a_long_hostile_text_is_read_once(piece: str) -> None:
    """64 KiB of anything is read in a pass; this test would outlast its time limit otherwise."""
    text = piece * (65_536 // len(piece))
    assert len(list(addresses(text))) <= len(text)
    assert sum(len(list(gh_calls(command))) for command in parse_command_line(text).commands) <= len(text)
