"""Reads the text of a settings file and refuses what does not fit, by its name and never by its value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from rapidfuzz import process

from forge.json_value import Json
from forge.settings.errors import SettingsInvalid
from forge.settings.values import DERIVED, PROVIDERS, Provider, Settings

_LARGEST = 256 * 1024
_ALIKE = 55


def parse(text: str, where: str) -> Json:
    if len(text) > _LARGEST:
        raise SettingsInvalid(f"{where} is too large for a settings file.")
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            # Aliases can make a small text unfold into a huge value.
            if isinstance(event, yaml.AliasEvent):
                raise SettingsInvalid(f"{where} uses YAML aliases, which settings do not take.")
            # No path, address or command can have one.
            if isinstance(event, yaml.ScalarEvent) and "\0" in event.value:
                line = f", line {event.start_mark.line + 1}" if event.start_mark else ""
                raise SettingsInvalid(f"{where}{line} has a NUL character.", hint="Remove it.")
        values = yaml.safe_load(text)
    except yaml.YAMLError as e:
        # The error's own text quotes the file, which may hold keys.
        mark = getattr(e, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        spot = f"line {mark.line + 1}, or the lines before it" if mark is not None else "it"
        raise SettingsInvalid(
            f"{where}{line} is not valid YAML: {getattr(e, 'problem', None) or 'unreadable'}.",
            hint=f"Correct {spot}; `forge config default` shows how settings are written.",
        ) from None
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise SettingsInvalid(f"{where} must hold names and values, for example `sessions: tree`.")
    return {key: value for key, value in values.items() if value is not None}


def check(values: Json, where: str) -> None:
    """Refuse names that do not exist, with the nearest one, and values that do not fit."""
    for dotted, known in _unknown(values, Settings, ""):
        raise SettingsInvalid(f"{where} sets `{dotted}`, which does not exist.", hint=_nearest_to(dotted, known))
    providers = values.get("providers")
    for name, entry in providers.items() if isinstance(providers, dict) else ():
        if isinstance(entry, dict) and name not in PROVIDERS and not entry.get("base_url"):
            raise SettingsInvalid(
                f"{where}: providers.{name} needs a `base_url`, as every endpoint of your own does.",
                hint=nearest(str(name), PROVIDERS),
            )
    validated(values, where)


def require_known(name: str, every: Sequence[str]) -> None:
    """Refuse a dotted name that no file may set, with the nearest of all there are."""
    values: Any = None
    for part in reversed(name.split(".")):
        values = {part: values}
    if next(_unknown(values, Settings, ""), None) is None:
        return
    near = process.extractOne(name, every, score_cutoff=_ALIKE)
    guess = f"Did you mean `{near[0]}`? " if near else ""
    raise SettingsInvalid(f"There is no setting `{name}`.", hint=f"{guess}`forge config show` lists all.")


def _nearest_to(dotted: str, known: Sequence[str]) -> str:
    """By the last part of the name, and told with all of it."""
    above, dot, last = dotted.rpartition(".")
    near = process.extractOne(last, known, score_cutoff=_ALIKE)
    return f"Did you mean `{above}{dot}{near[0]}`?" if near else nearest(last, known)


def nearest(name: str, known: Sequence[str]) -> str:
    near = process.extractOne(name, known, score_cutoff=_ALIKE)
    return f"Did you mean `{near[0]}`?" if near else f"Known here: {', '.join(sorted(known))}."


def _unknown(values: Json, model: type[BaseModel], prefix: str) -> Iterator[tuple[str, list[str]]]:
    known = [name for name in model.model_fields if name not in DERIVED]
    for key, value in values.items():
        name = f"{prefix}{key}"
        if key not in known:
            yield name, known
        elif isinstance(value, dict) and name == "providers":
            for provider, entry in value.items():
                yield from _unknown(entry if isinstance(entry, dict) else {}, Provider, f"providers.{provider}.")
        elif isinstance(value, dict):
            inner = model.model_fields[key].annotation
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _unknown(value, inner, f"{name}.")


def validated(values: Json, where: str) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as e:
        first = e.errors(include_input=False, include_url=False, include_context=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        text = first["msg"].removeprefix("Value error, ")
        hint = "Give it a value that fits; docs/configuration.md says which do."
        raise SettingsInvalid(f"{where}: {f'`{name}`: ' if name else ''}{text}.", hint=hint) from None
