"""Hints from the kernel through watchdog; the only file that imports it.

On Linux its lower layer (`InotifyFD`) is used, not its observer. The observer does not tell of a queue that
overflowed, passes over folders for which no watch could be had, and at times holds all events behind a rename
for half a second, which is how Git moves a ref. Elsewhere its observer is used as it is.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final, Protocol

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from gitmem.changes import HintBuffer, Hints
from gitmem.layout import Layout
from gitmem.mounts import shared_mount
from gitmem.watched import Area, Scope

if sys.platform == "linux":
    from watchdog.observers.inotify_c import CallbackId, InotifyEvent, InotifyFD, Mask, WatchDescriptor
    from watchdog.observers.inotify_c import InotifyConstants as In

#: Seconds after which watching is tried again where it was refused.
RETRY_AFTER: Final = 300.0
#: Losses within a minute after which it is given up for as long; each costs a look at everything.
MOST_LOSSES: Final = 10

_LIMITS: Final = {
    errno.ENOSPC: "inotify watch limit reached (fs.inotify.max_user_watches)",
    errno.EMFILE: "inotify instance limit reached (fs.inotify.max_user_instances, or open files: ulimit -n)",
    errno.ENFILE: "limit of open files reached (fs.file-max)",
    errno.ENOMEM: "no memory for inotify watches",
}


class Tap(Protocol):
    """What puts hints into the buffer until it is closed."""

    def intact(self) -> str | None:
        """Return why hints may have been lost or no longer come; None while all is well."""
        ...

    def close(self) -> None:
        """Stop; may be called twice."""
        ...


OpenTap = Callable[[Scope, HintBuffer], Tap]


class WatchdogChanges:
    """Hints about one home from the operating system, with polling by the caller where it has none to give.

    Args:
        layout: the folders of the home.
        open_tap: connects to the operating system; raises OSError where it refuses.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        open_tap: OpenTap | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._layout = layout
        self._scope = Scope(layout)
        self._buffer = HintBuffer()
        self._open_tap = open_tap or open_native_tap
        self._clock = clock
        self._tap: Tap | None = None
        self._refused: str | None = None
        self._shared: str | None = None
        self._retry_at = 0.0
        self._losses: deque[float] = deque(maxlen=MOST_LOSSES)
        self._started = False

    def start(self) -> None:
        """Begin to watch."""
        self.stop()
        self._buffer.clear()
        self._shared = shared_mount(self._layout.root)
        self._open()
        self._started = True

    def stop(self) -> None:
        """End watching."""
        self._started = False
        if self._tap is not None:
            self._tap.close()
            self._tap = None

    def wait(self, timeout: float) -> Hints:
        """Return the next set of hints; after a loss, watch everything anew and then hand on the doubt."""
        hints = self._buffer.wait(timeout)
        loss = self._loss() if self._started else None
        return hints | self._reopen(loss) if loss else hints

    def wake(self) -> None:
        """Let `wait` return."""
        self._buffer.wake()

    def alive(self) -> bool:
        """Say whether hints, or the caller's polling, can find changes."""
        return self._started and (self._tap is None or self._tap.intact() is None)

    def degraded(self) -> str | None:
        """Return why the caller has to poll."""
        if self._refused:
            return f"polling, {self._refused}"
        return f"polling, {self._shared} does not tell what others change" if self._shared else None

    def _loss(self) -> str | None:
        if self._tap is not None:
            return self._tap.intact()
        return "trying to watch again" if self._clock() >= self._retry_at else None

    def _reopen(self, loss: str) -> Hints:
        now = self._clock()
        if self._tap is not None:
            self._tap.close()
            self._tap = None
            self._losses.append(now)
        if len(self._losses) == MOST_LOSSES and now - self._losses[0] < 60:
            self._losses.clear()
            self._refuse(f"notifications failed {MOST_LOSSES} times within a minute ({loss})")
        else:
            self._open()
        return Hints(doubt=loss)

    def _refuse(self, reason: str) -> None:
        self._refused = reason
        self._retry_at = self._clock() + RETRY_AFTER

    def _open(self) -> None:
        try:
            self._tap, self._refused = self._open_tap(self._scope, self._buffer), None
        except OSError as error:
            self._refuse(_reason(error))


def _reason(error: OSError) -> str:
    number = error.errno or 0
    return _LIMITS.get(number) or f"the home cannot be watched ({os.strerror(number)})"


def open_native_tap(scope: Scope, buffer: HintBuffer) -> Tap:
    """Connect to what this operating system has.

    Raises:
        OSError: a limit is reached or a folder cannot be watched.
    """
    return InotifyTap(scope, buffer) if sys.platform == "linux" else ObserverTap(scope, buffer)


def hints_at(scope: Scope, path: str, *, gone: bool) -> Hints:
    """Return what a change at an absolute path hints at."""
    area = scope.area_of(path)
    if area is Area.TREE:
        return Hints(frozenset({scope.tree_path(path) or ""}))
    if area is Area.INDEX:
        return Hints() if gone else Hints(doubt="a look at the index is asked for")
    # A ref that went is no new turn: it was packed, which is told by itself, or somebody removes the home, in
    # which nothing may be written then.
    return Hints(turns=area is Area.TURNS and not gone, state=area is Area.STATE)


class ObserverTap(FileSystemEventHandler):
    """watchdog's observer over whole trees, for systems where a tree costs no more than a folder."""

    def __init__(self, scope: Scope, buffer: HintBuffer, observer: BaseObserver | None = None) -> None:
        self._scope = scope
        self._buffer = buffer
        self._observer: BaseObserver = observer or Observer()
        anchors = [folder for folder in scope.anchors if folder.is_dir()]
        for folder in anchors:
            if not any(other in folder.parents for other in anchors):
                self._observer.schedule(self, str(folder), recursive=True)
        self._observer.start()

    def dispatch(self, event: FileSystemEvent) -> None:
        """Turn an event into hints; watchdog's thread would die of an exception."""
        if event.event_type in ("opened", "closed_no_write"):
            return
        # A folder is modified whenever a file in it comes or goes, which is told by itself.
        if event.is_directory and event.event_type == "modified":
            return
        try:
            came = event.dest_path or ("" if event.event_type == "deleted" else event.src_path)
            for path in (event.src_path, event.dest_path):
                if path:
                    self._buffer.add(hints_at(self._scope, os.fsdecode(path), gone=path != came))
        except Exception as error:  # noqa: BLE001 - the docstring says why
            self._buffer.add(Hints(doubt=f"{type(error).__name__} in the watching thread"))

    def intact(self) -> str | None:
        """Return whether a thread died, as it does when its folder is removed."""
        threads = (self._observer, *self._observer.emitters)
        return None if all(thread.is_alive() for thread in threads) else "the watching thread ended"

    def close(self) -> None:
        """Stop all threads."""
        self._observer.stop()
        if self._observer.ident is not None:
            self._observer.join()


if sys.platform == "linux":
    _IN_PLACE: Final = In.IN_CREATE | In.IN_DELETE | In.IN_MOVE | In.IN_CLOSE_WRITE
    _FOLDER_ITSELF: Final = In.IN_DELETE_SELF | In.IN_MOVE_SELF
    #: Not IN_OPEN, IN_ACCESS, IN_CLOSE_NOWRITE: reading is no change.
    _GIT_MASK: Final = _IN_PLACE | _FOLDER_ITSELF | In.IN_DONT_FOLLOW | In.IN_ONLYDIR
    #: IN_MODIFY for what is written without being closed, IN_ATTRIB for what becomes readable.
    _TREE_MASK: Final = _GIT_MASK | In.IN_MODIFY | In.IN_ATTRIB
    _GONE: Final = In.IN_DELETE | In.IN_MOVED_FROM
    _CAME: Final = In.IN_CREATE | In.IN_MOVED_TO

    class InotifyTap:
        """Watches exactly the folders that the scope enters, each by its own inotify watch."""

        def __init__(self, scope: Scope, buffer: HintBuffer) -> None:
            self._scope = scope
            self._buffer = buffer
            self._lock = threading.RLock()
            self._folders: dict[WatchDescriptor, tuple[str, CallbackId]] = {}
            self._ids = count(1)
            self._anchors = frozenset(map(str, scope.anchors))
            self._lost: str | None = None
            self._closed = False
            self._fd = InotifyFD()
            self._fd.start()
            try:
                for folder in self._anchors:
                    self._watch(folder)
                    self._watch_all(self._inner(folder))
            except OSError:
                self.close()
                raise

        def intact(self) -> str | None:
            """Return why hints were lost: overflow, an anchor that went, a limit met later, a dead thread."""
            if self._lost is None and not self._fd.is_alive():
                return "the watching thread ended"
            return self._lost

        def close(self) -> None:
            """Give all watches back."""
            if not self._closed:
                self._closed = True
                self._fd.stop()
                self._fd.join()

        def on_event(self, event: InotifyEvent) -> None:
            """Take one event; called by watchdog's thread, which would die of an exception."""
            try:
                with self._lock:
                    self._look_at(event)
            except OSError as error:
                self._lose(_reason(error))
            except Exception as error:  # noqa: BLE001 - the docstring says why
                self._lose(f"{type(error).__name__} in the watching thread")

        def on_watch_deleted(self, wd: WatchDescriptor) -> None:
            """Forget a folder that the kernel no longer watches."""
            with self._lock:
                folder, _ = self._folders.pop(wd, ("", None))
            if folder in self._anchors and not self._closed:
                self._lose("a folder of the home was removed")

        def on_queue_overflow(self) -> None:
            """Note that the kernel dropped events."""
            self._lose("the kernel dropped notifications (fs.inotify.max_queued_events)")

        def _lose(self, reason: str) -> None:
            self._lost = self._lost or reason
            self._buffer.add(Hints(doubt=reason))

        def _look_at(self, event: InotifyEvent) -> None:
            folder = self._folders.get(event.wd, ("", None))[0]
            if not folder or self._closed:
                return
            if not event.name:  # about the folder itself; for all but the anchors the one above tells it too
                if event.mask & _FOLDER_ITSELF and folder in self._anchors:
                    self._lose("a folder of the home was removed or moved")
                return
            path = f"{folder}/{os.fsdecode(event.name)}"
            if event.mask & In.IN_ISDIR and self._scope.enters(path):
                self._follow(event.mask, path)
            # Only now: whoever looks at a new folder must not miss what comes after.
            hints = hints_at(self._scope, path, gone=bool(event.mask & _GONE))
            if hints:
                self._buffer.add(hints)

        def _follow(self, mask: int, folder: str) -> None:
            if mask & _GONE:
                self._unwatch(folder)
            elif mask & (_CAME | In.IN_ATTRIB):
                self._watch_all([folder])

        def _watch_all(self, folders: list[str]) -> None:
            waiting = list(folders)
            while waiting:
                folder = waiting.pop()
                try:
                    self._watch(folder)
                    waiting += self._inner(folder)
                except OSError as error:
                    # Gone again, a link, or not ours to read: the folder above tells when that changes.
                    if error.errno in _LIMITS:
                        raise

        def _inner(self, folder: str) -> list[str]:
            with os.scandir(folder) as entries:
                inner = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            return [path for path in inner if self._scope.enters(path)]

        def _watch(self, folder: str) -> None:
            mask = _TREE_MASK if self._scope.tree_path(folder) else _GIT_MASK
            # A fresh id each time: the same folder under a new name has the same watch.
            mark = CallbackId(next(self._ids))
            with self._lock:
                wd = self._fd.add_callback(os.fsencode(folder), Mask(mask), self, mark)
                if wd == -1:  # watchdog's answer to EACCES
                    self._fd.remove_callbacks([(wd, mark)])
                    raise PermissionError(errno.EACCES, "cannot be watched", folder)
                old = self._folders.get(wd)
                self._folders[wd] = (folder, mark)
                if old:
                    self._fd.remove_callbacks([(wd, old[1])])

        def _unwatch(self, folder: str) -> None:
            gone = [
                (wd, mark)
                for wd, (path, mark) in self._folders.items()
                if path == folder or path.startswith(f"{folder}/")
            ]
            for wd, _ in gone:
                del self._folders[wd]
            self._fd.remove_callbacks(gone)
