"""The assumption register: a graph of assumptions in which the collapse of one is noticed by all that rest on it.

A register is a value: each change gives a new one. Its laws: an id is never given twice, every dependency exists, no
dependencies run in a circle, and invalidating an assumption puts all that rests on it, through any depth, at risk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Self

from forge.explore.assumption import Assumption
from forge.explore.errors import AssumptionMissing, ChangeRefused
from forge.json_value import Json

LINE = 1.5
"""The risk above which an untested assumption stands in the way of `go`."""
_ID = re.compile(r"A([1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class Register:
    assumptions: Mapping[str, Assumption] = field(default_factory=dict)
    counter: int = 0

    @classmethod
    def from_json(cls, saved: object, counter: object = 0) -> Self:
        """Total: entries that are no assumptions are left out, and so are edges that dangle or close a circle."""
        entries = saved if isinstance(saved, Mapping) else {}
        read = {id_: Assumption.from_json(id_, data) for id_, data in entries.items() if _ID.fullmatch(str(id_))}
        highest = max((_number(id_) for id_ in read), default=0)
        said = counter if isinstance(counter, int) and not isinstance(counter, bool) else 0
        return cls(_without_circles(read), max(highest, said))

    def to_json(self) -> Json:
        return {id_: each.to_json() for id_, each in self.assumptions.items()}

    def get(self, id_: str) -> Assumption:
        found = self.assumptions.get(id_)
        if found is None:
            known = ", ".join(list(self.assumptions)[-12:]) or "none yet"
            raise AssumptionMissing(f"There is no assumption `{id_}`.", hint=f"Known are: {known}.")
        return found

    # Changes

    def added(self, claim: str, *, depends_on: Sequence[str] = (), **fields: Any) -> tuple[Register, Assumption]:
        if not claim.strip():
            raise ChangeRefused("The claim is empty.", hint="Say in one sentence what is taken for true.")
        same = next((each for each in self.assumptions.values() if _plain(each.claim) == _plain(claim)), None)
        if same is not None:
            raise ChangeRefused(f"{same.id} says the same already.", hint=f"Update {same.id} instead.")
        rests_on = tuple(dict.fromkeys(depends_on))
        for id_ in rests_on:
            self.get(id_)
        made = Assumption(f"A{self.counter + 1}", claim.strip(), depends_on=rests_on, **fields)
        if any(self.assumptions[id_].status in ("invalidated", "at_risk") for id_ in rests_on):
            made = replace(made, status="at_risk")
        return Register({**self.assumptions, made.id: made}, self.counter + 1), made

    def with_status(self, id_: str, status: str) -> tuple[Register, tuple[str, ...]]:
        """Also the ids of those that this puts at risk, in the order of the register."""
        now = self.get(id_)
        changed = {id_: replace(now, status=status)}
        if status == "confirmed" and now.confidence == "guessed":
            changed[id_] = replace(changed[id_], confidence="informed")
        shaken: tuple[str, ...] = ()
        if status == "invalidated":
            resting = self.resting_on(id_)
            at_risk = (each for each in self.assumptions.values() if each.id in resting)
            shaken = tuple(each.id for each in at_risk if each.status in ("active", "confirmed"))
            changed |= {each: replace(self.assumptions[each], status="at_risk") for each in shaken}
        return replace(self, assumptions={**self.assumptions, **changed}), shaken

    def changed(self, id_: str, *, depends_on: Sequence[str] | None = None, **fields: Any) -> Register:
        """Other fields than the status."""
        new = replace(self.get(id_), **fields)
        if depends_on is not None:
            rests_on = tuple(dict.fromkeys(depends_on))
            above = self.resting_on(id_) | {id_}
            for each in rests_on:
                self.get(each)
                if each in above:
                    raise ChangeRefused(
                        f"{id_} cannot depend on {each}, which depends on {id_}.", hint="Leave one of the two out."
                    )
            new = replace(new, depends_on=rests_on)
        return replace(self, assumptions={**self.assumptions, id_: new})

    # Questions

    def resting_on(self, id_: str) -> set[str]:
        """All whose dependencies lead to `id_`, through any depth."""
        children: dict[str, list[str]] = {}
        for each in self.assumptions.values():
            for below in each.depends_on:
                children.setdefault(below, []).append(each.id)
        found: set[str] = set()
        waiting = list(children.get(id_, ()))
        while waiting:
            next_ = waiting.pop()
            if next_ not in found:
                found.add(next_)
                waiting += children.get(next_, ())
        return found

    def resting_counts(self) -> dict[str, int]:
        """How many rest on each one."""
        order = _ordered(self.assumptions)
        bits = {id_: 1 << place for place, id_ in enumerate(order)}
        above = dict.fromkeys(order, 0)
        for id_ in reversed(order):
            for below in self.assumptions[id_].depends_on:
                above[below] |= above[id_] | bits[id_]
        return {id_: each.bit_count() for id_, each in above.items()}

    def risks(self, today: date | None = None) -> dict[str, float]:
        counts = self.resting_counts()
        return {id_: each.risk(counts[id_], today) for id_, each in self.assumptions.items()}

    def untested(self, line: float = LINE, today: date | None = None) -> tuple[Assumption, ...]:
        """Above the line and neither validated nor given up; the riskiest first."""
        risks = self.risks(today)
        found = (each for each in self.assumptions.values() if risks[each.id] > line)
        open_ = (each for each in found if each.status != "invalidated" and each.known(today) != "validated")
        return tuple(sorted(open_, key=lambda each: (-risks[each.id], _number(each.id))))

    def broken_paths(self) -> tuple[tuple[str, str], ...]:
        """Edges (who rests, on what) whose ground is gone or shaken."""
        gone = {id_ for id_, each in self.assumptions.items() if each.status in ("invalidated", "at_risk")}
        return tuple((each.id, on) for each in self.assumptions.values() for on in each.depends_on if on in gone)


def _number(id_: str) -> int:
    found = _ID.fullmatch(id_)
    return int(found[1]) if found else 0


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")


def _ordered(assumptions: Mapping[str, Assumption]) -> list[str]:
    """What is rested on before what rests on it."""
    done: dict[str, None] = {}
    for start in assumptions:
        stack: list[tuple[str, Iterable[str]]] = [(start, iter(assumptions[start].depends_on))]
        while stack:
            id_, rest = stack[-1]
            below = next((each for each in rest if each not in done and each in assumptions), None)
            if below is None:
                done.setdefault(id_)
                stack.pop()
            else:
                stack.append((below, iter(assumptions[below].depends_on)))
    return list(done)


def _without_circles(read: Mapping[str, Assumption]) -> dict[str, Assumption]:
    """Edges are taken one after the other; one that would close a circle is dropped, whoever wrote it."""
    state: dict[str, int] = {}
    kept: dict[str, list[str]] = {id_: [] for id_ in read}
    for start in read:
        stack: list[tuple[str, list[str]]] = []
        if start not in state:
            state[start] = 1
            stack.append((start, list(read[start].depends_on)))
        while stack:
            id_, rest = stack[-1]
            if not rest:
                state[id_] = 2
                stack.pop()
                continue
            below = rest.pop(0)
            if below not in read or state.get(below) == 1 or below in kept[id_]:
                continue
            kept[id_].append(below)
            if below not in state:
                state[below] = 1
                stack.append((below, list(read[below].depends_on)))
    return {id_: replace(each, depends_on=tuple(kept[id_])) for id_, each in read.items()}
