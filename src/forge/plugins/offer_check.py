"""Whether what a plugin offers fits the contracts, said in sentences that help whoever writes the plugin."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from forge.agents.profile import READ_RESOURCE, SHIPPED, SKILLS
from forge.plugins.roles import (
    DeliverableType,
    Offer,
    OfferedPrompt,
    OfferedTools,
    ResultView,
    Severity,
    Structure,
)
from forge.settings.values import MODEL_ROLES
from forge.tools.builtin import NAMES

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TOOL = re.compile(r"[a-z][a-z0-9_]{0,39}")
_ROLES = ", ".join(MODEL_ROLES)
# How each is called: with a desk, and with what is reviewed or mended.
_CALLS: Mapping[str, int] = {"discover": 1, "build": 1, "missing": 1, "review": 2, "fix": 3}
_MEMBERS = tuple(name for name in vars(DeliverableType) if not name.startswith("_"))


def misfits(offer: object) -> Iterator[str]:
    """What is wrong with an offer; nothing if it can be used."""
    if not isinstance(offer, Offer):
        yield f"`offer()` must return a `forge.plugins.roles.Offer`, not {_kind(offer)}"
        return
    for type_ in offer.deliverables:
        yield from _type_misfits(type_)
    yield from _prompt_misfits(offer)
    yield from _tool_misfits(offer)
    for group in ("connectors", "channels", "boards"):
        for name, make in (getattr(offer, group) or {}).items():
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                yield f"{group}: {name!r} cannot be a name; use small letters, digits, `-` and `_`"
            elif not callable(make):
                yield f"{group}.{name} must be a function that is given its settings, not {_kind(make)}"


def _prompt_misfits(offer: Offer) -> Iterator[str]:
    for prompt in offer.prompts:
        if not isinstance(prompt, OfferedPrompt):
            yield f"prompts must be `OfferedPrompt`s, not {_kind(prompt)}"
        elif not _NAME.fullmatch(str(prompt.name)):
            yield f"prompts: {prompt.name!r} cannot be a name; use small letters, digits, `-` and `_`"
        elif prompt.name in SHIPPED:
            yield f"prompts: `{prompt.name}` is a prompt of Forge"
        elif prompt.model_role not in MODEL_ROLES:
            yield f"the prompt `{prompt.name}` names the model role `{prompt.model_role}`; use one of {_ROLES}"
        elif not isinstance(prompt.text, str) or not prompt.text.strip():
            yield f"the prompt `{prompt.name}` has no text"


def _tool_misfits(offer: Offer) -> Iterator[str]:
    known = {*SHIPPED, *(prompt.name for prompt in offer.prompts if isinstance(prompt, OfferedPrompt))}
    for tools in offer.tools:
        if not isinstance(tools, OfferedTools) or not callable(tools.make):
            yield f"tools must be `OfferedTools` with a function `make`, not {_kind(tools)}"
            continue
        for name in tools.names:
            if not _TOOL.fullmatch(str(name)):
                yield f"tools: {name!r} cannot be a name; use small letters, digits and `_`"
            elif name in (*NAMES, SKILLS, READ_RESOURCE):
                yield f"tools: `{name}` is a tool of Forge"
        for role in tools.roles:
            if role not in known:
                yield f"tools: there is no role `{role}`; use a prompt of Forge or one that you offer"


def _type_misfits(type_: DeliverableType) -> Iterator[str]:
    if inspect.isclass(type_):
        yield f"the deliverable type {type_.__name__} must be an object, not the class itself: `{type_.__name__}()`"
        return
    lacking = [member for member in _MEMBERS if not hasattr(type_, member)]
    if lacking:
        yield f"the deliverable type {type(type_).__name__} lacks {', '.join(f'`{each}`' for each in lacking)}"
        return
    called = f"the deliverable type {type(type_).__name__}"
    if not isinstance(type_.name, str) or not _NAME.fullmatch(type_.name):
        yield f"{called}: `name` must be one word in small letters"
    for wrong in _value_misfits(type_):
        yield f"{called}: {wrong}"
    for method, arguments in _CALLS.items():
        if wrong := _method_misfit(getattr(type_, method), arguments):
            yield f"{called}: `{method}` {wrong}"


def _value_misfits(type_: DeliverableType) -> Iterator[str]:
    if not isinstance(type_.title, str) or not type_.title:
        yield "`title` must be a text"
    if not isinstance(type_.needs_code, bool):
        yield "`needs_code` must be True or False"
    for structure in getattr(type_, "structures", ()):
        if not isinstance(structure, Structure):
            yield f"`structures` must be `Structure`s, not {_kind(structure)}"
    for text in ("description", "structure_form"):
        if not isinstance(getattr(type_, text, ""), str):
            yield f"`{text}` must be a text"
    if not isinstance(getattr(type_, "result_view", None), ResultView | None):
        yield "`result_view` must be a `ResultView`"
    schema: Any = type_.schema
    if not (inspect.isclass(schema) and issubclass(schema, BaseModel) and "issues" in schema.model_fields):
        yield "`schema` must be a pydantic model with a field `issues`"
    missing = [each.value for each in Severity if not str(dict(type_.severities).get(each.value, "")).strip()]
    if missing:
        yield f"`severities` must say what counts as {', '.join(missing)}"
    if not hasattr(type_.safety, "blocked_operations") or not callable(getattr(type_.safety, "validate", None)):
        yield "`safety` must have `blocked_operations` and `validate(operation)`"


def _method_misfit(method: Callable[..., Any], arguments: int) -> str:
    if not inspect.iscoroutinefunction(method):
        return "must be an `async def`"
    try:
        inspect.signature(method).bind(*range(arguments))
    except TypeError as e:
        return f"cannot be called as the contract says: {e}"
    return ""


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
