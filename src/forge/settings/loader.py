"""Reads settings: the defaults, then a repository's few, then the person's file, then the environment."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import platformdirs

from forge.json_value import Json
from forge.settings import plugin_sections
from forge.settings.errors import SettingsInvalid
from forge.settings.keys import VARIABLES, Lookup, keyring_password
from forge.settings.person_file import own_text, own_values, place
from forge.settings.validation import check, parse, validated
from forge.settings.values import PROVIDERS, Settings

REPOSITORY_FILE = ".forge/config.yaml"
_REPOSITORY_SECTIONS = ("models", "context")

# What these set wins over the files, the last one most. Values of providers' own variables are taken as they are.
_VARIABLES = {
    "FORGE_MODEL": ("models", "default"),
    "FORGE_DATABASE": ("database",),
    "FORGE_DATA_DIR": ("data_dir",),
    "FORGE_DATA": ("data_dir",),
    "FORGE_WORKSPACE": ("workspace",),
    "FORGE_NOTION_TOKEN": ("connectors", "notion", "api_token"),
    "FORGE_TELEGRAM_BOT_TOKEN": ("notifications", "channels", "telegram", "bot_token"),
    "ANTHROPIC_BASE_URL": ("providers", "anthropic", "base_url"),
    "OPENAI_BASE_URL": ("providers", "openai", "base_url"),
    "OPENROUTER_BASE_URL": ("providers", "openrouter", "base_url"),
    "GOOGLE_GEMINI_BASE_URL": ("providers", "google", "base_url"),
    "OLLAMA_BASE_URL": ("providers", "ollama", "base_url"),
}
_PLACES = ("FORGE_DATA_DIR", "FORGE_DATA", "FORGE_WORKSPACE")
# Tokens that the system's keyring may hold, by the name that it has them under.
_KEPT = {
    "notion": ("connectors", "notion", "api_token"),
    "telegram": ("notifications", "channels", "telegram", "bot_token"),
}


def default_text() -> str:
    """The commented file with every default, to start one's own from."""
    return resources.files("forge.settings").joinpath("default.yaml").read_text(encoding="utf-8")


def config_path(environ: Mapping[str, str]) -> Path:
    chosen = environ.get("FORGE_CONFIG")
    if chosen:
        return Path(os.path.abspath(chosen))
    return platformdirs.user_config_path("forge", appauthor=False) / "config.yaml"


def load(
    environ: Mapping[str, str],
    *,
    path: Path | None = None,
    text: str | None = None,
    repository: str | None = None,
    keyring: Lookup | None = None,
) -> Settings:
    """The settings in force. `text` stands for what the file at `path` holds; `repository` is the text of the
    repository's own file, which is not trusted.
    """
    path = path or config_path(environ)
    values: Json = {}
    origins: dict[str, str] = {}
    if repository is not None:
        _add(values, origins, _repository_values(repository), f"file {REPOSITORY_FILE} of the repository")
    own = text if text is not None else own_text(path, must_exist="FORGE_CONFIG" in environ)
    if own is not None:
        parsed, referred = own_values(own, path, environ)
        _add(values, origins, parsed, f"file {path}")
        origins.update(referred)
    for name, given in _from_variables(environ):
        _add(values, origins, given, f"variable {name}")
    for provider, name in _key_variables(values):
        if environ.get(name):
            _add(values, origins, {"keys": {provider: environ[name]}}, f"variable {name}")
    _add_kept(values, origins, keyring or keyring_password)
    settings = validated({**values, "path": path, "origins": origins}, str(path))
    _refuse_what_cannot_work(settings)
    return settings.model_copy(update={"warnings": _warnings(settings, path)})


def _refuse_what_cannot_work(settings: Settings) -> None:
    found = plugin_sections.fault(settings.notifications.channels, settings.connectors)
    if found is not None:
        sentence, name = found
        switch = f"{name.rpartition('.')[0]}.enabled"
        raise SettingsInvalid(sentence, hint=f"Set `{name}` in {settings.path}, or `{switch}` to false.")


def _repository_values(text: str) -> Json:
    where = f"{REPOSITORY_FILE} of the repository"
    values = parse(text, where)
    for section in values:
        if section in Settings.model_fields and section not in _REPOSITORY_SECTIONS:
            raise SettingsInvalid(
                f"{where} sets `{section}`, which only your own settings file may set.",
                hint="A repository may set `models` and `context`; it is not trusted with keys, commands or addresses.",
            )
    check(values, where)
    for role, name in (values.get("models") or {}).items():
        provider = str(name).partition(":")[0]
        if name is not None and name != "builtin" and (provider not in PROVIDERS or ":" not in str(name)):
            raise SettingsInvalid(
                f"{where} sets models.{role} to something other than a `provider:model` or `builtin`.",
                hint="Recordings, endpoints and agent programs can be chosen only in your own settings file.",
            )
    return values


def _from_variables(environ: Mapping[str, str]) -> Iterator[tuple[str, Json]]:
    for name, where in _VARIABLES.items():
        if value := environ.get(name):
            yield name, _nested(where, place(value, Path.cwd()) if name in _PLACES else value)


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


def _add_kept(values: Json, origins: dict[str, str], keyring: Lookup) -> None:
    """Ask the keyring for a token only where something is turned on and has none: it may take a moment."""
    for name, where in _KEPT.items():
        section: Any = values
        for part in where[:-1]:
            section = section.get(part) or {}
        if section.get("enabled") is True and not section.get(where[-1]) and (kept := keyring(name)):
            _add(values, origins, _nested(where, kept.strip()), f"keyring, service `forge`, name `{name}`")


def _warnings(settings: Settings, path: Path) -> tuple[str, ...]:
    warnings = []
    if _holds_secrets(settings, path) and _others_can_read(path):
        warnings.append(f"{path} contains keys and can be read by others; `chmod 600 {path}` makes it yours alone.")
    ntfy = settings.notifications.channels["ntfy"].values()
    shipped = plugin_sections.CHANNELS["ntfy"]
    if ntfy["enabled"] and all(ntfy.get(key) == shipped[key] for key in ("url", "topic")):
        warnings.append(
            "Anyone can read the notices that ntfy sends to its usual topic; "
            "choose your own with `notifications.channels.ntfy.topic`."
        )
    return tuple(warnings)


def _others_can_read(path: Path) -> bool:
    return os.name == "posix" and path.exists() and bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def _holds_secrets(settings: Settings, path: Path) -> bool:
    here = f"file {path}"
    if any(name.startswith("keys.") and origin == here for name, origin in settings.origins.items()):
        return True
    groups = {
        "notifications.channels": settings.notifications.channels,
        "connectors": settings.connectors,
        "boards": settings.boards,
    }
    return any(
        settings.origin(f"{group}.{name}.{key}") == here
        for group, listed in groups.items()
        for name, section in listed.items()
        for key in section.secrets()
    )
