"""What the record of a tool execution proves: the commands it ran, the files it changed, what it read.

Tools are known by their names and the fields of their input, as agents call them; other tools prove nothing.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.command_files import written_files
from gitmem.command_line import Command, CommandLine, parse_command_line, shell_script
from gitmem.patch_paths import PatchedFile, patched_files
from gitmem.records import Json, Record

_SIGNS: Final = re.compile(r"[^a-z0-9]+")
_EDITORS: Final = frozenset(
    (
        "appendfile", "appendtofile", "applydiff", "applyedit", "applyedits", "applypatch", "create",
        "createfile", "createnewfile", "createtextfile", "deletelines", "edit", "editcode", "editfile",
        "editfiles", "editnotebook", "filecreate", "fileedit", "filewrite", "fsappend", "fsreplace",
        "fswrite", "insertaftersymbol", "insertatline", "insertbeforesymbol", "insertcontent",
        "inserteditintofile", "modifyfile", "multiedit", "multireplacefilecontent",
        "multireplacestringinfile", "notebookedit", "overwritefile", "patch", "replace", "replacecontent",
        "replacefilecontent", "replaceinfile", "replacelines", "replaceregex", "replacestringinfile",
        "replacesymbolbody", "replacetextinfile", "savefile", "searchandreplace", "searchreplace",
        "strreplace", "strreplacebasededit", "strreplaceeditor", "texteditor", "updatefile", "write",
        "writefile", "writefiles", "writetofile",
    )
)  # fmt: skip
#: What stands behind the names of some tools: that they are one, and a version.
_ENDING: Final = re.compile(r"(?<=.)(?:tool)?\d*$")
_REMOVERS: Final = frozenset(("deletefile", "filedelete", "removefile"))
_MOVERS: Final = frozenset(("filemove", "movefile", "renamefile"))
_COPIERS: Final = frozenset(("copyfile", "filecopy"))
_SHELLS: Final = re.compile(r"shell|bash|terminal|exec|command|console|^(?:cmd|zsh|sh|run|process)$")
#: What an editor's own command is called where it changes nothing, and where it does.
_LOOKING: Final = frozenset(("view", "undo_edit"))
_EDITING: Final = frozenset(("append", "create", "insert", "str_replace", "write"))
_PATHS: Final = (
    "file_path", "filePath", "path", "target_file", "notebook_path", "filename", "file", "relative_path",
)  # fmt: skip
#: Where one call edits several files, and how it names them there: the text of an edit is no name.
_SEVERAL: Final[Mapping[str, Any]] = {
    "files": (str, Mapping),
    "paths": str,
    "edits": Mapping,
    "replacements": Mapping,
}
_PATCHES: Final = ("patch", "patch_text", "patchText", "diff", "input")
_SOURCES: Final = ("source", "old_path", "oldPath", "from", "src")
_TARGETS: Final = ("destination", "new_path", "newPath", "to", "dst")
_COMMANDS: Final = ("command", "cmd")
_ADDRESSES: Final = ("url", "uri", "href", "link")
_BATCH_INPUTS: Final = ("items", "calls", "commands")
_BATCH_OUTPUTS: Final = ("items", "results", "outputs")
_SOURCE_REF: Final = re.compile(r'"source_ref"\s{0,9}:\s{0,9}"([^"\\\s]{1,200})"')
#: Hits of a search that count as looked at; the rest was only listed.
_HITS: Final = 3
#: Commands of a batch, and files of one edit, that are looked at.
MOST_ITEMS: Final = 200
#: Code points of a tool's input or output that are read as JSON.
_MOST_JSON: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Run:
    """A command that a tool ran.

    Attributes:
        text: the command line as it was given.
        line: what was read of it.
        item: its number in a batch from 1; None where it was the only one.
        has_worked: whether nothing says that it failed.
        exit_code: None where the record does not tell.
        output: what it printed, as far as the record holds it as text.
    """

    text: str
    line: CommandLine
    item: int | None
    has_worked: bool
    exit_code: int | None
    output: str


def tool_name(record: Record) -> str:
    """Return the name of a record's tool without a server's or a namespace's name, signs and case."""
    name = str(record.body.get("tool", ""))[:200]
    return _ENDING.sub("", _SIGNS.sub("", re.split(r"__|[./:]", name)[-1].lower()))


def has_worked(body: Json) -> bool:
    """Say whether nothing in a tool's record, or in an item of a batch, says that it failed."""
    return body.get("status") in (None, "success", "completed", "ok") and _exit_code(body) in (None, 0)


def runs(record: Record) -> Iterator[Run]:
    """Yield the commands that a tool execution ran, in their order."""
    name, given = tool_name(record), tool_input(record)
    if _is_editor(name) or _is_told_apart(given):
        return
    command = _first(given, _COMMANDS) if isinstance(given, Mapping) else None
    if command is not None:
        yield _run(command, None, record.body)
    elif isinstance(given, Mapping):
        yield from _batch(given, record.body)
    elif isinstance(given, str) and given.strip() and _SHELLS.search(name):
        yield _run(given, None, record.body)


def edited_files(record: Record) -> Iterator[PatchedFile]:
    """Yield the files that a tool for editing changed; none if it failed."""
    name, given = tool_name(record), tool_input(record)
    if not _is_editor(name) or not has_worked(record.body):
        return
    if isinstance(given, str):
        yield from patched_files(given)
    elif name in _MOVERS or name in _COPIERS:
        yield from _moved(given, is_copy=name in _COPIERS)
    elif _own_command(given) not in _LOOKING:
        yield from _edited(given, "deleted" if name in _REMOVERS else "changed")


def changed_by(run: Run) -> Iterator[PatchedFile]:
    """Yield the files that a command changed, as far as its words and the patch that it applies tell.

    A patch stands in the line as it is given, as a heredoc, or as one of its words.
    """
    if any(map(_applies, run.line.commands)):
        yield from patched_files(run.text)
        words = (word for c in run.line.commands for word in (*c.words, *c.fed) if "\n" in word)
        for word in words:
            yield from patched_files(word)
    for command in run.line.commands if run.has_worked else ():
        if command.is_certain:
            yield from written_files(command)


def read_address(record: Record) -> str | None:
    """Return the web address that a tool went to; None if it went to none."""
    given = tool_input(record)
    found = _first(given, _ADDRESSES) if isinstance(given, Mapping) else given
    is_address = isinstance(found, str) and found[:8].lower().startswith(("http://", "https://"))
    return found if is_address and has_worked(record.body) else None


def read_memories(record: Record) -> tuple[str, ...]:
    """Return the source refs that gitmem's own tools were asked for, or found first."""
    name, given = tool_name(record), tool_input(record)
    if not has_worked(record.body):
        return ()
    if name == "memoryget" and isinstance(given, Mapping) and isinstance(given.get("source_ref"), str):
        return (given["source_ref"],)
    return tuple(_hits(record.body.get("output")))[:_HITS] if name == "memorysearch" else ()


def tool_input(record: Record) -> Mapping[str, Any] | str:
    """Return a tool's input: an object, also where it was given as JSON text, or text."""
    given = record.body.get("input")
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, str):
        return ""
    read = _json(given)
    return read if isinstance(read, Mapping) else given


def _is_editor(name: str) -> bool:
    return any(name in names for names in (_EDITORS, _REMOVERS, _MOVERS, _COPIERS))


def _is_told_apart(given: Mapping[str, Any] | str) -> bool:
    """Say whether `command` names what a tool is to do to a path, and is no command line."""
    if isinstance(given, str) or _own_command(given) not in _LOOKING | _EDITING:
        return False
    return isinstance(_first(given, _PATHS), str)


def _own_command(given: Mapping[str, Any]) -> str:
    """Return what an editor that can do several things is told to do."""
    command = given.get("command")
    return command if isinstance(command, str) else ""


def _moved(given: Mapping[str, Any], *, is_copy: bool) -> Iterator[PatchedFile]:
    old, new = _first(given, _SOURCES), _first(given, _TARGETS)
    if isinstance(old, str):
        yield PatchedFile(old, "copied" if is_copy else "moved_away")
    if isinstance(new, str):
        yield PatchedFile(new, "added" if is_copy else "moved_here")


def _edited(given: Mapping[str, Any], change: str) -> Iterator[PatchedFile]:
    patch = _first(given, _PATCHES)
    found = patched_files(patch) if isinstance(patch, str) else ()
    yield from found
    if found:
        return
    parts = [
        part
        for name, types in _SEVERAL.items()
        for part in _list(given, (name,))[:MOST_ITEMS]
        if isinstance(part, types)
    ]
    for part in (given, *parts):
        path = _first(part, _PATHS) if isinstance(part, Mapping) else part
        if isinstance(path, str):
            yield PatchedFile(path, change)


def _batch(given: Mapping[str, Any], body: Json) -> Iterator[Run]:
    items = _list(given, _BATCH_INPUTS)
    output = body.get("output")
    replies = _list(output if isinstance(output, Mapping) else {"items": output}, _BATCH_OUTPUTS)
    for number, item in enumerate(items[:MOST_ITEMS]):
        command = _first(item, _COMMANDS) if isinstance(item, Mapping) else item
        reply = replies[number] if number < len(replies) else None
        if _is_command(command):
            yield _run(command, number + 1, reply if isinstance(reply, Mapping) else body)


def _run(command: Any, item: int | None, body: Json) -> Run:
    # A list is what the operating system gets; agents put a shell in front to get a line interpreted.
    text = command if isinstance(command, str) else shell_script(command) or shlex.join(command)
    line = parse_command_line(text)
    return Run(text, line, item, has_worked(body), _exit_code(body), _output(body))


def _applies(command: Command) -> bool:
    """Say whether a command applies a patch to the working tree."""
    program, arguments = command.program, command.words[1:]
    if program == "git":
        is_applied = "apply" in arguments or "am" in arguments
        return is_applied and {"--check", "--stat", "--numstat", "--summary", "--cached"}.isdisjoint(
            arguments
        )
    return program in ("patch", "apply_patch", "applypatch") and "--dry-run" not in arguments


def _hits(output: object) -> Iterator[str]:
    if isinstance(output, str):
        yield from (found[1] for found in _SOURCE_REF.finditer(output[:_MOST_JSON]))
    elif isinstance(output, Mapping):
        for hit in _list(output, ("results",)):
            if isinstance(hit, Mapping) and isinstance(hit.get("source_ref"), str):
                yield hit["source_ref"]


def _output(body: Json) -> str:
    output = body.get("output", body.get("stdout"))
    if isinstance(output, Mapping):
        output = _first(output, ("stdout", "output", "text"))
    return output if isinstance(output, str) else ""


def _exit_code(body: Json) -> int | None:
    output = body.get("output")
    for source in (body, output if isinstance(output, Mapping) else {}):
        code = source.get("exit_code", source.get("exitCode"))
        if isinstance(code, int) and not isinstance(code, bool):
            return code
    return None


def _first(source: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of some fields that is text or a command's words; None if there is none."""
    return next((source[name] for name in names if _is_command(source.get(name))), None)


def _is_command(value: object) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(word, str) for word in value)
    return isinstance(value, str) and bool(value.strip())


def _list(source: Mapping[str, Any], names: Sequence[str]) -> Sequence[Any]:
    found = (source.get(name) for name in names)
    return next((value for value in found if isinstance(value, list | tuple)), ())


def _json(text: str) -> Any:
    if text.lstrip()[:1] != "{" or len(text) > _MOST_JSON:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
