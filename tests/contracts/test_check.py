"""Contracts against each other: each rule broken once, and found at its place."""

from __future__ import annotations

import time

import pytest

from forge.contracts.check import check
from forge.contracts.kinds import ORDER, Finding, Kind
from forge.contracts.templates import template

pytestmark = pytest.mark.req("C-01")


def documents(*, mini: bool = False) -> dict[Kind, str]:
    return {kind: template(kind, mini=mini) for kind in ORDER}


def changed(kind: Kind, old: str, new: str, *, mini: bool = False) -> tuple[Finding, ...]:
    every = documents(mini=mini)
    assert old in every[kind]
    every[kind] = every[kind].replace(old, new, 1)
    return check(every, mini=mini)


@pytest.mark.parametrize("mini", [False, True])
def test_the_templates_agree_with_each_other(mini: bool) -> None:
    assert check(documents(mini=mini), mini=mini) == ()


@pytest.mark.parametrize(
    ("kind", "old", "new", "found"),
    [
        (Kind.BLUEPRINT, "## Users", "## People", ("section_missing", "blueprint.md", 1)),
        (Kind.MANIFESTO, "Simple over clever", "TODO: think", ("placeholder", "manifesto.md", 11)),
        (Kind.STACK, "argon2", "[insert library]", ("placeholder", "stack.md", 10)),
        (Kind.PHYSICS, "x-entity: Task", "x-entity: Job", ("entity_unknown", "physics.yaml", 39)),
        (Kind.PHYSICS, "schemas/NewTask", "schemas/Fresh", ("shape_missing", "physics.yaml", 20)),
        (Kind.PHYSICS, "Id: deleteTask", "Id: listTasks", ("id_duplicate", "physics.yaml", 30)),
        (Kind.BOUNDARIES, "repos/**/*.py", "repos/**/*.go", ("language_unknown", "boundaries.json", 5)),
        (Kind.BOUNDARIES, '"to": "repos"', '"to": "store"', ("layer_unknown", "boundaries.json", 10)),
        (Kind.STACK, "TypeScript 5", "Elm 1", ("language_unknown", "boundaries.json", 6)),
        (Kind.UI, "- P2: Board", "- P1: Board", ("id_duplicate", "ui.md", 12)),
        (Kind.PHASES, "[F3]", "[F9]", ("feature_undelivered", "blueprint.md", 16)),
        (Kind.PHASES, "[F3]", "[F3, F9]", ("id_unknown", "phases.md", 41)),
        (Kind.PHASES, "[F3]", "[F3, endpoint:no]", ("id_unknown", "phases.md", 41)),
        (Kind.PHASES, "[F3]", "[F3, comments]", ("id_unknown", "phases.md", 41)),
        (Kind.PHASES, "entity:Comment", "entity:Remark", ("id_unknown", "phases.md", 11)),
        (Kind.PHASES, "P1, P2, P3", "P1, P2, P7", ("id_unknown", "phases.md", 55)),
        (Kind.PHASES, "Depends on: none", "Depends on: 2", ("phase_cycle", "phases.md", 3)),
        (Kind.PHASES, "Depends on: 1, 2", "Depends on: 7", ("phase_unknown", "phases.md", 47)),
        (Kind.PHASES, "## Phase 3", "## Phase 5", ("phase_number", "phases.md", 47)),
        (Kind.PHASES, "- A2.1: Comments", "- Comments", ("phase_items", "phases.md", 45)),
        (Kind.PHASES, "- D1.2: Task", "- D1.1: Task", ("phase_item_id", "phases.md", 26)),
        (Kind.PHASES, "Touches: client/**", "Some prose.", ("phase_line", "phases.md", 51)),
        (Kind.BUILDER_DIRECTIVE, "0, 1, 2, 3", "0, 1, 2", ("order_mismatch", "builder_directive.md", 5)),
        (Kind.BUILDER_DIRECTIVE, "0, 1, 2, 3", "0, 2, 1, 3", ("order_wrong", "builder_directive.md", 5)),
        (Kind.BUILDER_DIRECTIVE, "`python", "python", ("directive_tests", "builder_directive.md", 9)),
        (Kind.BUILDER_DIRECTIVE, "fix_attempts: 3", "patience: 3", ("directive_limits", "builder_directive.md", 15)),
    ],
)
def test_a_broken_rule_is_found_at_its_place(kind: Kind, old: str, new: str, found: tuple[str, str, int]) -> None:
    told = changed(kind, old, new)
    assert found in [(each.code, each.file, each.line) for each in told], told
    assert all(each.message and each.hint for each in told)


def test_a_shape_that_is_no_entity_says_so() -> None:
    assert changed(Kind.PHYSICS, "x-entity: Task", "x-entity: null") == ()


def test_prose_is_never_compared() -> None:
    assert changed(Kind.PHASES, "Comments below a task", "F9 and entity:Nothing are only words here") == ()


def test_what_only_depends_on_a_cycle_is_not_said_to_be_in_it() -> None:
    told = changed(Kind.PHASES, "Depends on: none", "Depends on: 1")
    assert [each.line for each in told if each.code == "phase_cycle"] == [3, 17]


def test_a_mini_build_has_exactly_two_phases() -> None:
    assert [each.code for each in check(documents(), mini=True)] == ["phases_not_two"]


def test_missing_documents_are_told_once_each() -> None:
    assert [(each.code, each.file) for each in check({})] == [("contract_missing", kind.file) for kind in ORDER]


def test_an_unreadable_document_hides_no_other_finding() -> None:
    every = documents() | {Kind.PHYSICS: "a: [", Kind.UI: "nothing"}
    assert {each.code for each in check(every)} == {"yaml_invalid", "title_missing", "section_missing"}


def test_nine_contracts_are_checked_in_a_tenth_of_a_second() -> None:
    check(documents())
    start = time.process_time()
    check(documents())
    assert time.process_time() - start < 0.1
