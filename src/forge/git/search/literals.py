"""What every matching line must contain: fixed strings read off a pattern, so that most files need no search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from forge.git.search.lines import parts, sre

SHORTEST = 3
"""Nearly every file contains a shorter string, and signatures know none."""
_MAX_CHOICES = 32
"""More alternatives than this filter badly and cost much."""
_MAX_CLASS = 4
_RARITY = [2 if byte in b"etaoinsrhl " else 6 if byte in b"zqxjkZQXJK" or byte > 127 else 3 for byte in range(256)]

Clause = frozenset[bytes]
"""Strings of which at least one is in the line."""


@dataclass(frozen=True, slots=True)
class Literals:
    """A line can only match when each clause has a member in it."""

    clauses: tuple[Clause, ...]
    folded: bool
    """The strings are in lower case and so must the line be made."""

    def test(self) -> Callable[[bytes], bool]:
        """Whether a text can have a matching line. Never says no to one that has."""
        if not self.clauses:
            return lambda _: True
        clauses = [tuple(clause) for clause in self.clauses]
        if len(clauses) == len(clauses[0]) == 1 and not self.folded:
            (string,) = clauses[0]
            return lambda text: string in text

        def may_match(text: bytes) -> bool:
            if self.folded:
                text = text.lower()
            return all(any(string in text for string in clause) for clause in clauses)

        return may_match

    @property
    def selective(self) -> bool:
        """Whether a clause is long enough to leave out many files beforehand."""
        return any(min(map(len, clause)) >= SHORTEST for clause in self.clauses)

    def scout(self) -> bytes:
        """One string that every matching line contains; empty when none is worth looking for."""
        best = self.best()
        return min(best) if len(best) == 1 and len(min(best)) > 1 else b""

    def best(self) -> Clause:
        """The clause that lets the fewest texts pass; empty when there is none."""
        return max(self.clauses, key=_selectivity, default=frozenset())


def required(source: bytes, flags: int) -> Literals:
    """The strings that any match of the pattern contains. Knows less rather than too much."""
    tree = sre.parse(source, flags)
    folded = bool(tree.state.flags & re.IGNORECASE) or _folds_somewhere(tree)
    _, clauses = _of_sequence(tree, folded=folded)
    useful = sorted(set(clauses), key=_selectivity, reverse=True)
    return Literals(tuple(useful[:4]), folded)


def _selectivity(clause: Clause) -> tuple[int, int]:
    """How few texts a clause lets pass, as far as its letters tell: `zz` says more than `the`."""
    return min(sum(map(_RARITY.__getitem__, string)) for string in clause), -len(clause)


def _folds_somewhere(tree: Any) -> bool:
    for op, argument in tree.data:
        if op is sre.SUBPATTERN and argument[1] & re.IGNORECASE:
            return True
        if any(_folds_somewhere(below) for below in parts(op, argument)):
            return True
    return False


def _of_sequence(tree: Any, *, folded: bool) -> tuple[set[bytes] | None, list[Clause]]:
    """All texts that `tree` matches, when they are few; and clauses that hold for its matches."""
    run: set[bytes] = {b""}
    exact = True
    clauses: list[Clause] = []
    for op, argument in tree.data:
        texts, below, repeats = _of_step(op, argument, folded=folded)
        clauses += below
        joined = _joined(run, texts) if texts is not None else None
        if joined is not None:
            run = joined
        if joined is None or repeats:
            exact = False
            clauses += _clause(run)
            run = {b""}
            # What follows a step starts after it; the step's own texts still stand alone.
            if joined is None and texts is not None:
                run = texts
                if repeats:
                    clauses += _clause(run)
                    run = {b""}
    clauses += _clause(run)
    return (run if exact else None), clauses


def _of_step(op: Any, argument: Any, *, folded: bool) -> tuple[set[bytes] | None, list[Clause], bool]:
    """Texts of one step when they are few, clauses that hold in any case, and whether the step may continue."""
    if op is sre.LITERAL:
        return {_byte(argument, folded=folded)}, [], False
    if op is sre.IN:
        return _of_class(argument, folded=folded), [], False
    if op in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
        return {b""}, [], False
    if op in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
        texts, clauses = _of_sequence(parts(op, argument)[0], folded=folded)
        return texts, ([] if texts is not None else clauses), False
    if op is sre.BRANCH:
        return _of_branches(argument[1], folded=folded)
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT) and argument[0] > 0:
        texts, clauses = _of_sequence(argument[2], folded=folded)
        return texts, ([] if texts is not None else clauses), argument[1] != 1
    return None, [], False


def _of_branches(branches: Iterable[Any], *, folded: bool) -> tuple[set[bytes] | None, list[Clause], bool]:
    together: set[bytes] | None = set()
    best: list[Clause] = []
    for branch in branches:
        texts, clauses = _of_sequence(branch, folded=folded)
        together = together | texts if together is not None and texts is not None else None
        if not clauses:
            best.append(frozenset())
            continue
        best.append(max(clauses, key=_selectivity))
    if together is not None and len(together) <= _MAX_CHOICES:
        return together, [], False
    union: Clause = frozenset().union(*best)
    return None, ([union] if all(best) and len(union) <= _MAX_CHOICES else []), False


def _of_class(members: list[Any], *, folded: bool) -> set[bytes] | None:
    texts: set[bytes] = set()
    for op, argument in members:
        if op is sre.LITERAL:
            texts.add(_byte(argument, folded=folded))
        elif op is sre.RANGE and argument[1] - argument[0] < _MAX_CLASS:
            texts |= {_byte(byte, folded=folded) for byte in range(argument[0], argument[1] + 1)}
        else:
            return None
    return texts if len(texts) <= _MAX_CLASS else None


def _joined(run: set[bytes], texts: set[bytes]) -> set[bytes] | None:
    if len(run) * len(texts) > _MAX_CHOICES:
        return None
    return {before + after for before in run for after in texts}


def _clause(run: set[bytes]) -> list[Clause]:
    return [frozenset(run)] if b"" not in run else []


def _byte(value: int, *, folded: bool) -> bytes:
    byte = bytes([value])
    return byte.lower() if folded else byte
