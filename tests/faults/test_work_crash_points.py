"""A process is killed between any two steps of a turn that creates, or ends, a work item."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures import CounterClock, fsck, git, set_identity
from gitmem import AgentHome

#: Of a turn that has to do with a work item.
STEPS = ("sealed", "noticed", "announced", "packed", "moved", "copied", "remembered", "marked")


class Killed(BaseException):
    """Stands for a process that is gone: nothing catches it."""


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("action", ["create", "complete"])
def test_the_next_process_goes_on(
    tmp_path: Path, clock: CounterClock, monkeypatch: pytest.MonkeyPatch, action: str, step: str
) -> None:
    """The work item is as it was told, once; its plan is where it belongs, and committed."""
    root = tmp_path / "home"
    AgentHome.create(root, "aria", now=clock)
    set_identity(root)
    create = {"kind": "work_item", "action": "create", "work_item_id": "w1", "objective": "Move", "plan": "x"}
    complete = {"kind": "work_item", "action": "complete", "work_item_id": "w1", "report": "done"}
    with AgentHome.open(root, now=clock) as home:
        if action == "complete":
            home.record([create], session="s1")
    home = AgentHome.open(root, now=clock)
    reached = []

    def kill(name: str) -> None:
        reached.append(name)
        if name == step:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(home._parts.line, "_step", kill)
        with pytest.raises(Killed):
            home.record([create if action == "create" else complete], session="s1")
    assert reached[-1] == step
    with AgentHome.open(root, now=clock) as later:
        detail = later.work_show("w1")
        assert detail.work_item.revision == (1 if action == "create" else 2)
        assert detail.plan is not None
        assert detail.plan.exists
        assert list(detail.plan.problems) == []
        assert detail.plan.path.startswith("work/done/") == (action == "complete")
        briefs = [line for line in later.ledger.lines_newest_first() if line.kind == "brief"]
        assert len(briefs) == (action == "complete")
    assert git("status", "--short", cwd=root) == ""
    fsck(root)
