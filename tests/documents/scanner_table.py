"""Writes the rules in `docs/security.md` from the tables of the scanner; run it after one changed."""

from __future__ import annotations

from pathlib import Path

from gitmem.secret_rules import RULES as SECRET_RULES
from gitmem.threat_rules import RULES as THREAT_RULES

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
MARK = "<!-- written by tests/documents/scanner_table.py -->\n"


def render() -> str:
    """Return the page with the rules as they have to be."""
    return PAGE.read_text("utf-8").split(MARK)[0] + MARK + "\n" + _threats() + "\n" + _secrets()


def _threats() -> str:
    rows = (
        f"| `{rule.id}` | {rule.scope} | {rule.reason} | {_code(rule.trips)} | {_code(rule.passes)} |\n"
        for rule in THREAT_RULES
    )
    return "| rule | scope | why | found | not found |\n|---|---|---|---|---|\n" + "".join(rows)


def _secrets() -> str:
    names = sorted({rule.name for rule in SECRET_RULES})
    return "Secrets: " + ", ".join(f"`{name}`" for name in names) + ".\n"


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
