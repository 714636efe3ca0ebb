"""What holds a text that is to be forgotten: records, entries, and versions of files."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from gitmem.branch_merge import conflict_of
from gitmem.curated import STORES
from gitmem.errors import GitmemError, UsageError
from gitmem.forget_targets import ForgetTargets, strings
from gitmem.front_matter import read_front_matter
from gitmem.layout import CONFIG_FILE, EPISODES, NOTES
from gitmem.long_text import needs_blob
from gitmem.memory_files import file_id
from gitmem.records import Record

#: Fields that name files: names are in history whatever becomes of the files.
_NAMES: Final = frozenset({"files", "path", "plan_path"})
#: A shorter text is in too much.
_SHORTEST: Final = 3


def add_matches(targets: ForgetTargets, text: str) -> None:
    """Add everything that holds a text, in any case of letters.

    A file that is edited and committed without the text stays: only the versions that hold it go.

    Args:
        targets: gets what is found.
        text: to look for.

    Raises:
        UsageError: the text is too short.
    """
    wanted = text.strip().casefold()
    if len(wanted) < _SHORTEST:
        raise UsageError(f"a text of at least {_SHORTEST} characters is needed", field="match")
    for record in targets.records(b""):
        if not record.redacted and _holds(targets, record, wanted):
            targets.add_record(record)
    for entry in targets.entries():
        if wanted in entry.casefold():
            targets.add_entry(entry)
    stores = set(STORES.values())
    for path, blobs in sorted(targets.versions.blobs.items()):
        if path != CONFIG_FILE and conflict_of(path) not in stores:
            for blob in sorted(blobs):
                content = targets.blob(blob).decode("utf-8", "replace")
                if wanted in content.casefold():
                    _add_file(targets, path, blob, content)


def _holds(targets: ForgetTargets, record: Record, wanted: str) -> bool:
    body = record.body
    if needs_blob(body):
        with suppress(GitmemError):  # head and tail are what is left of it
            body = targets.parts.ledger.full_body(record)
    said = {name: value for name, value in body.items() if name not in _NAMES}
    return any(wanted in one.casefold() for one in strings(said))


def _add_file(targets: ForgetTargets, path: str, blob: str, content: str) -> None:
    folder, name = path.split("/", maxsplit=1)[0], read_front_matter(content).id
    if folder == EPISODES and name is not None:
        targets.add_episode(name, path, blob)
    elif folder == NOTES:
        ref = f"file:{file_id(path)}" if name is None else f"note:{name}"
        targets.add_versions(ref, "note", path, {blob: path})
    else:
        targets.add_versions(f"file:{file_id(path)}", "file", path, {blob: path})
