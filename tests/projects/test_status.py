"""The phases of a project: every legal move works, every other is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest

from forge.projects.errors import IllegalTransition, InvalidRecord
from forge.projects.project import Project
from forge.projects.status import ACTIVE, TRANSITIONS, HaltReason, Phase, ProjectStatus, fresh, moved
from tests.projects.conftest import drafted

NOW = datetime(2026, 2, 14, 10, 30, tzinfo=UTC)
LATER = datetime(2026, 2, 15, tzinfo=UTC)
LINE = [Phase.BRAIN_DUMP, Phase.DISTILLING, Phase.HUMAN_REVIEW, Phase.SPEC_BUILDING, Phase.BUILDING, Phase.POLISHING]
# Written out once more by hand, so that a slip in the table shows.
LEGAL = {*zip(LINE, [*LINE[1:], Phase.DONE], strict=True), (Phase.HUMAN_REVIEW, Phase.DISTILLING)}


def move(project: Project, to: Phase, reason: HaltReason | None = None) -> None:
    drafted(project, lambda draft: draft.move(to, halt_reason=reason))


def at(phase: Phase, halt_reason: str | None = None) -> ProjectStatus:
    return ProjectStatus("Lights", phase, "plan", "claude", "then", "then", halt_reason)


@pytest.mark.req("P-01")
@pytest.mark.parametrize(("start", "to"), list(product([*LINE, Phase.DONE], Phase)))
def test_each_pair_of_phases_is_a_move_or_refused(start: Phase, to: Phase) -> None:
    legal = (start, to) in LEGAL or (start in ACTIVE and to is Phase.HALTED)
    reason = HaltReason.AGENT_FAILURE if to is Phase.HALTED else None
    assert (to in TRANSITIONS[start]) == legal
    if legal:
        after = moved(at(start), to, now=LATER, halt_reason=reason)
        assert (after.phase, after.halt_reason, after.updated_at) == (to, reason, "2026-02-15T00:00:00.000Z")
        assert (after.project_name, after.created_at, after.agent) == ("Lights", "then", "claude")
    else:
        with pytest.raises(IllegalTransition) as refused:
            moved(at(start), to, now=LATER, halt_reason=reason)
        assert refused.value.hint


@pytest.mark.req("P-01")
@pytest.mark.parametrize(("halted_in", "to"), list(product(LINE, Phase)))
def test_a_halted_project_goes_back_only_to_where_it_was_halted(halted_in: Phase, to: Phase) -> None:
    halted = at(Phase.HALTED, HaltReason.GUARD_FABRICATION)
    reason = HaltReason.HUMAN_TERMINATED if to is Phase.HALTED else None
    if to in {halted_in, Phase.DONE, Phase.HALTED}:
        assert moved(halted, to, now=NOW, halt_reason=reason, halted_in=halted_in).halt_reason == reason
    else:
        with pytest.raises(IllegalTransition):
            moved(halted, to, now=NOW, halt_reason=reason, halted_in=halted_in)


@pytest.mark.req("P-01")
@pytest.mark.parametrize("to", list(Phase))
def test_nothing_follows_a_termination(to: Phase) -> None:
    ended = at(Phase.HALTED, HaltReason.HUMAN_TERMINATED)
    with pytest.raises(IllegalTransition):
        moved(
            ended, to, now=NOW, halt_reason="human_terminated" if to is Phase.HALTED else None, halted_in=Phase.BUILDING
        )


@pytest.mark.req("P-01")
def test_a_halt_has_a_reason_and_nothing_else_has_one() -> None:
    with pytest.raises(IllegalTransition):
        moved(at(Phase.BUILDING), Phase.HALTED, now=NOW)
    with pytest.raises(IllegalTransition):
        moved(at(Phase.BUILDING), Phase.POLISHING, now=NOW, halt_reason=HaltReason.AGENT_FAILURE)
    with pytest.raises(IllegalTransition):
        moved(at(Phase.HALTED, "agent_failure"), Phase.HALTED, now=NOW, halt_reason=HaltReason.SERVER_RESTART)


@pytest.mark.req("P-01")
def test_the_file_has_the_fields_and_values_of_the_format() -> None:
    text = fresh(agent="claude", now=NOW).to_json()
    assert text == (
        '{\n  "project_name": "",\n  "phase": "brain_dump",\n  "deliverable_type": null,\n  "agent": "claude",\n'
        '  "created_at": "2026-02-14T10:30:00.000Z",\n  "updated_at": "2026-02-14T10:30:00.000Z",\n'
        '  "halt_reason": null\n}\n'
    )
    assert ProjectStatus.from_json(text).to_json() == text
    assert {str(reason) for reason in HaltReason} == {
        "plan_incomplete",
        "guard_hallucination",
        "guard_fabrication",
        "guard_max_iterations",
        "human_terminated",
        "agent_failure",
        "file_system_error",
        "phase3_output_missing",
        "phase3_output_incomplete",
        "server_restart",
        "tests_cannot_run",
        "guard_tests",
        "guard_no_change",
    }


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"phase": "sleeping"}', "nonsense"])
def test_what_is_no_status_is_refused(text: str) -> None:
    with pytest.raises(InvalidRecord):
        ProjectStatus.from_json(text)


@pytest.mark.req("P-01")
def test_a_project_remembers_over_a_halt_where_it_was(project: Project) -> None:
    for phase in LINE[1:5]:
        move(project, phase)
    move(project, Phase.HALTED, HaltReason.PLAN_INCOMPLETE)
    assert project.info().halted_in is Phase.BUILDING
    assert "halted_in" not in (project.records.read("status.json") or "")
    move(project, Phase.BUILDING)
    resumed = project.status()
    assert (resumed.phase, resumed.halt_reason, project.info().halted_in) == (Phase.BUILDING, None, None)


@pytest.mark.req("P-01")
@pytest.mark.parametrize("to", [Phase.POLISHING, Phase.DONE, Phase.BRAIN_DUMP, Phase.HUMAN_REVIEW])
def test_a_refused_move_writes_nothing(project: Project, to: Phase) -> None:
    before = project.records.tip(), project.records.read("status.json"), project.records.read("project.json")
    with pytest.raises(IllegalTransition):
        move(project, to)
    after = project.records.tip(), project.records.read("status.json"), project.records.read("project.json")
    assert before == after


@pytest.mark.req("P-01")
def test_a_terminated_project_stays_halted_where_it_was(project: Project) -> None:
    move(project, Phase.HALTED, HaltReason.AGENT_FAILURE)
    move(project, Phase.HALTED, HaltReason.HUMAN_TERMINATED)
    assert project.status().terminated
    assert project.info().halted_in is Phase.BRAIN_DUMP
    with pytest.raises(IllegalTransition):
        move(project, Phase.BRAIN_DUMP)
