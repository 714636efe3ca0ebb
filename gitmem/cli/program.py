"""The program `gitmem`: its commands in groups, imported only when they run, and its exit codes."""

from __future__ import annotations

import difflib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from gitmem import __version__
from gitmem.cli.commands import Family, global_options
from gitmem.cli.settings import Settings, answering

PROGRAM: Final = "gitmem"


class Entry(NamedTuple):
    """One command: the module that holds it as `command`, and what `gitmem --help` says of it."""

    module: str
    summary: str


#: The commands in groups; the first group holds what people type every day.
SECTIONS: Final[dict[str, dict[str, Entry]]] = {
    "Every day": {
        "status": Entry("status", "Show whether all is well with the home."),
        "search": Entry("search", "Search everything that was said, run and noted."),
        "show": Entry("show", "Show a turn, a note, a record or a commit for people."),
        "edit": Entry("edit", "Edit a file of the home in your editor; checked, then committed."),
        "log": Entry("log", "Show what happened, in one list."),
        "notes": Entry("notes", "List the notes."),
        "sync": Entry("sync", "Bring this home and a remote to the same state."),
    },
    "Start": {
        "init": Entry("init", "Make a folder an agent home."),
        "clone": Entry("clone", "Bring a home from a repository to this machine."),
        "demo": Entry("demo", "See gitmem at work on a copy of a small home."),
    },
    "Write": {
        "turn": Entry("turn", "Record a turn from events, one JSON object a line."),
        "memory": Entry("memory", "Add, replace, remove and show the entries of the agent's memory."),
        "note": Entry("note", "Add, edit, append to, move, remove or show a note."),
        "work": Entry("work", "Create, change, pick, complete and list work items."),
        "commit": Entry("commit", "Commit the operator's edits, and writes that had to wait."),
        "retract": Entry("retract", "Take a statement back; it is shown as corrected and ranks last."),
        "forget": Entry("forget", "Forget a thing: nothing that reads the home has its words again."),
        "import": Entry("import_", "Import conversations as turns."),
    },
    "Read": {
        "episode": Entry("episode", "List and show finished work, finish what is open."),
        "context": Entry("context", "Print what an agent should know now, within a budget."),
        "get": Entry("get", "Print what a source ref names."),
        "tasks": Entry("tasks", "List tasks that run beside the conversation."),
        "sessions": Entry("sessions", "List conversations, search them, read in them."),
    },
    "Past": {
        "diff": Entry("diff", "Show what changed in memory between two moments."),
        "revert": Entry("revert", "Take a change of memory back; history stays."),
        "restore": Entry("restore", "Bring a file of memory back as it was."),
    },
    "Together": {
        "resolve": Entry("resolve", "End a conflict that a sync left: choose between two texts."),
        "quarantine": Entry("quarantine", "List what came by sync and is kept from the agent."),
        "remote": Entry("remote", "Add, list and remove the repositories that this home syncs with."),
    },
    "Care": {
        "verify": Entry("verify", "Look whether everything is what was written."),
        "maintain": Entry("maintain", "Keep the repository small and quick."),
        "watch": Entry("watch", "Keep index and catalog up to date as files change."),
        "reindex": Entry("reindex", "Build the search index anew."),
        "proposals": Entry("proposals", "Judge changes of memory that wait for your word."),
        "config": Entry("config", "Read and change the settings of this machine."),
        "hooks": Entry("hooks", "Install gitmem's Git hooks, list them, take them out."),
    },
}
#: What gitmem's own Git hooks call; people do not, and no list shows it.
HIDDEN: Final = {"hook": Entry("hook", "Do the work of one of gitmem's Git hooks.")}
COMMANDS: Final = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class Program(Family):
    """The root: knows its commands by name, imports one when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all command names, everyday ones first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        entry = COMMANDS.get(cmd_name) or HIDDEN.get(cmd_name)
        if entry is None:
            return None
        found: click.Command = importlib.import_module(f"gitmem.cli.{entry.module}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with the nearest names."""
        if args[0] not in COMMANDS and args[0] not in HIDDEN and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=2, cutoff=0.65)
            meant = f". Did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"no command {args[0]!r}{meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups without importing them."""
        width = max(map(len, COMMANDS))
        for section, entries in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), entry.summary) for name, entry in entries.items()])


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"{PROGRAM} {__version__}")
        ctx.exit()


def _install_completion(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value:
        from gitmem.cli.completion import install

        install(program, value)
        ctx.exit()


program = Program(
    name=PROGRAM,
    help="The memory of a long-lived agent, kept as plain files in a Git repository.",
    epilog="""`gitmem COMMAND --help` shows a command with an example.

    Exit codes: 0 done, 2 wrong usage, 3 refused, 4 not found, 10 no home that can be used, 11 busy: try
    again, 12 a conflict waits, 13 a remote failed, 20 damage found, 70 a bug, 130 interrupted.""",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        *global_options(hidden=False),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version.",
        ),
        click.Option(
            ["--install-completion"],
            type=click.Choice(["bash", "zsh", "fish", "auto"]),
            is_flag=False,
            flag_value="auto",
            is_eager=True,
            expose_value=False,
            callback=_install_completion,
            help="Install completion for your shell.",
        ),
    ],
)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; nothing is raised."""
    settings = Settings(json="--json" in _before_dashes(arguments))
    try:
        _refuse_nul(arguments)
        code: Any = program.main(list(arguments), prog_name=PROGRAM, standalone_mode=False, obj=settings)
        with answering():
            sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the outermost place: each becomes an exit code
        from gitmem.cli.failures import report

        return report(error, settings, list(arguments))
    return code if isinstance(code, int) else 0


def _refuse_nul(arguments: Sequence[str]) -> None:
    """Refuse what no system hands on, but a caller of `run` can: a NUL ends every path."""
    if any("\0" in word for word in arguments):
        raise click.UsageError("an argument holds a NUL")


def main() -> None:
    """Run the program on this process's arguments and leave."""
    _open_missing_streams()
    _start_anew_in_utf8()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


def _open_missing_streams() -> None:
    """Open what the caller closed, lest a file of the home gets the number of a standard stream."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - as long as the process lives


def _start_anew_in_utf8() -> None:
    """Start again where the locale makes other text than UTF-8 of arguments and file names."""
    if sys.flags.utf8_mode or sys.getfilesystemencoding() == "utf-8":
        return
    os.environ.setdefault("PYTHONIOENCODING", f"{sys.stdout.encoding}:replace")
    command: list[str | bytes] = [sys.executable, "-X", "utf8", "-P", "-m", "gitmem"]
    command += [argument.encode("utf-8", "surrogateescape") for argument in sys.argv[1:]]
    os.execv(sys.executable, command)  # noqa: S606


def _before_dashes(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments
