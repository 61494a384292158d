"""Interpreters of this machine as commands see them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from forge.sandbox import Mount
from forge.sandbox.view import shows

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def runtime_mounts(prefixes: Iterable[str]) -> list[Mount]:
    """Interpreters that are not in a part of the system that every command sees."""
    return [Mount(prefix, Path(prefix)) for prefix in dict.fromkeys(prefixes) if not shows(Path(prefix))]
