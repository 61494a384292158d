"""The memory protocol, item by item: what an outside reader of it would look for in `forge memory`.

One workflow is gone through once by the command line; each test looks at what one command left behind.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.checklists.conftest import contents
from tests.cli.conftest import Ran, run_here

INITIATIVE, INTERVIEW = ".claude/initiative.json", ".claude/interview-state.json"
NOTES, STATUS = "MEMORY.md", "WORKFLOW-STATUS.yaml"


@dataclass
class Story:
    """What each command gave, and the files after it."""

    directory: Path
    ran: dict[str, Ran] = field(default_factory=dict)
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)

    def tell(self, name: str, *args: str) -> Ran:
        self.ran[name] = run_here("-C", str(self.directory), "memory", *args, "--json")
        self.files[name] = contents(self.directory)
        self.order.append(name)
        return self.ran[name]

    def changed(self, name: str) -> set[str]:
        """The files that a command wrote."""
        at = self.order.index(name)
        before, after = self.files[self.order[at - 1]] if at else {}, self.files[name]
        return {path for path in before | after if before.get(path) != after.get(path)}

    def initiative(self, name: str) -> dict[str, Any]:
        return dict(json.loads(self.files[name][INITIATIVE]))

    def status(self, name: str) -> dict[str, Any]:
        return dict(yaml.safe_load(self.files[name][STATUS]))

    def lines(self, name: str) -> list[str]:
        """What is new in MEMORY.md, without Forge's marks."""
        at = self.order.index(name)
        before = self.files[self.order[at - 1]].get(NOTES, "").splitlines() if at else []
        new = [line for line in self.files[name].get(NOTES, "").splitlines() if line and line not in before]
        return [line.partition(" <!--")[0].removeprefix("- ") for line in new if not line.startswith("#")]


@pytest.fixture(scope="module")
def apex(machine: Path) -> Story:
    story = Story(machine / "apex")
    story.directory.mkdir()
    for name, *args in (
        ("start", "start", "Cart", "--type", "APEX", "--context", "the cart"),
        ("confidence", "confidence", "scope", "0.4", "--source", "interview"),
        ("surer", "confidence", "scope", "0.9", "--source", "interview"),
        ("milestone", "milestone", "M1", "--title", "Totals", "--tasks", "2"),
        ("second milestone", "milestone", "M2", "--title", "Taxes"),
        ("first again", "milestone", "M1"),
        ("task", "task", "M1"),
        ("milestone done", "milestone", "M1", "--done"),
        ("plan", "advance", "analyze", "plan"),
        ("implement", "advance", "plan", "implement"),
        ("learning", "add", "Prices are whole cents."),
        ("delegation", "add", "tester: all tests", "--delegation"),
        ("review", "advance", "implement", "review"),
        ("blocked", "status", "blocked", "--reason", "waits for a key"),
        ("unblocked", "status", "in_progress"),
        ("context", "context"),
        ("commit", "advance", "review", "git-commit"),
        ("reopened", "status", "in_progress"),
        ("archive", "advance", "git-commit", "x-archive"),
        ("raised", "status", "in_progress"),
    ):
        story.tell(name, *args)
    return story


@pytest.mark.req("M-01")
def test_the_initiative_is_a_json_file_below_dot_claude(apex: Story) -> None:
    assert apex.initiative("start")["title"] == "Cart"


@pytest.mark.req("M-01", "M-08")
def test_the_history_of_confidence_is_a_json_file_below_dot_claude(apex: Story) -> None:
    topic = json.loads(apex.files["surer"][INTERVIEW])["topics"]["scope"]
    assert [each["value"] for each in topic["history"]] == [0.4, 0.9]


@pytest.mark.req("M-01")
def test_confidence_is_state_and_not_for_auto_memory(apex: Story) -> None:
    assert apex.changed("surer") == {INTERVIEW}


@pytest.mark.req("M-01", "M-02")
def test_a_learning_goes_into_auto_memory(apex: Story) -> None:
    assert apex.lines("learning") == ["Prices are whole cents."]


@pytest.mark.req("M-02")
@pytest.mark.parametrize("event", ["start", "milestone", "task", "milestone done", "blocked", "unblocked"])
def test_without_a_learning_or_a_transition_auto_memory_stays_as_it_is(apex: Story, event: str) -> None:
    assert NOTES not in apex.changed(event)


@pytest.mark.req("M-02")
def test_a_transition_is_written_down_though_nothing_was_learned(apex: Story) -> None:
    assert apex.changed("plan") == {INITIATIVE, STATUS, NOTES}


@pytest.mark.req("M-02")
@pytest.mark.parametrize("event", ["plan", "implement", "review"])
def test_a_checkpoint_is_one_line(apex: Story, event: str) -> None:
    assert len(apex.lines(event)) == 1


@pytest.mark.req("M-02")
def test_a_commit_ends_the_workflow_with_its_completion(apex: Story) -> None:
    assert apex.lines("commit") == ["Completed APEX for the cart: review completed, committed"]
    assert apex.initiative("commit")["status"] == "completed"


@pytest.mark.req("M-02")
def test_archiving_after_the_commit_adds_no_second_completion(apex: Story) -> None:
    assert apex.lines("archive") == []
    assert apex.initiative("archive")["status"] == "archived"


@pytest.mark.req("M-02")
@pytest.mark.parametrize(("kind", "last"), [("APEX", "review"), ("DEBUG", "fix"), ("BRAINSTORM", "design")])
def test_archiving_without_a_commit_writes_the_completion(machine: Path, kind: str, last: str) -> None:
    story = Story(machine / f"archived-{kind}")
    story.directory.mkdir()
    story.tell("start", "start", "Cart", "--type", kind, "--context", "the cart")
    assert story.tell("archive", "advance", last, "x-archive").code == 0
    assert story.lines("archive") == [f"Completed {kind} for the cart: {last} completed, archived"]
    assert story.status("archive")["status"] == "archived"


@pytest.mark.req("M-02")
def test_a_completion_is_two_lines_at_most_however_long_the_outcome_is(machine: Path) -> None:
    story = Story(machine / "long")
    story.directory.mkdir()
    story.tell("start", "start", "Cart", "--context", "the cart")
    story.tell("begun", "status", "in_progress")
    story.tell("done", "status", "completed", "--reason", "totals\nare\nright " * 200)
    (line,) = story.lines("done")
    assert line.startswith("Completed APEX for the cart: totals are right")


@pytest.mark.req("M-04")
@pytest.mark.parametrize("file", [INITIATIVE, STATUS])
def test_a_milestone_that_starts_is_in_both_files(apex: Story, file: str) -> None:
    assert file in apex.changed("milestone")
    assert "M1" in apex.files["milestone"][file]


@pytest.mark.req("M-04")
def test_a_completed_task_is_progress_in_the_initiative(apex: Story) -> None:
    assert apex.initiative("task")["milestones"][0]["progress"] == {"done": 1, "total": 2}


@pytest.mark.req("M-04")
def test_a_completed_task_leaves_the_status_file_alone(apex: Story) -> None:
    assert apex.changed("task") == {INITIATIVE}


@pytest.mark.req("M-04")
def test_after_a_completed_milestone_the_initiative_names_the_next(apex: Story) -> None:
    assert (apex.initiative("task")["currentMilestone"], apex.initiative("milestone done")["currentMilestone"]) == (
        "M1",
        "M2",
    )


@pytest.mark.req("M-04")
def test_a_completed_milestone_is_completed_in_the_status_file(apex: Story) -> None:
    assert [each["status"] for each in apex.status("milestone done")["milestones"]] == ["completed", "in_progress"]


@pytest.mark.req("M-04")
def test_a_change_of_status_is_in_both_files(apex: Story) -> None:
    assert (apex.initiative("blocked")["status"], apex.status("blocked")["status"]) == ("blocked", "blocked")


@pytest.mark.req("M-05")
def test_a_new_initiative_is_created_and_its_first_work_sets_it_in_progress(apex: Story) -> None:
    assert (apex.initiative("start")["status"], apex.initiative("milestone")["status"]) == ("created", "in_progress")


@pytest.mark.req("M-05")
def test_work_that_was_blocked_goes_on(apex: Story) -> None:
    assert apex.initiative("unblocked")["status"] == "in_progress"


@pytest.mark.req("M-05")
def test_what_is_completed_is_not_opened_again_and_a_new_initiative_is_named_as_the_way(apex: Story) -> None:
    assert (apex.ran["reopened"].code, apex.ran["reopened"].error) == (1, "initiative_status_refused")
    assert "new one" in apex.ran["reopened"].document["error"]["hint"]


@pytest.mark.req("M-05")
def test_nothing_follows_the_archive(apex: Story) -> None:
    assert apex.ran["raised"].error == "initiative_status_refused"


@pytest.mark.req("M-05")
@pytest.mark.parametrize("event", ["reopened", "raised"])
def test_a_refused_status_writes_nothing(apex: Story, event: str) -> None:
    assert apex.changed(event) == set()


@pytest.mark.req("M-08")
def test_a_delegation_is_one_line_of_auto_memory(apex: Story) -> None:
    assert apex.lines("delegation") == ["tester: all tests"]


@pytest.mark.req("M-08")
def test_the_view_of_the_whole_context_writes_nothing(apex: Story) -> None:
    assert apex.changed("context") == set()


@pytest.mark.req("M-08")
def test_the_view_of_the_whole_context_has_state_interviews_and_lines(apex: Story) -> None:
    shown = apex.ran["context"].document
    assert shown["initiative"]["phase"] == "review"
    assert [each["value"] for each in shown["interview"][0]["history"]] == [0.4, 0.9]
    assert [line["text"] for line in shown["lines"]["Learnings"]] == ["Prices are whole cents."]
    assert [line["text"] for line in shown["lines"]["Delegations"]] == ["tester: all tests"]


@pytest.mark.req("M-03")
def test_a_new_session_that_has_only_auto_memory_sees_the_active_workflow(machine: Path) -> None:
    story = Story(machine / "notes")
    story.directory.mkdir()
    (story.directory / NOTES).write_text("- Active DEBUG workflow: root cause found, fixing the cart\n")
    shown = story.tell("status", "status").document["initiative"]
    assert (shown["type"], shown["phase"], shown["context"]) == ("DEBUG", "fix", "the cart")


@pytest.mark.req("M-03")
def test_as_a_last_resort_state_is_rebuilt_from_the_folder_of_active_milestones(machine: Path) -> None:
    story = Story(machine / "scan")
    active = story.directory / "documentation/milestones/_active/cart"
    active.mkdir(parents=True)
    (active / "1-totals.md").write_text("# Totals\n- [x] add\n- [ ] round\n")
    resumed = story.tell("resume", "resume").document
    assert resumed["source"] == "documentation/milestones/_active"
    assert [(each["title"], each["done"], each["total"]) for each in resumed["initiative"]["milestones"]] == [
        ("Totals", 1, 2)
    ]


def apart(machine: Path, name: str, minutes: int) -> tuple[Story, dict[str, Any]]:
    """Its status file says something else, last updated so many minutes before; and what a resume gave."""
    story = Story(machine / name)
    story.directory.mkdir()
    story.tell("start", "start", "Cart")
    story.tell("plan", "advance", "analyze", "plan")
    old = story.status("plan") | {"status": "blocked"}
    then = datetime.now(UTC) - timedelta(minutes=minutes)
    old.pop("counter", None)  # as another program would have written it
    (story.directory / STATUS).write_text(yaml.safe_dump(old | {"lastUpdated": then.isoformat()}))
    return story, dict(story.tell("resume", "resume").document)


@pytest.mark.req("M-04")
def test_on_resume_the_source_that_was_updated_last_wins(machine: Path) -> None:
    _, resumed = apart(machine, "newest", 20)
    assert (resumed["source"], resumed["initiative"]["status"]) == (INITIATIVE, "in_progress")


@pytest.mark.req("M-04")
def test_on_resume_a_newer_status_file_wins_over_the_initiative(machine: Path) -> None:
    _, resumed = apart(machine, "newer", -20)
    assert (resumed["source"], resumed["initiative"]["status"]) == (STATUS, "blocked")


@pytest.mark.req("M-04")
def test_on_resume_stale_sources_are_brought_up_to_the_winner(machine: Path) -> None:
    story, resumed = apart(machine, "brought-up", 20)
    assert STATUS in resumed["brought_up"]
    assert story.status("resume")["status"] == "in_progress"


@pytest.mark.req("M-04")
def test_more_than_five_minutes_apart_the_person_is_warned(machine: Path) -> None:
    _, resumed = apart(machine, "six", 6)
    (warning,) = resumed["warnings"]
    assert warning["message"].startswith("Initiative state may be stale — last updated ")


@pytest.mark.req("M-04")
def test_up_to_five_minutes_apart_nobody_is_warned(machine: Path) -> None:
    _, resumed = apart(machine, "four", 4)
    assert resumed["warnings"] == []


@pytest.mark.req("M-06")
def test_without_auto_memory_all_else_goes_on(machine: Path) -> None:
    story = Story(machine / "no-notes")
    (story.directory / NOTES).mkdir(parents=True)
    story.tell("start", "start", "Cart")
    ran = story.tell("plan", "advance", "analyze", "plan")
    assert (ran.code, ran.document["saved"], ran.document["initiative"]["phase"]) == (0, True, "plan")
    assert ran.document["warnings"][-1]["message"].startswith("Auto-memory unavailable — learnings will not persist")


@pytest.mark.req("M-06")
def test_without_state_files_it_is_an_error_that_cannot_be_overlooked(machine: Path) -> None:
    story = Story(machine / "no-state")
    story.directory.mkdir()
    (story.directory / ".claude").write_text("in the way")
    ran = story.tell("start", "start", "Cart")
    assert (ran.code, ran.document["saved"]) == (1, False)
    assert "ERROR: Cannot write state files — workflow state will not persist" in ran.err
