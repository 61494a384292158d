"""Which names a branch may have, and the ref of a name."""

from __future__ import annotations

import re

import pygit2

from forge.git.errors import InvalidName
from forge.git.refs.ref_files import HEADS
from forge.git.workspace import paths

_MAX_PART_BYTES = 200
_MAX_BYTES = 512
_REFUSED = re.compile(
    r"[\x00-\x20~^:?*\[\\]|\.\.|@\{|^-|^@$|^HEAD$|^[0-9a-fA-F]{40}$|^refs/"
    r"|@[0-9a-f]{12}/"  # a lost tip is kept as name@id, which must never be a folder
)


def branch_ref(name: str) -> str:
    """The ref of branch `name`, if it is a name a branch can have."""
    if not isinstance(name, str) or not name or _REFUSED.search(name) or not paths.is_visible(name):
        raise _invalid(name)
    if len(name.encode()) > _MAX_BYTES or any(len(part.encode()) > _MAX_PART_BYTES for part in name.split("/")):
        raise InvalidName(
            "The branch name is too long.",
            hint=f"Keep it under {_MAX_BYTES} bytes, and each part under {_MAX_PART_BYTES}.",
        )
    if not pygit2.reference_is_valid_name(HEADS + name):
        raise _invalid(name)
    return HEADS + name


def _invalid(name: object) -> InvalidName:
    return InvalidName(
        f"{str(name)[:80]!r} cannot be a branch name.",
        hint="Use letters, digits, `-`, `_` and `/`, for example ai/cache-layer.",
    )
