"""The person's own settings file: read, put into the one shape there is, with `${NAME}` taken from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forge.json_value import Json
from forge.settings.agents import one_shape
from forge.settings.errors import SettingsInvalid
from forge.settings.validation import check, parse

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
# Commands of agents are left out: there, such words are for the program.
_MAY_REFER = ("keys", "database", "providers", "notifications", "connectors", "boards", "workspace", "data_dir")
_PLACES = ("workspace", "data_dir")


def own_text(path: Path, *, must_exist: bool) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if not must_exist:
            return None
        hint = "FORGE_CONFIG names it: `forge config set NAME VALUE` makes it; `unset FORGE_CONFIG` uses the usual one."
        raise SettingsInvalid(f"The settings file {path} does not exist.", hint=hint) from None
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise SettingsInvalid(f"The settings file {path} cannot be read: {reason}.") from e


def own_values(text: str, path: Path, environ: Mapping[str, str]) -> tuple[Json, Mapping[str, str]]:
    """What the file sets, and which of its names came from which variable."""
    values = parse(text, str(path))
    referred: dict[str, str] = {}
    for section in _MAY_REFER:
        if section in values:
            values[section] = _filled(values[section], section, environ, referred, path, optional=False)
    values = _shaped(values, path)
    for name in _PLACES:
        if isinstance(values.get(name), str):
            values[name] = place(values[name], path.parent)
    check(values, str(path))
    return values, referred


def place(written: str, base: Path) -> str:
    """A directory as a person wrote it; `~` is their home, and what is relative starts at `base`."""
    return os.path.abspath(base / os.path.expanduser(written))


def _shaped(values: Json, path: Path) -> Json:
    values = dict(values)
    if "vibekanban" in values:
        boards = values.get("boards")
        listed = boards if isinstance(boards, dict) else {}
        values["boards"] = {**listed, "vibekanban": listed.get("vibekanban", values.pop("vibekanban"))}
        values.pop("vibekanban", None)
    if "agents" in values:
        try:
            values["agents"] = one_shape(values["agents"])
        except ValueError as e:
            raise SettingsInvalid(f"{path}: `agents`: {e}.") from None
    return values


def _filled(
    value: Any, name: str, environ: Mapping[str, str], referred: dict[str, str], path: Path, *, optional: bool
) -> Any:
    """`value` with its references replaced. What is turned off may refer to variables that are not set."""
    if isinstance(value, dict):
        # Channels, connectors and boards say whether they are on; nothing else has to.
        off = optional or ("enabled" in value and value["enabled"] is not True)
        return {
            key: _filled(each, f"{name}.{key}", environ, referred, path, optional=off) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_filled(each, name, environ, referred, path, optional=optional) for each in value]
    if not isinstance(value, str) or (first := _REFERENCE.search(value)) is None:
        return value
    missing = next((found for found in _REFERENCE.findall(value) if not environ.get(found)), None)
    if missing and not optional:
        raise SettingsInvalid(
            f"{path}: `{name}` refers to ${{{missing}}}, which is not set.",
            hint=f"Set the variable {missing}, or write the value itself.",
        )
    referred[name] = f"variable {first[1]}, named in {path}"
    return _REFERENCE.sub(lambda found: environ.get(found[1], ""), value)
