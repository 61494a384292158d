"""A model's answer as a checked value: the last complete JSON object in it that fits a schema.

Slips of form are repaired where the meaning is clear: thinking, prose and fences around the object, trailing commas,
comments, raw line breaks in strings, other spellings of names, null or a single value in place of a list. What a repair
leaves out is noted. An answer that was cut off, says one name twice, or contradicts itself is refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from forge.agents.answer_shape import shaped
from forge.projects.errors import AnswerMalformed

ONE_OBJECT = "Answer with exactly one JSON object of the form that was asked for, and with nothing else."
_ARGUMENTS = ("arguments", "input", "parameters", "args")
_MAX_ANSWER = 16_000_000
_NAMED_PROBLEMS = 10
_DEEPEST = 200
_OBJECT = re.compile(r'\{(?=\s*(?:["}]|//|/\*))')
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_CONSTANT = re.compile(r"\b(?:True|False|None)\b")
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_MARK = re.compile(r'["{}\[\]/]')

M = TypeVar("M", bound=BaseModel)


def parse_object(raw: str, schema: type[M], notes: list[str] | None = None) -> M:
    """The last complete object that fits. `AnswerMalformed` says what is wrong with the last one if none does.

    `notes` takes in what had to be left out of it.
    """
    found = [*objects(raw)]
    if not found:
        refuse("The answer contains no JSON object.")
    problem: ValidationError | None = None
    for candidate in reversed(found):
        for value in (candidate, *_inner(candidate)):
            left_out: list[str] = []
            try:
                fitting = schema.model_validate(shaped(value, schema, left_out))
            except ValidationError as e:
                problem = problem or e
            else:
                if notes is not None:
                    notes += left_out
                return fitting
    if problem is None:
        refuse("The answer contains no JSON object.")
    raise AnswerMalformed(f"The JSON object does not fit. {problems(problem)}", hint=ONE_OBJECT) from problem


def objects(raw: str) -> Iterator[dict[str, Any]]:
    """Every complete object at the top of the answer, in order. One that is cut off or broken is refused."""
    if len(raw) > _MAX_ANSWER:
        refuse(f"The answer has {len(raw):,} characters; at most {_MAX_ANSWER:,} are read.")
    text = _spoken(raw)
    broken = ""
    place = 0
    while begin := _OBJECT.search(text, place):
        line = text.count("\n", 0, begin.start()) + 1
        place = _end(text, begin.start())
        if not place:
            refuse(f"The JSON object that begins in line {line} is broken: the answer ends before it does.")
        try:
            value = _decoded(text[begin.start() : place])
        except ValueError as e:
            broken = f"The JSON object that begins in line {line} is broken: {e}."
            continue
        if value:
            broken = ""
            yield value
    if broken:
        refuse(broken)


def problems(error: ValidationError) -> str:
    """What does not fit and where, without repeating what was answered."""
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    named = [f"{_path(e['loc'])}: {e['msg']}." for e in errors[:_NAMED_PROBLEMS]]
    more = f" And {len(errors) - _NAMED_PROBLEMS} more." if len(errors) > _NAMED_PROBLEMS else ""
    return " ".join(named) + more


def refuse(problem: str) -> NoReturn:
    raise AnswerMalformed(problem, hint=ONE_OBJECT)


def _inner(value: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Some models put the object that was asked for into one of their own, or call a tool that there is not:
    `{"review": {…}}`, `{"name": "answer", "arguments": {…}}`, with the arguments as an object or as its text.
    """
    [*inside] = value.values()
    if len(inside) == 1 and isinstance(inside[0], dict):
        return (inside[0], *_arguments(inside[0]))
    return _arguments(value)


def _arguments(value: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    call = value["function"] if isinstance(value.get("function"), dict) else value
    given = next((call[name] for name in _ARGUMENTS if name in call), None)
    if isinstance(given, str):
        try:
            given = _decoded(given)
        except ValueError:
            return ()
    return (given,) if isinstance(given, dict) else ()


def _spoken(raw: str) -> str:
    """The answer without thinking, whose drafts do not count. Some servers leave out the tag that begins it."""
    text = _THOUGHT.sub("", raw)
    *_, text = _THOUGHT_ENDS.split(text)
    return _unquoted(_THOUGHT_BEGINS.split(text)[0])


def _unquoted(text: str) -> str:
    """Not as a Markdown quotation, and not as a JSON text that holds the object."""
    lines = text.strip().splitlines()
    if lines and all(line.startswith(">") for line in lines):
        return "\n".join(line[1:] for line in lines)
    if text.lstrip().startswith('"{'):
        with suppress(ValueError):
            return str(json.loads(text))
    return text


def _end(text: str, begin: int) -> int:
    """Where the object that begins there ends; 0 where it does not."""
    depth, place = 0, begin
    while mark := _MARK.search(text, place):
        place = mark.start()
        match mark[0]:
            case '"':
                string = _STRING.match(text, place)
                if string is None:
                    return 0
                place = string.end()
                continue
            case "/" if comment := _COMMENT.match(text, place):
                place = comment.end()
                continue
            case "{" | "[":
                depth += 1
                if depth > _DEEPEST:
                    refuse("The JSON object is nested too deeply.")
            case "}" | "]":
                depth -= 1
                if not depth:
                    return place + 1
        place += 1
    return 0


def _decoded(text: str) -> dict[str, Any]:
    # `strict` off takes line breaks and tabs in strings as they are.
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, strict=False)
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError:
        value = decoder.decode(_tidied(text))
    if not isinstance(value, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - a fact about the text
    return value


def _tidied(text: str) -> str:
    """Without comments and trailing commas, and with JSON's own constants. Strings stay as they are."""
    parts: list[str] = []
    place = 0
    while place < len(text):
        string = _STRING.search(text, place)
        comment = _COMMENT.search(text, place)
        if comment and (string is None or comment.start() < string.start()):
            parts.append(text[place : comment.start()])
            place = comment.end()
            continue
        end = string.start() if string else len(text)
        parts.append(text[place:end])
        if string:
            parts.append(string[0])
        place = string.end() if string else end
    return "".join(_between_strings("".join(parts)))


def _between_strings(text: str) -> Iterator[str]:
    place = 0
    for string in _STRING.finditer(text):
        yield _plain(text[place : string.start()])
        yield string[0]
        place = string.end()
    yield _plain(text[place:])


def _plain(code: str) -> str:
    return _CONSTANT.sub(lambda found: _CONSTANTS[found[0]], _TRAILING_COMMA.sub("", code)).replace("\u00a0", " ")


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
