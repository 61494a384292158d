"""The pipeline, item by item: what its phases write into a project's directory, under which names and in which form."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.checklists.projects import TIME, Walk, reviews
from tests.cli.conftest import run_here
from tests.conftest import run_git
from tests.support.scripted_projects import OPEN, scripted


@pytest.fixture(scope="module")
def party(machine: Path) -> Walk:
    """A plan from the first message to its end, in two rounds of polishing."""
    walk = Walk(machine / "workspace", "party")
    with pytest.MonkeyPatch.context() as patch:
        script = scripted(patch)
        script.answers["plan-review"] = reviews(2, 0)
        walk.seen("made", run_here("project", "new", "Party", "--agent", "builtin", "--json"))
        walk.step("too short", "distill")
        walk.step("dumped", "say", "-m", OPEN)
        walk.step("distilled", "distill")
        walk.step("corrected", "say", "-m", "The budget is 2000 euros.")
        walk.step("intent confirmed", "confirm")
        walk.step("too early", "confirm")
        walk.step("answered", "say", "-m", "1: No permit is needed.\n2: Families are welcome.")
        walk.step("done", "confirm")
    return walk


@pytest.mark.req("P-02")
def test_a_project_has_an_id_of_its_day_and_four_hexadecimal_digits(party: Walk) -> None:
    assert re.fullmatch(r"\d{8}-[0-9a-f]{4}", party.view("made")["id"])


@pytest.mark.req("P-02")
@pytest.mark.parametrize("folder", ["docs", "resources"])
def test_a_project_has_its_folders_from_the_beginning(machine: Path, folder: str) -> None:
    made = run_here("project", "new", f"With {folder}", "--agent", "builtin", "--json").document
    assert (Path(made["directory"]) / folder).is_dir()


@pytest.mark.req("P-02")
def test_a_project_is_a_git_repository(party: Walk) -> None:
    assert run_git(party.directory, "rev-parse", "--show-toplevel") == str(party.directory)


@pytest.mark.req("P-01", "P-02")
def test_a_new_project_is_in_the_phase_of_the_brain_dump(party: Walk) -> None:
    assert party.status("made")["phase"] == "brain_dump"


@pytest.mark.req("P-01", "P-02")
def test_a_new_project_has_an_empty_name_in_its_status(party: Walk) -> None:
    assert party.status("made")["project_name"] == ""


@pytest.mark.req("P-02")
def test_a_new_project_has_its_chat_open(party: Walk) -> None:
    assert len(party.said("made")) == 1


@pytest.mark.req("P-01")
def test_the_status_has_exactly_its_seven_fields(party: Walk) -> None:
    assert list(party.status("made")) == [
        "project_name",
        "phase",
        "deliverable_type",
        "agent",
        "created_at",
        "updated_at",
        "halt_reason",
    ]


@pytest.mark.req("P-01")
@pytest.mark.parametrize("step", ["made", "dumped", "distilled"])
def test_the_type_is_unknown_until_the_intent_is_confirmed(party: Walk, step: str) -> None:
    assert party.status(step)["deliverable_type"] is None


@pytest.mark.req("P-01")
@pytest.mark.parametrize("name", ["created_at", "updated_at"])
def test_times_of_the_status_are_iso_8601(party: Walk, name: str) -> None:
    assert TIME.fullmatch(party.status("done")[name])


@pytest.mark.req("P-03")
def test_below_ten_words_nothing_is_distilled(party: Walk) -> None:
    assert party.ran["too short"].error == "brain_dump_too_short"
    assert party.status("too short")["phase"] == "brain_dump"


@pytest.mark.req("P-04")
def test_the_intent_has_its_name_and_six_sections_in_order(party: Walk) -> None:
    assert party.headings("distilled", "docs/intent.md") == [
        "# Party",
        "## Deliverable Type",
        "## Objective",
        "## Assumptions",
        "## Constraints",
        "## Unknowns",
        "## Open Questions",
    ]


@pytest.mark.req("P-04")
def test_the_section_of_the_type_begins_with_plan_or_code(party: Walk) -> None:
    section = party.files["distilled"]["docs/intent.md"].split("## Deliverable Type")[1].split()
    assert section[0] in {"Plan", "Code"}


@pytest.mark.req("P-04")
def test_a_correction_is_distilled_again_and_looked_at_again(party: Walk) -> None:
    assert party.status("corrected")["phase"] == "human_review"
    assert "2000 euros" in party.files["corrected"]["docs/intent.md"]


@pytest.mark.req("P-04")
def test_confirming_writes_name_and_type_into_the_status(party: Walk) -> None:
    confirmed = party.status("intent confirmed")
    assert (confirmed["project_name"], confirmed["deliverable_type"]) == ("Party", "plan")


@pytest.mark.req("P-04")
def test_confirming_the_intent_begins_the_specification(party: Walk) -> None:
    assert party.status("intent confirmed")["phase"] == "spec_building"


@pytest.mark.req("P-05")
def test_the_specification_has_its_six_sections(party: Walk) -> None:
    assert party.headings("answered", "docs/spec.md") == [
        "# Party — Specification",
        "## Deliverable Overview",
        "## Deliverable Structure",
        "## Key Decisions",
        "## Resolved Unknowns",
        "## Dependencies",
        "## Scope Boundaries",
    ]


@pytest.mark.req("P-05", "P-06")
def test_the_structure_of_a_plan_promises_the_three_columns_for_every_section(party: Walk) -> None:
    structure = party.files["answered"]["docs/spec.md"].split("## Deliverable Structure")[1].split("## ")[0]
    assert "objective, plan and assessment" in structure


@pytest.mark.req("P-05")
def test_every_resolved_unknown_says_who_resolved_it(party: Walk) -> None:
    resolved = party.files["answered"]["docs/spec.md"].split("## Resolved Unknowns")[1].split("## ")[0]
    lines = [line for line in resolved.splitlines() if line.startswith("- ")]
    assert len(lines) == 2
    assert all(line.endswith("(human-provided)") for line in lines)


@pytest.mark.req("P-05")
def test_the_constraints_have_their_seven_sections(party: Walk) -> None:
    assert party.headings("answered", "docs/constraints.md") == [
        "# Party — Review Constraints",
        "## Context",
        "## Deliverable Type",
        "## Priorities",
        "## Exclusions",
        "## Severity Definitions",
        "## Scope",
        "## Acceptance Criteria",
    ]


@pytest.mark.req("P-05")
def test_there_are_five_to_ten_acceptance_criteria(party: Walk) -> None:
    criteria = party.files["answered"]["docs/constraints.md"].split("## Acceptance Criteria")[1]
    assert 5 <= len(re.findall(r"^\d+\. ", criteria, re.MULTILINE)) <= 10


@pytest.mark.req("P-05")
def test_confirming_waits_while_something_is_open(party: Walk) -> None:
    assert party.ran["too early"].error == "action_refused"
    assert party.status("too early")["phase"] == "spec_building"


@pytest.mark.req("P-04", "P-05")
@pytest.mark.parametrize("document", ["docs/intent.md", "docs/spec.md", "docs/constraints.md"])
def test_what_was_confirmed_is_locked(party: Walk, document: str) -> None:
    locked = party.value("done", "project.json")["locked"][document]
    assert locked == run_git(party.directory, "hash-object", document)


@pytest.mark.req("P-06")
def test_the_plan_has_the_three_columns_in_every_main_section(party: Walk) -> None:
    plan = party.files["done"]["docs/plan.md"]
    sections = re.findall(r"^## ", plan, re.MULTILINE)
    tables = re.findall(r"^\|\s*Objective\s*\|\s*Plan\s*\|\s*Assessment\s*\|", plan, re.MULTILINE)
    assert len(sections) == len(tables) > 5


@pytest.mark.req("P-08", "P-11")
def test_polishing_follows_the_build_by_itself(party: Walk) -> None:
    details = [line["detail"] for line in party.log("done") if line["event"] == "phase_transition"]
    assert details[-3:] == ["spec_building → building", "building → polishing", "polishing → done"]


@pytest.mark.req("P-11")
def test_the_state_of_polishing_has_exactly_its_fields(party: Walk) -> None:
    assert list(party.value("done", "polish_state.json")) == [
        "iteration",
        "error_counts",
        "convergence_trajectory",
        "tests_passed",
        "timestamp",
        "completed",
        "halt_reason",
    ]


@pytest.mark.req("P-11")
def test_each_round_of_the_trajectory_has_its_counts_and_its_time(party: Walk) -> None:
    rounds = party.value("done", "polish_state.json")["convergence_trajectory"]
    assert [list(each) for each in rounds] == [["iteration", "critical", "medium", "minor", "total", "timestamp"]] * 2


@pytest.mark.req("P-09", "P-11")
def test_counts_come_from_the_findings_and_not_from_the_numbers_above_them(party: Walk) -> None:
    rounds = party.value("done", "polish_state.json")["convergence_trajectory"]
    assert [(each["critical"], each["total"]) for each in rounds] == [(2, 2), (0, 0)]


@pytest.mark.req("P-11")
def test_a_plan_has_no_word_on_tests(party: Walk) -> None:
    assert party.value("done", "polish_state.json")["tests_passed"] is None
    assert "Test Results" not in party.files["done"]["polish_log.md"]


@pytest.mark.req("P-11")
def test_the_log_of_polishing_has_a_section_for_each_round(party: Walk) -> None:
    assert re.findall(r"^## .*", party.files["done"]["polish_log.md"], re.MULTILINE) == [
        "## Iteration 1",
        "## Iteration 2",
    ]


@pytest.mark.req("P-11")
def test_a_round_in_the_log_names_time_counts_guard_findings_and_fixes(party: Walk) -> None:
    first = party.files["done"]["polish_log.md"].split("## Iteration 2")[0]
    assert re.findall(r"^\*\*(.*?):\*\*", first, re.MULTILINE) == [
        "Timestamp",
        "Error Counts",
        "Guard Evaluated",
        "Issues Found",
        "Fixes Applied",
    ]


@pytest.mark.req("P-09")
def test_each_round_is_a_commit(party: Walk) -> None:
    subjects = run_git(party.directory, "log", "--format=%s").splitlines()
    assert len([subject for subject in subjects if subject.startswith("polish: round ")]) == 2


@pytest.mark.req("P-11")
def test_each_line_of_the_operational_log_has_its_five_fields(party: Walk) -> None:
    assert {tuple(line) for line in party.log("done")} == {("timestamp", "level", "event", "phase", "detail")}


@pytest.mark.req("P-11")
def test_levels_of_the_operational_log_are_info_warn_and_error(party: Walk) -> None:
    assert {line["level"] for line in party.log("done")} <= {"info", "warn", "error"}


@pytest.mark.req("P-11")
@pytest.mark.parametrize(
    "event",
    ["phase_transition", "agent_call", "agent_response", "guard_evaluation", "config_loaded", "plugin_loaded"],
)
def test_the_operational_log_tells_of_each_kind_of_event(party: Walk, event: str) -> None:
    assert event in {line["event"] for line in party.log("done")}


@pytest.mark.req("P-13")
def test_a_chat_message_has_role_content_phase_and_time(party: Walk) -> None:
    messages = party.value("distilled", "chat_history.json")
    assert {tuple(message) for message in messages} == {("role", "content", "phase", "timestamp")}
    assert {message["role"] for message in messages} == {"human", "ai"}
    assert all(TIME.fullmatch(message["timestamp"]) for message in messages)


@pytest.mark.req("P-13")
def test_the_chat_is_cleared_when_the_intent_is_confirmed(party: Walk) -> None:
    assert OPEN in party.said("corrected")
    assert OPEN not in party.said("intent confirmed")


@pytest.mark.req("P-13")
def test_the_chat_is_cleared_when_the_specification_is_confirmed(party: Walk) -> None:
    assert "1: No permit is needed." in "".join(party.said("answered"))
    assert "1: No permit is needed." not in "".join(party.said("done"))


@pytest.mark.req("P-13")
def test_the_chat_is_not_cleared_between_building_and_polishing(party: Walk) -> None:
    assert [message["phase"] for message in party.value("done", "chat_history.json")] == [
        "building",
        "polishing",
        "polishing",
    ]


@pytest.mark.req("M-07")
def test_each_phase_leaves_its_checkpoint_in_memory(party: Walk) -> None:
    lines = re.findall(r"^- Active FORGE workflow: (\w+) completed", party.files["done"]["MEMORY.md"], re.MULTILINE)
    walked = ["brain_dump", "distilling", "human_review", "distilling", "human_review", "spec_building", "building"]
    assert lines == [*walked, "polishing"]


@pytest.mark.req("M-07")
def test_the_end_of_a_project_leaves_its_completion_in_memory(party: Walk) -> None:
    assert len(re.findall(r"^- Completed FORGE for Party: ", party.files["done"]["MEMORY.md"], re.MULTILINE)) == 1


@pytest.mark.req("M-08")
def test_distilling_and_specifying_leave_their_confidence(party: Walk) -> None:
    topics = json.loads(party.files["done"][".claude/interview-state.json"])["topics"]
    assert topics
    assert all(0 <= each["confidence"] <= 1 for each in topics.values())
