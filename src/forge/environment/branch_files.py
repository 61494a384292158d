"""Reading the files of a branch that tell what it needs. A hostile file reads as an empty one."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import yaml

from forge.environment.proposal import digest
from forge.git import VFS, NotText

_LARGEST = 20 << 20


def text(vfs: VFS, path: str) -> str:
    """Empty where there is no such text file."""
    entry = vfs.entry(path)
    if entry is None or not vfs.file_exists(path):
        return ""
    with suppress(NotText):
        found = vfs.read_file(path)
        return found if len(found) <= _LARGEST else ""
    return ""


def toml(vfs: VFS, path: str) -> dict[str, Any]:
    with suppress(tomllib.TOMLDecodeError, RecursionError):
        return tomllib.loads(text(vfs, path))
    return {}


def json_object(vfs: VFS, path: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        found = json.loads(text(vfs, path) or "{}")
        return found if isinstance(found, dict) else {}
    return {}


def yaml_object(content: str) -> Any:
    """Raises `yaml.YAMLError`."""
    return yaml.safe_load(content)


def table(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A table inside of tables; empty where something else is there."""
    found: Any = data
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def digests(vfs: VFS, paths: Iterable[str]) -> dict[str, str]:
    """Of those files that exist."""
    return {path: digest(vfs.read_bytes(path)) for path in paths if vfs.file_exists(path)}


def existing(vfs: VFS, paths: Iterable[str]) -> list[str]:
    return [path for path in paths if vfs.file_exists(path)]
