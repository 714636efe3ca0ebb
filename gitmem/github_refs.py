"""Issues and pull requests of GitHub, as addresses and `gh` commands name them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitmem.command_line import Command
from gitmem.web_addresses import addresses

#: Accounts that a company manages have an underscore in their names.
_REPO: Final = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})/[A-Za-z0-9._-]{1,100}"
_HOST: Final = "github.com"
_ITEM: Final = re.compile(
    rf"https?://(?:[^/@\s]*@)?(?:www\.|redirect\.)?github\.com(?::443)?/({_REPO})/(issues|pull)"
    r"/([1-9]\d{0,9})(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_NAMED_REPO: Final = re.compile(
    rf"(?:(?:(?:https?|ssh|git)://(?:[^/@\s]*@)?)?github\.com/|git@github\.com:)?({_REPO}?)(?:\.git)?/?",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"#?([1-9]\d{0,9})", re.ASCII)
_API: Final = re.compile(
    rf"(?:https?://api\.github\.com)?/?repos/({_REPO})/(issues|pulls)/([1-9]\d{{0,9}})(?!\w)((?:[/?#].*)?)",
    re.IGNORECASE | re.ASCII,
)

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
#: Options of `gh api` with a value behind them.
_API_METHOD: Final = ("-X", "--method")
_API_FIELDS: Final = ("-f", "-F", "--field", "--raw-field", "--input")
_API_VALUED: Final = (
    "-H", "--header", "-q", "--jq", "-t", "--template", "-p", "--preview", "--cache", "--hostname",
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
    """Return the issue or pull request to which a web address leads, or one of the API; None for others."""
    found = _ITEM.match(address) or (_API.match(address) if "://" in address else None)
    return None if found is None else _found_item(found)


def gh_calls(command: Command) -> Iterator[GhCall]:
    """Yield what a `gh` command names; a number only where the repository is named too."""
    words = _below_gh(command)
    if not words or any(word in ("--help", "-h") for word in words):
        return
    if words[0] == "api":
        yield from _api_calls(words[1:])
    elif words[0] in ("issue", "pr"):
        yield from _item_calls(words, command.env)


def created_kind(command: Command) -> str | None:
    """Return what a `gh` command makes and prints the address of: `issue`, `pr` or None."""
    words = _below_gh(command)
    if len(words) < 2 or words[0] not in ("issue", "pr"):
        return None
    is_made = "create" in words[1:] and not {"--dry-run", "--help", "-h", "--web", "-w"} & set(words)
    return words[0] if is_made else None


def created_item(kind: str, output: str) -> GithubItem | None:
    """Return the item of which `gh` printed the address, on a line of its own; the last one counts."""
    for line in reversed(output.split("\n")[-50:]):
        item = github_item(line.strip())
        if item is not None and item.kind == kind and " " not in line.strip():
            return item
    return None


def _below_gh(command: Command) -> tuple[str, ...]:
    """Return the words of a `gh` command from its own command on; options before that go behind it.

    Nothing for other programs, and where it asks another host than GitHub.
    """
    if command.program != "gh" or command.env.get("GH_HOST", _HOST).lower() != _HOST:
        return ()
    words = command.words[1:]
    options: list[str] = []
    while words[:1] and words[0].startswith("-"):
        is_apart = words[0] in ("-R", "--repo")
        options += words[: 1 + is_apart]
        words = words[1 + is_apart :]
    return (*words[:1], *options, *words[1:]) if words else ()


def _item_calls(below: tuple[str, ...], env: Mapping[str, str]) -> Iterator[GhCall]:
    kind, verb, repo = below[0], "", _repo(env.get("GH_REPO", ""))
    named: list[str] = []
    words = iter(below[1:])
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
        status = None if verb == "merge" and _is_later(below) else _VERBS[verb]
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


def _api_calls(arguments: tuple[str, ...]) -> Iterator[GhCall]:
    """Yield what `gh api` asks for; by its method and fields it says what becomes of that."""
    method, fields = "", []
    endpoint = ""
    words = iter(arguments)
    for word in words:
        option, equals, value = word.partition("=")
        if option in _API_METHOD:
            method = value if equals else next(words, "")
        elif word.startswith("-X"):
            method = word[2:]
        elif word in _API_FIELDS or (equals and option in _API_FIELDS):
            fields.append(value if equals else next(words, ""))
        elif word in _API_VALUED:
            next(words, "")
        elif word[:1] != "-":
            endpoint = endpoint or word
    found = _API.fullmatch(endpoint)
    if found:
        method = (method or ("POST" if fields else "GET")).upper()
        yield GhCall(_found_item(found), "api", _api_status(found, method, fields))


def _api_status(found: re.Match[str], method: str, fields: list[str]) -> str | None:
    """Return what a call of the API makes of an item: closing and merging end it, a look changes nothing."""
    if method not in ("POST", "PUT", "PATCH", "DELETE"):
        return None
    below = found[4].partition("?")[0].strip("/")
    is_merged = method == "PUT" and below == "merge"
    is_closed = method == "PATCH" and not below and "state=closed" in fields
    return "resolved" if is_merged or is_closed else "active"


def _found_item(found: re.Match[str]) -> GithubItem:
    return GithubItem("issue" if found[2].lower() == "issues" else "pr", found[1], int(found[3]))


def _is_later(words: tuple[str, ...]) -> bool:
    """Say whether a merge only comes once checks have passed, or is called off."""
    return "--auto" in words or "--disable-auto" in words


def _repo(text: str) -> str | None:
    found = _NAMED_REPO.fullmatch(text)
    return found[1] if found else None
