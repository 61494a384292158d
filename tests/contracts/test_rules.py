"""Contracts by rules: from what people named to nine documents that fit together, with what was left open."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.projects.generation import Generation, Wanted, generate_found, generation_of
from forge.builtin_rules.contract_texts import written
from forge.builtin_rules.prior_names import as_agreed
from forge.builtin_rules.product import product
from forge.contracts import contract, phases
from forge.contracts.check import check
from forge.contracts.endpoints import endpoints_of
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.material import Material
from forge.contracts.templates import template
from tests.contracts.project_documents import CONSTRAINTS, INTENT, SPEC
from tests.support.scripted_projects import Office, new

pytestmark = pytest.mark.req("C-02", "C-03")

DOCUMENTS = {"intent": INTENT, "spec": SPEC, "constraints": CONSTRAINTS}


def all_nine(material: Material, *, mini: bool = False, given: dict[Kind, str] | None = None) -> dict[Kind, str]:
    texts: dict[Kind, str] = dict(given or {})
    for kind in ORDER:
        if kind not in texts:
            prior = {each: text for each, text in texts.items() if ORDER.index(each) < ORDER.index(kind)}
            texts[kind] = written(kind, as_agreed(product(material), prior), prior, mini=mini)
    return {kind: texts[kind] for kind in ORDER}


@pytest.mark.parametrize(
    "material",
    [
        Material("Task list", DOCUMENTS),
        Material("Nothing", {}, {"product": "Something."}),
        Material(
            "Shop",
            {},
            {"features": "Customers order books\nStaff cancel orders\nSearch books", "languages": "Go, Dart"},
        ),
        Material("Spec only", {"spec": SPEC}),
        Material(
            "Hard [words]", {}, {"features": "- F9: [x] # y\n``` — {{z}}"[:9] + "\nAdd items", "test_command": "`make`"}
        ),
    ],
    ids=lambda material: material.name,
)
@pytest.mark.parametrize("mini", [False, True])
def test_nine_contracts_fit_together(material: Material, mini: bool) -> None:
    texts = all_nine(material, mini=mini)
    assert check(texts, mini=mini) == ()
    assert "Forge" not in "".join(texts.values())


def test_endpoints_come_from_named_things_and_verbs_and_phases_from_the_tasks_of_the_spec() -> None:
    texts = all_nine(Material("Task list", DOCUMENTS))
    physics = contract.parse(Kind.PHYSICS, texts[Kind.PHYSICS]).value
    assert isinstance(physics, dict)
    assert [each.operation for each in endpoints_of(physics)] == [
        "listTasks",
        "createTask",
        "listComments",
        "createComment",
    ]
    plan = phases.parse(texts[Kind.PHASES])
    told = [each.text for phase in plan.phases for each in phase.deliverables]
    assert told == ["Storage for tasks, comments", "Create and list tasks", "Comments below a task", "The pages"]
    by_text = {each.text: each.references for phase in plan.phases for each in phase.deliverables}
    assert by_text["Comments below a task"] == ("F2", "endpoint:listComments", "endpoint:createComment")
    assert [each.text for each in plan.phases[-1].criteria][-2:] == ["A task is saved.", "A comment is shown."]
    assert "Who hosts it?" in texts[Kind.BLUEPRINT], "what is open is said"
    assert "FastAPI" in texts[Kind.STACK]


def test_what_a_person_wrote_before_counts() -> None:
    mine = {kind: template(kind) for kind in (Kind.BLUEPRINT, Kind.SCHEMA, Kind.STACK)}
    texts = all_nine(Material("Task list", DOCUMENTS), given=mine)
    assert check(texts) == ()
    assert "F4" in texts[Kind.PHASES]
    assert "entity:User" in texts[Kind.PHASES]


def test_nine_contracts_are_generated_within_three_seconds(tmp_path: Path) -> None:
    async def use(shop: Workshop) -> tuple[float, Generation | None]:
        project = await new(shop, "TaskFlow", "")
        project.records.update(lambda _: {f"docs/{name}.md": text for name, text in DOCUMENTS.items()}, "material")
        began = time.process_time()  # other processes may keep the machine busy
        started = await generate_found(shop, LOCAL, project, Wanted())
        await shop.engine.handle(started.run).result()
        return time.process_time() - began, generation_of(shop, project)

    seconds, seen = Office.at(tmp_path).do(use)
    assert seen is not None
    assert [each.state for each in seen.contracts] == ["saved"] * 9
    assert seen.model == "builtin"
    assert seconds < 3
