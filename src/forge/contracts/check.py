"""Contracts checked by code, each alone and against the others. Ids are compared, never prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from forge.contracts import markdown
from forge.contracts.contract import Parsed, parse
from forge.contracts.directive import Directive
from forge.contracts.endpoints import endpoints_of
from forge.contracts.kinds import ORDER, Finding, Kind
from forge.contracts.languages import fits, language_of, languages_in
from forge.contracts.markdown import Document, Item
from forge.contracts.phases import Phase, PhasePlan

_ENTITY = re.compile(r"### +`?([A-Za-z][A-Za-z0-9_]*)`?\s*")
_SHAPES = "#/components/schemas/"
_MINI = 2
_PREFIX = {"entity": Kind.SCHEMA, "endpoint": Kind.PHYSICS}
_LETTER = {"F": Kind.BLUEPRINT, "P": Kind.UI}


def check(documents: Mapping[Kind, str], *, mini: bool = False) -> tuple[Finding, ...]:
    """Everything that is wrong, in the order of the contracts; with `mini`, there must be exactly two phases."""
    parsed = {kind: parse(kind, documents[kind]) for kind in ORDER if kind in documents}
    told = [_missing(kind) for kind in ORDER if kind not in documents]
    told += [finding for each in parsed.values() for finding in each.findings]
    told += Across(parsed).findings(mini=mini)
    order = {kind.file: place for place, kind in enumerate(ORDER)}
    return tuple(sorted(dict.fromkeys(told), key=lambda each: (order[each.file], each.line)))


class Across:
    """What the documents say about each other. One that is missing or cannot be read is told of elsewhere."""

    def __init__(self, parsed: Mapping[Kind, Parsed]) -> None:
        self._parsed = parsed
        self._ids: dict[Kind, dict[str, int] | None] = {
            Kind.BLUEPRINT: self._listed(Kind.BLUEPRINT, "Features", "F"),
            Kind.UI: self._listed(Kind.UI, "Pages", "P"),
            Kind.SCHEMA: self._entities(),
            Kind.PHYSICS: self._endpoints(),
        }
        plan = self._value(Kind.PHASES)
        self._plan = plan if isinstance(plan, PhasePlan) else None

    def findings(self, *, mini: bool) -> Iterator[Finding]:
        yield from self._named_items()
        yield from self._shapes()
        yield from self._layers()
        if self._plan is not None:
            yield from self._references(self._plan)
            yield from self._order(self._plan)
            if mini and len(self._plan.phases) != _MINI:
                message = f"A mini build has exactly two phases; here are {len(self._plan.phases)}."
                yield Finding("phases_not_two", Kind.PHASES.file, 1, message, "Join or split phases.")

    def _value(self, kind: Kind) -> Any:
        return self._parsed[kind].value if kind in self._parsed else None

    def _items(self, kind: Kind, heading: str) -> list[Item] | None:
        document = self._value(kind)
        section = document.section(heading) if isinstance(document, Document) else None
        return None if section is None else markdown.items(section.body, section.first)

    def _listed(self, kind: Kind, heading: str, letter: str) -> dict[str, int] | None:
        found = self._items(kind, heading)
        return None if found is None else {each.id: each.line for each in found if each.id.startswith(letter)}

    def _named_items(self) -> Iterator[Finding]:
        for kind, heading, letter in ((Kind.BLUEPRINT, "Features", "F"), (Kind.UI, "Pages", "P")):
            found = self._items(kind, heading)
            if found is None:
                continue
            hint = f"Write `- {letter}1: name — text`."
            if not found:
                document = self._value(kind)
                line = document.section(heading).first
                yield Finding("ids_missing", kind.file, line, f"{heading} have no ids.", hint)
            seen: set[str] = set()
            for each in found:
                if not re.fullmatch(rf"{letter}[1-9][0-9]*", each.id, re.ASCII):
                    yield Finding("id_invalid", kind.file, each.line, f"{each.id} is no id for this place.", hint)
                elif each.id in seen:
                    message = f"{each.id} is used twice."
                    yield Finding("id_duplicate", kind.file, each.line, message, "Give one of them another number.")
                seen.add(each.id)

    def _entities(self) -> dict[str, int] | None:
        document = self._value(Kind.SCHEMA)
        return entities_of(document) if isinstance(document, Document) else None

    def _endpoints(self) -> dict[str, int] | None:
        physics = self._value(Kind.PHYSICS)
        if not isinstance(physics, dict):
            return None
        lines = self._parsed[Kind.PHYSICS].lines
        found: dict[str, int] = {}
        for each in endpoints_of(physics):
            found.setdefault(each.operation, lines.line(("paths", each.path, each.method, "operationId")))
        return found

    def _shapes(self) -> Iterator[Finding]:
        """Entities that physics names are in schema; its references lead somewhere; names of operations are unique."""
        physics = self._value(Kind.PHYSICS)
        if not isinstance(physics, dict):
            return
        lines, entities = self._parsed[Kind.PHYSICS].lines, self._ids[Kind.SCHEMA]
        shapes = _mapping(_mapping(physics.get("components")).get("schemas"))
        for name, shape in shapes.items():
            entity = _mapping(shape).get("x-entity", name)
            if entities is not None and isinstance(entity, str) and entity not in entities:
                line = lines.line(("components", "schemas", name))
                hint = "Add `### " + entity[:60] + "` to schema.md, or say `x-entity:` with its entity or null here."
                yield Finding("entity_unknown", Kind.PHYSICS.file, line, f"{entity[:60]} is not in schema.md.", hint)
        for path, reference in _references_in(physics, ()):
            if reference.startswith(_SHAPES) and reference.removeprefix(_SHAPES) not in shapes:
                message = f"{reference[:120]} does not exist."
                yield Finding("shape_missing", Kind.PHYSICS.file, lines.line(path), message, "Add it, or correct it.")
        yield from self._operation_names(physics)

    def _operation_names(self, physics: dict[str, Any]) -> Iterator[Finding]:
        lines = self._parsed[Kind.PHYSICS].lines
        seen: set[str] = set()
        for path, methods in _mapping(physics.get("paths")).items():
            for method, operation in _mapping(methods).items():
                name = _mapping(operation).get("operationId")
                if isinstance(name, str) and name in seen:
                    line = lines.line(("paths", path, method, "operationId"))
                    hint = "Give each operation its own name."
                    yield Finding("id_duplicate", Kind.PHYSICS.file, line, f"{name[:60]} is used twice.", hint)
                elif isinstance(name, str):
                    seen.add(name)

    def _layers(self) -> Iterator[Finding]:
        boundaries = self._value(Kind.BOUNDARIES)
        if not isinstance(boundaries, dict):
            return
        file, lines = Kind.BOUNDARIES.file, self._parsed[Kind.BOUNDARIES].lines
        layers = [each for each in _sequence(boundaries.get("layers")) if isinstance(each, dict)]
        names = [each.get("name") for each in layers]
        for part, keys in (("allowed", ("from", "to")), ("forbidden", ("layer",))):
            for number, rule in enumerate(_sequence(boundaries.get(part))):
                for key in keys:
                    name = _mapping(rule).get(key)
                    if isinstance(name, str) and name not in names:
                        line = lines.line((part, number, key))
                        message = f"There is no layer {name[:60]}."
                        yield Finding("layer_unknown", file, line, message, "Name a layer of this document.")
        for number, name in enumerate(names):
            if name in names[:number]:
                line = lines.line(("layers", number))
                yield Finding("id_duplicate", file, line, f"The layer {name} occurs twice.", "Join them.")
        yield from self._foreign_languages(layers)

    def _foreign_languages(self, layers: list[dict[str, Any]]) -> Iterator[Finding]:
        stack = self._value(Kind.STACK)
        section = stack.section("Languages") if isinstance(stack, Document) else None
        known = languages_in(section.body) if section is not None else frozenset()
        if section is not None and not known:
            hint = "List them, as in `- Python 3.12: the service`."
            yield Finding("languages_missing", Kind.STACK.file, section.first, "No known language is named.", hint)
        lines = self._parsed[Kind.BOUNDARIES].lines
        for number, layer in enumerate(layers):
            for place, path in enumerate(_sequence(layer.get("paths"))):
                language = language_of(path) if isinstance(path, str) else None
                if known and language is not None and not fits(language, known):
                    line = lines.line(("layers", number, "paths", place))
                    message = f"{str(path)[:80]} is {language}, which stack.md does not name."
                    hint = "Correct the path, or add the language to stack.md."
                    yield Finding("language_unknown", Kind.BOUNDARIES.file, line, message, hint)

    def _references(self, plan: PhasePlan) -> Iterator[Finding]:
        """Every id that a phase names exists, and every feature is delivered by some phase."""
        named: set[str] = set()
        for each in (each for phase in plan.phases for each in phase.deliverables):
            for reference in each.references:
                named.add(reference)
                wrong = self._unknown(reference)
                if wrong:
                    yield Finding("id_unknown", Kind.PHASES.file, each.line, f"{each.id} names {wrong}", _REFERENCE)
        for feature, line in (self._ids[Kind.BLUEPRINT] or {}).items():
            if feature not in named:
                hint = f"Name it at a deliverable of phases.md, as in `- D0.1: text [{feature}]`."
                yield Finding("feature_undelivered", Kind.BLUEPRINT.file, line, f"No phase delivers {feature}.", hint)

    def _unknown(self, reference: str) -> str:
        prefix, _, name = reference.partition(":")
        kind = _PREFIX.get(prefix) if name else _LETTER.get(reference[:1])
        if kind is None:
            return f"`{reference[:60]}`, which is no id."
        known = self._ids[kind]
        return "" if known is None or (name or reference) in known else f"`{reference[:60]}`, which {kind.file} lacks."

    def _order(self, plan: PhasePlan) -> Iterator[Finding]:
        by_number = {each.number: each for each in plan.phases}
        for phase in plan.phases:
            for before in phase.depends_on:
                if before not in by_number:
                    message = f"Phase {phase.number} depends on phase {before}, which does not exist."
                    yield Finding("phase_unknown", Kind.PHASES.file, phase.line, message, "Correct `Depends on`.")
        for phase in _in_cycles(by_number):
            message = f"Phase {phase.number} waits for itself, by way of what it depends on."
            yield Finding("phase_cycle", Kind.PHASES.file, phase.line, message, "Take one dependency away.")
        directive = self._value(Kind.BUILDER_DIRECTIVE)
        if isinstance(directive, Directive) and directive.order:
            yield from _ordered(directive, by_number)


def entities_of(document: Document) -> dict[str, int] | None:
    """Names and lines of what `schema` lists under *Entities*; None without that section."""
    section = document.section("Entities")
    if section is None:
        return None
    named = ((number, _ENTITY.fullmatch(line)) for number, line, is_code in markdown.lines(section.body) if not is_code)
    return {found[1]: section.first + number - 1 for number, found in named if found}


_REFERENCE = "Name what exists: F1, P1, entity:Name or endpoint:operationId."


def _ordered(directive: Directive, phases: Mapping[int, Phase]) -> Iterator[Finding]:
    file, line, order = Kind.BUILDER_DIRECTIVE.file, directive.order_line, directive.order
    if sorted(order) != sorted(phases):
        message = f"The order is {_numbers(order)}, but phases.md has {_numbers(phases)}."
        yield Finding("order_mismatch", file, line, message, "Name each phase once.")
        return
    place = {number: at for at, number in enumerate(order)}
    for number in order:
        late = [each for each in phases[number].depends_on if each in place and place[each] > place[number]]
        for each in late:
            message = f"Phase {number} comes before phase {each}, on which it depends."
            yield Finding("order_wrong", file, line, message, "Put what is needed first.")


def _numbers(phases: Iterable[int]) -> str:
    return ", ".join(map(str, phases)) or "no phase"


def _in_cycles(phases: Mapping[int, Phase]) -> list[Phase]:
    """What is left after all phases are taken away, again and again, that wait for none of the others."""
    left = {number: {each for each in phase.depends_on if each in phases} for number, phase in phases.items()}
    while ready := {number for number, waits in left.items() if not waits}:
        left = {number: waits - ready for number, waits in left.items() if number not in ready}
    return [phases[number] for number in sorted(left) if _reaches(left, number)]


def _reaches(graph: Mapping[int, set[int]], start: int) -> bool:
    """Whether a way leads from `start` back to it; others only depend on a cycle."""
    seen: set[int] = set()
    todo = list(graph[start])
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += graph.get(at, ())
    return start in seen


def _references_in(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    pairs: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for name, each in pairs:
        if name == "$ref" and isinstance(each, str):
            yield (*path, name), each
        else:
            yield from _references_in(each, (*path, name))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _missing(kind: Kind) -> Finding:
    hint = f"Write {kind.path}."
    return Finding("contract_missing", kind.file, 1, f"{kind.file} is missing.", hint)
