"""Checks a call's arguments against the tool's JSON schema and says, field by field, what was expected instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from forge.json_value import Json
from forge.tools.tool import ToolRetry

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

_DEEPEST = 32
_COMPLAINTS = 5
_COUNTED = {"minLength": "characters", "maxLength": "characters", "minItems": "items", "maxItems": "items"}
_KINDS = {type(None): "null", bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}


def checked(schema: Json, arguments: object) -> Json:
    """The arguments, with whole floats as integers where those are meant; else `ToolRetry` with every complaint."""
    if not isinstance(arguments, dict):
        raise ToolRetry(f"The arguments must be an object, not {_kind(arguments)}.")
    value = _settled(schema, arguments, 0)
    assert isinstance(value, dict)
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - see `_validator`
    from referencing import Registry  # noqa: PLC0415

    # Without a registry of its own the library would fetch from the network what a `$ref` names.
    errors = _validator()(schema, registry=Registry()).iter_errors(value)
    # Where several forms are possible, what is wrong with the one that comes nearest.
    found = [_complaint(best_match([error]) or error) for error in errors]
    if found:
        more = [f"… and {len(found) - _COMPLAINTS} more"] if len(found) > _COMPLAINTS else []
        raise ToolRetry("Wrong arguments:\n" + "\n".join(f"- {each}" for each in [*found[:_COMPLAINTS], *more]))
    return value


def is_schema(schema: object) -> bool:
    """Whether arguments can be checked against it."""
    from jsonschema import SchemaError  # noqa: PLC0415 - see `_validator`

    if not isinstance(schema, dict) or _depth(schema) > _DEEPEST:
        return False
    try:
        _validator().check_schema(schema)
    except SchemaError:
        return False
    return True


@cache
def _validator() -> type[Validator]:
    """The library takes 50 ms to load, and most commands never check a call.

    Schemas of a repository's own tools are strangers' text: a regular expression in one could keep the whole process
    busy for hours, so patterns are not tried.
    """
    from jsonschema import Draft202012Validator, ValidationError  # noqa: PLC0415
    from jsonschema.validators import extend  # noqa: PLC0415

    def untried(*_: object) -> tuple[()]:
        return ()

    def required(_: Any, names: Sequence[str], instance: Any, __: object) -> Iterator[ValidationError]:
        yield from (ValidationError(name) for name in names if isinstance(instance, dict) and name not in instance)

    def additional(
        validator: Any, allowed: object, instance: Any, schema: Mapping[str, Any]
    ) -> Iterator[ValidationError]:
        known = schema.get("properties", {})
        for name in instance if isinstance(instance, dict) else ():
            if name not in known and allowed is False:
                yield ValidationError(name)
            elif name not in known:
                yield from validator.descend(instance[name], allowed, path=name)

    rules = {"pattern": untried, "patternProperties": untried, "required": required, "additionalProperties": additional}
    made: type[Validator] = extend(Draft202012Validator, rules)  # type: ignore[no-untyped-call]
    return made


def _complaint(error: ValidationError) -> str:
    at = error.json_path.removeprefix("$").removeprefix(".")
    where = f"`{at}`" if at else "the arguments"
    inner = f"`{at}.{error.message[:60]}`" if at else f"`{error.message[:60]}`"
    limit: Any = error.validator_value
    instance: Any = error.instance
    schema: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    known: Mapping[str, Any] = schema.get("properties", {})
    match error.validator:
        case "type":
            return f"{where} must be {_named(limit)}, not {_kind(instance)}"
        case "required":
            kind = _types(known.get(error.message))
            return f"{inner} is missing{f'; it must be {_named(kind)}' if kind else ''}"
        case "additionalProperties":
            return f"{inner} is not an argument; known are {', '.join(known) or 'none'}"
        case "enum":
            return f"{where} must be one of {', '.join(json.dumps(each) for each in limit)}"
        case "minimum" | "maximum":
            bounds = (("least", schema.get("minimum")), ("most", schema.get("maximum")))
            return f"{where} must be {' and '.join(f'at {word} {n:,}' for word, n in bounds if n is not None)}"
        case "minLength" | "minItems" if limit == 1:
            return f"{where} is empty"
        case "minLength" | "minItems" as rule:
            return f"{where} must have at least {limit:,} {_COUNTED[rule]}"
        case "maxLength" | "maxItems" as rule:
            return f"{where} has {len(instance):,} {_COUNTED[rule]}; at most {limit:,} are allowed"
    return f"{where}: {error.message[:200]}"


def _settled(schema: object, value: object, depth: int) -> object:
    """To JSON 2.0 is a whole number; to Python it is no `int`, and tools count lines with it."""
    if depth > _DEEPEST:
        raise ToolRetry("The arguments are nested too deeply.")
    known: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, float) and "integer" in _types(known) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        members = known.get("properties", {})
        return {name: _settled(members.get(name), each, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [_settled(known.get("items"), item, depth + 1) for item in value]
    return value


def _depth(value: object, depth: int = 0) -> int:
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return depth
    inner = value.values() if isinstance(value, dict) else value
    return max((_depth(each, depth + 1) for each in inner), default=depth)


def _types(schema: object) -> tuple[str, ...]:
    kind = schema.get("type", ()) if isinstance(schema, Mapping) else ()
    return (kind,) if isinstance(kind, str) else tuple(kind)


def _kind(value: object) -> str:
    return _named(_KINDS.get(type(value), "object"))


def _named(kind: str | Sequence[str]) -> str:
    if not isinstance(kind, str):
        return " or ".join(map(_named, kind))
    return kind if kind == "null" else f"an {kind}" if kind[0] in "aio" else f"a {kind}"
