"""`write_file`: a whole file, new or replaced."""

from __future__ import annotations

from forge.git import NotText, WorkInProgressVFS
from forge.json_value import Json
from forge.tools import syntax
from forge.tools.places import writable
from forge.tools.result_text import lines_of, plural


def get_schema() -> Json:
    return {
        "name": "write_file",
        "description": (
            "Create a file, or replace all of an existing one. `content` is the complete new text: what is not in it "
            "is gone. For a change within a file use search_replace."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "From the repository's root. Folders come by themselves."},
                "content": {"type": "string", "maxLength": 2_000_000},
            },
            "required": ["path", "content"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    path, content = writable(vfs, args["path"]), args["content"]
    old = _text(vfs, path)
    kept = ""
    if old is not None and is_crlf(old) and "\r" not in content:
        content, kept = content.replace("\n", "\r\n"), " Its CRLF line ends were kept."
    existed = vfs.file_exists(path)
    if old == content:
        return f"{path} has this content already; nothing changed."
    vfs.write_file(path, content)
    size = plural(len(lines_of(content)), "line")
    done = f"Replaced {path}: {size}." if existed else f"Created {path}: {size}."
    return done + kept + syntax.warning(path, old, content)


def is_crlf(text: str) -> bool:
    """Whether every line of `text` ends as on Windows."""
    return "\r\n" in text and text.count("\n") == text.count("\r\n")


def _text(vfs: WorkInProgressVFS, path: str) -> str | None:
    """What is there, as far as it is text."""
    if not vfs.file_exists(path):
        return None
    try:
        return vfs.read_file(path)
    except NotText:
        return None
