"""Without a model: an outline with open points, never called done; and what a model makes of it later."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from forge.agents.errors import ModelFailed
from forge.app.demo import AGENT
from forge.app.process.workshop import Workshop
from forge.app.projects.actions import perform
from forge.app.projects.agents import ProjectAgents, agents_of
from forge.app.projects.autopilot import LocalPilot, carry_on
from forge.app.projects.board import board_of
from forge.app.projects.catalog import choose_agent, create
from forge.app.projects.chosen_agents import ChosenAgents
from forge.app.projects.messages import About, Given, say
from forge.app.projects.view import ProjectView, view
from forge.builtin_rules import BuiltinCannot
from forge.deliverables.plan.document import parse
from forge.events import Event, ProjectProgressed
from forge.pipeline.actions import Action
from forge.pipeline.answerer import Task
from forge.pipeline.answers import AnswerRefused
from forge.pipeline.errors import ConfirmationNeeded
from forge.pipeline.scene import QUESTION
from forge.projects.project import Project
from tests.support.scripted_projects import (
    Office,
    Script,
    at_specification,
    by_stand_in,
    new,
    office,
    pressed,
    said,
    script,
    seen,
)

__all__ = ["office", "script"]

MESSY = (
    "Ok so our onboarding is a mess. New hires wait three weeks for a laptop. We want somebody who starts on Monday to "
    "push code on Friday. Budget is 5,000 euro. I think Priya can help. It must be ready before March. "
    "Should we use Notion or Confluence?"
)


async def outlined(shop: Workshop, dump: str = MESSY, **options: object) -> tuple[Project, ProjectView]:
    project = await new(shop, "Onboarding", dump, **options)
    heard: list[Event] = []
    return project, await carry_on(LocalPilot(shop, project), auto_confirm=True, hear=heard.append)


@pytest.mark.req("B-05", "P-04", "P-05", "X-03")
def test_without_a_model_the_way_ends_with_an_outline_that_is_not_done(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project, ended = await outlined(shop)
        assert (ended.phase, ended.halt_reason, ended.waiting) == ("halted", "phase3_output_incomplete", "outline")
        assert ended.outline is not None
        count = ended.outline["open"]
        assert count > 3
        assert ended.label == f"Outline ready · {count} points open"
        assert ended.deliverable == str(project.directory / "docs/outline.md")
        assert not (project.directory / "docs/plan.md").exists(), "no plan was written"
        assert [each["way"] for each in ended.outline["connect"]] == ["key", "program", "ollama"]
        assert "Connect a model to write it." in project.chat()[-1].content
        assert [(card.row.label, card.row.outline) for column in board_of(shop).columns for card in column.cards] == [
            (ended.label, True)
        ]

    office.do(use)


@pytest.mark.req("B-05", "P-09")
def test_every_open_point_is_a_medium_finding_and_the_round_is_on_record(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project, ended = await outlined(shop)
        outline = (project.directory / "docs/outline.md").read_text()
        points = [line.removeprefix("- [ ] ") for line in outline.splitlines() if line.startswith("- [ ] ")]
        [found] = ended.rounds
        assert ended.outline is not None
        assert (found["critical"], found["medium"], found["minor"], found["outcome"]) == (0, len(points), 0, "halt")
        assert [issue["description"] for issue in found["issues"]] == [f"Still to settle: {one}" for one in points]
        assert {issue["severity"] for issue in ended.outline["points"]} == {"medium"}
        assert ended.outline["open"] == len(points)

    office.do(use)


@pytest.mark.req("B-05")
def test_an_outline_with_a_single_open_point_is_not_done_either(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three medium findings are within the limits of the guards; an outline is no plan all the same."""
    monkeypatch.setattr("forge.builtin_rules.outline._unmentioned", lambda *_: iter(()))

    async def use(shop: Workshop) -> None:
        _, ended = await outlined(shop, "We want a summer party for forty people in our garden. Maybe a band?")
        assert (ended.phase, ended.label) == ("halted", "Outline ready · 1 point open")

    office.do(use)


@pytest.mark.req("B-05", "P-04")
def test_the_outline_holds_the_persons_sentences_and_nothing_of_the_engine(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project, _ = await outlined(shop)
        docs = {place.name: place.read_text() for place in (project.directory / "docs").glob("*.md")}
        for name, text in docs.items():
            assert "By rule" not in text, name
            assert name == "how-this-was-made.md" or "rules" not in text, name
        assert "built-in rules" in docs["how-this-was-made.md"]
        numbered = [line for line in docs["outline.md"].splitlines() if line[:1].isdigit()]
        assert [line.partition(".")[0] for line in numbered] == [str(n + 1) for n in range(len(numbered))]
        for line in numbered:
            sentence = line.partition(". ")[2]
            assert sentence.rstrip(".") in MESSY, f"{sentence} was not said"
        assert "Ok so our onboarding is a mess." not in docs["constraints.md"] + docs["spec.md"]
        assert "Ok so our onboarding is a mess." in docs["outline.md"]

    office.do(use)


@pytest.mark.req("B-05", "P-12")
def test_an_outline_can_be_accepted_and_still_says_how_much_is_open(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project, ended = await outlined(shop)
        assert ended.outline is not None
        with pytest.raises(ConfirmationNeeded, match="open points stay open"):
            await pressed(shop, project, Action.OVERRIDE)
        kept = await pressed(shop, project, Action.OVERRIDE, confirmed=True)
        assert (kept.phase, kept.label) == ("done", f"Outline accepted · {ended.outline['open']} points open")
        with pytest.raises(BuiltinCannot):
            await create(shop, "Code", after=project)

    office.do(use)


@pytest.mark.req("B-05", "P-05", "P-06", "P-12")
def test_a_model_goes_on_from_the_outline_and_nothing_is_lost(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        with pytest.MonkeyPatch.context() as without:
            without.setattr(ChosenAgents, "by_rules", lambda *_: True)
            project, _ = await outlined(shop)
            with pytest.raises(BuiltinCannot, match="needs a model"):
                await pressed(shop, project, Action.RESUME)
            assert view(shop, project).label.startswith("Outline ready")
        outline = (project.directory / "docs/outline.md").read_text()
        asked = len(script.of("spec-building"))
        again = await pressed(shop, project, Action.RESUME)
        assert (again.phase, again.outline, again.rounds) == ("spec_building", None, ())
        material = script.of("spec-building")[asked].material
        assert [one["delegated"] for one in material["answers"]] == [True]
        assert "(AI-reasoned)" in (project.directory / "docs/spec.md").read_text()
        done = await pressed(shop, project, Action.CONFIRM)
        assert (done.phase, done.deliverable) == ("done", str(project.directory / "docs/plan.md"))
        assert (project.directory / "docs/outline.md").read_text() == outline, "the outline stays"
        assert script.of("plan-build")[0].material["outline"] == outline

    office.do(use)


@pytest.mark.req("X-03", "P-04")
def test_code_without_a_model_is_refused_before_anything_is_made(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        with pytest.raises(BuiltinCannot, match="needs a model") as refused:
            await create(shop, "Tool", deliverable_type="code")
        assert "Ollama" in refused.value.hint
        assert not (Path(shop.settings.workspace) / "projects/tool").exists()
        await create(shop, "Recorded", agent=AGENT, deliverable_type="code")
        project = await new(
            shop, "Script", "Please write a Python script that renames all my photos by date and place."
        )
        with pytest.raises(BuiltinCannot, match="needs a model"):
            await pressed(shop, project, Action.DISTILL)
        assert view(shop, project).phase == "brain_dump"
        await said(shop, project, "It is a plan.")
        assert (await pressed(shop, project, Action.DISTILL)).phase == "human_review"

    office.do(use)


@pytest.mark.req("P-05", "B-05")
def test_a_delegated_answer_is_structured_and_the_rules_leave_it_open(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project = await at_specification(shop, dump=MESSY)
        [question] = view(shop, project).open_questions
        with pytest.raises(AnswerRefused, match="no open question 2"):
            await say(shop, project, "", given=[Given(2, delegated=True)])
        with pytest.raises(AnswerRefused, match="either an answer or"):
            await say(shop, project, "", given=[Given(1, "Notion", delegated=True)])
        after = await seen(shop, project, await say(shop, project, "", given=[Given(1, delegated=True)]))
        assert after.open_questions == ()
        [answer] = project.info().answers
        assert answer == {"question": question, "unknown": question, "answer": "", "delegated": True}
        spec = (project.directory / "docs/spec.md").read_text()
        assert f"**{question}**: Nobody has decided this yet. (left open)" in spec
        await pressed(shop, project, Action.CONFIRM)
        assert f"- [ ] {question}" in (project.directory / "docs/outline.md").read_text()

    office.do(use)


@pytest.mark.req("P-05")
def test_a_model_decides_what_is_delegated_and_says_why(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await at_specification(shop, dump=MESSY)
        await seen(shop, project, await say(shop, project, "", given=[Given(1, delegated=True)]))
        [answer] = script.of("spec-building")[-1].material["answers"]
        assert (answer["answer"], answer["delegated"]) == ("", True), "no sentence stands for the decision"
        assert "because nothing speaks against it. (AI-reasoned)" in (project.directory / "docs/spec.md").read_text()

    office.do(use)


@pytest.mark.req("P-05")
def test_a_model_cannot_leave_open_what_it_has_to_resolve(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        from forge import builtin_rules  # noqa: PLC0415

        script.answers["spec-building"] = lambda task: builtin_rules.answer(task.prompt, task.material)
        project = await at_specification(shop, dump=f"{MESSY} Maybe a buddy for everybody.")
        assert view(shop, project).halt_reason == "agent_failure"

    office.do(use)


@pytest.mark.req("P-12")
def test_the_outline_is_written_once(office: Office) -> None:
    async def use(shop: Workshop) -> str:
        project, _ = await outlined(shop)
        return str(project.directory)

    directory = office.do(use)
    log = subprocess.run(["git", "-C", directory, "log", "--format=%s"], capture_output=True, text=True, check=True)
    assert log.stdout.splitlines().count("outline: ready") == 1


@pytest.mark.req("P-09")
def test_an_empty_answer_that_was_asked_for_twice_is_not_asked_for_again(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        def empty(_: Task) -> str:
            failed = ModelFailed("The model gave an empty answer, twice.", hint="Ask again.")
            failed.asked_again = True
            raise failed

        script.answers["brain-dump-intake"] = empty
        project = await new(shop)
        stopped = await pressed(shop, project, Action.DISTILL)
        assert (stopped.halt_reason, len(script.of("brain-dump-intake"))) == ("agent_failure", 1)
        script.answers["brain-dump-intake"] = lambda _: ""
        await pressed(shop, project, Action.RESUME)
        assert len(script.of("brain-dump-intake")) == 3, "an agent that does not ask again itself is asked twice"

    office.do(use)


@pytest.mark.req("P-12", "P-09")
def test_what_a_halted_project_offers_is_explained_and_said_for_the_person(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        script.answers["spec-building"] = lambda _: "Sorry, here is some prose."
        project = await at_specification(shop)
        stopped = view(shop, project)
        assert [each.action for each in stopped.offers] == ["resume", "edit", "provide_input", "terminate"]
        assert all(each.about and each.title for each in stopped.offers)
        assert stopped.offers[0].takes_agent
        assert stopped.offers[1].document == "docs/intent.md"
        said_last = project.chat()[-1].content
        for internal in ("JSON", "H1", "spec-building", "agent_failure"):
            assert internal not in stopped.question + said_last + stopped.label
        assert any("JSON" in line["detail"] for line in project.log.lines()), "the log has what was wrong"
        del script.answers["spec-building"]
        with pytest.raises(AnswerRefused, match="empty"):
            await pressed(shop, project, Action.PROVIDE_INPUT, text="  ")
        again = await pressed(shop, project, Action.PROVIDE_INPUT, text="Please keep it short.")
        assert again.phase == "spec_building"
        assert script.of("spec-building")[-1].material["answers"][-1]["answer"] == "Please keep it short."

    office.do(use)


@pytest.mark.req("P-12")
def test_a_retry_of_a_build_asks_the_model_that_was_chosen(office: Office, script: Script) -> None:
    asked: list[str] = []

    async def use(shop: Workshop) -> None:
        project = await at_specification(shop)

        def broken(_: Task) -> str:
            asked.append(ProjectAgents.who(agents_of(shop, project), "plan-build"))
            return "no JSON"

        script.answers["plan-build"] = broken
        stopped = await pressed(shop, project, Action.CONFIRM)
        assert (stopped.halt_reason, stopped.offers[1].document) == ("agent_failure", "docs/spec.md")
        choose_agent(shop, project, AGENT)
        script.answers.pop("plan-build")
        heard: list[Event] = []
        done = await seen(shop, project, await perform(shop, project, Action.RESUME), heard)
        assert done.phase == "done"
        told = [event.text for event in heard if isinstance(event, ProjectProgressed)]
        assert f"{AGENT}: plan-build" in told, "the run goes on with whom it began with"

    office.do(use)


@pytest.mark.req("P-12", "P-06")
def test_what_a_stuck_build_asks_can_be_left_to_the_model_which_says_why(office: Office, script: Script) -> None:
    stuck = json.dumps({"stuck": True, "reason": "Indoors or outdoors?", "content": ""})

    def build(task: Task) -> str:
        if not task.material["answers"]:
            return stuck
        given = json.loads(by_stand_in(task))
        if task.nth == 2:
            given["decided"] = [{"question": "?", "decision": "Outdoors.", "reason": "It is July."}]
        return json.dumps(given)

    async def use(shop: Workshop) -> None:
        script.answers["plan-build"] = build
        project = await at_specification(shop)
        assert (await pressed(shop, project, Action.CONFIRM)).waiting == "stuck"
        done = await seen(shop, project, await say(shop, project, "", given=[Given(1, delegated=True)]))
        assert done.phase == "done"
        assert script.of("plan-build")[-1].material["answers"] == [
            {"question": "Indoors or outdoors?", "answer": "", "delegated": True}
        ]
        said_there = [message.content for message in project.chat()]
        assert "(left to Forge)" in said_there
        assert "Decided, as you left it to me: Outdoors. Why: It is July." in said_there

    office.do(use)


@pytest.mark.req("P-06")
def test_the_plan_has_the_sections_that_the_specification_agreed_on(office: Office, script: Script) -> None:
    def specify(task: Task) -> str:
        given = json.loads(by_stand_in(task))
        given["spec"]["structure"]["sections"] = ["Garden & house", "Money", "Who | brings *what*"]
        return json.dumps(given)

    async def use(shop: Workshop) -> None:
        script.answers["spec-building"] = specify
        project = await at_specification(shop)
        done = await pressed(shop, project, Action.CONFIRM)
        assert done.phase == "done"
        text = (project.directory / "docs/plan.md").read_text()
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        assert headings == ["## Garden & house", "## Money", "## Who brings what", "## Acceptance"]
        assert text.count("| Objective | Plan | Assessment |") == 4
        kept = json.loads((project.directory / "docs/plan.json").read_text())
        assert parse(text, sections=tuple(kept["sections"])).slots == kept["slots"]

    office.do(use)


@pytest.mark.req("W-07")
@pytest.mark.parametrize(
    ("reply", "background"), [("The problem itself.", False), ("It’s background", True), ("Bob leaves in May.", False)]
)
def test_the_question_about_the_first_message_is_answered_in_words(
    office: Office, reply: str, background: bool
) -> None:
    async def use(shop: Workshop) -> None:
        project = await create(shop, "Sales")
        await say(shop, project, SCENE)
        await say(shop, project, reply)
        assert view(shop, project).scene_question == ""
        assert (project.directory / "context.md").exists() is background
        said = [each.content for each in project.chat() if each.role == "human"]
        assert said == ([SCENE, reply] if "Bob" in reply else [SCENE])

    office.do(use)


SCENE = "Wir sind drei Leute im Vertrieb. Bob entscheidet, und das CRM ist von 2009."


@pytest.mark.req("W-05", "W-07")
@pytest.mark.parametrize("about", ["background", "problem"])
def test_without_a_model_the_person_is_asked_what_the_first_message_is(office: Office, about: About) -> None:
    async def use(shop: Workshop) -> None:
        project = await create(shop, "Sales")
        first = await say(shop, project, SCENE)
        assert first.message == view(shop, project).scene_question == QUESTION
        assert not (project.directory / "context.md").exists(), "no keyword decides"
        assert "distill" in view(shop, project).actions, "it is an offer, not a gate"
        await say(shop, project, "", about=about)
        assert view(shop, project).scene_question == ""
        assert (project.directory / "context.md").exists() is (about == "background")
        with pytest.raises(AnswerRefused):
            await say(shop, project, "", about=about)
        again = await say(shop, project, "We want a new CRM for the sales team, before summer, with all the old data.")
        assert again.message == "", "only the first message is asked about"
        await pressed(shop, project, Action.DISTILL)
        assert ("Bob" in (project.directory / "docs/intent.md").read_text()) is (about == "problem")

    office.do(use)


@pytest.mark.req("W-07")
def test_a_model_that_cannot_tell_leaves_it_to_the_person(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        script.answers["team-context"] = lambda _: "I think it is background."
        project = await create(shop, "Sales")
        assert (await say(shop, project, SCENE)).message == QUESTION

    office.do(use)
