"""The files of a new home, as texts with a few names to fill in."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template
from typing import Final

from gitmem.config import toml_string

#: Path in the home -> file in this package; hidden names are stored without their dot.
_FILES: Final = {
    "README.md": "README.md",
    "AGENTS.md": "AGENTS.md",
    "gitmem.toml": "gitmem.toml",
    "memory/operator.md": "memory/operator.md",
    "memory/self.md": "memory/self.md",
    "memory/MEMORY.md": None,
    "memory/USER.md": None,
    ".gitattributes": "gitattributes",
    ".gitignore": "gitignore",
}


def render_templates(*, agent: str, home_id: str) -> dict[str, bytes]:
    """Return path and content of each file that a new home starts with; the two stores start empty.

    Args:
        agent: the agent's name.
        home_id: the minted id.
    """
    values = {"agent": agent, "agent_toml": toml_string(agent), "home_id": home_id}
    return {path: _render(name, values).encode("utf-8") if name else b"" for path, name in _FILES.items()}


def is_untouched(path: str, text: str) -> bool:
    """Say whether a file is as a new home has it, so that nothing was said in it yet.

    Args:
        path: in the home.
        text: of the file.
    """
    name = _FILES.get(path)
    if name is None:
        return False
    pieces = re.split(r"\$\w+", _text_of(name))
    return re.fullmatch("[^\n]*".join(map(re.escape, pieces)), text) is not None


def _render(name: str, values: dict[str, str]) -> str:
    text = _text_of(name)
    return Template(text).substitute(values)


def _text_of(name: str) -> str:
    return Path(__file__).parent.joinpath(name).read_text("utf-8")
