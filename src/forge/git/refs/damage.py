"""Branches that are there and cannot be read: which, and what is wrong. One of them hides no other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.errors import GitFailed, RepositoryUnreadable, RevisionMissing
from forge.git.refs.ref_files import HEADS

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import CommitId

TORN = "Its file names no commit."
_REF = re.compile(rb"(?:ref:[^\n]+|[0-9a-f]{40})\s*")
_LONGEST_REF = 4096


def torn_branches(common_dir: Path) -> Iterator[str]:
    """Branches that git passes over with a warning, as a power failure leaves them."""
    heads = os.fsencode(common_dir / HEADS)
    for folder, _, names in os.walk(heads):
        for file in (os.path.join(folder, name) for name in sorted(names) if not name.endswith(b".lock")):
            with suppress(OSError), open(file, "rb") as opened_file:
                if _REF.fullmatch(opened_file.read(_LONGEST_REF)) is None:
                    yield os.path.relpath(file, heads).decode("utf-8", "replace")


def damage_at(objects: Objects, tip: CommitId) -> str | None:
    """What is wrong with the commit at a tip, as a sentence."""
    if not tip:
        return TORN
    try:
        objects.commit(tip)
    except RevisionMissing as e:
        return f"Its tip {tip[:12]} is not a commit." if "not a commit" in e.message else _gone(tip)
    except RepositoryUnreadable:
        return f"Its commit {tip[:12]} is damaged."
    return None


def readable_tips(objects: Objects, tips: Sequence[CommitId]) -> list[CommitId]:
    """Those whose whole history is there. Asked only when git has found that one's is not."""
    try:
        objects.git.run("rev-list", "--quiet", "--stdin", stdin="".join(f"{tip}\n" for tip in tips).encode())
    except GitFailed:
        half = len(tips) // 2
        return [tip for part in (tips[:half], tips[half:]) for tip in readable_tips(objects, part)] if half else []
    return list(tips)


def _gone(tip: CommitId) -> str:
    return f"Its commit {tip[:12]} is not in the repository."
