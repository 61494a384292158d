"""Files that a person hands to the agent of a branch: saved there in one commit, and marked for its context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import PurePosixPath
from typing import IO

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.repositories import carried_marks
from forge.app.repositories.branches import tip_of
from forge.app.repositories.catalog import actor_of, author_of, repository
from forge.app.repositories.write import anew
from forge.app.values.uploads import content_of, plain_name
from forge.errors import InvalidInput
from forge.git import Repository, WorkInProgressVFS
from forge.sessions.head import ActiveFile
from forge.sessions.marks import mark

FOLDER = "attachments"
LARGEST = 10_000_000


class AttachmentRefused(InvalidInput):
    code = "attachment_refused"


@dataclass(frozen=True, slots=True)
class Attached:
    path: str
    commit: str
    bytes_size: int
    in_context: bool
    """False: it is no text, which an agent reads with a tool of its own or not at all."""


def attach(shop: Workshop, who: Who, repo_id: str, branch: str, *, name: str, content: IO[bytes]) -> Attached:
    """`name` is what the sender called it. A name that is taken gets a number, unless the content is the same."""
    repo = repository(shop, who, repo_id, "write")
    tip_of(repo, branch)
    data = content_of(content, LARGEST)
    # A hidden file would be no attachment that anybody sees.
    plain = PurePosixPath(plain_name(name, AttachmentRefused).lstrip(". "))
    # Several files are dropped or pasted at once, and each is a separate commit.
    return anew(repo, branch, lambda: _put(shop, who, repo, branch, plain, data))


def _put(  # noqa: PLR0917
    shop: Workshop, who: Who, repo: Repository, branch: str, name: PurePosixPath, data: bytes
) -> Attached:
    files = repo.workspace(branch, actor=actor_of(who))
    path = _free(files, name, data)
    files.write_bytes(path, data)
    files.actor = files.actor.doing("session.attach", f"{branch}: {path}")
    is_text = b"\0" not in data
    if is_text:
        mark(repo.common_dir, branch, add=[ActiveFile(path)])
    if not files.pending:
        return Attached(path, tip_of(repo, branch), len(data), is_text)
    commit = carried_marks.commit(repo, files, f"attach: {path}"[:72], author_of(repo, who))
    shop.feed.publish(repo)
    return Attached(path, commit, len(data), is_text)


def _free(files: WorkInProgressVFS, name: PurePosixPath, data: bytes) -> str:
    return next(path for path in _names(name) if not files.file_exists(path) or files.read_bytes(path) == data)


def _names(name: PurePosixPath) -> Iterator[str]:
    yield f"{FOLDER}/{name}"
    for number in count(2):
        yield f"{FOLDER}/{name.stem}-{number}{name.suffix}"
