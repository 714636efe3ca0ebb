"""What was judged: statements that were retracted or rejected, folded from the ledger's records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from gitmem.entries import entry_digest
from gitmem.records import Json, Record

#: Target of the `memory` records that judge; other targets are files that were changed.
JUDGEMENT: Final = "judgement"
RETRACT: Final = "retract"
REJECT: Final = "reject"
LIFT: Final = "lift"

#: Raise this when `judgement_rows` keeps something else of the same record.
ROWS_VERSION: Final = 1

Kind = Literal["retracted", "rejected"]
_KINDS: Final[Mapping[str, Kind]] = {RETRACT: "retracted", REJECT: "rejected"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """Why something is no longer said, or must not be said again.

    Attributes:
        at: when, RFC 3339.
        by: `agent` or `operator`.
        source_ref: the record of the judgement, which tells the whole of it.
        ref: what was retracted; of a rejected proposal the message that had led to it, if one is known.
        replaced_by: what is true instead, if that was said.
        statement: the words that were retracted, where they are nowhere else: of an entry.
    """

    kind: Kind
    at: str
    by: str
    reason: str | None
    source_ref: str
    ref: str | None = None
    replaced_by: str | None = None
    statement: str | None = None

    @property
    def sentence(self) -> str:
        """What happened and what is true instead, in the words of whoever said it."""
        why = f": {self.reason}" if self.reason else ""
        instead = f" Instead: {_ended(self.replaced_by)}" if self.replaced_by else ""
        return _ended(f"{self.verdict}{why}") + instead

    @property
    def verdict(self) -> str:
        """What happened, in no words but gitmem's own."""
        return f"{self.kind} by the {self.by} on {self.at[:10]}"

    def as_metadata(self) -> dict[str, Any]:
        """Return it as a hit and `get` show it."""
        facts = {"at": self.at, "by": self.by, "reason": self.reason, "with": self.replaced_by}
        return {**facts, "source_ref": self.source_ref}


@dataclass(frozen=True, slots=True)
class JudgementRow:
    """One judging record without its texts, as it is kept for each segment.

    Attributes:
        order: clock, writer and number: later ones win.
        subject: the ref that is judged, as `subject_of` gives it.
        digests: of the text that is judged.
    """

    order: tuple[str, str, int]
    id: str
    action: str
    subject: str | None
    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgementIndex:
    """What stands after all judgements, by what they judge; the values are ids of records.

    Attributes:
        refs: of retracted statements.
        texts: of digests of retracted and rejected texts.
    """

    refs: Mapping[str, str]
    texts: Mapping[str, str]


def text_digests(text: str) -> tuple[str, ...]:
    """Return by what a text is known again: as it stands, and without case, spacing and full stop."""
    plain = text.strip()
    folded = " ".join(plain.casefold().split()).rstrip(".!。！ ")
    return (entry_digest(plain), entry_digest(f"folded\0{folded}")) if folded else (entry_digest(plain),)


def subject_of(ref: str) -> str:
    """Return a ref; of a tool execution its first one: what is judged is the whole of it."""
    kind, _, rest = ref.partition(":")
    return f"{kind}:{rest.partition(':')[0]}:cmd" if kind == "tool_execution" else ref


def judgement_body(
    action: str,
    *,
    by: str,
    ref: str | None = None,
    text: str | None = None,
    replaced_by: str | None = None,
    reason: str | None = None,
    source: str | None = None,
    digests: Sequence[str] = (),
    statement: str | None = None,
) -> dict[str, Any]:
    """Return the body of a judging record; of the text it holds digests only, unless it is to keep it.

    Args:
        action: `retract`, `reject` or `lift`.
        by: `agent` or `operator`.
        ref: what is judged, if it has an address.
        text: what is judged, by its words.
        replaced_by: what is true instead.
        reason: in words.
        source: ref of the message that led to it.
        digests: instead of `text`.
        statement: what is judged, to be kept because it leaves the place where it stands.
    """
    known = list(digests) or (list(text_digests(text)) if text and text.strip() else [])
    body = {"target": JUDGEMENT, "action": action, "by": by, "ref": ref, "digests": known}
    body |= {"with": replaced_by, "reason": reason, "source": source, "statement": statement}
    return {name: value for name, value in body.items() if value not in (None, [])}


def judgement_row(record_id: str, kind: str, body: Json, order: tuple[str, str, int]) -> JudgementRow | None:
    """Return a record as a row, None if it judges nothing."""
    if kind != "memory" or body.get("target") != JUDGEMENT:
        return None
    action, ref, digests = body.get("action"), body.get("ref"), body.get("digests")
    subject = subject_of(ref) if isinstance(ref, str) else None
    known = tuple(d for d in digests if isinstance(d, str)) if isinstance(digests, list) else ()
    return JudgementRow(order, record_id, action if isinstance(action, str) else "", subject, known)


def to_row(row: JudgementRow) -> list[Any]:
    """Return a row as JSON data."""
    return [list(row.order), row.id, row.action, row.subject, list(row.digests)]


def from_row(data: Sequence[Any]) -> JudgementRow:
    """Return the row that `to_row` gave."""
    (clock, writer, seq), record_id, action, subject, digests = data
    return JudgementRow((clock, writer, seq), record_id, action, subject, tuple(digests))


def fold_judgements(rows: Iterable[JudgementRow]) -> JudgementIndex:
    """Return what stands: of several judgements of one thing the last one by clock.

    Lifting takes back what it names, by ref or by digest; retracting the record of a judgement lifts it.
    """
    refs: dict[str, str] = {}
    texts: dict[str, str] = {}
    known: dict[str, JudgementRow] = {}
    for row in sorted(rows, key=lambda one: (one.order, one.id)):
        if row.id in known:  # seen in the spool and on the line
            continue
        known[row.id] = row
        lifted = known.get((row.subject or "").removeprefix("memory:"))
        if row.action == LIFT or lifted is not None:
            _forget(refs, texts, lifted or row)
        elif row.action in _KINDS:
            texts.update(dict.fromkeys(row.digests, row.id))
            if row.action == RETRACT and row.subject:
                refs[row.subject] = row.id
    return JudgementIndex(refs, texts)


def judgement_of(record: Record) -> Judgement | None:
    """Return what a record judges, None where it does not or was forgotten."""
    kind = _KINDS.get(str(record.body.get("action")))
    if record.redacted or record.body.get("target") != JUDGEMENT or kind is None:
        return None
    body = record.body
    return Judgement(
        kind=kind,
        at=record.ts,
        by=str(body.get("by") or "agent"),
        reason=_text(body.get("reason")),
        source_ref=f"memory:{record.id}",
        ref=_text(body.get("ref")) or _text(body.get("source")),
        replaced_by=_text(body.get("with")),
        statement=_text(body.get("statement")),
    )


def kept_statement(body: Json) -> tuple[str, str] | None:
    """Return ref and words of an entry that a record takes back and keeps; None where it keeps none."""
    ref, statement = _text(body.get("ref")), _text(body.get("statement"))
    if (body.get("target"), body.get("action")) != (JUDGEMENT, RETRACT) or not ref or not statement:
        return None
    return (ref, statement) if ref.startswith("entry:") else None


def _forget(refs: dict[str, str], texts: dict[str, str], lifted: JudgementRow) -> None:
    if lifted.subject is not None:
        refs.pop(lifted.subject, None)
    for digest in lifted.digests:
        texts.pop(digest, None)


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "。", "！", "？")) else f"{sentence}."


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
