"""What prompts show as an example is what the code that reads the answers takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge.deliverables.code import CodeType
from forge.deliverables.plan import answers
from forge.deliverables.plan.plan_type import PlanType
from forge.pipeline.review import parse_review
from forge.pipeline.specification import CodeStructure, parse_answer
from forge.plugins.roles import DeliverableType
from forge.projects.intent import parse_intent
from forge.prompts import Prompts

PROMPTS = Prompts()


def examples(name: str) -> list[Any]:
    """Every JSON object that begins a line of its own."""
    text, found = PROMPTS.get(name), []
    start = -1
    while (start := text.find("\n{", start + 1)) >= 0:
        value, length = json.JSONDecoder().raw_decode(text[start + 1 :])
        found.append(value)
        start += length
    return found


def test_the_example_of_an_intent_can_be_read() -> None:
    text = PROMPTS.get("brain-dump-intake").partition("## Example of the form\n")[2]
    intent = parse_intent(text, ("plan", "code"))
    assert (intent.name, intent.deliverable_type) == ("Tool library", "plan")
    assert len(intent.assumptions) == 2
    assert len(intent.open_questions) == 1


@pytest.mark.parametrize(("name", "type_"), [("plan-review", PlanType()), ("code-review", CodeType())])
def test_the_example_of_a_review_fits_its_schema(name: str, type_: DeliverableType) -> None:
    (example,) = examples(name)
    assert set(example) == set(type_.schema.model_fields)
    issues = parse_review(json.dumps(example), type_.schema)
    assert len(issues) == 1 == example["critical"] + example["medium"] + example["minor"]


def test_the_examples_of_a_specification_fit() -> None:
    example, code = examples("spec-building")
    answer = parse_answer(json.dumps(example), "plan")
    of_code = {**example, "spec": {**example["spec"], "structure": code}}
    structure = parse_answer(json.dumps(of_code), "code").spec.structure
    assert isinstance(structure, CodeStructure)
    assert [task.title for task in structure.tasks] == [task["title"] for task in code["tasks"]]
    assert 5 <= len(answer.constraints.criteria) <= 10
    assert example.keys() == {"challenges", "resolutions", "questions", "spec", "constraints"}


def test_the_examples_of_a_section_fit() -> None:
    written, stuck = (answers.builder_answer(json.dumps(example)) for example in examples("plan-build"))
    assert set(answers.section_slots(written, [f"room.{p}" for p in ("objective", "plan", "assessment", "details")]))
    assert stuck.stuck


def test_the_other_examples_fit() -> None:
    (fix,) = examples("plan-fix")
    assert answers.fix_answer(json.dumps(fix)).slots
    (gate,) = examples("completeness-gate")
    assert gate.keys() == {"complete", "missing"}
    assert gate["complete"] == (not gate["missing"])


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("brain-dump-intake", ("name", "chosen_type", "brain_dump", "resources", "corrections", "previous")),
        ("spec-building", ("intent", "discovery", "answers", "previous_spec", "human_edits", "deliverable_type")),
        ("plan-build", ("intent", "spec", "constraints", "template", "section", "slots", "written", "answers")),
        ("plan-review", ("constraints", "plan", "criteria")),
        ("plan-fix", ("constraints", "plan_slots", "issues")),
        ("code-review", ("constraints", "spec", "files", "tests")),
        ("completeness-gate", ("plan", "spec")),
    ],
)
def test_a_prompt_explains_all_of_its_material(name: str, keys: tuple[str, ...]) -> None:
    text = PROMPTS.get(name)
    assert [key for key in keys if f"`{key}`" not in text] == []
