"""Names that the earlier contracts have: what a person wrote there counts, not what rules would write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from forge.builtin_rules.product import Entity, Named, Product
from forge.contracts import contract, markdown
from forge.contracts.check import entities_of
from forge.contracts.endpoints import endpoints_of
from forge.contracts.kinds import Kind
from forge.contracts.languages import languages_in
from forge.contracts.markdown import Document
from forge.contracts.phases import PhasePlan


def as_agreed(known: Product, prior: Mapping[Kind, str]) -> Product:
    """The product with features, entities, pages and languages as the earlier contracts name them."""
    features = _listed(prior, Kind.BLUEPRINT, "Features") or known.features
    pages = _listed(prior, Kind.UI, "Pages") or known.pages
    found = {each.name: each for each in known.entities}
    schema = _document(prior, Kind.SCHEMA)
    names = list(entities_of(schema) or ()) if schema is not None else []
    entities = tuple(found.get(name) or Entity(name, (), ("list", "create")) for name in names) or known.entities
    stack = _document(prior, Kind.STACK)
    section = stack.section("Languages") if stack is not None else None
    languages = tuple(sorted(languages_in(section.body))) if section is not None else ()
    return replace(known, features=features, pages=pages, entities=entities, languages=languages or known.languages)


def operations_in(prior: Mapping[Kind, str]) -> Mapping[str, tuple[str, ...]]:
    """Operation ids of `physics`, by the first word of their path."""
    value = contract.parse(Kind.PHYSICS, prior.get(Kind.PHYSICS, "")).value
    found: dict[str, tuple[str, ...]] = {}
    for each in endpoints_of(value) if isinstance(value, dict) else ():
        thing = each.path.strip("/").partition("/")[0]
        found[thing] = (*found.get(thing, ()), each.operation)
    return found


def order_in(prior: Mapping[Kind, str]) -> tuple[int, ...]:
    """Numbers of the phases, each after those it depends on."""
    value = contract.parse(Kind.PHASES, prior.get(Kind.PHASES, "")).value
    if not isinstance(value, PhasePlan):
        return ()
    left = {each.number: {*each.depends_on} for each in value.phases}
    order: list[int] = []
    while left:
        ready = sorted(number for number, needs in left.items() if not needs & left.keys()) or sorted(left)
        order += ready
        left = {number: needs for number, needs in left.items() if number not in ready}
    return tuple(order)


def _document(prior: Mapping[Kind, str], kind: Kind) -> Document | None:
    return markdown.parse(prior[kind]) if kind in prior else None


def _listed(prior: Mapping[Kind, str], kind: Kind, heading: str) -> tuple[Named, ...]:
    document = _document(prior, kind)
    section = document.section(heading) if document is not None else None
    found = markdown.items(section.body, 1) if section is not None else []
    return tuple(Named(each.id, *_halves(each.text)) for each in found)


def _halves(text: str) -> tuple[str, str]:
    name, _, about = text.partition(" — ")
    return name.strip(), about.strip()
