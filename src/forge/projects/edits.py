"""A person's edits in the project directory, as one commit of theirs."""

from __future__ import annotations

from collections.abc import Mapping

from forge.counts import counted
from forge.git import PERSON, CommitId, InvalidPath, RefMove, Repository
from forge.git.errors import PathClash, RecordProtected
from forge.git.objects.commits import message_with
from forge.projects.files import OnDisk
from forge.projects.index import align


def commit_edits(
    repository: Repository, branch: str, edits: Mapping[str, OnDisk | None]
) -> tuple[CommitId | None, tuple[str, ...], tuple[str, ...]]:
    """The commit, its paths, and sentences about files whose names cannot be kept. The directory is not touched."""
    view = repository.workspace(branch)
    refused: list[str] = []
    # What goes makes room for what comes, where a file became a folder or the other way round.
    for path, content in sorted(edits.items(), key=lambda item: item[1] is not None):
        try:
            if content is not None:
                view.write_bytes(path, content.data, mode=content.mode)
            elif view.entry(path) is not None:
                view.delete_file(path)
        except (InvalidPath, PathClash, RecordProtected) as e:
            refused.append(f"{path} is not kept in the project's history: {e.message}")
    if not view.pending:
        return None, (), tuple(refused)
    named = tuple(sorted(view.pending))
    text = message_with(_subject(named))
    made, new = view.draft(text, repository.signature())
    with repository.objects.writing(new):
        # The directory has it already. With the index telling so, the checkout counts as brought along.
        align(repository, made)
        move = RefMove(f"refs/heads/{branch}", view.base, made)
        repository.refs.move([move], actor=PERSON, reason=text.splitlines()[0], forward=True, written=new, placed=True)
    return made, named, tuple(refused)


def _subject(named: tuple[str, ...]) -> str:
    if len(named) == 1:
        return f"edit: {named[0]}"
    return f"edit: {counted(len(named), 'file')} by hand\n\n" + "\n".join(named[:50])
