"""One contract at a time: templates, schemas, what is read from a text, and texts that nobody should write."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.contracts import contract
from forge.contracts.contract import Value, parse
from forge.contracts.directive import LIMITS, Directive
from forge.contracts.errors import ContractMissing, ContractUnknown, PhaseMissing
from forge.contracts.kinds import ORDER, Kind, kind_named
from forge.contracts.markdown import Document, Section
from forge.contracts.phases import Criterion, Deliverable, Phase, PhasePlan, window
from forge.contracts.templates import schema, template

pytestmark = pytest.mark.req("C-01")

WORDS = (
    st.text("abcdefgäß ,.'\"0123:{}#&*!|>%@`-", min_size=1, max_size=30)
    .map(str.strip)
    .filter(lambda text: text[:1].isalnum())
)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9 ]{0,12}[a-z]", fullmatch=True)


def sections() -> st.SearchStrategy[tuple[Section, ...]]:
    return st.lists(st.builds(Section, NAMES, WORDS), max_size=4, unique_by=lambda each: each.heading).map(tuple)


@st.composite
def plans(draw: st.DrawFn) -> PhasePlan:
    phases = []
    for number in range(draw(st.integers(1, 4))):
        references = st.lists(st.sampled_from(["F1", "P2", "entity:Task", "endpoint:listTasks"]), max_size=3).map(tuple)
        texts = draw(st.lists(WORDS, min_size=1, max_size=3))
        delivered = [Deliverable(f"D{number}.{n}", text, draw(references)) for n, text in enumerate(texts, 1)]
        criteria = [Criterion(f"A{number}.{n}", text) for n, text in enumerate(texts, 1)]
        depends = tuple(draw(st.lists(st.integers(0, 9), unique=True, max_size=3)))
        touches = tuple(draw(st.lists(st.sampled_from(["server/**", "*.py", "a b/c"]), unique=True, max_size=3)))
        head = (number, draw(NAMES), draw(WORDS), depends, touches)
        phases.append(Phase(*head, tuple(delivered), tuple(criteria), draw(st.just("") | WORDS)))
    return PhasePlan(draw(NAMES), tuple(phases))


def directives() -> st.SearchStrategy[Directive]:
    limit = st.tuples(st.sampled_from(LIMITS), st.integers(1, 99_999_999).map(lambda cents: cents / 100))
    limits = st.lists(limit, max_size=4, unique_by=lambda each: each[0]).map(tuple)
    command = st.text("abc -./=\"'$", min_size=1, max_size=20).map(str.strip).filter(bool)
    order = st.lists(st.integers(0, 99), min_size=1, max_size=5).map(tuple)
    return st.builds(Directive, NAMES, order, command, limits, sections())


DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab1:~ -#yno", max_size=4), inner, max_size=3),
    max_leaves=12,
).filter(lambda value: "\ufffd" not in json.dumps(value, ensure_ascii=False))
OBJECTS = st.dictionaries(st.text("abc1:~", min_size=1, max_size=4), DATA, min_size=1, max_size=4)


@pytest.mark.parametrize("kind", ORDER)
def test_a_template_is_small_valid_and_never_names_forge(kind: Kind) -> None:
    for text in {template(kind), template(kind, mini=True)}:
        assert 600 <= len(text.encode()) <= 1_500
        assert re.search("forge", text, re.IGNORECASE) is None
        assert "TaskFlow" in text or kind is Kind.BOUNDARIES
        assert parse(kind, text).findings == ()


def test_kinds_are_in_order_and_each_reads_all_before_it() -> None:
    assert [kind.file for kind in ORDER] == [
        "manifesto.md",
        "blueprint.md",
        "stack.md",
        "schema.md",
        "physics.yaml",
        "boundaries.json",
        "ui.md",
        "phases.md",
        "builder_directive.md",
    ]
    assert Kind.STACK.reads == (Kind.MANIFESTO, Kind.BLUEPRINT)
    assert len(Kind.BUILDER_DIRECTIVE.reads) == 8
    assert kind_named("physics.yaml") is Kind.PHYSICS
    with pytest.raises(ContractUnknown, match="builder_contract"):
        kind_named("builder_contract")


def test_the_templates_of_phases_have_four_and_two_phases() -> None:
    for mini, names in ((False, ["Foundation", "Tasks", "Comments", "Board"]), (True, ["Service", "Board"])):
        plan = parse(Kind.PHASES, template(Kind.PHASES, mini=mini)).value
        assert isinstance(plan, PhasePlan)
        assert [(each.number, each.name) for each in plan.phases] == list(enumerate(names))
    assert plan.phases[0].deliverables[1].references == ("F1", "F2", "F3", "endpoint:listTasks", "endpoint:createTask")
    assert plan.phases[0].criteria == (Criterion("A0.1", "Each endpoint has a test with and without a session."),)


@settings(max_examples=60, deadline=None)
@given(st.builds(Document, NAMES, st.just("") | WORDS, sections()))
def test_a_markdown_contract_survives_its_text(value: Document) -> None:
    assert same(Kind.MANIFESTO, value)


@settings(max_examples=60, deadline=None)
@given(plans())
def test_phases_survive_their_text(value: PhasePlan) -> None:
    assert same(Kind.PHASES, value)


@settings(max_examples=60, deadline=None)
@given(directives())
def test_a_directive_survives_its_text(value: Directive) -> None:
    assert same(Kind.BUILDER_DIRECTIVE, value)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([Kind.PHYSICS, Kind.BOUNDARIES]), OBJECTS)
def test_data_survives_its_text(kind: Kind, value: dict[str, object]) -> None:
    assert same(kind, value)


def same(kind: Kind, value: Value) -> bool:
    assert parse(kind, contract.format(kind, value)).value == value
    return True


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
MALFORMED = [
    (Kind.PHYSICS, "", "empty", 1),
    (Kind.PHYSICS, "a: [1, 2", "yaml_invalid", 1),
    (Kind.PHYSICS, "openapi: 3.1.0\n\tinfo: x\n", "yaml_invalid", 2),
    (Kind.PHYSICS, BOMB, "yaml_alias", 1),
    (Kind.PHYSICS, "a: *nothing\n", "yaml_alias", 1),
    (Kind.PHYSICS, "a: 1\nb: 2\na: 3\n", "name_duplicate", 3),
    (Kind.PHYSICS, 'a: {200: x, "200": y}\n', "name_duplicate", 1),
    (Kind.PHYSICS, "a: !!python/object/apply:os.system [ls]\n", "yaml_tag", 1),
    (Kind.PHYSICS, "? [a]\n: b\n", "name_invalid", 1),
    (Kind.PHYSICS, "[" * 500, "too_deep", 1),
    (Kind.PHYSICS, "a: " + "[" * 100 + "]" * 100, "too_deep", 1),
    (Kind.PHYSICS, "a: 1\n---\nb: 2\n", "yaml_documents", 2),
    (Kind.PHYSICS, "a: [" + "1," * 25_000 + "]", "too_many_values", 1),
    (Kind.PHYSICS, "- 1\n- 2\n", "not_an_object", 1),
    (Kind.PHYSICS, "x" * 64_001, "too_large", 1),
    (Kind.PHYSICS, "a: \0\n", "not_text", 1),
    (Kind.PHYSICS, "a: \x07\n", "yaml_invalid", 1),
    (Kind.PHYSICS, 'a: "\\UFFFFFFFF"\n', "yaml_invalid", 1),
    (Kind.BOUNDARIES, '{"layers": [', "json_invalid", 1),
    (Kind.BOUNDARIES, '{"layers": [],\n "layers": []}', "name_duplicate", 2),
    (Kind.BOUNDARIES, "[" * 60_000, "too_deep", 1),
    (Kind.BOUNDARIES, '{"a": ' + "[" * 50 + "]" * 50 + "}", "too_deep", 1),
    (Kind.BOUNDARIES, '{"a": NaN}', "json_invalid", 1),
    (Kind.BOUNDARIES, '{"a": ' + "9" * 5_000 + "}", "json_invalid", 1),
    (Kind.BOUNDARIES, "[]", "not_an_object", 1),
    (Kind.MANIFESTO, " \n", "empty", 1),
    (Kind.MANIFESTO, "broken \ufffd bytes", "not_text", 1),
]


@pytest.mark.parametrize(("kind", "text", "code", "line"), MALFORMED)
def test_a_malformed_document_is_a_finding(kind: Kind, text: str, code: str, line: int) -> None:
    parsed = parse(kind, text)
    assert not parsed.readable
    assert [(each.code, each.file, each.line) for each in parsed.findings] == [(code, kind.file, line)]
    assert all(each.message and each.hint for each in parsed.findings)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(ORDER), st.data())
def test_no_document_raises_however_it_is_damaged(kind: Kind, data: st.DataObject) -> None:
    text = template(kind)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    text = (
        text[:start]
        + data.draw(st.sampled_from(["", "\n", "&a ", "*a", "[", "{", "```\n", "\t", "##", "- "]) | st.text())
        + text[end:]
    )
    parsed = parse(kind, text)
    assert parsed.readable or parsed.findings


@pytest.mark.parametrize(
    ("kind", "old", "new", "line", "message"),
    [
        (Kind.PHYSICS, "operationId: createTask", "summary: 7", 17, "paths./tasks.post"),
        (Kind.PHYSICS, "openapi: 3.1.0", "openapi: 2.0", 1, "openapi"),
        (Kind.PHYSICS, "in: query", "in: body", 10, "parameters.0.in"),
        (Kind.BOUNDARIES, '"reason": "Only repos speak SQL."', '"why": 1', 13, "forbidden.0"),
    ],
)
def test_what_does_not_fit_the_schema_is_told_with_its_line(
    kind: Kind, old: str, new: str, line: int, message: str
) -> None:
    text = template(kind)
    assert old in text
    found = parse(kind, text.replace(old, new)).findings
    assert {each.code for each in found} == {"schema_mismatch"}
    assert (found[0].line, message in found[0].message) == (line, True), found


def test_schemas_are_given_and_markdown_has_sections() -> None:
    assert schema(Kind.PHYSICS)["title"] == "physics"
    assert schema(Kind.BOUNDARIES)["required"] == ["layers", "allowed", "forbidden"]
    assert schema(Kind.UI)["required_sections"] == ["Design system", "Pages", "Components"]


def test_the_window_is_a_phase_and_the_next_one() -> None:
    text = template(Kind.PHASES)
    shown = window(text, 1)
    assert re.findall("^## .*", shown, re.M) == ["## Phase 1 — Tasks", "## Phase 2 — Comments"]
    assert "A1.2: Each endpoint" in shown
    assert re.findall("^## .*", window(text, 3), re.M) == ["## Phase 3 — Board"]
    for number in (-1, 4, 999):
        with pytest.raises(PhaseMissing, match=f"no phase {number}"):
            window(text, number)
    for nothing in (None, "# Phases\n"):
        with pytest.raises(ContractMissing):
            window(nothing, 0)
