"""What models are told: the repository, the plan, resources, one system prompt, and what each key means."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from forge.pipeline.answerer import Objection, Task
from forge.pipeline.delivery_run import deliver
from forge.pipeline.distill_phase import as_chosen, distill
from forge.pipeline.specification import parse_answer, unresolved
from forge.pipeline.specify_phase import specify
from forge.plugins.roles import TestResults
from forge.projects.errors import AnswerMalformed
from forge.projects.intent import Intent
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from forge.prompts import Prompts
from tests.support.project_runs import (
    CODE_ANSWER,
    CODE_CONSTRAINTS,
    CODE_INTENT,
    CODE_SPEC,
    Outside,
    Record,
    ScriptedAgents,
    at_phase,
    journeys,
    live,
)

FACTS = {"repository": "src/tally.py", "test_command": "`pytest`", "environment": "python3 3.11"}
FINDING = {"severity": "medium", "description": "Wrong", "location": "a.py", "recommendation": "Mend"}


def made(place: Path, phase: Phase, **info: object) -> Project:
    project = Workspace(place).create("Durations", agent="scripted", now=datetime(2026, 1, 1, tzinfo=UTC))
    files = {"docs/intent.md": CODE_INTENT, "docs/spec.md": CODE_SPEC, "docs/constraints.md": CODE_CONSTRAINTS}
    files |= {"resources/plan.md": "# The plan\n", "resources/sample.csv": "a;b\n"}
    at_phase(project, phase, files if phase is not Phase.DISTILLING else {}, kind="code", **info)
    return project


def keys_without_meaning(task: Task) -> set[str]:
    text = Prompts(None).get(task.prompt)
    return {key for key in task.material if f"`{key}`" not in text}


@pytest.mark.req("P-04", "P-16")
def test_the_distiller_is_told_of_the_repository_and_of_every_type(tmp_path: Path) -> None:
    project = made(tmp_path, Phase.DISTILLING)
    agents = ScriptedAgents(answers=lambda _: CODE_INTENT, facts=FACTS)
    asyncio.run(live(journeys(project, agents, Outside()), distill, Record(), dying=False))
    [task] = agents.tasks
    assert {**task.material, **FACTS} == task.material
    assert [line.split(":")[0] for line in task.material["deliverable_types"]] == ["plan", "code"]
    assert keys_without_meaning(task) == set()


@pytest.mark.req("P-05", "P-07", "P-16")
def test_spec_writer_and_open_source_step_are_told_of_repository_plan_and_resources(tmp_path: Path) -> None:
    project = made(tmp_path, Phase.SPEC_BUILDING, chained_from="20260101-abcd")
    wanted = json.dumps({**CODE_ANSWER, "lookups": ["Read calendar files"]})
    answers = {"open-source": '{"candidates": []}', "spec-building": wanted}
    agents = ScriptedAgents(answers=lambda task: answers[task.prompt], facts=FACTS)
    asyncio.run(live(journeys(project, agents, Outside()), specify, Record(), dying=False))
    assert [task.prompt for task in agents.tasks] == ["spec-building", "open-source", "spec-building"]
    assert agents.tasks[0].material["discovery"]["on_request"]
    assert agents.tasks[2].material["discovery"] == {"candidates": [], "table": "None proposed."}
    for task in agents.tasks:
        assert {**task.material, **FACTS} == task.material
        assert task.material["plan"] == "# The plan\n"
        assert task.material["resources"] == "=== sample.csv\na;b"
        assert keys_without_meaning(task) == set()
        assert task.schema is not None


@pytest.mark.req("P-05")
def test_work_on_a_repository_looks_for_components_only_where_it_is_asked_for(tmp_path: Path) -> None:
    project = made(tmp_path, Phase.SPEC_BUILDING)
    agents = ScriptedAgents(answers=lambda _: json.dumps(CODE_ANSWER), facts=FACTS)
    asyncio.run(live(journeys(project, agents, Outside()), specify, Record(), dying=False))
    assert [task.prompt for task in agents.tasks] == ["spec-building"]
    assert "None looked up: the work keeps to what the repository has." in (project.records.read("docs/spec.md") or "")


@pytest.mark.req("P-07", "P-09", "P-16")
def test_build_and_fix_have_one_system_prompt_and_the_specification_is_told_once(tmp_path: Path) -> None:
    project = made(tmp_path, Phase.BUILDING, chained_from="20260101-abcd", gate_passed=True)
    reviews = iter([[FINDING] * 4, []])
    agents = ScriptedAgents(
        answers=lambda _: json.dumps({"issues": next(reviews)}),
        tests=lambda n, tip: TestResults(n + 2, n + 2 - (n == 2), int(n == 2), "FAILED a", tip, exit_code=int(n == 2)),
    )
    asyncio.run(live(journeys(project, agents, Outside()), deliver, Record(), dying=False))
    assert {order.prompt for order in agents.orders} == {"code-build", "code-fix"}
    [system] = {order.instructions for order in agents.orders}
    for part in (CODE_SPEC, CODE_CONSTRAINTS, "# The plan"):
        assert system.count(part.strip()) == 1
        assert not any(part.strip() in order.message for order in agents.orders)
    first, second = agents.tasks
    assert "last_findings" not in first.material
    assert second.material["last_findings"] == "\n".join(["- [medium] a.py: Wrong → Mend"] * 4)
    assert keys_without_meaning(second) == set()
    assert "print()" in second.material["new_files"]


@pytest.mark.req("P-09")
def test_an_answer_of_the_wrong_form_is_sent_back_after_what_was_asked(tmp_path: Path) -> None:
    project = made(tmp_path, Phase.SPEC_BUILDING)
    said = iter(["No JSON.", json.dumps(CODE_ANSWER)])
    agents = ScriptedAgents(answers=lambda _: next(said))
    asyncio.run(live(journeys(project, agents, Outside()), specify, Record(), dying=False))
    first, second = agents.tasks
    assert first.objection is None
    assert second.objection is not None
    assert second.objection.answer == "No JSON."
    assert "no JSON object" in second.objection.complaint
    assert second.text() == first.text()
    assert Objection("x", "Wrong.").text().startswith("Your last answer could not be used. Wrong.")


INTENT = Intent("A plan for tools", "plan", "they say so", "Tools")


@pytest.mark.req("P-04")
def test_a_typed_name_and_type_stay_unless_the_person_says_another_one() -> None:
    kept, told = as_chosen(INTENT, "Toolbox", "code", ())
    assert (kept.name, kept.deliverable_type) == ("Toolbox", "code")
    assert "it stays a code, as you chose" in told[0]
    corrections = ("Make it a plan, and call it “A plan for tools”.",)
    assert as_chosen(INTENT, "Toolbox", "code", corrections) == (INTENT, ())
    assert as_chosen(INTENT, "", "", ()) == (INTENT, ())


UNKNOWNS = ("Where the key is kept", "Who pays when a tool breaks")


def answer(**parts: object) -> str:
    return json.dumps({**CODE_ANSWER, **parts})


def resolution(id_: str, unknown: str) -> dict[str, str]:
    return {"id": id_, "unknown": unknown, "resolution": "In a box", "source": "ai"}


@pytest.mark.req("P-05")
@pytest.mark.parametrize(
    ("given", "left"),
    [
        ([resolution("U1", "the key"), resolution("u2", "paying")], ()),
        ([resolution("", "U1"), resolution("", "U2: paying")], ()),
        ([resolution("U1", "the key")], UNKNOWNS[1:]),
        ([resolution("U9", "the key")], UNKNOWNS),
        ([resolution("", UNKNOWNS[0])], UNKNOWNS[1:]),
    ],
)
def test_unknowns_are_matched_by_id_and_else_by_their_words(given: list[dict[str, str]], left: tuple[str, ...]) -> None:
    found = parse_answer(answer(resolutions=given), "code", unknowns=UNKNOWNS)
    assert unresolved(UNKNOWNS, found) == left


@pytest.mark.req("P-05")
def test_an_id_beside_the_words_of_another_unknown_is_refused() -> None:
    with pytest.raises(AnswerMalformed, match="U1 stands beside the words of another unknown"):
        parse_answer(answer(resolutions=[resolution("U1", UNKNOWNS[1])]), "code", unknowns=UNKNOWNS)


@pytest.mark.req("P-05")
def test_what_is_decided_and_asked_all_the_same_stays_open() -> None:
    asked = [{"id": "U1", "unknown": "the key", "question": "Where shall it be?"}]
    found = parse_answer(answer(resolutions=[resolution("U1", "the key")], questions=asked), "code", unknowns=UNKNOWNS)
    assert unresolved(UNKNOWNS[:1], found) == UNKNOWNS[:1]


@pytest.mark.req("P-05")
@pytest.mark.parametrize(
    "questions",
    [
        "None",
        ["None identified"],
        ["There are no open questions."],
        [{"unknown": "None", "question": "No further questions at this time"}],
        [{"unknown": "-", "question": "Let me know if you need anything else!"}],
        [{"unknown": "n/a", "question": "N/A"}],
    ],
)
def test_no_questions_however_they_are_said_are_none(questions: object) -> None:
    assert parse_answer(answer(questions=questions), "code").questions == []
