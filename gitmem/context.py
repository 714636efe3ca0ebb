"""Contexts: assembling one, recording what it was made from, making it again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from gitmem import __version__
from gitmem.blocked_parts import Judge
from gitmem.context_assembly import AssembledContext, assemble
from gitmem.context_moment import Moment, moment_at, moment_now
from gitmem.context_reading import ContextReader, ReadContext
from gitmem.context_record import (
    ContextRequest,
    Measures,
    allowed_mark,
    assembly_body,
    check_same,
    request_of,
    tokenizer_mark,
    why_different,
)
from gitmem.findings import Finding
from gitmem.ledger import Ledger
from gitmem.records import Event, mint_id
from gitmem.repository import Repository
from gitmem.times import format_time
from gitmem.token_estimate import Tokenizer, estimate_tokens
from gitmem.turn_recorder import TurnRecorder

_PROGRAM: Final = f"gitmem {__version__}"
#: Judged texts that are kept: what stands in one context mostly stands in the next.
_KEPT: Final = 4_000


class KeptJudge:
    """Judges each text once, as long as this machine allows the same.

    Args:
        judge: the scanner.
        allowed: returns what this machine allows.
    """

    def __init__(self, judge: Judge, allowed: Callable[[], frozenset[str]]) -> None:
        self._judge = judge
        self._allowed = allowed
        self._known: tuple[frozenset[str], dict[bytes, Sequence[Finding]]] = (frozenset(), {})

    @property
    def allowed(self) -> frozenset[str]:
        """What this machine allows now."""
        return self._allowed()

    def renew(self) -> Judge:
        """Return a judge that holds for one context."""
        allowed = self._allowed()
        if self._known[0] != allowed or len(self._known[1]) > _KEPT:
            self._known = (allowed, {})
        known = self._known[1]

        def judge(text: str) -> Sequence[Finding]:
            # By digest: what is forgotten must not live on in here.
            key = sha256(text.encode("utf-8", "surrogatepass")).digest()
            if key not in known:
                known[key] = tuple(self._judge(text))
            return known[key]

        return judge


class Contexts:
    """Assembles contexts of one home.

    Args:
        repository: its objects and refs.
        ledger: its records.
        reader: reads what a context is made from.
        recorder: takes the record of one.
        judge: the scanner.
        now: the wall clock, seconds since 1970.
    """

    def __init__(
        self,
        repository: Repository,
        ledger: Ledger,
        reader: ContextReader,
        recorder: TurnRecorder,
        *,
        judge: KeptJudge,
        now: Callable[[], float],
    ) -> None:
        self._repository = repository
        self._ledger = ledger
        self._reader = reader
        self._recorder = recorder
        self._judge = judge
        self._now = now

    def assemble(self, request: ContextRequest, count: Tokenizer = estimate_tokens) -> AssembledContext:
        """Return a context of now.

        Raises:
            BudgetExceeded: what must be in it does not fit.
            UsageError: the environment is not what it should be.
        """
        moment = moment_now(self._repository, self._ledger, self._reader.last_told())
        return self._made(request, moment, count)[0]

    def record(self, request: ContextRequest, count: Tokenizer = estimate_tokens) -> AssembledContext:
        """Return a context of now, and record in a turn of its own what it was made from."""
        moment = moment_now(self._repository, self._ledger, self._reader.last_told())
        context, read = self._made(request, moment, count)
        body = assembly_body(request, context, read.loaded, moment.base, self._measures(count))
        event = Event(
            mint_id("assembly"), "assembly", format_time(self._now()), body, session=request.session
        )
        with self._recorder.open(session=request.session) as turn:
            turn.tell(event)
        commit = turn.receipt.committed or context.commit
        return replace(context, commit=commit, recorded=f"assembly:{event.id}")

    def assemble_past(
        self,
        request: ContextRequest,
        as_of: str,
        count: Tokenizer = estimate_tokens,
        *,
        is_now: bool = True,
        given: Collection[str] = (),
    ) -> AssembledContext:
        """Return a context as it was.

        Where the turn's commit holds the record of a context, that one is made again from what it names.

        Args:
            request: what is asked for where nothing was recorded.
            as_of: a turn's commit, a commit of the operator's branch, or a time in words.
            count: counts tokens.
            is_now: the caller named no time: then it is the moment's.
            given: fields of the request that the caller named.

        Raises:
            UsageError: a context was recorded, and what is given is not what that was asked for.
            NotFound: there is no such commit here.
        """
        moment = moment_at(self._repository, self._ledger, as_of, self._now())
        record = moment.recorded
        wanted = request_of(record.body, record.session) if record is not None else None
        if record is None or wanted is None:
            at = moment.at if is_now and moment.at is not None else request.now
            context, read = self._made(replace(request, now=at), moment, count)
            return replace(context, missing=read.missing)
        check_same(wanted, request, given)
        context, read = self._made(wanted, moment, count)
        is_exact = context.fingerprint == record.body.get("fingerprint")
        missing = () if is_exact else why_different(record.body, context, read.missing, self._measures(count))
        return replace(
            context,
            commit=moment.turn_commit,
            recorded=record.source_ref,
            exact=is_exact,
            missing=tuple(missing),
        )

    def _measures(self, count: Tokenizer) -> Measures:
        return Measures(_PROGRAM, allowed_mark(self._judge.allowed), tokenizer_mark(count))

    def _made(
        self, request: ContextRequest, moment: Moment, count: Tokenizer
    ) -> tuple[AssembledContext, ReadContext]:
        with self._ledger.still():  # the lines are looked at once, not by each part of it
            read = self._reader.read(request, moment)
        context = assemble(read.inputs, request.budget, count=count, judge=self._judge.renew())
        return replace(context, commit=moment.commit, head=moment.head), read
