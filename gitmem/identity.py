"""Who stands in a commit: the agent and the operator, cleaned as Git cleans names."""

from __future__ import annotations

import unicodedata
from typing import Final

from gitmem.config import DEFAULT_AGENT
from gitmem.records import clean_text

#: What Git takes off both ends of a name or address.
_ENDS: Final = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
_OPERATOR: Final = "operator"
_LONGEST: Final = 200


def clean_identity(text: str) -> str:
    """Return a name or address as Git writes it into a commit.

    Git strips blanks and punctuation from both ends and drops `<`, `>` and line feeds; other control
    characters go too, because they would reach an operator's terminal.
    """
    kept = "".join(
        c for c in clean_text(text) if c not in "<>" and unicodedata.category(c) not in {"Cc", "Cs"}
    )
    return kept[:_LONGEST].strip(_ENDS)


def agent_identity(agent: str, home_id: str) -> str:
    """Return the agent's `name <name@home id.gitmem.invalid>`, whatever `user.*` of Git's config says."""
    name = clean_identity(agent) or DEFAULT_AGENT
    local = clean_identity("-".join(name.replace("@", " ").split())) or DEFAULT_AGENT
    if local == _OPERATOR:
        local = "operator-agent"  # the operator's own fallback address must stay distinct
    return f"{name} <{local}@{home_id}.gitmem.invalid>"


def operator_identity(name: str | None, mail: str | None, home_id: str) -> str:
    """Return the operator's identity for a commit that gitmem makes for them.

    Args:
        name: `user.name` of Git's config, if any.
        mail: `user.email` of Git's config, if any.
        home_id: names the fallback address; nothing of the machine or its login gets into a commit.
    """
    shown = clean_identity(name or "") or _OPERATOR
    address = clean_identity("".join((mail or "").split())) or f"{_OPERATOR}@{home_id}.gitmem.invalid"
    return f"{shown} <{address}>"


def is_agent(identity: str, home_id: str) -> bool:
    """Say whether `Name <mail>` is the agent of this home, under any name it had."""
    mail = identity.rpartition("<")[2].removesuffix(">")
    local, _, domain = mail.rpartition("@")
    return domain == f"{home_id}.gitmem.invalid" and local != _OPERATOR
