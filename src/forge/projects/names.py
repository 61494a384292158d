"""Names of projects: the directory for a typed name, and ids."""

from __future__ import annotations

import re
import secrets
from collections.abc import Container
from datetime import datetime

from forge.projects.errors import InvalidProjectName

UNTITLED = "untitled-project"
_DROPPED = re.compile(r"[^a-z0-9\s-]")
# Control characters, breaks of lines, and what turns the direction of the text after it.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def slug(name: str) -> str:
    """The directory for a typed name, such as `bobs-project-v2` for "Bob's Project / v2"."""
    kept = _DROPPED.sub("", name.lower())
    joined = re.sub(r"\s+", "-", kept.strip())
    # A longer one could not be a directory name on every system.
    return re.sub(r"-+", "-", joined).strip("-")[:120].strip("-") or UNTITLED


def checked(typed: str) -> str:
    """What a person calls a project, without space around it. It stands in lists, titles and commit messages."""
    name = typed.strip()
    if name in (".", ".."):
        raise InvalidProjectName(f"A project cannot be called {name}: that means a folder.", hint="Give a few words.")
    if _UNSHOWN.search(name):
        raise InvalidProjectName(
            f"A project cannot be called {name!r}: it has a line break or a control character.",
            hint="Write the name on one line, in characters that can be seen.",
        )
    return name


def directory(typed: str, project_id: str, *, apart: bool) -> str:
    """By name, by id where there is none, and by both where it shall be unlike every other."""
    if not typed:
        return project_id
    return f"{slug(typed)}-{project_id}" if apart else slug(typed)


def new_id(now: datetime, taken: Container[str]) -> str:
    """`{yyyymmdd}-{4 hex}`, not one of `taken`."""
    while True:
        made = f"{now:%Y%m%d}-{secrets.token_hex(2)}"
        if made not in taken:
            return made
