"""Pulled documents as files of `resources/`. A second pull of the same document replaces the first."""

from __future__ import annotations

from pathlib import Path

from forge.connectors.errors import Unpulled
from forge.git.process.disk import replace_synced


def save(resources: Path, name: str, data: bytes) -> str:
    try:
        resources.mkdir(parents=True, exist_ok=True)
        replace_synced(resources / name, data)
    except OSError as e:
        raise Unpulled(f"it could not be saved ({(e.strerror or str(e)).lower()})") from e
    return name
