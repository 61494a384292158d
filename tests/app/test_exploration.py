"""The explorer of a project, by rules and with a scripted model: answers, hands on, and tells what broke later."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from forge.agents.model import Prompt
from forge.agents.models import registry
from forge.agents.scripted import Say, ScriptedModel, call
from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.projects import exploration
from forge.app.projects.catalog import create
from forge.app.projects.exploration_export import ExportMissing, exported
from forge.app.projects.messages import say
from forge.explore.errors import ChangeRefused
from forge.pipeline.actions import Action
from forge.projects.project import Project
from tests.support.scripted_projects import Office, pressed

pytestmark = pytest.mark.req("W-09")

NAMES = (
    *("problem_brief.md", "problem_brief.docx", "problem_brief.pdf", "assumptions.csv", "assumptions.md"),
    *("matrix.svg", "dependencies.svg", "tree.svg"),
)
SAID = (
    "We want to build a dashboard for our dispatchers. They lose two hours every day because they copy orders from "
    "mails by hand. The budget must not exceed 20000 euros."
)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office.at(tmp_path / "office")


async def answered(shop: Workshop, project: Project) -> None:
    run = await exploration.answer(shop, project)
    assert run is not None
    await shop.engine.handle(run).result()


@pytest.mark.req("B-09", "M-08", "W-11")
def test_an_exploration_becomes_the_brain_dump_and_tells_later_what_broke(office: Office) -> None:
    async def go(shop: Workshop) -> tuple[Project, str]:
        project = await create(shop, "Depot", agent="builtin", deliverable_type="plan")
        await say(shop, project, SAID, about="problem")
        await say(shop, project, "Anna Berg decides.")
        await answered(shop, project)
        assert await exploration.answer(shop, project) is None, "both messages are answered by one turn"
        assert "[A1]" not in str(exploration.shown(shop.settings, project).broken_ground)
        exploration.hand_over(shop, LOCAL, project.id)
        await pressed(shop, project, Action.DISTILL)
        intent = (project.directory / "docs/intent.md").read_text()
        told = exploration.change(
            shop,
            LOCAL,
            project.id,
            "update_assumption_status",
            {"assumption_id": "A1", "status": "invalidated", "reason": "Nobody wants it."},
        )
        assert told == "A1 is invalidated (was active)."
        return project, intent

    project, intent = office.do(go)
    unknowns = intent.partition("## Unknowns")[2].partition("## ")[0]
    assert "[A1]" in unknowns
    assert "[C1]" in intent.partition("## Constraints")[2].partition("## ")[0]
    broken = exploration.shown(office.settings, project).broken_ground
    assert [(each["id"], each["document"]) for each in broken] == [("A1", "docs/intent.md")]
    assert "A1 did not hold" in project.chat()[-1].content
    kept = json.loads((project.directory / ".claude/interview-state.json").read_text())
    text = json.dumps(kept)
    assert "A1 A dashboard would solve the problem" in text
    assert text.count("0.2") >= 1


def test_a_person_may_dump_and_distill_without_being_explored(office: Office) -> None:
    async def go(shop: Workshop) -> Project:
        project = await create(shop, "Depot", agent="builtin", deliverable_type="plan")
        await say(shop, project, SAID, about="problem")
        await pressed(shop, project, Action.DISTILL)
        assert await exploration.answer(shop, project) is None
        return project

    project = office.do(go)
    assert "[A1]" not in (project.directory / "docs/intent.md").read_text()


def test_a_wrong_change_by_hand_is_refused_and_changes_nothing(office: Office) -> None:
    async def go(shop: Workshop) -> None:
        project = await create(shop, "Depot", agent="builtin", deliverable_type="plan")
        tip = project.records.tip()
        with pytest.raises(exploration.ToolUnknown):
            exploration.change(shop, LOCAL, project.id, "drop_table", {})
        wrong = {"assumption_id": "A9", "status": "confirmed", "reason": "r"}
        with pytest.raises(ChangeRefused, match="no assumption `A9`"):
            exploration.change(shop, LOCAL, project.id, "update_assumption_status", wrong)
        with pytest.raises(ChangeRefused, match="not stated"):
            exploration.hand_over(shop, LOCAL, project.id)
        assert project.records.tip() == tip

    office.do(go)


@pytest.mark.req("W-11", "W-06", "W-05")
def test_a_model_gets_passages_of_uploads_and_its_bad_calls_come_back_as_text(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    route = json.dumps({"mode": "gathering", "retrieval": "late changes of orders"})
    bad = call("update_assumption_status", assumption_id="A7", status="confirmed", reason="r")
    brief = call("generate_artifact", artifact_type="problem_brief", content="Late changes hurt [D1].", reason="r")
    context = call("update_org_context", company="Depot AG", reason="Said.")
    heavy = [Say("", (bad, brief, context)), "One? Two? Three? Four?"]
    asked: list[Prompt] = []

    class Both(ScriptedModel):
        async def answer(self, prompt: Prompt, **options: Any) -> Any:
            asked.append(prompt)
            script = heavy if prompt.tools else [route]
            return await ScriptedModel(script, by_prompt=True).answer(prompt, **options)

    monkeypatch.setattr(registry, "resolve", lambda *_: Both([]))

    async def go(shop: Workshop) -> Project:
        project = await create(shop, "Depot", agent="scripted:one")
        place = project.directory / "resources/rules.md"
        place.write_text("Billing is monthly.\n\n" + "x\n" * 600 + "Late changes of orders come from sales.\n")
        await say(shop, project, SAID, about="problem")
        await answered(shop, project)
        return project

    project = office.do(go)
    light, first, second = asked
    assert not light.tools
    assert len(first.tools) == 21
    last = str(first.messages[-1])
    assert "Late changes of orders come from sales." in last
    assert 'place="rules.md, lines' in last
    assert "Billing is monthly" not in last
    assert "There is no assumption `A7`" in str(second.messages)
    assert project.chat()[-1].content == "One? Two? Three?"
    assert project.state().values["pending_questions"] == ["Four?"]
    assert (
        project.directory / "artifacts/problem_brief.md"
    ).read_text() == "Late changes hurt [D1].\n\n## Documents\n\n- rules.md, lines 443-603 [D1]\n"
    assert (project.directory / "context.md").read_text().startswith("# Depot AG")


def test_words_of_two_tabs_are_all_answered_and_turns_queue(office: Office) -> None:
    async def go(shop: Workshop) -> Project:
        project = await create(shop, "Depot", agent="builtin", deliverable_type="plan")
        await say(shop, project, SAID, about="problem")
        one = await exploration.answer(shop, project)
        await say(shop, project, "I think Anna will use it. Anna Berg decides.")
        two = await exploration.answer(shop, project)
        for run in (one, two):
            if run is not None:
                await asyncio.wait_for(shop.engine.handle(run).result(), 60)
        return project

    project = office.do(go)
    seen = exploration.shown(office.settings, project)
    assert not seen.waiting
    assert [each.content for each in project.chat() if each.role == "human"][-1].endswith("Anna Berg decides.")
    assert "Anna Berg" in [each["name"] for each in seen.stakeholders]


@pytest.mark.req("W-06")
def test_everything_is_taken_away_by_name(office: Office) -> None:
    async def go(shop: Workshop) -> Project:
        project = await create(shop, "Depot", agent="builtin", deliverable_type="plan")
        await say(shop, project, SAID, about="problem")
        await answered(shop, project)
        arguments = {"artifact_type": "problem_brief", "reason": "r"}
        exploration.change(shop, LOCAL, project.id, "generate_artifact", arguments)
        worse = {"claim": "=HYPERLINK(1)", "type": "value", "impact": "low", "confidence": "guessed", "basis": "b"}
        exploration.change(shop, LOCAL, project.id, "register_assumption", {**worse, "reason": "r"})
        return project

    project = office.do(go)
    made = {name: exported(office.settings, project, name) for name in NAMES}
    assert made["problem_brief.pdf"].data.startswith(b"%PDF-")
    assert made["problem_brief.docx"].data.startswith(b"PK")
    assert b"[T1]" in made["problem_brief.md"].data
    assert "A1,A dashboard would solve the problem" in made["assumptions.csv"].data.decode("utf-8-sig")
    assert "'=HYPERLINK(1)" in made["assumptions.csv"].data.decode()
    assert b"| A1 | A dashboard would solve the problem |" in made["assumptions.md"].data
    assert b"Opportunity" in made["tree.svg"].data
    assert {each.media_type for name, each in made.items() if name.endswith("svg")} == {"image/svg+xml"}
    for wrong in ("x.pdf", "../state.json", "problem_brief.exe", "constraints.pdf", ""):
        with pytest.raises(ExportMissing):
            exported(office.settings, project, wrong)
