"""What a person relies on when coming back to a project, line by line of the workspace's checklist."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from forge.pipeline.draft import Draft
from forge.projects import artifacts, context_file, priming_message, state
from forge.projects.errors import InvalidArtifactName, ProjectExists
from forge.projects.project import Project
from forge.projects.workspace import Workspace
from tests.conftest import Git
from tests.projects.conftest import drafted

NOW = datetime(2026, 2, 14, 10, 30, tzinfo=UTC)
LATER = datetime(2026, 2, 15, tzinfo=UTC)


def save_state(project: Project, values: dict[str, Any]) -> None:
    """Some values of `state.json`; the others stay."""

    def changed(draft: Draft) -> None:
        saved = state.loaded(draft.read(state.FILE))
        draft.write(state.FILE, state.formatted(replace(saved, values={**saved.values, **values}), now=NOW))

    drafted(project, changed)


@pytest.mark.req("W-01")
def test_the_workspace_is_made_on_first_use(workspace: Workspace) -> None:
    assert not workspace.directory.exists()
    assert len(workspace.list()) == 0
    assert (workspace.directory / "projects").is_dir()


@pytest.mark.req("W-02")
def test_a_name_with_special_characters_gives_a_clean_directory(workspace: Workspace) -> None:
    project = workspace.create("Campaign Analysis: Q3 (Final)", now=NOW)
    assert project.directory.name == "campaign-analysis-q3-final"
    assert json.loads((project.directory / "state.json").read_text())["project_name"] == "Campaign Analysis: Q3 (Final)"


@pytest.mark.req("W-02")
def test_a_duplicate_name_is_a_clear_error(workspace: Workspace, project: Project) -> None:
    with pytest.raises(ProjectExists, match="harbour-lights"):
        workspace.create("Harbour: Lights", now=NOW)


@pytest.mark.req("W-07")
def test_the_first_message_asks_for_the_background_and_is_no_gate() -> None:
    for word in ("team", "stakeholders", "systems", "vocabulary", "goals", "politics", "straight to the problem"):
        assert word in priming_message.PRIMING_MESSAGE.lower()


@pytest.mark.req("W-07", "W-05")
def test_team_context_that_is_given_is_in_the_state_and_in_the_file(project: Project) -> None:
    context_file.update_org_context(project.records, company="Acme", internal_context="Bob decides.")
    context_file.update_org_context(project.records, public_context="Sells lights.")
    assert (project.directory / "context.md").read_text() == (
        "# Acme\n\n## Public Context\nSells lights.\n\n## Internal Context\nBob decides.\n"
    )
    told = project.state().values["org_context"]
    assert (told["company"], told["public_context"], told["internal_context"]) == (
        "Acme",
        "Sells lights.",
        "Bob decides.",
    )


@pytest.mark.req("W-07")
def test_a_project_is_being_primed_until_the_person_says_something(project: Project) -> None:
    drafted(project, lambda draft: draft.say(priming_message.PRIMING_MESSAGE))
    assert priming_message.is_priming(project.chat())
    drafted(project, lambda draft: draft.say("Our lights go out.", "human"))
    assert not priming_message.is_priming(project.chat())


@pytest.mark.req("W-03")
def test_each_turn_is_saved_in_the_project_directory(project: Project) -> None:
    drafted(project, lambda draft: draft.say("hello", "human"), now=LATER)
    saved = json.loads((project.directory / "state.json").read_text())
    assert (saved["turn_count"], saved["messages"]) == (1, [{"role": "user", "content": "hello"}])
    assert saved["last_saved"] == "2026-02-15T00:00:00.000Z"
    assert [m.content for m in project.chat()] == ["hello"]


TURNED: dict[str, Any] = {
    "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    "turn_count": 7,
    "current_phase": "framing",
    "active_mode": "discover",
    "assumption_register": {"A1": {"text": "lights are needed", "confidence": "guessed"}},
    "assumption_counter": 1,
    "latest_artifact": "# Brief",
    "pending_questions": ["Who pays?"],
}


@pytest.mark.req("W-08")
def test_a_project_that_is_opened_again_goes_on_exactly_where_it_was(workspace: Workspace, project: Project) -> None:
    skeleton = {**state.defaults()["document_skeleton"], "problem_statement": "Lights go out", "extra": {"of": "ours"}}
    routing = {**state.defaults()["routing_context"], "active_probe": "why_now"}
    turned = {**TURNED, "document_skeleton": skeleton, "routing_context": routing}
    save_state(project, turned)
    drafted(project, lambda draft: draft.say("Our lights go out.", "human"))
    drafted(project, lambda draft: draft.say("Since when?"))
    said = [{"role": "user", "content": "Our lights go out."}, {"role": "assistant", "content": "Since when?"}]
    again = Workspace(workspace.directory).open("harbour-lights")
    now = {"messages": TURNED["messages"] + said, "turn_count": 8, "org_context": state.defaults()["org_context"]}
    assert again.state().values == {**turned, **now}
    assert [m.content for m in again.chat()] == ["Our lights go out.", "Since when?"]


@pytest.mark.req("W-04")
@pytest.mark.parametrize("key", state.PERSISTED_KEYS)
def test_a_key_that_was_removed_by_hand_gets_its_default(project: Project, key: str) -> None:
    place = project.directory / "state.json"
    saved = json.loads(place.read_text())
    del saved[key]
    place.write_text(json.dumps(saved))
    assert project.state().values[key] == state.defaults()[key]
    assert project.state().warning == ""


@pytest.mark.req("W-04")
def test_another_schema_version_warns_and_loads(project: Project) -> None:
    save_state(project, {"turn_count": 3})
    place = project.directory / "state.json"
    for version in ('"0.9"', '"2.0"', "null"):
        place.write_text(place.read_text().replace('"1.0"', version))
        assert project.state().values["turn_count"] == 3
        assert "another version" in project.state().warning
        place.write_text(place.read_text().replace(f'"schema_version": {version}', '"schema_version": "1.0"'))
    assert project.state().warning == ""


@pytest.mark.req("W-05")
def test_an_edit_of_the_context_file_counts_from_the_next_turn_and_is_never_overwritten(
    project: Project, git: Git
) -> None:
    context_file.update_org_context(project.records, company="Acme")
    (project.directory / "context.md").write_text("# Acme\n\n## Internal Context\nAnn decides now.\n")
    assert context_file.read(project.records).internal_context == "Ann decides now."
    assert project.state().values["org_context"]["internal_context"] == "Ann decides now."
    save_state(project, {"turn_count": 1, "org_context": {"internal_context": "stale"}})
    assert context_file.read(project.records).internal_context == "Ann decides now."
    assert project.state().values["org_context"]["internal_context"] == "Ann decides now."
    assert "Ada Example|edit: context.md" in git(project.directory, "log", "--format=%an|%s")
    context_file.update_org_context(project.records, public_context="Sells lights.")
    assert "Ann decides now." in (project.directory / "context.md").read_text()


@pytest.mark.req("W-06")
def test_an_artifact_is_saved_under_the_name_of_its_type(project: Project) -> None:
    artifacts.save(project.records, "problem_brief", "# Brief")
    artifacts.save(project.records, "solution_evaluation_brief", "# Evaluation")
    artifacts.save(project.records, "sizing", "# Sizing")
    assert project.state().values["latest_artifact"] == "# Sizing"
    (project.directory / "artifacts/by hand.md").write_text("mine")
    assert artifacts.names(project.records) == [
        "artifacts/by hand.md",
        "artifacts/problem_brief.md",
        "artifacts/sizing.md",
        "artifacts/solution_evaluation.md",
    ]
    assert (project.directory / "artifacts/problem_brief.md").read_text() == "# Brief"
    for unsafe in ("../status", "a/b", "", ".hidden", "x" * 200):
        with pytest.raises(InvalidArtifactName):
            artifacts.save(project.records, unsafe, "")


@pytest.mark.req("W-08")
def test_projects_are_listed_with_the_last_changed_first(workspace: Workspace) -> None:
    old, new = workspace.create("Old", now=NOW), workspace.create("New", now=NOW)
    for name in ("state.json", "status.json", "project.json", "chat_history.json", ".gitignore"):
        os.utime(old.directory / name, (1000, 1000))
    assert [p.name for p in workspace.list()] == ["New", "Old"]
    save_state(old, {"turn_count": 1})
    os.utime(old.directory / "state.json", (2**33, 2**33))
    assert [p.name for p in workspace.list()] == ["Old", "New"]
    assert new.state().values["turn_count"] == 0


@pytest.mark.req("W-08")
def test_two_projects_never_mix(workspace: Workspace) -> None:
    one, two = workspace.create("One", now=NOW), workspace.create("Two", now=NOW)
    save_state(one, {"turn_count": 1, "assumption_register": {"A1": {}}})
    context_file.update_org_context(two.records, company="Acme")
    artifacts.save(one.records, "problem_brief", "# One")
    drafted(one, lambda draft: draft.say("one", "human"))
    assert (two.state().values["turn_count"], two.chat(), artifacts.names(two.records)) == (0, (), [])
    assert context_file.read(one.records).company == ""
    assert two.state().values["assumption_register"] == {}
