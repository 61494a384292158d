"""Reads settings: the defaults, then a repository's few, then the person's file, then the environment."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import platformdirs
import yaml
from pydantic import BaseModel, ValidationError
from rapidfuzz import process

from forge.settings.errors import SettingsInvalid
from forge.settings.keys import VARIABLES
from forge.settings.values import DERIVED, PROVIDERS, Provider, Settings

Json = dict[str, Any]
REPOSITORY_FILE = ".forge/config.yaml"
_REPOSITORY_SECTIONS = ("models", "context")
_LARGEST = 256 * 1024

# What these set wins over the files. Values of several providers' own variables are taken as they are.
_VARIABLES = {
    "FORGE_MODEL": ("models", "default"),
    "FORGE_DATABASE": ("database",),
    "FORGE_DATA_DIR": ("data_dir",),
    "ANTHROPIC_BASE_URL": ("providers", "anthropic", "base_url"),
    "OPENAI_BASE_URL": ("providers", "openai", "base_url"),
    "OPENROUTER_BASE_URL": ("providers", "openrouter", "base_url"),
    "GOOGLE_GEMINI_BASE_URL": ("providers", "google", "base_url"),
    "OLLAMA_BASE_URL": ("providers", "ollama", "base_url"),
}


def default_text() -> str:
    """The commented file with every default, to start one's own from."""
    return resources.files("forge.settings").joinpath("default.yaml").read_text(encoding="utf-8")


def config_path(environ: Mapping[str, str]) -> Path:
    chosen = environ.get("FORGE_CONFIG")
    return Path(chosen) if chosen else platformdirs.user_config_path("forge", appauthor=False) / "config.yaml"


def load(environ: Mapping[str, str], *, path: Path | None = None, repository: str | None = None) -> Settings:
    """The settings in force. `repository` is the text of the repository's own file, which is not trusted."""
    path = path or config_path(environ)
    values: Json = {}
    origins: dict[str, str] = {}
    if repository is not None:
        _add(values, origins, _repository_values(repository), f"file {REPOSITORY_FILE} of the repository")
    own = _own_text(path, must_exist="FORGE_CONFIG" in environ)
    if own is not None:
        parsed = _parse(own, str(path))
        _check(parsed, str(path))
        _add(values, origins, parsed, f"file {path}")
    for name, where in _VARIABLES.items():
        if environ.get(name):
            _add(values, origins, _nested(where, environ[name]), f"variable {name}")
    for provider, name in _key_variables(values):
        if environ.get(name):
            _add(values, origins, {"keys": {provider: environ[name]}}, f"variable {name}")
    warnings = _warnings(path, origins)
    return _validated({**values, "path": path, "origins": origins, "warnings": warnings}, str(path))


def _own_text(path: Path, *, must_exist: bool) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if not must_exist:
            return None
        raise SettingsInvalid(f"The settings file {path} does not exist.", hint="FORGE_CONFIG names it.") from None
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise SettingsInvalid(f"The settings file {path} cannot be read: {reason}.") from e


def _repository_values(text: str) -> Json:
    where = f"{REPOSITORY_FILE} of the repository"
    values = _parse(text, where)
    for section in values:
        if section in Settings.model_fields and section not in _REPOSITORY_SECTIONS:
            raise SettingsInvalid(
                f"{where} sets `{section}`, which only your own settings file may set.",
                hint="A repository may set `models` and `context`; it is not trusted with keys, commands or addresses.",
            )
    _check(values, where)
    for role, name in (values.get("models") or {}).items():
        provider = str(name).partition(":")[0]
        if name is not None and name != "builtin" and (provider not in PROVIDERS or ":" not in str(name)):
            raise SettingsInvalid(
                f"{where} sets models.{role} to something other than a `provider:model` or `builtin`.",
                hint="Recordings, endpoints and agent programs can be chosen only in your own settings file.",
            )
    return values


def _parse(text: str, where: str) -> Json:
    if len(text) > _LARGEST:
        raise SettingsInvalid(f"{where} is too large for a settings file.")
    try:
        # Aliases can make a small text unfold into a huge value.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise SettingsInvalid(f"{where} uses YAML aliases, which settings do not take.")
        values = yaml.safe_load(text)
    except yaml.YAMLError as e:
        # The error's own text quotes the file, which may hold keys.
        mark = getattr(e, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise SettingsInvalid(
            f"{where}{line} is not valid YAML: {getattr(e, 'problem', None) or 'unreadable'}."
        ) from None
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise SettingsInvalid(f"{where} must hold names and values, for example `sessions: tree`.")
    return {key: value for key, value in values.items() if value is not None}


def _check(values: Json, where: str) -> None:
    """Refuse names that do not exist, with the nearest one, and values that do not fit."""
    for dotted, known in _unknown(values, Settings, ""):
        raise SettingsInvalid(
            f"{where} sets `{dotted}`, which does not exist.", hint=_nearest(dotted.rpartition(".")[2], known)
        )
    providers = values.get("providers")
    for name, entry in providers.items() if isinstance(providers, dict) else ():
        if isinstance(entry, dict) and name not in PROVIDERS and not entry.get("base_url"):
            raise SettingsInvalid(
                f"{where}: providers.{name} needs a `base_url`, as every endpoint of your own does.",
                hint=_nearest(str(name), PROVIDERS),
            )
    _validated(values, where)


def _nearest(name: str, known: Sequence[str]) -> str:
    near = process.extractOne(name, known, score_cutoff=55)
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


def _validated(values: Json, where: str) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as e:
        first = e.errors(include_input=False, include_url=False, include_context=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        text = first["msg"].removeprefix("Value error, ")
        raise SettingsInvalid(f"{where}: {f'`{name}`: ' if name else ''}{text}.") from None


def _nested(where: Iterable[str], value: str) -> Json:
    first, *rest = where
    return {first: _nested(rest, value) if rest else value}


def _key_variables(values: Json) -> Iterator[tuple[str, str]]:
    """The providers' usual variables, the strongest last, then those that a person named for an endpoint."""
    for provider, names in VARIABLES.items():
        for name in reversed(names):
            yield provider, name
    for provider, entry in (values.get("providers") or {}).items():
        if isinstance(entry, dict) and entry.get("key_variable"):
            yield provider, str(entry["key_variable"])


def _add(values: Json, origins: dict[str, str], new: Json, origin: str, prefix: str = "") -> None:
    """Lay `new` over `values`, key by key, and note for each value where it came from."""
    for key, value in new.items():
        name = f"{prefix}{key}"
        if value is None and prefix == "models.":
            continue  # a role without a name leaves the choice to whoever was asked before
        if isinstance(value, dict):
            inner = values.setdefault(key, {})
            _add(inner, origins, value, origin, f"{name}.")
        else:
            values[key] = value
            origins[name] = origin


def _warnings(path: Path, origins: Mapping[str, str]) -> tuple[str, ...]:
    holds_keys = any(name.startswith("keys.") and origin == f"file {path}" for name, origin in origins.items())
    if holds_keys and os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        return (f"{path} holds keys and can be read by others; `chmod 600 {path}` makes it yours alone.",)
    return ()
