"""Saves that carry along what was marked in the context of their branch. One without marks loads nothing for it."""

from __future__ import annotations

from collections.abc import Mapping

from forge.git import CommitId, Repository, Signature, WorkInProgressVFS
from forge.git.objects.raw_object import object_id
from forge.git.values import ObjectKind
from forge.sessions.layout import HEAD_PATH, POINTER, pending_marks

_POINTER = object_id(ObjectKind.BLOB, POINTER)


def commit(
    repo: Repository,
    files: WorkInProgressVFS,
    message: str,
    author: Signature | None = None,
    trailers: Mapping[str, str] | None = None,
) -> CommitId:
    """Commit what is pending, with the marks of the branch."""
    if not _has_something(repo, files):
        return files.commit(message, author, trailers)
    from forge.sessions.places import Sessions  # noqa: PLC0415 - most saves carry nothing

    return Sessions(repo, beside=repo.sessions_beside()).save(files, message, author, trailers)


def _has_something(repo: Repository, files: WorkInProgressVFS) -> bool:
    if pending_marks(repo.common_dir, files.branch).exists():
        return True
    head = files.entry(HEAD_PATH)
    return head is not None and head.id != _POINTER
