"""Where people have branches checked out, found by reading HEAD files: cheap enough for each commit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pygit2

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_HEADS = "refs/heads/"
_LONGEST_REF = 4200


@dataclass(frozen=True, slots=True)
class Worktree:
    """A directory in which somebody has a branch checked out, and the git directory that holds its index."""

    path: Path
    git_dir: Path


def worktrees_on(objects: Objects, branch: str) -> tuple[Worktree, ...]:
    """Every checkout whose HEAD names `branch`, also one without a commit yet."""
    git_dirs = (git_dir for git_dir, shown in _heads(objects.common_dir) if shown == branch)
    return tuple(tree for git_dir in git_dirs if (tree := _worktree(objects, git_dir)))


def branches_checked_out(objects: Objects) -> frozenset[str]:
    return frozenset(shown for git_dir, shown in _heads(objects.common_dir) if _worktree(objects, git_dir))


def _heads(common: Path) -> Iterator[tuple[Path, str]]:
    """Git directories with the branch that their HEAD names."""
    git_dirs = [common]
    with suppress(FileNotFoundError, NotADirectoryError):
        git_dirs += [common / "worktrees" / name for name in sorted(os.listdir(f"{common}/worktrees"))]
    for git_dir in git_dirs:
        if branch := branch_shown(git_dir, common):
            yield git_dir, branch


def _worktree(objects: Objects, git_dir: Path) -> Worktree | None:
    place = _main_directory(objects) if git_dir == objects.common_dir else _linked_directory(git_dir)
    return Worktree(place, git_dir) if place else None


def branch_shown(git_dir: Path, common: Path) -> str | None:
    """The branch at the end of HEAD's chain of symbolic refs; None when HEAD is detached or unreadable."""
    ref = _symbolic(f"{git_dir}/HEAD")
    for _ in range(5):
        further = _symbolic(f"{common}/{ref}") if ref else None
        if further is None:
            break
        ref = further
    return ref.removeprefix(_HEADS) if ref and ref.startswith(_HEADS) else None


def _symbolic(file: str) -> str | None:
    try:
        text = os.readlink(file) if os.path.islink(file) else _start_of(file)
    except OSError:
        return None
    if text.startswith("ref:"):
        return text[4:].strip()
    return text if text.startswith("refs/") else None


def _start_of(file: str) -> str:
    fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, _LONGEST_REF).decode("utf-8", "surrogateescape")
    finally:
        os.close(fd)


def _main_directory(objects: Objects) -> Path | None:
    """Where the repository itself is checked out; a bare one is not."""
    common = objects.common_dir
    settings: dict[str, str] = {}
    for file in (common / "config", common / "config.worktree"):
        if file.is_file():
            config = pygit2.Config(str(file))
            settings |= {key: str(config[key]) for key in ("core.bare", "core.worktree") if key in config}
    if "core.worktree" in settings:
        place = Path(os.path.normpath(common / settings["core.worktree"]))
        return place if place.is_dir() else None
    if settings.get("core.bare", "false").lower() in ("true", "yes", "on", "1"):
        return None
    # Opened by its git directory, a repository made with --separate-git-dir does not say where its files are.
    candidates = [common.parent, *([Path(objects.handle.workdir)] if objects.handle.workdir else [])]
    return next((place for place in candidates if _leads_to(place / ".git", common)), None)


def _linked_directory(git_dir: Path) -> Path | None:
    try:
        pointer = (git_dir / "gitdir").read_text("utf-8", "surrogateescape").rstrip("\n")
    except OSError:
        return None
    dot_git = Path(os.path.normpath(git_dir / pointer))
    return dot_git.parent if _leads_to(dot_git, git_dir) else None


def _leads_to(dot_git: Path, git_dir: Path) -> bool:
    """Whether `.git` of a directory is `git_dir` or a file that names it; a moved or reused directory fails here."""
    try:
        if dot_git.is_file():
            text = dot_git.read_text("utf-8", "surrogateescape").rstrip("\n")
            dot_git = dot_git.parent / text.removeprefix("gitdir:").strip()
        return os.path.samefile(dot_git, git_dir)
    except OSError:
        return False
