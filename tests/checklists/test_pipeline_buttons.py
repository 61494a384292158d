"""The pipeline's buttons, item by item: what each does to the status, what it says, and what it asks before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checklists.projects import Walk, reviews
from tests.cli.conftest import run_here
from tests.support.scripted_projects import CLEAR, Script, by_stand_in, scripted

GUARD = "guard_max_iterations"
UNNAMED = """\
## Deliverable Type
PLAN: it is a document.
## Objective
A party.
## Assumptions
None
## Constraints
None
## Unknowns
None
## Open Questions
None
"""


def begun(workspace: Path, name: str) -> Walk:
    walk = Walk(workspace, name.lower())
    walk.seen("made", run_here("project", "new", name, "-m", CLEAR, "--agent", "builtin", "--json"))
    walk.step("distilled", "distill")
    walk.step("specified", "confirm")
    walk.step("built", "confirm")
    return walk


@pytest.fixture(scope="module")
def script(machine: Path) -> Script:
    """Limits that one round reaches."""
    (machine / "config.yaml").write_text("polish: {max_iterations: 1}\n")
    return Script()


@pytest.fixture(scope="module")
def resumed(machine: Path, script: Script) -> Walk:
    """Halted by a guard, asked what to confirm, and resumed to its end."""
    with pytest.MonkeyPatch.context() as patch:
        scripted(patch).answers["plan-review"] = reviews(9, 0)
        walk = begun(machine / "workspace", "Resumed")
        walk.step("override", "override")
        walk.step("terminate", "terminate")
        walk.step("resumed", "resume")
        walk.step("again", "resume")
    return walk


@pytest.fixture(scope="module")
def accepted(machine: Path, script: Script) -> Walk:
    with pytest.MonkeyPatch.context() as patch:
        scripted(patch).answers["plan-review"] = reviews(9)
        walk = begun(machine / "workspace", "Accepted")
        walk.step("accepted", "override", "--yes")
        walk.step("again", "override", "--yes")
    return walk


@pytest.fixture(scope="module")
def stopped(machine: Path, script: Script) -> Walk:
    with pytest.MonkeyPatch.context() as patch:
        scripted(patch).answers["plan-review"] = reviews(9)
        walk = begun(machine / "workspace", "Stopped")
        walk.step("stopped", "terminate", "--yes")
        walk.step("again", "terminate", "--yes")
        walk.step("resumed", "resume")
    return walk


def waits_for_input(task: Any) -> str:
    stuck = {"stuck": True, "reason": "Indoors or outdoors?", "content": ""}
    return by_stand_in(task) if task.material["answers"] else json.dumps(stuck)


@pytest.fixture(scope="module")
def stuck(machine: Path, script: Script) -> Walk:
    with pytest.MonkeyPatch.context() as patch:
        scripted(patch).answers["plan-build"] = waits_for_input
        walk = begun(machine / "workspace", "Stuck")
        walk.step("terminate", "terminate")
        walk.step("answered", "provide-input", "-m", "Outdoors.")
    return walk


@pytest.fixture(scope="module")
def given_up(machine: Path, script: Script) -> Walk:
    with pytest.MonkeyPatch.context() as patch:
        scripted(patch).answers["plan-build"] = waits_for_input
        walk = begun(machine / "workspace", "Given")
        walk.step("stopped", "terminate", "--yes")
    return walk


@pytest.fixture(scope="module")
def outlined(machine: Path, script: Script) -> Walk:
    """Without a model it ends with an outline."""
    return begun(machine / "workspace", "Outlined")


@pytest.fixture(scope="module")
def left(machine: Path, script: Script) -> Walk:
    """Terminated before anything was distilled."""
    walk = Walk(machine / "workspace", "left")
    walk.seen("made", run_here("project", "new", "Left", "--agent", "builtin", "--json"))
    walk.step("stopped", "terminate", "--yes")
    return walk


@pytest.fixture(scope="module")
def unnamed(machine: Path, script: Script) -> Walk:
    """Neither the person nor the model gives it a name."""
    with pytest.MonkeyPatch.context() as patch:
        scripted(patch).answers["brain-dump-intake"] = lambda _: UNNAMED
        made = run_here("project", "new", "-m", CLEAR, "--agent", "builtin", "--json")
        walk = Walk(machine / "workspace", Path(made.document["directory"]).name)
        walk.step("distilled", "distill")
        walk.step("specified", "confirm")
    return walk


@pytest.fixture(scope="module")
def unreadable(machine: Path, script: Script) -> tuple[Walk, int]:
    """A reviewer who never answers in the form; and how often they were asked."""
    with pytest.MonkeyPatch.context() as patch:
        made = scripted(patch)
        made.answers["plan-review"] = lambda _: "It looks fine to me."
        return begun(machine / "workspace", "Unreadable"), len(made.of("plan-review"))


@pytest.mark.req("P-09")
def test_a_review_that_cannot_be_read_is_asked_for_twice_more(unreadable: tuple[Walk, int]) -> None:
    assert unreadable[1] == 3


@pytest.mark.req("P-09")
def test_a_review_that_stays_unreadable_halts_the_project(unreadable: tuple[Walk, int]) -> None:
    assert unreadable[0].status("built")["halt_reason"] == "agent_failure"


@pytest.mark.req("P-12")
def test_distill_says_that_it_distills(resumed: Walk) -> None:
    assert "Distilling…" in resumed.said("distilled")


@pytest.mark.req("P-12")
def test_the_first_confirm_says_that_the_intent_is_locked_and_what_comes_next(resumed: Walk) -> None:
    assert resumed.said("specified")[0] == "The intent is locked. Next comes the specification."


@pytest.mark.req("P-12")
def test_the_second_confirm_says_that_both_documents_are_locked_and_building_begins(resumed: Walk) -> None:
    assert resumed.said("built")[0] == "Specification and constraints are locked. Building begins."


@pytest.mark.req("P-01", "P-10")
def test_a_guard_halts_with_its_reason(resumed: Walk) -> None:
    assert (resumed.status("built")["phase"], resumed.status("built")["halt_reason"]) == ("halted", GUARD)


@pytest.mark.req("P-11")
def test_a_halt_is_in_the_state_of_polishing(resumed: Walk) -> None:
    assert resumed.value("built", "polish_state.json")["halt_reason"] == GUARD


@pytest.mark.req("P-11")
@pytest.mark.parametrize(
    ("project", "step"), [("resumed", "built"), ("given_up", "stopped"), ("outlined", "built"), ("left", "stopped")]
)
def test_a_halt_is_in_the_operational_log(request: pytest.FixtureRequest, project: str, step: str) -> None:
    walk: Walk = request.getfixturevalue(project)
    assert [line["event"] for line in walk.log(step)].count("halt") == 1


@pytest.mark.req("P-12")
@pytest.mark.parametrize("button", ["resume", "override", "terminate"])
def test_a_halted_project_offers_its_three_buttons(resumed: Walk, button: str) -> None:
    assert button in resumed.view("built")["actions"]


@pytest.mark.req("P-12")
@pytest.mark.parametrize("button", ["override", "terminate"])
def test_what_cannot_be_taken_back_is_confirmed_first_and_changes_nothing_until_then(
    resumed: Walk, button: str
) -> None:
    assert (resumed.ran[button].code, resumed.ran[button].error) == (4, "confirmation_needed")
    assert resumed.status(button) == resumed.status("built")


@pytest.mark.req("P-12")
def test_resume_says_with_which_round_it_goes_on(resumed: Walk) -> None:
    assert "Polishing continues with round 2." in resumed.said("resumed")


@pytest.mark.req("P-12")
def test_resume_clears_the_reason_of_the_halt(resumed: Walk) -> None:
    assert (resumed.status("resumed")["phase"], resumed.status("resumed")["halt_reason"]) == ("done", None)


@pytest.mark.req("P-12")
def test_resume_goes_on_with_the_next_round(resumed: Walk) -> None:
    rounds = resumed.value("resumed", "polish_state.json")["convergence_trajectory"]
    assert [each["iteration"] for each in rounds] == [1, 2]


@pytest.mark.req("P-12")
@pytest.mark.parametrize("project", ["resumed", "accepted", "stopped"])
def test_a_button_that_is_pressed_again_changes_nothing(request: pytest.FixtureRequest, project: str) -> None:
    walk: Walk = request.getfixturevalue(project)
    assert walk.ran["again"].code in (0, 3)
    assert walk.files["again"] == walk.files[project]


@pytest.mark.req("P-12")
def test_override_accepts_what_there_is(accepted: Walk) -> None:
    assert (accepted.status("accepted")["phase"], accepted.status("accepted")["halt_reason"]) == ("done", None)


@pytest.mark.req("P-12")
def test_override_says_that_the_deliverable_is_accepted_and_the_project_done(accepted: Walk) -> None:
    assert accepted.said("accepted")[-1] == "The deliverable is accepted. The project is done."


@pytest.mark.req("P-12")
def test_terminate_halts_for_good_with_its_reason(stopped: Walk) -> None:
    assert (stopped.status("stopped")["phase"], stopped.status("stopped")["halt_reason"]) == (
        "halted",
        "human_terminated",
    )


@pytest.mark.req("P-12")
@pytest.mark.parametrize(("project", "step"), [("stopped", "stopped"), ("accepted", "accepted")])
def test_what_has_ended_has_no_buttons_left(request: pytest.FixtureRequest, project: str, step: str) -> None:
    walk: Walk = request.getfixturevalue(project)
    assert walk.view(step)["actions"] == []


@pytest.mark.req("P-12")
@pytest.mark.parametrize("project", ["stopped", "given_up"])
def test_terminate_says_that_the_project_is_over(request: pytest.FixtureRequest, project: str) -> None:
    walk: Walk = request.getfixturevalue(project)
    assert walk.said("stopped")[-1] == "The project was stopped for good."


@pytest.mark.req("P-12")
def test_what_was_terminated_is_not_resumed(stopped: Walk) -> None:
    assert stopped.ran["resumed"].error == "action_refused"


@pytest.mark.req("P-06", "P-12")
def test_a_stuck_build_stays_in_its_phase_and_asks_its_question(stuck: Walk) -> None:
    built = stuck.view("built")
    assert (built["phase"], built["waiting"], built["question"]) == ("building", "stuck", "Indoors or outdoors?")


@pytest.mark.req("P-12")
def test_a_stuck_build_offers_input_and_an_end(stuck: Walk) -> None:
    assert stuck.view("built")["actions"] == ["provide_input", "terminate"]


@pytest.mark.req("P-12")
def test_ending_a_stuck_build_is_confirmed_first(stuck: Walk) -> None:
    assert stuck.ran["terminate"].error == "confirmation_needed"
    assert stuck.status("terminate")["phase"] == "building"


@pytest.mark.req("P-12")
def test_a_build_goes_on_with_the_input_it_was_given(stuck: Walk) -> None:
    assert stuck.status("answered")["phase"] == "done"


@pytest.mark.req("P-13")
def test_what_was_said_to_a_stuck_build_stays_in_the_chat_while_polishing(stuck: Walk) -> None:
    assert "Outdoors." in stuck.said("answered")


@pytest.mark.req("P-12")
def test_a_stuck_build_that_is_terminated_halts_for_good(given_up: Walk) -> None:
    assert given_up.status("stopped")["halt_reason"] == "human_terminated"


@pytest.mark.req("P-04")
def test_without_a_heading_and_a_typed_name_the_project_is_named_by_two_to_four_words(unnamed: Walk) -> None:
    assert 2 <= len(unnamed.status("specified")["project_name"].split()) <= 4


@pytest.mark.req("P-04")
def test_a_name_that_was_made_becomes_the_heading_of_the_intent(unnamed: Walk) -> None:
    name = unnamed.status("specified")["project_name"]
    assert unnamed.headings("distilled", "docs/intent.md")[0] == f"# {name}"


@pytest.mark.req("P-04")
def test_the_word_for_the_type_counts_in_any_case(unnamed: Walk) -> None:
    assert unnamed.status("specified")["deliverable_type"] == "plan"
