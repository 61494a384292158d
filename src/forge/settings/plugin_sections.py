"""Settings of what plugins bring: channels, connectors and boards, each a section with keys of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ConfigDict, SecretStr, field_validator, model_validator

from forge.settings.secrets import hidden, is_plain, revealed, shown_url
from forge.settings.section import Section


class PluginSection(Section):
    """One channel, connector or board. Beside `enabled` it holds whatever its plugin asks for."""

    model_config = ConfigDict(frozen=True, extra="allow", hide_input_in_errors=True)

    enabled: bool = False

    @model_validator(mode="before")
    @classmethod
    def _hide_secrets(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        return {key: hidden(str(key), value) for key, value in given.items()}

    def values(self) -> dict[str, Any]:
        """Everything as its plugin is given it, secrets in plain."""
        return {"enabled": self.enabled, **{key: revealed(value) for key, value in (self.model_extra or {}).items()}}

    def get(self, key: str, default: Any = None) -> Any:
        """One value, a secret in plain."""
        return self.values().get(key, default)

    def text(self, key: str) -> str:
        """One value as text; empty where there is none."""
        value = self.get(key)
        return "" if value is None else str(value).strip()

    def secrets(self) -> tuple[str, ...]:
        """Keys under which there is something to hide; a plain address is not."""
        found = {key: value for key, value in (self.model_extra or {}).items() if isinstance(value, SecretStr)}
        return tuple(key for key, value in found.items() if not is_plain(key, value.get_secret_value()))

    def has(self, key: str) -> bool:
        return key in (self.model_extra or {})


Sections = Mapping[str, PluginSection]

CHANNELS: Mapping[str, Any] = {
    "ntfy": {"enabled": False, "url": "https://ntfy.sh", "topic": "forge"},
    "telegram": {"enabled": False, "bot_token": "", "chat_id": ""},
}
CONNECTORS: Mapping[str, Any] = {
    "notion": {"enabled": False, "api_token": ""},
    "google_drive": {"enabled": False, "credentials_path": ""},
}
BOARDS: Mapping[str, Any] = {
    "vibekanban": {"enabled": False},
    "kanban": {"enabled": False},
    "backlog": {"enabled": False},
}


def sections(defaults: Mapping[str, Any]) -> Sections:
    return {name: PluginSection.model_validate(values) for name, values in defaults.items()}


def over(defaults: Mapping[str, Any], given: object) -> object:
    """What was given laid over the defaults, name by name and key by key; anything odd is left to validation."""
    if not isinstance(given, Mapping):
        return given
    merged: dict[Any, Any] = dict(defaults)
    for name, values in given.items():
        plain = values.values() if isinstance(values, PluginSection) else values
        both = isinstance(plain, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = {**merged[name], **plain} if both else plain
    return merged


class Notifications(Section):
    default_channel: str | None = "ntfy"
    channels: Sections = sections(CHANNELS)

    @field_validator("channels", mode="before")
    @classmethod
    def _over_the_defaults(cls, given: object) -> object:
        return over(CHANNELS, given)

    @model_validator(mode="after")
    def _default_exists(self) -> Notifications:
        if self.default_channel and self.default_channel not in self.channels:
            raise ValueError("default_channel is none of the channels")
        return self


def fault(channels: Sections, connectors: Sections) -> tuple[str, str] | None:
    """The first thing that is enabled and cannot work, with the name of the setting; None if all is well."""
    for name, section in channels.items():
        if section.enabled and (found := _channel_fault(name, section)):
            return found[0], f"notifications.channels.{name}.{found[1]}"
    for name, needed in (("notion", "api_token"), ("google_drive", "credentials_path")):
        connector = connectors.get(name)
        if connector is not None and connector.enabled and not connector.text(needed):
            return f"Connector '{name}' is enabled but missing required credentials.", f"connectors.{name}.{needed}"
    drive = connectors.get("google_drive")
    if drive is not None and drive.enabled and not Path(file := drive.text("credentials_path")).expanduser().is_file():
        return f"Connector 'google_drive': there is no file {file}.", "connectors.google_drive.credentials_path"
    return None


def _channel_fault(name: str, section: PluginSection) -> tuple[str, str] | None:
    start = f"Notification channel '{name}'"
    if name == "telegram":
        missing = next((key for key in ("bot_token", "chat_id") if not section.text(key)), None)
        if missing:
            return f"{start} is enabled but has no {missing} configured.", missing
    # A plugin's channel may do without an address, if it has something else to go by.
    needs_url = name != "telegram" and (name == "ntfy" or section.has("url") or len(section.values()) == 1)
    url = section.text("url")
    if not url and not needs_url:
        return None
    if not url:
        return f"{start} is enabled but has no URL configured.", "url"
    if not _is_url(url):
        return f"{start} URL is malformed: {shown_url(url)}.", "url"
    return None


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.scheme and parts.hostname) and not re.search(r"\s", url)
