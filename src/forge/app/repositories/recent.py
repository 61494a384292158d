"""Repositories that were used on the command line: noted in the data directory, so that the browser can offer them.

A file for each, by its id, with its place inside. No settings are read for that: a command has to start at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

_FOLDER = "used-repositories"
_VARIABLES = ("FORGE_DATA_DIR", "FORGE_DATA")
_MOST = 200


def note_use(id_: str, place: Path | str, environ: Mapping[str, str]) -> None:
    """Once for each; where it cannot be written, nothing is offered."""
    file = _folder(environ) / id_
    if file.exists():
        return
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_bytes(os.fsencode(place))


def used(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Id and place of each, the newest first."""
    with suppress(OSError):
        files = sorted(_folder(environ).iterdir(), key=lambda file: -file.stat().st_mtime)
        for file in files[:_MOST]:
            with suppress(OSError, UnicodeDecodeError):
                yield file.name, file.read_bytes().decode()


def _folder(environ: Mapping[str, str]) -> Path:
    named = next((environ[name] for name in _VARIABLES if environ.get(name)), None)
    if named is None:
        import platformdirs  # noqa: PLC0415 - only where no variable says it

        return platformdirs.user_data_path("forge", appauthor=False) / _FOLDER
    return Path(named).expanduser() / _FOLDER
