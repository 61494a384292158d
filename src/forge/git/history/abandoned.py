"""Commits that no branch, tag or remote leads to any more, as far as kept refs and reflogs remember them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.history.commit_log import refs_at
from forge.git.values import CommitId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

KEPT = "refs/forge/kept/"
_REFLOG_LINE = re.compile(rb"^([0-9a-f]{40}) ([0-9a-f]{40}) ", re.MULTILINE)
_NOTHING = "0" * 40

Family = Mapping[CommitId, tuple[CommitId, ...]]
"""Commits with their parents, newest first."""


def abandoned_commits(objects: Objects, suspects: Iterable[CommitId], safe: Sequence[CommitId]) -> Family:
    """Those reachable from `suspects` and from none of `safe`. Suspects that are gone are passed over."""
    wanted = set(suspects).difference(safe)
    if not wanted:
        return {}
    points = "\n".join([*sorted(wanted), *(f"^{commit}" for commit in safe)])
    output = objects.git.text("rev-list", "--parents", "--ignore-missing", "--stdin", stdin=f"{points}\n".encode())
    rows = (line.split() for line in output.splitlines())
    return {CommitId(commit): tuple(CommitId(parent) for parent in parents) for commit, *parents in rows}


def leading(refs: Mapping[CommitId, tuple[str, ...]]) -> list[CommitId]:
    """Where HEAD, branches, tags and remote branches are: what they lead to is not abandoned."""
    return [commit for commit, names in refs.items() if any(not name.startswith(KEPT) for name in names)]


def abandoned_tips(objects: Objects, kept: Sequence[tuple[str, CommitId]]) -> list[tuple[str, CommitId]]:
    """Those of the kept tips that nothing else leads to."""
    lost = abandoned_commits(objects, [tip for _, tip in kept], leading(refs_at(objects)))
    return [(name, tip) for name, tip in kept if tip in lost]


def heads_of(family: Family) -> list[CommitId]:
    """The commits that are nobody's parent."""
    parents = {parent for of_one in family.values() for parent in of_one}
    return [commit for commit in family if commit not in parents]


def kept_tips(objects: Objects) -> Iterator[CommitId]:
    """What Forge kept when a branch was deleted or moved back."""
    for ref in objects.handle.references.iterator():
        if ref.name.startswith(KEPT):
            yield CommitId(str(ref.target))


def logged_tips(objects: Objects) -> Iterator[CommitId]:
    """Where HEAD, a branch or a remote branch once was; some may be gone from the repository."""
    seen: set[bytes] = set()
    for log in _reflogs(objects):
        for pair in _REFLOG_LINE.findall(_content(log)):
            seen.update(pair)
    for oid in sorted(seen):
        if oid.decode() != _NOTHING:
            yield CommitId(oid.decode())


def _reflogs(objects: Objects) -> Iterator[Path]:
    # Not the stash: what is in there is put aside, not lost.
    common = objects.common_dir
    yield from (common / "logs" / "HEAD", *common.glob("worktrees/*/logs/HEAD"))
    for folder in ("heads", "remotes"):
        yield from (path for path in (common / "logs" / "refs" / folder).rglob("*") if path.is_file())


def _content(log: Path) -> bytes:
    try:
        return log.read_bytes()
    except OSError:  # a branch may go, and its log with it, while we look
        return b""
