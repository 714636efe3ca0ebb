"""Issues and pull requests of GitHub, as addresses and `gh` commands name them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gitmem.command_line import Command
from gitmem.web_addresses import addresses

_REPO: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}"
_ITEM: Final = re.compile(
    rf"https?://(?:www\.)?github\.com(?::443)?/({_REPO})/(issues|pull)/([1-9]\d{{0,9}})(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_NAMED_REPO: Final = re.compile(rf"(?:(?:https?://)?github\.com/)?({_REPO}?)(?:\.git)?/?", re.IGNORECASE)
_NUMBER: Final = re.compile(r"#?([1-9]\d{0,9})", re.ASCII)
_API: Final = re.compile(rf"/?repos/({_REPO})/(issues|pulls)/([1-9]\d{{0,9}})(?:[/?].*)?", re.ASCII)

#: Commands of `gh issue` and `gh pr` that name one, and what becomes of it; None where they only look.
_VERBS: Final = {
    "view": None,
    "diff": None,
    "checks": None,
    "close": "resolved",
    "merge": "resolved",
    "reopen": "active",
    **dict.fromkeys(
        ("checkout", "comment", "develop", "edit", "lock", "pin", "ready", "revert", "review"), "active"
    ),
    **dict.fromkeys(("unlock", "unpin", "update-branch"), "active"),
    "delete": "stale",
    "transfer": "stale",
}
#: Options of these that have a value behind them; a number there is no item.
_VALUED: Final = frozenset(
    (
        "--add-assignee", "--add-label", "--add-project", "--add-reviewer", "--assignee", "--author-email",
        "--base", "--body", "--body-file", "--branch", "--branch-repo", "--color", "--comment",
        "--duplicate-of", "--head", "--jq", "--json", "--label", "--match-head-commit", "--milestone",
        "--name", "--reason", "--remove-assignee", "--remove-label", "--remove-project",
        "--remove-reviewer", "--subject", "--template", "--title", "-A", "-B", "-F", "-L", "-b", "-q", "-t",
    )
)  # fmt: skip
#: Letters that take a value only with some commands.
_VALUED_FOR: Final = {
    "-c": ("close", "reopen"),
    "-r": ("close", "lock"),
    "-m": ("edit",),
    "-n": ("develop",),
    "-i": ("checks",),
}


@dataclass(frozen=True, slots=True)
class GithubItem:
    """An issue or a pull request.

    Attributes:
        kind: `issue` or `pr`.
        repo: `owner/name`, as it was written.
    """

    kind: str
    repo: str
    number: int

    @property
    def ref(self) -> str:
        """What names it, also without its kind."""
        return f"github:{self.repo}#{self.number}"


@dataclass(frozen=True, slots=True)
class GhCall:
    """A `gh` command that names an item.

    Attributes:
        verb: the command below `gh issue` or `gh pr`.
        status: of the item, if the command succeeds; None if it only looks.
    """

    item: GithubItem
    verb: str
    status: str | None


def github_item(address: str) -> GithubItem | None:
    """Return the issue or pull request to which a web address leads; None for others."""
    found = _ITEM.match(address)
    if found is None:
        return None
    return GithubItem("issue" if found[2].lower() == "issues" else "pr", found[1], int(found[3]))


def gh_calls(command: Command) -> Iterator[GhCall]:
    """Yield what a `gh` command names; a number only where the repository is named too."""
    words = command.words
    if words[0].rpartition("/")[2] != "gh" or any(word in ("--help", "-h") for word in words):
        return
    if words[1:2] == ("api",):
        yield from _api_calls(words)
    elif len(words) > 2 and words[1] in ("issue", "pr"):
        yield from _item_calls(command)


def created_kind(command: Command) -> str | None:
    """Return what a `gh` command makes and prints the address of: `issue`, `pr` or None."""
    words = command.words
    if words[0].rpartition("/")[2] != "gh" or len(words) < 3 or words[1] not in ("issue", "pr"):
        return None
    is_made = "create" in words[2:] and not {"--dry-run", "--help", "-h", "--web", "-w"} & set(words)
    return words[1] if is_made else None


def created_item(kind: str, output: str) -> GithubItem | None:
    """Return the item of which `gh` printed the address, on a line of its own; the last one counts."""
    for line in reversed(output.split("\n")[-50:]):
        item = github_item(line.strip())
        if item is not None and item.kind == kind and " " not in line.strip():
            return item
    return None


def _item_calls(command: Command) -> Iterator[GhCall]:
    kind, verb, repo = command.words[1], "", _repo(command.env.get("GH_REPO", ""))
    named: list[str] = []
    words = iter(command.words[2:])
    for word in words:
        option, equals, value = word.partition("=")
        if option in ("--repo", "-R"):
            repo = _repo(value if equals else next(words, ""))
        elif word.startswith("-R"):
            repo = _repo(word[2:])
        elif word.startswith("-") and len(word) > 1:
            if not equals and (word in _VALUED or verb in _VALUED_FOR.get(word, ())):
                next(words, "")
        elif not verb:
            verb = word
        else:
            named.append(word)
    if verb in _VERBS:
        status = None if verb == "merge" and _is_later(command.words) else _VERBS[verb]
        for item in _items(kind, repo, named if verb == "edit" else named[:1]):
            yield GhCall(item, verb, status)


def _items(kind: str, repo: str | None, named: list[str]) -> Iterator[GithubItem]:
    for word in named:
        number = _NUMBER.fullmatch(word)
        if number and repo:
            yield GithubItem(kind, repo, int(number[1]))
        for address in addresses(word):
            item = github_item(address)
            if item is not None:
                yield item


def _api_calls(words: tuple[str, ...]) -> Iterator[GhCall]:
    for word in words[2:]:
        found = _API.fullmatch(word)
        if found:
            kind = "issue" if found[2] == "issues" else "pr"
            yield GhCall(GithubItem(kind, found[1], int(found[3])), "api", None)


def _is_later(words: tuple[str, ...]) -> bool:
    """Say whether a merge only comes once checks have passed, or is called off."""
    return "--auto" in words or "--disable-auto" in words


def _repo(text: str) -> str | None:
    found = _NAMED_REPO.fullmatch(text)
    return found[1] if found else None
