"""Phases by rules: the foundation first, then the tasks of the spec in order, or the features where it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forge.builtin_rules.product import Named, Product, singular, words_of
from forge.contracts.phases import Criterion, Deliverable, Phase, PhasePlan
from forge.counts import counted

_TOGETHER = 4
"""Deliverables of a phase."""
_LONGEST_NAME = 60
_EVERYWHERE = ("server/**", "tests/**")


@dataclass(slots=True)
class _Piece:
    text: str
    references: list[str] = field(default_factory=list)


def plan(known: Product, endpoints: Mapping[str, Sequence[str]], *, mini: bool = False) -> PhasePlan:
    """Every feature, entity, endpoint and page is delivered once. With `mini`, in exactly two phases."""
    pieces = [_Piece(each) for each in known.tasks] or [_Piece(each.name, [each.id]) for each in known.features]
    if known.tasks:
        _assign_features(pieces, known.features)
    _assign_endpoints(pieces, endpoints)
    pieces.append(_Piece("The pages", [each.id for each in known.pages]))
    size = len(pieces) if mini else _TOGETHER
    groups = [pieces[at : at + size] for at in range(0, len(pieces), size)]
    entities = [f"entity:{each.name}" for each in known.entities]
    things = ", ".join(each.plural.casefold() for each in known.entities)
    first = _phase(0, "Foundation", [_Piece(f"Storage for {things}", entities)], "A service that starts and is tested.")
    rest = [
        _phase(number, _name(group), group, f"{_sentence(group)} can be used.")
        for number, group in enumerate(groups, 1)
    ]
    phases = [first, *rest]
    phases[-1] = _with_criteria(phases[-1], known.criteria)
    return PhasePlan(f"{known.name} phases", tuple(phases))


def _assign_features(pieces: list[_Piece], features: Sequence[Named]) -> None:
    """Each feature to the task that shares most words with it; the last task finishes what none mentions."""
    for feature in features:
        wanted = words_of(feature.line)
        best = max(pieces, key=lambda each: len(words_of(each.text) & wanted))
        home = best if words_of(best.text) & wanted else pieces[-1]
        home.references.append(feature.id)


def _assign_endpoints(pieces: list[_Piece], endpoints: Mapping[str, Sequence[str]]) -> None:
    for thing, operations in endpoints.items():
        word = singular(thing.casefold())
        home = next((each for each in pieces if word in words_of(each.text)), pieces[0])
        home.references += [f"endpoint:{each}" for each in operations]


def _phase(number: int, name: str, pieces: Sequence[_Piece], objective: str) -> Phase:
    deliverables = tuple(
        Deliverable(f"D{number}.{place}", _plain(each.text), tuple(each.references))
        for place, each in enumerate(pieces, 1)
    )
    criteria = tuple(
        Criterion(f"A{number}.{place}", f"A test shows that D{number}.{place} works.")
        for place in range(1, len(pieces) + 1)
    )
    before = (number - 1,) if number else ()
    return Phase(
        number,
        name,
        objective,
        before,
        _EVERYWHERE if not number else (*_EVERYWHERE, "client/**"),
        deliverables,
        criteria,
    )


def _with_criteria(phase: Phase, criteria: Sequence[str]) -> Phase:
    start = len(phase.criteria) + 1
    more = [Criterion(f"A{phase.number}.{place}", _plain(text)) for place, text in enumerate(criteria, start)]
    return Phase(
        phase.number,
        phase.name,
        phase.objective,
        phase.depends_on,
        phase.touches,
        phase.deliverables,
        (*phase.criteria, *more),
    )


def _name(pieces: Sequence[_Piece]) -> str:
    names = [" ".join(_plain(each.text).split()[:6]).rstrip(",.;:") for each in pieces]
    together = ", ".join(names)
    return together if len(together) <= _LONGEST_NAME else names[0]


def _sentence(pieces: Sequence[_Piece]) -> str:
    names = [_plain(each.text) for each in pieces]
    text = "; ".join(names)
    if len(text) <= 200:
        return text
    return f"{counted(len(names), 'deliverable')}, from “{' '.join(names[0].split()[:8])}” on,"


def _plain(text: str) -> str:
    """On one line, without brackets, which would name ids."""
    return " ".join(text.replace("[", "(").replace("]", ")").split()) or "Nothing"
