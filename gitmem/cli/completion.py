"""Completion for the shells that click knows, put where each shell looks for it."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from gitmem.errors import UsageError

_PROGRAM = "gitmem"


def install(program: click.Command, shell: str) -> None:
    """Write the completion script of `shell` and say where it is and what is left to do."""
    if shell == "auto":
        shell = Path(os.environ.get("SHELL", "")).name
    completer = get_completion_class(shell)
    if completer is None:
        raise UsageError(
            f"no completion for the shell {shell or '(unknown)'!r}",
            hint="Name one: `gitmem --install-completion bash`, `zsh` or `fish`.",
        )
    script = completer(program, {}, _PROGRAM, f"_{_PROGRAM.upper()}_COMPLETE").source()
    path = _place(shell)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script + "\n", "utf-8")
    click.echo(f"Wrote {path}")
    if shell == "zsh":
        click.echo("Add to ~/.zshrc, before compinit:  fpath+=~/.zfunc")
    click.echo("It works in the next shell that you open.")


def _place(shell: str) -> Path:
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    places = {
        "bash": data / "bash-completion/completions" / _PROGRAM,
        "zsh": home / ".zfunc" / f"_{_PROGRAM}",
        "fish": config / "fish/completions" / f"{_PROGRAM}.fish",
    }
    return places[shell]
