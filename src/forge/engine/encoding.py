"""Recorded values as JSON: what a step or run returns, and errors that come back as the class they were."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any

from forge.engine.errors import NotJson
from forge.errors import Conflict, Denied, ForgeError, InvalidInput, NotFound, Upstream
from forge.json_value import Json

_FAMILIES: tuple[type[ForgeError], ...] = (InvalidInput, NotFound, Conflict, Denied, Upstream)


def plain(value: Any, *, what: str) -> Any:
    """The value as it will be read back, so that no one sees a difference between the first time and a replay."""
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise NotJson(
            f"{what} cannot be recorded: {error}", hint="use dicts, lists, text, numbers, true, false"
        ) from error


def error_to_json(error: BaseException) -> Json:
    kind = type(error)
    data: Json = {"class": f"{kind.__module__}:{kind.__qualname__}", "message": str(error)}
    if isinstance(error, ForgeError):
        data |= {"code": error.code, "hint": error.hint, "family": _family(type(error)).__name__, "more": _more(error)}
    return data


def error_from_json(data: Json) -> ForgeError:
    """The same class where it still exists, else its family with the same code."""
    kind = _find(data["class"])
    if kind is not None:
        error = kind.__new__(kind)
        ForgeError.__init__(error, data["message"], hint=data.get("hint", ""))
        for name, value in data.get("more", {}).items():
            setattr(error, name, value)
        return error
    family = next((family for family in _FAMILIES if family.__name__ == data.get("family")), Upstream)
    error = family(data["message"], hint=data.get("hint", ""))
    error.code = data.get("code", family.code)
    return error


def _more(error: ForgeError) -> Json:
    """What else the error carries, as far as JSON can hold it."""
    more: Json = {}
    for name, value in vars(error).items():
        if name in ("message", "hint") or name.startswith("_"):
            continue
        try:
            more[name] = plain(value, what=name)
        except NotJson:
            continue
    return more


def _family(kind: type[ForgeError]) -> type[ForgeError]:
    return next((family for family in _FAMILIES if issubclass(kind, family)), Upstream)


def _find(name: str) -> type[ForgeError] | None:
    module, _, qualname = name.partition(":")
    if module.startswith("forge."):
        try:
            importlib.import_module(module)
        except ImportError:
            return None
    for kind in _kinds(ForgeError):
        if kind.__module__ == module and kind.__qualname__ == qualname:
            return kind
    return None


def _kinds(kind: type[ForgeError]) -> Iterator[type[ForgeError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds(below)
