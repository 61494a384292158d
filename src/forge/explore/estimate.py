"""An estimate of value computed from its inputs, and which assumption moves it most."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forge.explore.errors import ChangeRefused
from forge.json_value import Json

LABEL = "Projected Opportunity (Unadjusted)"
_DEEPEST = 30


@dataclass(frozen=True, slots=True)
class Input:
    name: str
    low: float
    base: float
    high: float
    unit: str = ""
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Swing:
    """How far the result moves when one input goes from low to high and the others stay."""

    name: str
    low: float
    high: float
    assumptions: tuple[str, ...]

    @property
    def width(self) -> float:
        return abs(self.high - self.low)


@dataclass(frozen=True, slots=True)
class Estimate:
    result: float
    swings: tuple[Swing, ...]
    """The widest first."""

    @property
    def by_assumption(self) -> dict[str, float]:
        """The widest swing that each assumption causes, the widest first."""
        found: dict[str, float] = {}
        for swing in self.swings:
            for id_ in swing.assumptions:
                found[id_] = max(found.get(id_, 0.0), swing.width)
        return dict(sorted(found.items(), key=lambda each: -each[1]))

    def to_json(self) -> Json:
        swings = [
            {"input": s.name, "low": s.low, "high": s.high, "swing": s.width, "assumptions": list(s.assumptions)}
            for s in self.swings
        ]
        first = next(iter(self.by_assumption), None)
        return {"result": self.result, "sensitivity": swings, "moves_most": first}


def estimated(formula: str, inputs: Sequence[Input]) -> Estimate:
    base = {each.name: each.base for each in inputs}
    tree = _parsed(formula, frozenset(base))
    for each in inputs:
        if not each.low <= each.base <= each.high:
            raise ChangeRefused(f"`{each.name}` must be low ≤ base ≤ high.", hint="Correct its three numbers.")
    swings = [
        Swing(
            each.name,
            _value(tree, {**base, each.name: each.low}),
            _value(tree, {**base, each.name: each.high}),
            each.assumptions,
        )
        for each in inputs
    ]
    return Estimate(_value(tree, base), tuple(sorted(swings, key=lambda each: -each.width)))


def _parsed(formula: str, names: frozenset[str]) -> ast.expr:
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        raise ChangeRefused(
            "The formula cannot be read.", hint="Use the names of the inputs, numbers, + - * / and ( )."
        ) from e
    _check(tree, names, 0)
    return tree


def _check(tree: ast.expr, names: frozenset[str], depth: int) -> None:
    if depth > _DEEPEST:
        raise ChangeRefused("The formula is nested too deeply.", hint="Write a simpler one.")
    match tree:
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div()):
            _check(tree.left, names, depth + 1)
            _check(tree.right, names, depth + 1)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            _check(tree.operand, names, depth + 1)
        case ast.Constant(value=int() | float()) if not isinstance(tree.value, bool):
            return
        case ast.Name():
            if tree.id not in names:
                raise ChangeRefused(
                    f"The formula names `{tree.id}`, which is no input.", hint=f"Inputs: {', '.join(sorted(names))}."
                )
        case _:
            raise ChangeRefused(
                "The formula has something other than sums and products.",
                hint="Use the names of the inputs, numbers, + - * / and ( ).",
            )


def _value(tree: ast.expr, values: Mapping[str, float]) -> float:
    try:
        result = _evaluated(tree, values)
    except (ZeroDivisionError, OverflowError) as e:
        raise ChangeRefused("The formula divides by zero or overflows.", hint="Correct the inputs.") from e
    if not math.isfinite(result):
        raise ChangeRefused("The formula gives no finite number.", hint="Correct the inputs.")
    return round(result, 6)


def _evaluated(tree: ast.expr, values: Mapping[str, float]) -> float:
    match tree:
        case ast.BinOp():
            left, right = _evaluated(tree.left, values), _evaluated(tree.right, values)
            match tree.op:
                case ast.Add():
                    return left + right
                case ast.Sub():
                    return left - right
                case ast.Mult():
                    return left * right
                case _:
                    return left / right
        case ast.UnaryOp():
            inner = _evaluated(tree.operand, values)
            return -inner if isinstance(tree.op, ast.USub) else inner
        case ast.Name():
            return float(values[tree.id])
        case ast.Constant():
            return float(tree.value)  # type: ignore[arg-type]
    raise AssertionError(tree)
