"""What was said in earlier chats of a project: the two Confirms clear the chat, its history keeps it."""

from __future__ import annotations

from itertools import pairwise

from forge.git import CommitId, Repository
from forge.git.errors import FileMissing
from forge.projects import chat
from forge.projects.chat import ChatMessage
from forge.projects.errors import InvalidRecord
from forge.projects.project import Project

_MOST = 2_000
"""Versions of the chat that are looked at."""


def said_before(project: Project) -> tuple[ChatMessage, ...]:
    """Oldest first, each chat as it was when it was cleared; what people took out of one by hand stays out."""
    records = project.records
    tip = records.tip()
    if tip is None:
        return ()
    repo = records.repository
    versions = [_read(repo, each.id) for each in repo.log(tip, paths=(chat.FILE,), order="date", limit=_MOST)]
    chats = (earlier for later, earlier in pairwise(versions) if set(later).isdisjoint(earlier))
    return tuple(message for each in reversed(tuple(chats)) for message in each)


def _read(repo: Repository, commit: CommitId) -> tuple[ChatMessage, ...]:
    try:
        return chat.parse(repo.commit_vfs(commit).read_file(chat.FILE))
    except (FileMissing, InvalidRecord):
        return ()
