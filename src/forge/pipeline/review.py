"""How an agent's raw answer becomes a checked value, and a review its issues."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, Field, ValidationError

from forge.plugins.contracts import Issue, Severity
from forge.projects.errors import AnswerMalformed

MAX_ISSUES, MAX_TEXT = 500, 4_000
_MAX_ANSWER = 16_000_000
_NAMED_PROBLEMS = 10
_OBJECT = re.compile(r'\{(?=\s*["}])')
_ONE_OBJECT = "Answer with exactly one JSON object of the form that was asked for, and with nothing else."

Text = Annotated[str, Field(max_length=MAX_TEXT)]
M = TypeVar("M", bound=BaseModel)


class _Finding(BaseModel):
    severity: Severity
    description: Text
    location: Text
    recommendation: Text


class _Findings(BaseModel):
    """What every type's review has, whatever else is in its own schema. Counts beside the issues decide nothing."""

    issues: Annotated[list[_Finding], Field(max_length=MAX_ISSUES)]


def parse_review(raw: str, schema: type[BaseModel]) -> tuple[Issue, ...]:
    """The issues of an answer, all of them and in their order; a repeated one counts again."""
    review = parse_object(raw, schema)
    try:
        found = _Findings.model_validate(review.model_dump())
    except ValidationError as e:
        raise AnswerMalformed(f"The review does not fit. {problems(e)}", hint=_ONE_OBJECT) from e
    return tuple(Issue(f.severity, f.description, f.location, f.recommendation) for f in found.issues)


def parse_object(raw: str, schema: type[M]) -> M:
    """The one JSON object in `raw`, as `schema`; prose and code fences around it do not matter."""
    text = one_object(raw)
    try:
        return schema.model_validate_json(text)
    except ValidationError as e:
        raise AnswerMalformed(f"The JSON object does not fit. {problems(e)}", hint=_ONE_OBJECT) from e


def one_object(raw: str) -> str:
    """The text of the only JSON object in `raw`. Several, none, or a broken one are refused."""
    if len(raw) > _MAX_ANSWER:
        _refuse(f"The answer has {len(raw):,} characters; at most {_MAX_ANSWER:,} are read.")
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    found: list[str] = []
    place = 0
    while begin := _OBJECT.search(raw, place):
        try:
            value, place = decoder.raw_decode(raw, begin.start())
        except RecursionError:
            _refuse("The JSON object is nested too deeply.")
        except ValueError as e:
            _refuse(f"The JSON object that begins in line {raw.count(chr(10), 0, begin.start()) + 1} is broken: {e}.")
        if value:
            found.append(raw[begin.start() : place])
    if len(found) != 1:
        _refuse(f"The answer holds {len(found)} JSON objects." if found else "The answer holds no JSON object.")
    return found[0]


def problems(error: ValidationError) -> str:
    """What does not fit and where, without repeating what was answered."""
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    named = [f"{_path(e['loc'])}: {e['msg']}." for e in errors[:_NAMED_PROBLEMS]]
    more = f" And {len(errors) - _NAMED_PROBLEMS} more." if len(errors) > _NAMED_PROBLEMS else ""
    return " ".join(named) + more


def _path(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".") or "the object"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # The last one would win, so that a second "issues" could hide the first.
    seen = dict(pairs)
    if len(seen) != len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the name {name!r} occurs twice in one object")
    return seen


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse(problem: str) -> NoReturn:
    raise AnswerMalformed(problem, hint=_ONE_OBJECT)
