"""What differs between two commits: which files, and in each of them which lines. Cut to what a screen can show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from forge.app.repositories.catalog import repository
from forge.app.values.pages import checked
from forge.app.values.text import sound
from forge.errors import InvalidInput
from forge.git import ChangeKind, CommitId, Entry, FileChange, Repository
from forge.git.errors import FileMissing
from forge.git.history.diff import diff as differing
from forge.git.history.patch import Hunk
from forge.git.history.patch import hunks as hunks_of
from forge.git.merging.merge_base import merge_bases
from forge.git.workspace.forge_records import is_session
from forge.sessions.summary import Brought, brought

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

__all__ = ["ChangeKind", "FileChange"]

MOST_LINES = 5000
_FORGE = ".forge"
_MOST_CONTEXT = 1000
_LARGEST = 4 << 20
_COUNTED = 500


class HasPath(Protocol):
    @property
    def path(self) -> str: ...


T = TypeVar("T", bound=HasPath)


@dataclass(frozen=True, slots=True)
class ChangedFile:
    kind: ChangeKind
    path: str
    old_path: str | None
    new_path: str | None
    old_mode: str | None
    new_mode: str | None
    old_id: str | None
    new_id: str | None
    similarity: int | None
    binary: bool | None
    """This and the counts of lines are None where too much changed to look into each file."""
    additions: int | None
    deletions: int | None


@dataclass(frozen=True, slots=True)
class Diff:
    old: str | None
    new: str
    files: tuple[ChangedFile, ...]
    truncated: bool
    conversation: Brought | None = None
    """What came along of conversations; their files are not among `files`, unless a path asked for them."""
    conversation_removed: Brought | None = None


@dataclass(frozen=True, slots=True)
class PatchLine:
    sign: str
    old_number: int | None
    new_number: int | None
    text: str


@dataclass(frozen=True, slots=True)
class PatchHunk:
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: str
    lines: tuple[PatchLine, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    file: ChangedFile
    hunks: tuple[PatchHunk, ...]
    truncated: bool


def diff(
    shop: Workshop,
    who: Who,
    repo_id: str,
    new: str,
    old: str | None = None,
    *,
    since_fork: bool = False,
    paths: Sequence[str] = (),
    limit: int = 500,
) -> Diff:
    """What differs from `old` to `new`; without `old`, what the commit `new` changed.

    `since_fork` compares with the commit where `new` left `old`: what a branch has done.
    """
    count = checked(limit)
    sound(*paths)
    repo = repository(shop, who, repo_id)
    before, after = _points(repo, old, new, since_fork=since_fork)
    every = counted(repo, before, after, paths)
    files = without_sessions(every, paths)
    along, gone = brought_by(every)
    return Diff(before, after, tuple(map(changed_file, files[:count])), len(files) > count, along, gone)


def patch(
    shop: Workshop,
    who: Who,
    repo_id: str,
    path: str,
    new: str,
    *,
    old: str | None = None,
    since_fork: bool = False,
    context: int = 3,
) -> Patch:
    """How one file differs, line by line. Of a renamed one, `path` is the new name."""
    sound(path)
    if not 0 <= context <= _MOST_CONTEXT:
        raise InvalidInput(f"There are 0 to {_MOST_CONTEXT} lines of context.", hint="Ask for fewer.")
    repo = repository(shop, who, repo_id)
    before, after = _points(repo, old, new, since_fork=since_fork)
    change = _change_at(repo, before, after, path)
    if _too_large(repo, change):
        return Patch(changed_file(change), (), truncated=True)
    hunks, truncated = _shown(hunks_of(repo.objects, change, context=context))
    return Patch(changed_file(change), hunks, truncated)


# On an open repository


def without_sessions(found: Sequence[T], paths: Sequence[str] = ()) -> tuple[T, ...]:
    """Records of conversations are no change of anybody's files: they are left out, unless a path asks for them."""
    asked = any(path.startswith(_FORGE) for path in paths)
    return tuple(each for each in found if asked or not is_session(each.path))


def changes(repo: Repository, old: str, new: str | None = None, *, paths: Sequence[str] = ()) -> tuple[FileChange, ...]:
    """What differs from `old` to `new`; without `new`, what the commit `old` changed."""
    if new is not None:
        return repo.diff(old, new, paths=paths)
    parents = repo.commit(old).parents
    return repo.diff(parents[0] if parents else None, old, paths=paths)


def left_default(repo: Repository, branch: str) -> CommitId:
    """The commit where `branch` left the default branch."""
    default = repo.default_branch
    if default is None or default == branch:
        raise InvalidInput(f"{branch} is the default branch.", hint="Name the commit to compare it with.")
    found = merge_bases(repo.objects, repo.resolve(default), repo.resolve(branch))
    if not found:
        raise InvalidInput(
            f"{branch} and {default} have no commit in common.", hint="Name the commit to compare it with."
        )
    return found[0]


def patch_text(repo: Repository, change: FileChange, *, binary: bool = False) -> bytes:
    """As git would print it. `binary`: with the content of binary files, so that it can be applied."""
    return repo.patch(change, binary=binary)


def sizes(repo: Repository, change: FileChange) -> tuple[int, int]:
    """Bytes of the file before and after; 0 where it is not there."""
    header = repo.objects.handle.odb.read_header
    old, new = (header(each.id)[1] if each and not each.is_submodule else 0 for each in (change.old, change.new))
    return old, new


def counted(
    repo: Repository, before: CommitId | None, after: CommitId, paths: Sequence[str] = ()
) -> tuple[FileChange, ...]:
    """Lines are counted where not too many files differ. Records of conversations are among them."""
    found = _differing(repo, before, after, paths, counts=False)
    return found if len(found) > _COUNTED else _differing(repo, before, after, paths, counts=True)


def brought_by(changes: Iterable[FileChange]) -> tuple[Brought | None, Brought | None]:
    """What a change brings of conversations, and what it takes away."""
    there = {change.path: change.new is not None for change in changes}
    return brought(path for path in there if there[path]), brought(path for path in there if not there[path])


def parent_of(repo: Repository, commit: CommitId) -> CommitId | None:
    """The first parent; None for a first commit, also at the edge of a shallow clone."""
    return next((parent for parent in repo.commit(commit).parents[:1] if repo.objects.has(parent)), None)


def changed_file(change: FileChange) -> ChangedFile:
    return ChangedFile(
        kind=change.kind,
        path=change.path,
        old_path=change.old_path,
        new_path=change.new_path,
        old_mode=_mode(change.old),
        new_mode=_mode(change.new),
        old_id=change.old.id if change.old else None,
        new_id=change.new.id if change.new else None,
        similarity=change.similarity,
        binary=change.binary,
        additions=change.additions,
        deletions=change.deletions,
    )


def _mode(entry: Entry | None) -> str | None:
    return f"{entry.mode:06o}" if entry else None


def _points(repo: Repository, old: str | None, new: str, *, since_fork: bool) -> tuple[CommitId | None, CommitId]:
    after = repo.resolve(new)
    if old is None:
        return parent_of(repo, after), after
    before = repo.resolve(old)
    return (next(iter(merge_bases(repo.objects, before, after)), None) if since_fork else before), after


def _differing(
    repo: Repository, before: CommitId | None, after: CommitId, paths: Sequence[str], *, counts: bool
) -> tuple[FileChange, ...]:
    old_tree = repo.commit(before).tree if before else None
    return differing(repo.objects, old_tree, repo.commit(after).tree, paths=paths, counts=counts)


def _change_at(repo: Repository, before: CommitId | None, after: CommitId, path: str) -> FileChange:
    found = _differing(repo, before, after, [path], counts=True)
    if any(change.kind is ChangeKind.ADDED for change in found):
        # Only the whole shows whether it came from elsewhere.
        found = _differing(repo, before, after, (), counts=False)
    change = next((each for each in found if path in {each.old_path, each.new_path}), None)
    if change is None:
        raise FileMissing(f"{path} does not differ.", hint="List the files that do.")
    return change


def _too_large(repo: Repository, change: FileChange) -> bool:
    sides = [side for side in (change.old, change.new) if side is not None and not side.is_submodule]
    return any(len(repo.objects.blob(side.id)) > _LARGEST for side in sides)


def _shown(hunks: Iterable[Hunk]) -> tuple[tuple[PatchHunk, ...], bool]:
    """As many whole hunks as fit, and of the next one its beginning."""
    shown: list[PatchHunk] = []
    room = MOST_LINES
    for hunk in hunks:
        if room <= 0:
            return tuple(shown), True
        lines = tuple(
            PatchLine(line.sign, line.old_number, line.new_number, line.text.decode("utf-8", "replace"))
            for line in hunk.lines[:room]
        )
        shown.append(PatchHunk(hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, hunk.heading, lines))
        room -= len(hunk.lines)
    return tuple(shown), room < 0
