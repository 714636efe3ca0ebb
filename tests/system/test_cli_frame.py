"""What holds for every command: help, options, homes, errors, exit codes, speed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from system.command_line import Ran, gitmem, gitmem_process

from gitmem import __version__
from gitmem.cli import failures, program
from gitmem.cli.program import COMMANDS
from gitmem.cli.settings import Settings
from gitmem.errors import GitmemError, NotAHome


def test_help_lists_every_command_everyday_ones_first() -> None:
    """A person finds what they type every day at the top."""
    shown = gitmem("--help").out
    places = [shown.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert shown.index("Every day:") < shown.index("Start:") < shown.index("Care:")


def test_no_line_of_a_list_of_commands_is_cut() -> None:
    """What a command does is told whole where it is chosen; `the focus, or without one of...` is not."""
    shown = [gitmem("--help").out, *(gitmem(name, "--help").out for name in COMMANDS)]
    lines = [line for text in shown for line in text.splitlines()[1:]]
    assert [line for line in lines if line.endswith("...")] == []


def test_version_is_printed() -> None:
    """Both ways of starting gitmem say the same version."""
    assert gitmem("--version").out == f"gitmem {__version__}\n"
    assert gitmem_process("--version").out == f"gitmem {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["notacommand", "x"], ["search"], ["get", "--nope"], ["turn", "nope"], []]
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    """A wrong call says how to call it right and changes nothing."""
    ran = gitmem(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert "hint: " in ran.err or "Usage" in ran.err


def test_a_misspelt_command_is_answered_with_the_near_ones() -> None:
    """People mistype."""
    assert "Did you mean log" in gitmem("logg").err


def test_a_far_command_is_not_offered() -> None:
    """A guess that is wrong costs more than none."""
    assert gitmem("provenance").err.startswith("error: no command 'provenance'\nhint: ")


@pytest.mark.parametrize("family", [[], ["note"], ["config"]])
def test_a_family_without_a_command_shows_its_help(family: list[str]) -> None:
    """Who types `gitmem` wants to know what there is, and made no error."""
    ran = gitmem(*family)
    assert ran.code == 2
    assert ran.err.startswith("Usage: gitmem ")
    assert "hint:" not in ran.err
    assert gitmem(*family, "--json").json["error"]["message"] == "missing command"


def test_errors_of_the_command_line_read_like_all_others(tmp_path: Path) -> None:
    """One voice: what is the case, no full stop, no number of the system's."""
    assert gitmem("search").err.splitlines()[0] == "error: missing argument 'QUERY...'"
    (tmp_path / "plain").touch()
    said = gitmem("init", tmp_path / "plain" / "home").err.splitlines()[0]
    assert said.startswith(f"error: Not a directory: {tmp_path / 'plain' / 'home'}")


def test_an_error_is_one_json_object_too(tmp_path: Path) -> None:
    """A program reads errors like answers: on standard output, with a code of the closed list."""
    ran = gitmem("status", "--json", cwd=tmp_path)
    assert ran.code == 10
    assert set(ran.json) == {"error"}
    assert set(ran.json["error"]) == {"code", "message", "hint", "details"}
    assert ran.json["error"]["code"] == "not_a_home"
    assert "gitmem init" in ran.err


def test_usage_errors_are_json_too_wherever_json_stands(tmp_path: Path) -> None:
    """The option is honoured even when the command line cannot be parsed."""
    for arguments in (["--json", "get"], ["get", "--json"], ["get", "--nope", "--json"]):
        assert gitmem(*arguments, cwd=tmp_path).json["error"]["code"] == "usage"
    ran = gitmem("get", "--", "--json", cwd=tmp_path)
    assert ran.out == ""


def test_a_text_that_looks_like_an_option_is_no_option(tmp_path: Path) -> None:
    """After -- everything is data."""
    assert gitmem("get", "--", "--json", cwd=tmp_path).code == 10


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("option", ["--home", "-C"])
def test_the_home_may_be_named_before_or_after_the_command(tmp_path: Path, option: str, place: str) -> None:
    """Both read naturally."""
    named = [option, str(tmp_path / "nowhere")]
    ran = gitmem(*([*named, "status"] if place == "before" else ["status", *named]), cwd=tmp_path)
    assert ran.code == 10
    assert "nowhere" in ran.err


def settings_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return fresh settings while standing in a folder."""
    monkeypatch.chdir(folder)
    return Settings()


def make_marker(folder: Path) -> Path:
    """Make a folder look like a home to the search for one."""
    folder.mkdir(parents=True)
    (folder / "gitmem.toml").touch()
    return folder


def test_the_nearest_home_above_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with Git, a command works in any folder of the home."""
    home = make_marker(tmp_path / "home")
    (home / "notes" / "deep").mkdir(parents=True)
    assert settings_in(home / "notes" / "deep", monkeypatch).home_path() == home.resolve()


def test_the_variable_wins_over_the_folder_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two homes at once are a mistake in the making."""
    home, other = make_marker(tmp_path / "home"), make_marker(tmp_path / "other")
    monkeypatch.setenv("GITMEM_HOME", str(other))
    assert settings_in(home, monkeypatch).home_path() == other
    assert "warning" in capsys.readouterr().err
    assert settings_in(other, monkeypatch).home_path() == other
    assert settings_in(tmp_path, monkeypatch).home_path() == other
    assert capsys.readouterr().err == ""


def test_the_option_wins_over_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was typed is what is meant."""
    monkeypatch.setenv("GITMEM_HOME", str(tmp_path / "other"))
    assert Settings(home=tmp_path / "typed").home_path() == tmp_path / "typed"


def test_no_home_anywhere_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first thing that a newcomer sees is a way on."""
    with pytest.raises(NotAHome) as caught:
        settings_in(tmp_path, monkeypatch).home_path()
    assert "gitmem init" in str(caught.value.hint)


def raising(error: BaseException, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    """Return exit code and error output of a program that fails in a given way."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(program.program, "main", fail)
    ran = gitmem(*arguments)
    return ran.code, ran.err + ran.out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (GitmemError("x"), 70),
        (NotAHome("x"), 10),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (BrokenPipeError(), 0),
        (PermissionError(13, "Permission denied", "/x"), 10),
        (OSError(28, "No space left on device"), 10),
        (SystemExit(3), 3),
    ],
)
def test_every_end_has_its_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit codes are the contract with scripts."""
    monkeypatch.setattr(failures, "_leave_quietly", lambda: 0)
    assert raising(error, monkeypatch)[0] == code


def test_a_folder_that_was_removed_is_named(tmp_path: Path) -> None:
    """A shell stays in it; "No such file or directory" told of nothing that one could look for."""
    home, gone = make_marker(tmp_path / "home"), tmp_path / "gone"

    def run_gone(*arguments: str | Path, **env: str) -> Ran:
        gone.mkdir()
        command = [sys.executable, "-P", "-m", "gitmem", *map(str, arguments)]
        line = f"rmdir {gone}; exec {shlex.join(command)}"
        source = str(Path(__file__).parents[2])
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=gone,
            env={**os.environ, "PYTHONPATH": source, **env},
            capture_output=True,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    ran = run_gone("status")
    assert ran.code == 10
    assert "the folder that you are in was removed" in ran.err
    assert "hint: Go to another, or name a home with --home PATH." in ran.err
    assert "folder that you are in was removed: go to another" in run_gone("init", "here").err
    assert "was removed" not in run_gone("notes", GITMEM_HOME=str(home)).err
    assert "was removed" not in run_gone("-C", home, "notes").err


def test_words_found_nowhere_are_named_within_bounds(tmp_path: Path) -> None:
    """A word of 10,000 characters came back whole, and one may turn the direction of a line around."""
    home = tmp_path / "home"
    assert gitmem("init", home, "--agent", "a").code == 0
    ran = gitmem("-C", home, "search", "zebra\u202e" + "q" * 10_000, *(f"nowhere{n}" for n in range(20)))
    told = ran.err.splitlines()[0]
    assert told.startswith("found nowhere")
    assert "qqq" in told
    assert len(told) < 300
    assert "\u202e" not in ran.err


def test_a_full_disk_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own message is the best one."""
    assert "No space left" in raising(OSError(28, "No space left on device"), monkeypatch)[1]


def test_a_bug_leaves_a_report_without_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report can be sent to strangers: what was typed is not in it, where it broke is."""
    monkeypatch.setattr(failures.tempfile, "tempdir", str(tmp_path))
    code, said = raising(
        AssertionError("broken promise"), monkeypatch, "note", "add", "--content=secret", "x"
    )
    assert code == 70
    (report,) = tmp_path.glob("gitmem-report-*.txt")
    text = report.read_text()
    assert str(report) in said
    assert "broken promise" in text
    assert "Traceback" in text
    assert "secret" not in text
    assert "gitmem note" in text


def test_details_that_json_lacks_are_shown_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error never fails while it is told."""
    said = raising(GitmemError("x", path=Path("a"), name="\udcff"), monkeypatch, "--json")[1]
    assert json.loads(said.split("\n", 1)[1])["error"]["details"] == {"path": "a", "name": "\ufffd"}


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_completion_is_installed_where_the_shell_looks(tmp_path: Path, shell: str) -> None:
    """One option, no configuration."""
    ran = gitmem(
        "--install-completion",
        shell,
        HOME=str(tmp_path),
        XDG_DATA_HOME=str(tmp_path / "data"),
        XDG_CONFIG_HOME=str(tmp_path / "config"),
    )
    if shell == "bash" and ran.code != 0:
        pytest.fail(ran.err)
    written = [path for path in tmp_path.rglob("*gitmem*") if path.is_file()]
    assert len(written) == 1
    assert str(written[0]) in ran.out
    assert "_GITMEM_COMPLETE" in written[0].read_text()


def test_completion_knows_the_commands() -> None:
    """The shell offers what there is."""
    ran = gitmem_process(_GITMEM_COMPLETE="fish_complete", COMP_WORDS="gitmem se", COMP_CWORD="se")
    assert "search" in ran.out


def test_help_imports_no_library_but_click() -> None:
    """`gitmem --help` is to answer within 0.15 seconds: nothing heavy is imported for it."""
    code = "import sys, gitmem.cli.program as p; p.run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert not loaded & {"dulwich", "whoosh", "numpy", "rich", "yaml", "watchdog", "merge3", "frontmatter"}
    assert "gitmem.home" not in done.stderr.split()


def in_shell(command: str, *arguments: str | Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run gitmem in a shell, in which `$GITMEM` stands for the program."""
    return subprocess.run(
        ["bash", "-c", command, "bash", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PY": sys.executable, **env},
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("option", ["", "--json"])
def test_an_answer_that_is_lost_is_no_full_disk(tmp_path: Path, option: str) -> None:
    """[F19] What was written is written: whoever believed otherwise would write it once more."""
    gitmem("init", str(tmp_path / "home"))
    call = f'cd "$1/home" && "$PY" -m gitmem memory add --content one {option} > /dev/full'
    ran = in_shell(call, tmp_path)
    assert ran.returncode == 10
    assert b"standard output cannot be written" in ran.stderr
    assert b"is done; only the answer is lost" in ran.stderr
    assert (tmp_path / "home/memory/MEMORY.md").read_text() == "one\n"


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["status", "status --json", "--help"])
def test_closed_streams_are_no_fault(tmp_path: Path, command: str, closed: str) -> None:
    """Cron jobs and daemons may have no standard streams; the exit code is the same."""
    gitmem("init", tmp_path)
    ran = in_shell(f'cd "$1" && "$PY" -m gitmem {command} {closed}', tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


@pytest.mark.parametrize("command", ["status --json", "--help", "log"])
def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path, command: str) -> None:
    """`| head` may leave at any time, also before the first line."""
    gitmem("init", tmp_path)
    ran = in_shell(f'cd "$1"; "$PY" -m gitmem {command} | true; echo ${{PIPESTATUS[0]}}', tmp_path)
    assert (ran.stdout, ran.stderr) == (b"0\n", b"")


def test_a_locale_without_utf8_changes_no_text(tmp_path: Path) -> None:
    """Names and texts are UTF-8, whatever the terminal's alphabet."""
    gitmem("init", tmp_path)
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    added = in_shell(
        'cd "$1" && "$PY" -m gitmem note add "$2" --content "$3" --json', tmp_path, "é.md", "straße", **plain
    )
    assert added.returncode == 0, added.stderr
    assert (tmp_path / "notes" / "é.md").read_text("utf-8").endswith("straße\n")
    shown = in_shell('cd "$1" && "$PY" -m gitmem note show "$2" --json', tmp_path, "é.md", **plain)
    assert "straße" in json.loads(shown.stdout)["note"]["content"]


def leave_much_to_index(home: Path) -> None:
    """Record more than a search indexes by itself."""
    message = json.dumps({"kind": "message", "role": "user", "text": "part"})
    gitmem("turn", stdin=f"{message}\n" * 600, cwd=home)


def test_a_watcher_may_start_while_a_search_is_caught_up_with(tmp_path: Path) -> None:
    """What a search leaves running is no watcher, and nobody is told so."""
    gitmem("init", tmp_path)
    leave_much_to_index(tmp_path)
    in_shell('cd "$1" && "$PY" -P -m gitmem search part', tmp_path)
    assert gitmem("watch", "--once", "--json", cwd=tmp_path).code == 0


def test_nothing_is_imported_from_the_current_folder(tmp_path: Path) -> None:
    """The process that catches up behind a search runs where the search ran, in anybody's folder."""
    (tmp_path / "click.py").write_text("open('imported', 'w')")
    home = tmp_path / "home"
    gitmem("init", home)
    leave_much_to_index(home)
    in_shell('cd "$1" && "$PY" -P -m gitmem search part --home home', tmp_path)
    deadline = time.monotonic() + 20
    while gitmem("status", "--json", cwd=home).json["index"]["pending"] and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not (tmp_path / "imported").exists()
