"""What a prompt says of one past turn: a line for each thing that counts, none for what does not.

The operator's words first, then what came of the turn. Tool calls are one line, and one more for each that
went wrong. An acknowledgement is no outcome and never shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from gitmem.counted import counted
from gitmem.graphemes import cut_at
from gitmem.judgement_rules import subject_of
from gitmem.message_authority import Voice, origin_name, voice_of
from gitmem.open_question import OpenQuestion, find_question
from gitmem.quoting import quote_line
from gitmem.records import Json, Record
from gitmem.turn_evidence import TurnEvidence

#: What a line tells; earlier ones are shown first where not all fit.
LineKind = Literal["operator", "input", "question", "result", "answer", "alert", "decision", "tools", "state"]

_WEIGHTS: Final[Mapping[LineKind, int]] = {
    "operator": 0,
    "input": 1,
    "question": 2,
    "result": 3,
    "answer": 4,
    "alert": 5,
    "decision": 6,
    "tools": 7,
    "state": 8,
}
_LABELS: Final[Mapping[Voice, str]] = {
    "operator": "operator instruction",
    "runtime": "runtime input",
    "external": "external evidence",
}
#: A message that is not longer shows its question by itself.
_SHORT: Final = 400
#: Characters at most of what is true instead of what was retracted.
_CORRECTION: Final = 240
_ROLLUP_REFS: Final = 6
_FAILED: Final = frozenset({"error", "failed", "failure", "interrupted"})
_OUTCOMES: Final = frozenset({"result", "failure"})
_NOTABLE: Final = frozenset({"promoted", "already_running", "truncated"})


@dataclass(frozen=True, slots=True)
class TurnLine:
    """One thing that a turn shows.

    Attributes:
        place: among the turn's lines, in the order in which things happened.
        label: what it is, in our words.
        ref: under which all of it can be read.
        text: as it was recorded.
    """

    kind: LineKind
    place: int
    label: str
    ref: str
    text: str

    @property
    def weight(self) -> tuple[int, int]:
        """Sort key: the most important line of a turn first, of equal ones the newest result or alert."""
        newest_first = self.kind in ("result", "alert", "state")
        return _WEIGHTS[self.kind], -self.place if newest_first else self.place


def lines_of(evidence: TurnEvidence) -> tuple[TurnLine, ...]:
    """Return what a turn shows, in the order in which it happened."""
    own = [record for record in evidence.records if is_own(record, evidence) and not record.redacted]
    asked = question_of(own)
    has_result = any(_is_result(record) for record in own)
    final = _final_answer(own)
    lines: list[TurnLine] = []
    for place, record in enumerate(own):
        lines += _record_lines(record, place)
        if record is final:
            lines += _answer_lines(record, place, asked, has_result=has_result)
    return (*lines, *_tools(own))


def correction_of(line: TurnLine, corrections: Mapping[str, str]) -> str:
    """Return what stands behind a line's ref if what it tells was retracted; else nothing.

    Args:
        line: of a turn.
        corrections: ref of what was retracted -> what is true instead, empty if nobody said.
    """
    told = corrections.get(subject_of(line.ref))
    if told is None:
        return ""
    instead = quote_line(told)
    instead = instead[: cut_at(instead, _CORRECTION)]
    return f", retracted: what is true is '{instead}'; it said" if instead else ", retracted; it said"


def is_own(record: Record, evidence: TurnEvidence) -> bool:
    """Say whether a record belongs to a turn, by its own word."""
    return record.turn == evidence.id and record.writer == evidence.turn.writer


def foreign_records(evidence: TurnEvidence) -> Iterator[str]:
    """Yield a warning of everything that a turn names or holds and that is not its own."""
    own = {record.id for record in evidence.records if is_own(record, evidence)}
    for record in evidence.records:
        if record.id not in own:
            yield f"turn:{evidence.id} holds {record.source_ref}, which belongs to turn:{record.turn}"
    for cited in _cited(evidence.turn.body):
        if cited not in own:
            yield f"turn:{evidence.id} cites {cited}, which is not its own"


def question_of(records: Iterable[Record]) -> OpenQuestion | None:
    """Return what a turn's last answer asks, if it ends in a question."""
    final = _final_answer(list(records))
    return find_question(_text(final)) if final is not None else None


def final_answer(evidence: TurnEvidence) -> Record | None:
    """Return a turn's last message of the agent, unless somebody else spoke after it."""
    own = [record for record in evidence.records if is_own(record, evidence) and not record.redacted]
    return _final_answer(own)


def _final_answer(records: list[Record]) -> Record | None:
    said = [record for record in records if record.kind == "message" and _text(record).strip()]
    said = [record for record in said if voice_of(record.body) != "tool"]
    return said[-1] if said and voice_of(said[-1].body) == "assistant" else None


def _record_lines(record: Record, place: int) -> Iterator[TurnLine]:
    body, text = record.body, _text(record)
    if record.kind == "message" and text.strip():
        voice = voice_of(body)
        if voice in _LABELS:
            kind: LineKind = "operator" if voice == "operator" else "input"
            yield TurnLine(kind, place, _input_label(voice, body), record.source_ref, text)
    elif _is_result(record):
        yield TurnLine("result", place, str(body["brief_kind"]), record.source_ref, text)
    elif record.kind == "decision" and text.strip():
        because = body.get("because")
        whole = f"{text} (because: {because})" if isinstance(because, str) and because else text
        yield TurnLine("decision", place, "decision", record.source_ref, whole)
    elif record.kind == "tool_execution":
        alert = _alert(body)
        if alert:
            yield TurnLine("alert", place, alert, f"tool_execution:{record.id}:output", _said(body))
    elif record.kind in ("task", "wait", "work_item"):
        yield TurnLine("state", place, *_state(record))


def _answer_lines(
    record: Record, place: int, asked: OpenQuestion | None, *, has_result: bool
) -> Iterator[TurnLine]:
    text = _text(record)
    if asked is not None and len(text) <= _SHORT:
        yield TurnLine("question", place, "answer that ends in a question", record.source_ref, text)
        return
    if asked is not None:
        yield TurnLine("question", place, "question that it ended in", record.source_ref, asked.text)
    if not has_result or asked is None:
        yield TurnLine("answer", place, "answer", record.source_ref, text)


def _input_label(voice: Voice, body: Json) -> str:
    origin = origin_name(body.get("origin"))
    author = body.get("author")
    by = f" by {author}" if isinstance(author, str) and author else ""
    return f"{_LABELS[voice]}{f', {origin}' if origin and voice != 'operator' else ''}{by}"


def _is_result(record: Record) -> bool:
    is_brief = record.kind == "brief" and _is_one_of(record.body.get("brief_kind"), _OUTCOMES)
    return is_brief and bool(_text(record).strip())


def _tools(records: list[Record]) -> Iterator[TurnLine]:
    """Yield the line that stands for all tool calls of a turn."""
    calls = [record for record in records if record.kind == "tool_execution"]
    if not calls:
        return
    names = Counter(str(record.body.get("tool", "?")) for record in calls)
    states = Counter(str(record.body.get("status") or "unknown") for record in calls)
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    used = ", ".join(f"{name} {count}" for name, count in names.most_common(_ROLLUP_REFS))
    refs = " ".join(record.source_ref for record in calls[:_ROLLUP_REFS])
    more = f" +{len(calls) - _ROLLUP_REFS} more" if len(calls) > _ROLLUP_REFS else ""
    text = f"{counted(len(calls), 'call')}, {told} ({used}); {refs}{more}"
    yield TurnLine("tools", len(records), "tools", "", text)


def _alert(body: Json) -> str:
    """Return what is to be noted of a tool call; empty where nothing is."""
    notes = [str(body["status"])] if _is_one_of(body.get("status"), _FAILED) else []
    code = body.get("exit_code")
    if isinstance(code, int) and not isinstance(code, bool) and code != 0:
        notes.append(f"exit code {code}")
    failed = sum(map(_is_failed, _items(body.get("output"))))
    if failed:
        notes.append(f"{failed} of its items failed")
    notes += [name.replace("_", " ") for name in sorted(_NOTABLE) if body.get(name) is True]
    if _is_one_of(body.get("disposition"), _NOTABLE):
        notes.append(body["disposition"].replace("_", " "))
    if body.get("artifact") or body.get("artifacts"):
        notes.append("artifact")
    return f"! {body.get('tool', 'tool')}: {', '.join(dict.fromkeys(notes))}" if notes else ""


def _items(output: Any) -> list[Any]:
    if isinstance(output, Mapping):
        output = next((output[key] for key in ("items", "results") if isinstance(output.get(key), list)), [])
    return output if isinstance(output, list) else []


def _is_failed(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    code = item.get("exit_code")
    is_error = isinstance(code, int) and not isinstance(code, bool) and code != 0
    return is_error or _is_one_of(item.get("status"), _FAILED)


def _is_one_of(value: Any, names: frozenset[str]) -> bool:
    return isinstance(value, str) and value in names


def _said(body: Json) -> str:
    """Return what a tool call says of itself: its summary, else the last line of its output."""
    if isinstance(body.get("summary"), str) and body["summary"].strip():
        return str(body["summary"])
    output = body.get("output")
    lines = output.strip().splitlines() if isinstance(output, str) else []
    return lines[-1] if lines else ""


def _state(record: Record) -> tuple[str, str, str]:
    """Return label, ref and text of what happened to a task, a wait or a work item."""
    body = record.body
    what = body.get("action") if record.kind == "work_item" else record.status or body.get("status")
    texts = (body.get(name) for name in ("waiting_for", "summary", "objective", "reason"))
    text = next((one for one in texts if isinstance(one, str) and one.strip()), "")
    return f"{record.kind.replace('_', ' ')} {what or ''}".strip(), record.source_ref, text


def _cited(body: Json) -> Iterator[str]:
    """Yield the ids of records that a turn's own record names, as imported ones do."""
    for name in ("input_message_ids", "tool_execution_ids", "produced_brief_ids"):
        ids = body.get(name)
        if isinstance(ids, list):
            yield from (one for one in ids if isinstance(one, str))


def _text(record: Record) -> str:
    text = record.body.get("text")
    return text if isinstance(text, str) else ""
