"""Forge's own records in a repository: sessions, approvals, seals. Only Forge's own functions write them.

The workspace asks here before it changes a path, whoever wants the change. `write_record` of the workspace is the one
way past it. Whoever adds a record: two branches must never write different bytes to the same path, or plain git cannot
merge them. Name the file by its content, or by what no other branch has.
"""

from __future__ import annotations

import re
import unicodedata

from forge.git.errors import RecordProtected
from forge.git.workspace.paths import folded, shown

FOLDER = ".forge"
_KINDS = ("session", "approved_tools", "seal")
_PREFIXES = tuple(f"{FOLDER}/{kind}" for kind in _KINDS)
# The short names that NTFS gives them.
_SHORT_FOLDER = re.compile(r"forge~[0-9]+")
_SHORT_KIND = re.compile(r"(sessio|approv|seal)~[0-9]+(\..*)?")


def is_record(path: str) -> bool:
    """Whether `path` is where Forge itself keeps a record."""
    return path.startswith(_PREFIXES)


def is_session(path: str) -> bool:
    """Whether `path` belongs to the conversation of a branch."""
    return path.startswith(_PREFIXES[0])


def is_inside(path: str) -> bool:
    """Whether `path` is Forge's folder or in it, in any spelling that some file system takes for it."""
    return _is_folder(_names(path)[0])


def refuse_writing(path: str) -> None:
    """Refuse a record or a file in the place of Forge's folder, in any spelling that a file system takes for it."""
    folder, *below = _names(path)
    if _is_folder(folder) and (not below or below[0].startswith(_KINDS) or _SHORT_KIND.fullmatch(below[0])):
        raise _protected(path)


def refuse_removal(path: str) -> None:
    """Refuse a record. Other spellings may go: Forge never reads them."""
    if is_record(path):
        raise _protected(path)


def _is_folder(name: str) -> bool:
    return name == FOLDER or bool(_SHORT_FOLDER.fullmatch(name))


def _names(path: str) -> list[str]:
    if path.isascii():
        names = path.replace("\\", "/").lower().split("/")
    else:
        names = folded(shown(unicodedata.normalize("NFKC", path))).replace("\\", "/").split("/")
    return [name.split(":", 1)[0].rstrip(". ") for name in names]


def _protected(path: str) -> RecordProtected:
    return RecordProtected(
        f"{path} was not changed: it is a record that only Forge writes.",
        hint="`forge tools` changes approvals; `forge chat` and `forge context` change the session.",
    )
