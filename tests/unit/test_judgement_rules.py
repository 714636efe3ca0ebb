"""What was judged, folded from records: which judgement stands, and by which words a text is known again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.judgement_rules import (
    LIFT,
    REJECT,
    RETRACT,
    JudgementRow,
    fold_judgements,
    from_row,
    judgement_body,
    judgement_of,
    judgement_row,
    subject_of,
    text_digests,
    to_row,
)
from gitmem.records import Record

WORDS = st.lists(
    st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8), min_size=1, max_size=6
)


def row(name: str, action: str, subject: str | None = None, *, at: int = 1, text: str = "") -> JudgementRow:
    """Return a judging record as it is folded."""
    return JudgementRow(
        (f"{at:016x}", "w00000001", at), name, action, subject, text_digests(text) if text else ()
    )


def record(body: dict[str, Any], *, redacted: bool = False) -> Record:
    """Return a `memory` record with a body."""
    ts = "2026-03-02T09:00:00.000Z"
    return Record("mem_1", "memory", ts, "turn_1", body, "w00000001", 1, "1", redacted=redacted)


class TestDigests:
    """A text is known again when it is said again, not when something else is."""

    @given(WORDS, st.sampled_from([" ", "\n", "\t ", "  \n"]), st.sampled_from(["", ".", " . ", "!", "。"]))
    def test_case_spacing_and_full_stop_do_not_count(self, words: list[str], gap: str, end: str) -> None:
        """Trivial rephrasing is no new proposal."""
        said = set(text_digests(" ".join(words)))
        again = f" {gap.join(words).swapcase()}{end}"
        folded = " ".join(words).casefold() == " ".join(words).swapcase().casefold()
        assert bool(said & set(text_digests(again))) or not folded

    @given(WORDS, WORDS)
    def test_other_words_are_another_text(self, one: list[str], two: list[str]) -> None:
        """Nothing is refused because it looks alike."""
        if " ".join(one).casefold() != " ".join(two).casefold():
            assert not set(text_digests(" ".join(one))) & set(text_digests(" ".join(two)))

    def test_signs_alone_are_only_themselves(self) -> None:
        """A text without words is not the same as every other one without words."""
        assert not set(text_digests("...")) & set(text_digests("!"))


class TestFold:
    """Of several judgements the last one stands."""

    def test_a_retraction_marks_its_ref_and_its_text(self) -> None:
        """Searches ask by ref, the memory tool by text."""
        index = fold_judgements([row("a", RETRACT, "message:m", text="Port 22")])
        assert index.refs == {"message:m": "a"}
        assert set(index.texts.values()) == {"a"}

    def test_a_rejection_marks_no_ref(self) -> None:
        """The message that led to a rejected proposal may well be true."""
        index = fold_judgements([row("a", REJECT, "message:m", text="Port 22")])
        assert index.refs == {}
        assert set(index.texts.values()) == {"a"}

    def test_lifting_takes_back_ref_and_text(self) -> None:
        """What an operator says again is no longer retracted."""
        rows = [row("a", RETRACT, "entry:e", at=1, text="P"), row("b", LIFT, "entry:e", at=2, text="P")]
        index = fold_judgements(rows)
        assert (index.refs, index.texts) == ({}, {})

    def test_what_is_judged_again_is_judged(self) -> None:
        """Clocks decide, not the order in which machines are read."""
        rows = [
            row("c", RETRACT, "entry:e", at=3, text="P"),
            row("b", LIFT, "entry:e", at=2, text="P"),
            row("a", RETRACT, "entry:e", at=1, text="P"),
        ]
        assert fold_judgements(rows).refs == {"entry:e": "c"}

    def test_a_retracted_retraction_is_lifted(self) -> None:
        """The way back from a retraction of something that nobody can say again, like a message."""
        rows = [row("a", RETRACT, "message:m", at=1, text="P"), row("b", RETRACT, "memory:a", at=2)]
        index = fold_judgements(rows)
        assert (index.refs, index.texts) == ({}, {})

    def test_a_record_in_spool_and_ledger_counts_once(self) -> None:
        """A turn that moves to its line is seen twice, but not after what lifted it."""
        spooled = JudgementRow(("~", "", 0), "a", RETRACT, "message:m", ())
        rows = [row("a", RETRACT, "message:m", at=1), row("b", RETRACT, "memory:a", at=2), spooled]
        assert fold_judgements(rows).refs == {}

    @given(
        st.permutations(
            [
                row(n, a, "entry:e", at=i)
                for i, (n, a) in enumerate(zip("abc", [RETRACT, LIFT, RETRACT], strict=True))
            ]
        )
    )
    def test_the_order_of_reading_does_not_count(self, rows: list[JudgementRow]) -> None:
        """Every clone comes to the same."""
        assert fold_judgements(rows).refs == {"entry:e": "c"}


class TestRecords:
    """From a record and back."""

    def test_the_text_is_not_in_the_record(self) -> None:
        """A rejected text may be one that nobody wants kept."""
        body = judgement_body(REJECT, by="operator", text="do not keep this", reason="wrong")
        assert "do not keep this" not in str(body)

    def test_a_row_survives_its_file(self) -> None:
        """Rows are kept for each segment."""
        one = row("a", RETRACT, "message:m", text="P")
        assert from_row(to_row(one)) == one

    @pytest.mark.parametrize("body", [{}, {"target": "note", "action": "edit"}, {"target": "judgement"}])
    def test_other_records_judge_nothing(self, body: dict[str, Any]) -> None:
        """Most `memory` records tell of files."""
        assert judgement_of(record(body)) is None

    def test_a_forgotten_judgement_says_nothing(self) -> None:
        """What was forgotten is gone, its reason too."""
        body = judgement_body(RETRACT, by="operator", ref="message:m", reason="secret")
        assert judgement_of(record(body, redacted=True)) is None

    @given(
        st.dictionaries(
            st.sampled_from(["action", "ref", "digests", "by"]), st.none() | st.integers() | st.text()
        )
    )
    def test_foreign_fields_are_no_error(self, fields: dict[str, Any]) -> None:
        """The ledger may come from a later version."""
        body = {"target": "judgement", **fields}
        found = judgement_row("mem_1", "memory", body, ("1", "w", 1))
        assert found is not None
        fold_judgements([found])
        judgement_of(record(body))

    def test_it_is_told_in_sentences(self) -> None:
        """Agents and people read it."""
        body = judgement_body(
            RETRACT, by="operator", ref="message:m", replaced_by="It is 2222", reason="moved"
        )
        judgement = judgement_of(record(body))
        assert judgement is not None
        assert judgement.sentence == "retracted by the operator on 2026-03-02: moved. Instead: It is 2222."


def test_a_tool_execution_is_judged_as_a_whole() -> None:
    """Its command, output and streams are parts of one record."""
    assert subject_of("tool_execution:tool_1:stdout") == subject_of("tool_execution:tool_1:cmd")
    assert subject_of("message:m") == "message:m"
