"""Addresses in the settings of channels: whether they can work, and how they are shown without what is secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from forge.notices.errors import ChannelInvalid
from forge.sessions.redaction import Redactor


def web_address(channel: str, settings: Mapping[str, Any], *, default: str = "") -> SplitResult:
    """`url` of the settings: http or https, with a host."""
    url = configured(channel, settings, "url", shown_as="URL", default=default)
    try:
        parts = urlsplit(url)
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or any(character.isspace() for character in url):
        raise malformed(channel, url)
    return parts


def configured(
    channel: str, settings: Mapping[str, Any], name: str, *, shown_as: str | None = None, default: str = ""
) -> str:
    value = str(settings.get(name) or default).strip()
    if not value:
        raise ChannelInvalid(
            f"Notification channel '{channel}' is enabled but has no {shown_as or name} configured.",
            hint=f"set notifications.channels.{channel}.{name}, or disable the channel",
        )
    return value


def malformed(channel: str, url: str, *, keep_path: bool = True) -> ChannelInvalid:
    return ChannelInvalid(
        f"Notification channel '{channel}' URL is malformed: {shown(url, keep_path=keep_path)}.",
        hint=f"correct notifications.channels.{channel}.url; it starts with a scheme, as in https://host",
    )


def shown(url: str, *, keep_path: bool = True) -> str:
    """The address without user, password, query and what looks like a token; without its path where that may be one."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    rest = rest.partition("?")[0].partition("#")[0]
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    place = f"***@{host}" if at or user else host
    if not keep_path and slash:
        path = "***"
    return Redactor().text(f"{scheme}{separator}{place}{slash}{path}")
