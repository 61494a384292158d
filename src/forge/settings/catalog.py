"""The settings as a list of names, values and origins, with secrets hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from forge.settings.errors import SettingUnknown
from forge.settings.plugin_sections import PluginSection
from forge.settings.secrets import is_plain, shown_text
from forge.settings.validation import nearest
from forge.settings.values import DERIVED, Settings

HIDDEN = "••••"


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    value: Any
    """As it can be shown: plain values, and dots for a secret."""
    origin: str


def listed(settings: Settings, name: str = "") -> tuple[Setting, ...]:
    """All settings, or those at and below a dotted name."""
    every = [Setting(dotted, value, settings.origin(dotted)) for dotted, value in _leaves(settings, "")]
    chosen = tuple(each for each in every if not name or each.name == name or each.name.startswith(f"{name}."))
    if not chosen:
        raise SettingUnknown(f"There is no setting `{name}`.", hint=nearest(name, [each.name for each in every]))
    return chosen


def shown(settings: Settings, name: str) -> Any:
    """The value of a dotted name: of a section, its values by name."""
    found = listed(settings, name)
    if found[0].name == name:
        return found[0].value
    values: dict[str, Any] = {}
    for each in found:
        *parents, last = each.name.removeprefix(f"{name}.").split(".")
        inner = values
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = each.value
    return values


def _leaves(value: object, name: str) -> Iterator[tuple[str, Any]]:
    parts = _parts(value)
    if not parts:
        yield name, _plain(value, name.rpartition(".")[2])
    for key, part in parts.items():
        yield from _leaves(part, f"{name}.{key}" if name else key)


def _parts(value: object) -> Mapping[str, object]:
    match value:
        case Settings():
            return {key: getattr(value, key) for key in Settings.model_fields if key not in DERIVED}
        case PluginSection():
            return {"enabled": value.enabled, **(value.model_extra or {})}
        case BaseModel():
            return {key: getattr(value, key) for key in type(value).model_fields}
        case Mapping():
            return value
    return {}


def _plain(value: object, key: str) -> Any:
    match value:
        case SecretStr():
            text = value.get_secret_value()
            return text if is_plain(key, text) else HIDDEN
        case str():
            return shown_text(value)
        case Path():
            return str(value)
        case list() | tuple():
            return [_plain(each, key) for each in value]
    return value
