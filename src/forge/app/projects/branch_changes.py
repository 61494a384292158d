"""What a build branch changed, as a reviewer reads it: a unified diff, and new files with line numbers."""

from __future__ import annotations

from contextlib import suppress

from forge.app.projects.code_repository import is_new
from forge.git import ChangeKind, FileChange, NotText, Repository
from forge.json_value import Json

_REVIEWED_CHARACTERS = 300_000
_CONTEXT = 10
_DELETED_CHARACTERS = 4_000
_OWN = ".forge/"
ONLY_CHANGES = (
    "The repository existed before this work. Judge only what the diff and the new files change; code that was there "
    "before is context, however it looks."
)
ALL_OF_IT = "The repository is new: everything in it was made by this work."


def changed_texts(repo: Repository, branch: str, baseline: str | None) -> dict[str, str]:
    """Whole texts of what differs from the baseline, smallest first, as far as a review can hold them."""
    files = repo.commit_vfs(branch)
    changed = [change.path for change in repo.diff(baseline, branch) if files.file_exists(change.path)]
    found: dict[str, str] = {}
    for path in (path for path in changed if not path.startswith(_OWN)):
        with suppress(NotText):
            found[path] = files.read_file(path)
    return _within(found)


def reviewed_changes(repo: Repository, branch: str, baseline: str | None) -> Json:
    """`diff`: changed, renamed and deleted files; `new_files`: theirs whole; `scope`: what of it counts."""
    changes = [change for change in repo.diff(baseline, branch) if not change.path.startswith(_OWN)]
    new = {change.path: _numbered(repo, branch, change) for change in changes if change.kind is ChangeKind.ADDED}
    old = {change.path: _patch(repo, change) for change in changes if change.kind is not ChangeKind.ADDED}
    shown = _within({**old, **new})
    began_empty = baseline is None or is_new(repo.commit_vfs(baseline))
    return {
        "scope": ALL_OF_IT if began_empty else ONLY_CHANGES,
        "diff": "\n".join(_named(path, shown[path]) for path in sorted(old)),
        "new_files": "\n\n".join(f"=== {path}\n{shown[path]}" for path in sorted(new)),
    }


def _within(texts: dict[str, str]) -> dict[str, str]:
    """The smallest first, as many as one review can hold: one huge file hides no other."""
    room = _REVIEWED_CHARACTERS
    shown: dict[str, str] = {}
    for path, text in sorted(texts.items(), key=lambda item: (len(item[1]), item[0])):
        fits = len(text) <= room
        shown[path] = text if fits else f"(left out: {len(text):,} characters, too much for one review)"
        room -= len(text) if fits else 0
    return dict(sorted(shown.items()))


def _named(path: str, text: str) -> str:
    return text if text.startswith("diff --git") else f"{path}: {text}"


def _numbered(repo: Repository, branch: str, change: FileChange) -> str:
    try:
        lines = repo.commit_vfs(branch).read_file(change.path).splitlines()
    except NotText:
        return "(not text)"
    return "\n".join(f"{number:>5}  {line}" for number, line in enumerate(lines, 1)) or "(empty)"


def _patch(repo: Repository, change: FileChange) -> str:
    text = repo.patch(change, context=_CONTEXT, binary=False).decode("utf-8", "replace")
    if change.kind is ChangeKind.DELETED and len(text) > _DELETED_CHARACTERS:
        return f"deleted, {change.deletions} lines"
    return text
