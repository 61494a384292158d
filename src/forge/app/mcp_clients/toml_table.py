"""TOML: one table is added, replaced or removed. Everything else stays as it is, byte for byte."""

from __future__ import annotations

import json
import re
import tomllib

from forge.app.mcp_clients.jsonc import ConfigurationUnreadable
from forge.json_value import Json


def read(text: str) -> Json:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise ConfigurationUnreadable(f"It is not TOML: {e}.", hint="Repair the file, then try again.") from e


def with_table(text: str, section: str, name: str, value: Json) -> str:
    lines = [f"[{section}.{name}]", *(f"{key} = {json.dumps(each, ensure_ascii=False)}" for key, each in value.items())]
    table = "\n".join(lines) + "\n"
    found = _table(text, section, name)
    if found is not None:
        return text[: found.start()] + table + text[found.end() :]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{table}"


def without_table(text: str, section: str, name: str) -> str:
    found = _table(text, section, name)
    if found is None:
        return text
    before, after = text[: found.start()], text[found.end() :]
    return before.removesuffix("\n") + after if not after and before.endswith("\n\n") else before + after


def _table(text: str, section: str, name: str) -> re.Match[str] | None:
    """From its heading to the line before the next one."""
    return re.search(rf"(?m)^\[{section}\.{name}\][^\n]*\n?(?:(?!\[)[^\n]*\n?)*?(?=^\[|\Z)", text)
