"""The status machine, pair by pair, and the phases of each type of workflow with their lines."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from forge.errors import InvalidInput
from forge.memory import WORKFLOWS, Memory, Status
from forge.memory.errors import InitiativeActive, InitiativeMissing, PhaseUnknown, StatusRefused, WorkflowUnknown
from forge.memory.status import moved
from forge.memory.workflows import checkpoint, completion, parsed_checkpoint, parsed_completion
from tests.memory.conftest import contents

LEGAL = {
    ("created", "in_progress"),
    ("in_progress", "blocked"),
    ("blocked", "in_progress"),
    ("in_progress", "completed"),
    ("completed", "archived"),
}
WAY = {
    "created": [],
    "in_progress": ["in_progress"],
    "blocked": ["in_progress", "blocked"],
    "completed": ["in_progress", "completed"],
    "archived": ["in_progress", "completed", "archived"],
}


@pytest.mark.req("M-05")
@pytest.mark.parametrize(("now", "wanted"), list(itertools.product(Status, Status)))
def test_exactly_the_listed_transitions_are_legal_and_a_refused_one_writes_nothing(
    memory: Memory, tmp_path: Path, now: Status, wanted: Status
) -> None:
    memory.start("Cart", "APEX")
    for step in WAY[now.value]:
        memory.change_status(Status(step))
    before = contents(tmp_path)
    if (now.value, wanted.value) in LEGAL:
        assert moved(now, wanted) is wanted
        result = memory.change_status(wanted)
        assert result.initiative is not None
        assert result.initiative.status is wanted
    else:
        with pytest.raises(StatusRefused) as refused:
            memory.change_status(wanted)
        assert refused.value.message
        assert refused.value.hint
        assert contents(tmp_path) == before


@pytest.mark.req("M-05")
def test_a_completed_initiative_says_that_a_new_one_is_needed_and_an_archived_one_that_it_is_final() -> None:
    with pytest.raises(StatusRefused, match="not opened again") as completed:
        moved(Status.COMPLETED, Status.IN_PROGRESS)
    assert "new one" in completed.value.hint
    for wanted in Status:
        with pytest.raises(StatusRefused, match="final"):
            moved(Status.ARCHIVED, wanted)


@pytest.mark.req("M-05")
def test_a_new_initiative_waits_until_the_one_before_is_over_and_keeps_its_file(memory: Memory, tmp_path: Path) -> None:
    first = memory.start("One", "DEBUG").initiative
    assert first is not None
    before = contents(tmp_path)
    with pytest.raises(InitiativeActive, match="One"):
        memory.start("Two", "DEBUG")
    assert contents(tmp_path) == before
    memory.advance("troubleshoot", "fix")
    memory.complete("fixed")
    second = memory.start("Two", "DEBUG").initiative
    assert second is not None
    assert (second.status, second.previous) == (Status.CREATED, (first.id,))
    assert '"fixed"' in (tmp_path / f".claude/initiatives/{first.id}.json").read_text()


@pytest.mark.req("M-05")
def test_blocked_work_does_not_go_on(memory: Memory, tmp_path: Path) -> None:
    memory.start("Cart", "APEX")
    memory.change_status(Status.IN_PROGRESS)
    memory.change_status(Status.BLOCKED, reason="waits for a key")
    before = contents(tmp_path)
    for act in (lambda: memory.advance("analyze", "plan"), lambda: memory.complete("x")):
        with pytest.raises(StatusRefused):
            act()
    with pytest.raises(StatusRefused, match="waits for a key"):
        memory.milestone_started("m1")
    assert contents(tmp_path) == before


@pytest.mark.req("M-02")
@pytest.mark.parametrize(
    ("type_", "done", "phase", "line"),
    [
        ("APEX", "analyze", "plan", "Active APEX workflow: analyze completed, planning the cart"),
        ("APEX", "plan", "implement", "Active APEX workflow: plan approved, implementing the cart"),
        ("APEX", "implement", "review", "Active APEX workflow: implementation done, reviewing the cart"),
        ("DEBUG", "troubleshoot", "fix", "Active DEBUG workflow: root cause found, fixing the cart"),
        ("DEBUG", "troubleshoot", "implement", "Active DEBUG workflow: root cause found, fixing the cart"),
        ("BRAINSTORM", "brainstorm", "design", "Active BRAINSTORM workflow: exploring → designing the cart"),
        ("FORGE", "brain_dump", "distilling", "Active FORGE workflow: brain_dump completed, distilling the cart"),
        ("FORGE", "building", "polishing", "Active FORGE workflow: building completed, polishing the cart"),
    ],
)
def test_each_major_transition_leaves_its_line(
    memory: Memory, tmp_path: Path, type_: str, done: str, phase: str, line: str
) -> None:
    memory.start("Cart", type_, "the cart")
    memory.advance(done, phase)
    assert f"\n- {line} <!-- forge " in (tmp_path / "MEMORY.md").read_text()


@pytest.mark.req("M-02")
def test_every_checkpoint_and_completion_can_be_read_back() -> None:
    for type_, workflow in WORKFLOWS.items():
        for done, phase in itertools.permutations(workflow.phases, 2):
            found = parsed_checkpoint(checkpoint(type_, done, phase, "the cart"))
            assert found is not None
            assert (found.type, found.phase, found.context) == (type_, phase, "the cart")
        assert parsed_completion(completion(type_, "the cart", "it: works")) == (type_, "the cart", "it: works")
    assert parsed_checkpoint("Active people: many") is None


@pytest.mark.req("M-02")
def test_types_and_phases_that_do_not_exist_are_refused(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(WorkflowUnknown, match="WATERFALL"):
        memory.start("Cart", "WATERFALL")
    with pytest.raises(InitiativeMissing):
        memory.advance("analyze", "plan")
    memory.start("Cart", "APEX")
    before = contents(tmp_path)
    with pytest.raises(PhaseUnknown, match="polishing"):
        memory.advance("analyze", "polishing")
    with pytest.raises(InvalidInput, match="follow itself"):
        memory.advance("plan", "plan")
    assert contents(tmp_path) == before
