"""A plan's way from brain dump to done as a person walks it: corrected, answered, edited by hand, confirmed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.catalog import artifacts, create, save_artifact, workspace_of
from forge.app.projects.first_message import SCENE_NOTED
from forge.app.projects.messages import say
from forge.app.projects.view import view
from forge.errors import InvalidInput
from forge.pipeline.actions import Action
from forge.pipeline.answerer import Task
from forge.pipeline.draft import blob_id
from forge.pipeline.errors import ActionRefused
from forge.pipeline.realign import NO_CORRECTION
from forge.projects.priming_message import PRIMING_MESSAGE
from forge.projects.project import Project
from forge.projects.state import PERSISTED_KEYS
from forge.settings import load
from tests.conftest import Git
from tests.support.scripted_projects import (
    CLEAR,
    OPEN,
    Office,
    Script,
    at_specification,
    new,
    office,
    pressed,
    said,
    script,
)

__all__ = ["office", "script"]

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def chat(project: Project) -> list[tuple[str, str, str]]:
    """As the file has it, and in the form of the file."""
    entries = json.loads((project.directory / "chat_history.json").read_text())
    assert all(list(entry) == ["role", "content", "phase", "timestamp"] for entry in entries)
    assert all(TIME.fullmatch(entry["timestamp"]) for entry in entries)
    return [(entry["role"], entry["phase"], entry["content"].splitlines()[0][:48]) for entry in entries]


def status(project: Project) -> dict[str, object]:
    values = json.loads((project.directory / "status.json").read_text())
    assert TIME.fullmatch(values.pop("created_at"))
    assert TIME.fullmatch(values.pop("updated_at"))
    return dict(values)


@pytest.mark.req("P-01", "P-04", "P-05", "P-06", "P-13", "W-03", "W-08", "X-03", "X-04")
def test_a_plan_from_brain_dump_to_done_with_a_new_process_for_each_step(
    office: Office, script: Script, git: Git
) -> None:
    project = office.do(lambda shop: new(shop, dump=""))
    again = lambda: office.project("party")  # noqa: E731 - each process finds it anew
    assert chat(project) == [("ai", "brain_dump", "Welcome to your new project. A little background")]
    assert status(project) == {
        "project_name": "",
        "phase": "brain_dump",
        "deliverable_type": None,
        "agent": "builtin",
        "halt_reason": None,
    }
    office.do(lambda shop: said(shop, again(), OPEN))
    assert chat(project)[1:] == [("human", "brain_dump", OPEN[:48])]

    seen = office.do(lambda shop: pressed(shop, again(), Action.DISTILL))
    assert (seen.phase, seen.busy, seen.actions) == (
        "human_review",
        False,
        ("confirm", "correct", "realign", "terminate"),
    )
    assert chat(project)[2:] == [
        ("ai", "distilling", "Distilling…"),
        ("ai", "human_review", "This is what I understood; it is in docs/intent."),
    ]
    intent = (project.directory / "docs/intent.md").read_text()
    assert re.findall(r"^#+ .*", intent, re.MULTILINE) == [
        "# Party",
        "## Deliverable Type",
        "## Objective",
        "## Assumptions",
        "## Constraints",
        "## Unknowns",
        "## Open Questions",
    ]

    seen = office.do(lambda shop: pressed(shop, again(), Action.CONFIRM))
    assert (seen.phase, len(seen.open_questions)) == ("spec_building", 2)
    assert status(project) == {
        "project_name": "Party",
        "phase": "spec_building",
        "deliverable_type": "plan",
        "agent": "builtin",
        "halt_reason": None,
    }
    assert chat(project) == [
        ("ai", "spec_building", "The intent is locked. Next comes the specificati"),
        ("ai", "spec_building", "The specification is drafted in docs/spec.md. 2 "),
    ]
    with pytest.raises(ActionRefused, match="2 questions are still open"):
        office.do(lambda shop: pressed(shop, again(), Action.CONFIRM))

    seen = office.do(lambda shop: said(shop, again(), "2: Yes, families are welcome.\n1: No permit is needed."))
    assert seen.open_questions == ()
    assert "families are welcome" in (project.directory / "docs/spec.md").read_text()
    assert [role for role, _, _ in chat(project)] == ["ai", "ai", "human", "ai"]

    seen = office.do(lambda shop: pressed(shop, again(), Action.CONFIRM))
    assert (seen.phase, seen.halt_reason, seen.actions) == ("done", None, ())
    assert seen.deliverable == str(project.directory / "docs/plan.md")
    assert [(role, phase) for role, phase, _ in chat(project)] == [
        ("ai", "building"),
        ("ai", "polishing"),
        ("ai", "polishing"),
    ]
    polish = json.loads((project.directory / "polish_state.json").read_text())
    assert list(polish) == [
        "iteration",
        "error_counts",
        "convergence_trajectory",
        "tests_passed",
        "timestamp",
        "completed",
        "halt_reason",
    ]
    assert (polish["completed"], polish["tests_passed"], polish["halt_reason"]) == (True, None, None)
    assert list(polish["error_counts"]) == ["critical", "medium", "minor", "total"]
    _state_is_whole(project)
    steps = [line for line in git(project.directory, "log", "--format=%(trailers:key=Forge-Step)").splitlines() if line]
    assert len(steps) == len(set(steps)) > 5
    assert git(project.directory, "status", "--porcelain") == ""


def _state_is_whole(project: Project) -> None:
    """The conversation in `state.json` is kept when the chat is cleared."""
    state = json.loads((project.directory / "state.json").read_text())
    assert list(state) == ["schema_version", "project_name", "last_saved", *PERSISTED_KEYS]
    assert (state["schema_version"], state["project_name"], state["turn_count"]) == ("1.0", "Party", 3)
    said = [message["content"] for message in state["messages"] if message["role"] == "user"]
    assert said == [OPEN, "2: Yes, families are welcome.\n1: No permit is needed."]
    assert {message["role"] for message in state["messages"]} == {"user", "assistant"}


@pytest.mark.req("P-04")
def test_corrections_count_and_realigning_goes_back_to_the_last_of_them(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop)
        await pressed(shop, project, Action.DISTILL)
        before = (chat(project), len(script.asked))
        with pytest.raises(ActionRefused) as refused:
            await say(shop, project, "Realign from here.")
        assert refused.value.message == NO_CORRECTION
        assert (chat(project), len(script.asked)) == before, "a refused realignment changed something"

        seen = await said(shop, project, "The budget is 2000 euros.")
        assert seen.phase == "human_review"
        await said(shop, project, "It is in August.")
        first, second, third = script.of("brain-dump-intake")
        assert first.material["corrections"] == []
        assert second.material["corrections"] == ["The budget is 2000 euros."]
        assert third.material["corrections"] == ["The budget is 2000 euros.", "It is in August."]
        assert third.material["brain_dump"] == [CLEAR]
        assert third.material["previous"].startswith("# Party\n")

        await said(shop, project, "realign from here")
        await said(shop, project, "realign from here")
        assert script.of("brain-dump-intake")[-1].material["corrections"] == third.material["corrections"]
        assert [text for _, _, text in chat(project)].count("realign from here") == 2, "the audit trail is kept"

    office.do(use)


@pytest.mark.req("P-05")
def test_answers_by_number_for_all_and_without_a_number(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await at_specification(shop, dump=OPEN)
        permit, families = view(shop, project).open_questions
        seen = await said(shop, project, "We have the permit.")
        assert seen.open_questions == (families,), "words without a number answer the first question"
        with pytest.raises(ActionRefused, match=r"^1 question is still open"):
            await pressed(shop, project, Action.CONFIRM)
        seen = await said(shop, project, "all: You decide.")
        assert seen.open_questions == ()
        answers = script.of("spec-building")[-1].material["answers"]
        assert [(item["question"], item["answer"]) for item in answers] == [
            (permit, "We have the permit."),
            (families, "You decide."),
        ]
        seen = await said(shop, project, "Please no balloons.")
        remark = script.of("spec-building")[-1].material["answers"][-1]
        assert remark == {"question": "", "unknown": "", "answer": "Please no balloons."}
        assert seen.actions == ("confirm", "correct", "terminate")

    office.do(use)


@pytest.mark.req("P-04", "P-05", "W-01")
def test_a_persons_edits_are_their_commits_survive_drafts_and_are_what_is_locked(
    office: Office, script: Script, git: Git
) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop, dump=OPEN)
        await pressed(shop, project, Action.DISTILL)
        intent = project.directory / "docs/intent.md"
        intent.write_text(intent.read_text().replace("# Party", "# The Great Garden Party").replace("1500", "1700"))
        await pressed(shop, project, Action.CONFIRM)
        assert status(project)["project_name"] == "The Great Garden Party"
        assert project.info().locked["docs/intent.md"] == blob_id(intent.read_text())
        assert "1700" in intent.read_text()
        assert git(project.directory, "log", "-1", "--format=%an", "--", "docs/intent.md") == "Ada Example"

        spec = project.directory / "docs/spec.md"
        spec.write_text(spec.read_text().rstrip("\n") + "\n- No fireworks, whatever anybody says.\n")
        await said(shop, project, "all: You decide.")
        assert "No fireworks, whatever anybody says." in spec.read_text(), "a new draft dropped a person's words"
        constraints = project.directory / "docs/constraints.md"
        constraints.write_text(constraints.read_text() + "\n## My own notes\n\nBring a first-aid kit.\n")
        seen = await pressed(shop, project, Action.CONFIRM)
        assert seen.phase == "done"
        locked = project.info().locked
        assert locked["docs/spec.md"] == blob_id(spec.read_text())
        assert locked["docs/constraints.md"] == blob_id(constraints.read_text())
        assert "first-aid" in constraints.read_text()

    office.do(use)


@pytest.mark.req("P-04")
def test_the_heading_and_the_first_word_of_the_type_decide_and_an_unknown_type_is_refused(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop, name=None)
        await pressed(shop, project, Action.DISTILL)
        intent = project.directory / "docs/intent.md"
        text = intent.read_text()
        name = text.splitlines()[0].removeprefix("# ")
        assert 1 <= len(name.split()) <= 5
        intent.write_text(text.replace("Plan —", "Sculpture —"))
        with pytest.raises(InvalidInput, match="has to be one of code, plan"):
            await pressed(shop, project, Action.CONFIRM)
        assert status(project)["phase"] == "human_review"
        intent.write_text(text)
        await pressed(shop, project, Action.CONFIRM)
        assert (status(project)["project_name"], status(project)["deliverable_type"]) == (name, "plan")
        assert project.name == name
        assert project.directory.name == project.id

    office.do(use)


@pytest.mark.req("P-09")
def test_constraints_edited_while_polishing_count_from_the_next_round(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await at_specification(shop)
        constraints = project.directory / "docs/constraints.md"

        def review(task: Task) -> str:
            if task.nth > 1:
                return json.dumps({"critical": 0, "medium": 0, "minor": 0, "issues": []})
            constraints.write_text(constraints.read_text() + "\nMy late wish.\n")
            issue = {"severity": "critical", "description": "x", "location": "Food", "recommendation": "mend"}
            return json.dumps({"critical": 1, "medium": 0, "minor": 0, "issues": [issue]})

        script.answers["plan-review"] = review
        seen = await pressed(shop, project, Action.CONFIRM)
        assert (seen.phase, len(seen.rounds)) == ("done", 2)
        first, second = script.of("plan-review")
        assert "My late wish." not in first.material["constraints"]
        assert "My late wish." in second.material["constraints"]

    office.do(use)


@pytest.mark.req("W-05", "W-07")
def test_who_sets_the_scene_fills_the_context_file_and_who_states_a_problem_does_not(
    office: Office, script: Script
) -> None:
    scene = "Our team has three people. The stakeholders are Bob, head of sales, and his department."

    async def use(shop: Workshop) -> None:
        script.answers["team-context"] = lambda task: json.dumps(
            {"kind": "background" if "Bob" in task.material["message"] else "problem", "context": scene}
        )
        project = await create(shop, "Scene", agent="builtin")
        assert [message.content for message in project.chat()] == [PRIMING_MESSAGE]
        done = await say(shop, project, scene)
        assert done.message == SCENE_NOTED
        context = project.directory / "context.md"
        assert context.read_text() == f"## Internal Context\n{scene}\n"
        assert project.state().values["org_context"]["internal_context"] == scene
        assert [m.content for m in project.chat()][1:] == [scene, SCENE_NOTED]
        context.write_text("# Acme\n\n## Internal Context\nBob has left.\n")
        await say(shop, project, CLEAR)
        await pressed(shop, project, Action.DISTILL)
        assert "Bob has left." in script.of("brain-dump-intake")[-1].material["team_context"]
        assert script.of("brain-dump-intake")[-1].material["brain_dump"] == [CLEAR], "background is no brain dump"
        context.write_text("Alice decides.\n")
        await said(shop, project, "The budget is 900 euros.")
        assert script.of("brain-dump-intake")[-1].material["team_context"] == "Alice decides.\n"

        other = await create(shop, "Problem", agent="builtin")
        assert (await say(shop, other, CLEAR)).message == ""
        assert not (other.directory / "context.md").exists()
        assert await _asked_again(shop, other) == 0

    office.do(use)


async def _asked_again(shop: Workshop, project: Project) -> int:
    await pressed(shop, project, Action.DISTILL)
    return sum(message.content == PRIMING_MESSAGE for message in project.chat()[1:])


@pytest.mark.req("W-03", "W-08")
def test_every_message_is_saved_at_once_and_two_projects_never_mix(office: Office, git: Git) -> None:
    async def use(shop: Workshop) -> None:
        one, two = await new(shop, "One", ""), await new(shop, "Two", "")
        for number, project in enumerate((one, two, one)):
            await say(shop, project, f"Thought {number}", about="problem")
            state = json.loads((project.directory / "state.json").read_text())
            assert state["messages"][-1] == {"role": "user", "content": f"Thought {number}"}
            assert git(project.directory, "status", "--porcelain") == ""
        assert [m.content for m in one.chat()][1:] == ["Thought 0", "Thought 2"]
        assert [m.content for m in two.chat()][1:] == ["Thought 1"]
        assert [project.directory.name for project in workspace_of(shop.settings).list()] == ["one", "two"]

    office.do(use)


@pytest.mark.req("W-01")
def test_the_workspace_is_in_the_documents_unless_the_environment_names_another(home: Path, tmp_path: Path) -> None:
    environ = {"HOME": str(home)}
    assert load(environ).workspace == home / "Documents/forge-workspace"
    assert load({**environ, "FORGE_WORKSPACE": str(tmp_path / "other")}).workspace == tmp_path / "other"
    assert list(workspace_of(load({**environ, "FORGE_WORKSPACE": str(tmp_path / "other")})).list()) == []
    assert (tmp_path / "other/projects").is_dir()


@pytest.mark.req("W-06")
def test_artifacts_are_listed_and_copied_out_without_overwriting(office: Office, tmp_path: Path) -> None:
    project = office.do(new)
    (project.directory / "artifacts/problem_brief.md").write_text("# Brief\n")
    (project.directory / "docs/intent.md").write_text("# Intent\n")
    assert [place.name for place in artifacts(project)] == ["intent.md", "problem_brief.md"]
    saved = save_artifact(project, "problem_brief.md", tmp_path)
    assert saved.read_text() == "# Brief\n"
    with pytest.raises(InvalidInput, match="exists already"):
        save_artifact(project, "problem_brief.md", tmp_path)
    with pytest.raises(InvalidInput, match="no artifact"):
        save_artifact(project, "other.md", tmp_path)
