"""A remote over Git's protocol: the same three questions, whatever leads there."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final, Self

from gitmem.errors import RemoteError, RemoteMisbehaved
from gitmem.git_transport.conversation import Begin, Conversation
from gitmem.git_transport.deadline import Deadline
from gitmem.git_transport.failures import failure
from gitmem.git_transport.fetching import UploadPack
from gitmem.git_transport.greeting import Greeting, ServerSaysNo, read_greeting
from gitmem.git_transport.pack_arrival import Store, take_in
from gitmem.git_transport.pack_sending import outgoing_pack
from gitmem.git_transport.pkt_line import PacketReader
from gitmem.git_transport.pushing import send_updates
from gitmem.push_rules import check_updates, judge_update
from gitmem.remote_repository import FetchedPack, RefOutcome, RefUpdate, RemoteRefs

#: A connection left alone for longer is not used again: the server may have given up.
_IDLE: Final = 5.0
#: From how many of the remote's branches history is followed, when a push looks for what it lacks.
_MOST_LANDMARKS: Final = 256
#: What Git says of a delta whose base it does not find.
_UNRESOLVED: Final = "unresolved delta"


class GitRemote:
    """The `RemoteRepository` protocol over Git's own.

    Args:
        begin: begins a conversation.
        shown: the URL, without a password.
        store: the own store.
        git: Git's program, where there is one.
    """

    def __init__(self, begin: Begin, shown: str, store: Store, git: str | None) -> None:
        self._begin = begin
        self._shown = shown
        self._store = store
        self._git = git
        self._source: UploadPack | None = None
        self._last = 0.0

    def __enter__(self) -> Self:
        """Return the remote."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the connection."""
        self.close()

    def refs(self, prefixes: Sequence[str] = ()) -> RemoteRefs:
        """Return the remote's refs."""
        deadline = self._deadline()
        self.close()  # what an old conversation showed may not be so any more
        with self._closed_on_failure():
            found = self._upload_pack(deadline).refs(prefixes)
        self._last = time.monotonic()
        return found

    @contextmanager
    def fetch(self, wants: Sequence[str], haves: Sequence[str] = ()) -> Iterator[FetchedPack]:
        """Bring objects into the own store as one pack."""
        deadline = self._deadline()
        missing = [want for want in dict.fromkeys(wants) if not self._store.repository.contains(want)]
        if not missing:
            yield FetchedPack()
            return
        with self._arriving(missing, haves, deadline) as pack:
            # The server has nothing more to say; whoever moves refs now need not keep it waiting.
            self.close()
            yield pack

    def push(self, updates: Sequence[RefUpdate]) -> tuple[RefOutcome, ...]:
        """Move refs of the remote."""
        check_updates(updates, self._store.repository)
        if not updates:
            return ()
        deadline = self._deadline()
        self.close()
        outcomes = self._pushed(updates, deadline, thin=True)
        if any(_UNRESOLVED in outcome.reason for outcome in outcomes):
            # The remote lacks what it should have behind its refs; what is new can go all the same.
            outcomes = self._pushed(updates, deadline, thin=False)
        return outcomes

    def close(self) -> None:
        """End the connection and every process that serves it."""
        source, self._source = self._source, None
        if source is not None:
            source.conversation.close()

    @contextmanager
    def _arriving(
        self, wants: Sequence[str], haves: Sequence[str], deadline: Deadline
    ) -> Iterator[FetchedPack]:
        with ExitStack() as held:
            with self._closed_on_failure():
                source = self._upload_pack(deadline)
                answer = source.pack(wants, haves, self._edges())
                try:
                    pack = held.enter_context(take_in(answer, self._store, wants, deadline.remaining))
                except RemoteMisbehaved as error:
                    if not source.shallow:
                        raise
                    message = f"the history at {self._shown} is cut off, and a part of it is needed here"
                    raise RemoteError(message, hint="Run `git fetch --unshallow` there.") from error
            yield pack

    def _pushed(
        self, updates: Sequence[RefUpdate], deadline: Deadline, *, thin: bool
    ) -> tuple[RefOutcome, ...]:
        with self._named():
            conversation = self._begin("git-receive-pack", deadline)
            try:
                return self._answered(conversation, updates, deadline, thin=thin)
            finally:
                conversation.close()

    def _answered(
        self, conversation: Conversation, updates: Sequence[RefUpdate], deadline: Deadline, *, thin: bool
    ) -> tuple[RefOutcome, ...]:
        own, limits = self._store.repository, self._store.limits
        greeting = read_greeting(PacketReader(conversation.greeting(), limits.answer_bytes))
        refs = greeting.refs.refs
        decided = {update.name: self._decided(update, greeting) for update in updates}
        asked = [update for update in updates if decided[update.name] is None]
        made: dict[str, RefOutcome | None] = dict(decided)
        if asked:
            tips = [update.new for update in asked if update.new is not None]
            pack = outgoing_pack(
                own,
                self._store.layout,
                tips,
                set(refs.values()),
                _landmarks(asked, greeting),
                thin=thin and not greeting.can("no-thin"),
                git=self._git,
                deadline=deadline,
            )
            outcomes = send_updates(conversation, greeting, asked, pack, limits.answer_bytes)
            made |= {outcome.name: outcome for outcome in outcomes}
        return tuple(made[update.name] or RefOutcome(update.name) for update in updates)

    def _decided(self, update: RefUpdate, greeting: Greeting) -> RefOutcome | None:
        decided = judge_update(update, greeting.refs.refs, self._store.repository)
        if decided is None and update.new is None and not greeting.can("delete-refs"):
            return RefOutcome(update.name, "refused", "the remote deletes no refs")
        return decided

    def _upload_pack(self, deadline: Deadline) -> UploadPack:
        """Return a conversation in which a question may be asked."""
        source = self._source
        if source is not None and not source.spent and time.monotonic() - self._last < _IDLE:
            source.conversation.limit(deadline)
            return source
        self.close()
        conversation = self._begin("git-upload-pack", deadline)
        try:
            self._source = UploadPack(conversation, self._store.limits)
        except BaseException:
            conversation.close()
            raise
        return self._source

    @contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            with self._named():
                yield
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say of an error which remote it is about."""
        try:
            yield
        except ServerSaysNo as error:
            raise failure(self._shown, error.said) from error
        except RemoteError as error:
            error.details.setdefault("url", self._shown)
            raise

    def _edges(self) -> list[str]:
        """Return the commits at which the own history is cut off, where it is a shallow clone."""
        try:
            text = (self._store.layout.common_dir / "shallow").read_text("ascii", "replace")
        except FileNotFoundError:
            return []
        return text.split()

    def _deadline(self) -> Deadline:
        return Deadline(self._store.limits.seconds, self._shown, self._store.limits.given)


def _landmarks(updates: Sequence[RefUpdate], greeting: Greeting) -> list[str]:
    """Return where to follow history from: what the refs are now, then the remote's other branches."""
    first = [update.old for update in updates if update.old is not None]
    refs = greeting.refs.refs
    branches = (value for name, value in refs.items() if name.startswith("refs/heads/"))
    return list(dict.fromkeys([*first, *branches]))[:_MOST_LANDMARKS]
