"""Where people have branches checked out, found by reading HEAD files: cheap enough for each commit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pygit2

from forge.git.objects import Objects

_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Worktree:
    """A directory in which somebody has a branch checked out, and the git directory that holds its index."""

    path: Path
    git_dir: Path


def worktrees_on(objects: Objects, branch: str) -> tuple[Worktree, ...]:
    """Every checkout whose HEAD names `branch`, also one without a commit yet."""
    return tuple(tree for tree, shown in _checkouts(objects) if shown == branch)


def branches_checked_out(objects: Objects) -> frozenset[str]:
    return frozenset(branch for _, branch in _checkouts(objects))


def _checkouts(objects: Objects) -> Iterator[tuple[Worktree, str]]:
    common = objects.common_dir
    branch = _branch_shown(common, common)
    main = _main_directory(objects) if branch else None
    if branch and main:
        yield Worktree(main, common), branch
    try:
        linked = sorted(os.listdir(common / "worktrees"))
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in linked:
        git_dir = common / "worktrees" / name
        branch = _branch_shown(git_dir, common)
        place = _linked_directory(git_dir) if branch else None
        if branch and place:
            yield Worktree(place, git_dir), branch


def _branch_shown(git_dir: Path, common: Path) -> str | None:
    """The branch at the end of HEAD's chain of symbolic refs; None when HEAD is detached or unreadable."""
    ref = _symbolic(git_dir / "HEAD")
    for _ in range(5):
        further = _symbolic(common / ref) if ref else None
        if further is None:
            break
        ref = further
    return ref.removeprefix(_HEADS) if ref and ref.startswith(_HEADS) else None


def _symbolic(file: Path) -> str | None:
    try:
        text = os.readlink(file) if file.is_symlink() else file.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    if text.startswith("ref:"):
        return text[4:].strip()
    return text if text.startswith("refs/") else None


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
