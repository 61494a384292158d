"""Which files of a project have a form, and what reads it: what cannot be read is broken and comes from history."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from forge.projects import chat, fields, info, polish, state, status
from forge.projects.errors import InvalidRecord

# The first pattern that fits decides. Another schema version is not broken: its reader warns and loads it.
_READERS: tuple[tuple[str, Callable[[str], object]], ...] = (
    (info.FILE, info.ProjectInfo.from_json),
    (state.FILE, state.loaded),
    (status.FILE, status.ProjectStatus.from_json),
    (chat.FILE, chat.parse),
    (polish.FILE, polish.parse),
    ("polish_rounds.jsonl", lambda text: fields.loaded_lines(text, "the record of rounds")),
    ("test_runs.jsonl", lambda text: fields.loaded_lines(text, "the record of tests")),
    (".claude/*.json", lambda text: fields.loaded_object(text, "the memory file")),
)


def has_form(path: str) -> bool:
    return any(fnmatchcase(path, pattern) for pattern, _ in _READERS)


def complaint(path: str, data: bytes) -> str:
    """Why `data` cannot be what `path` must hold; nothing if it can."""
    reader = next((reader for pattern, reader in _READERS if fnmatchcase(path, pattern)), None)
    if reader is None:
        return ""
    try:
        reader(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return f"{path} is not UTF-8 text."
    except InvalidRecord as e:
        return e.message
    return ""
