"""Looks whether everything Forge stands on is in order, and says what to do where it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from forge import sandbox
from forge.errors import ForgeError
from forge.git import Repository
from forge.git.maintenance import sweep
from forge.git.reservations import reservations

_OLDEST_GIT = (2, 38)
_LOW_DISK = 1 << 30
_OLD_LOCK = 600.0


class State(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: State
    detail: str
    hint: str = ""


def examine(directory: Path, *, repair: bool = False) -> Iterator[Check]:
    """Each check as it is done. With `repair`, what dead processes left behind is removed."""
    yield _git()
    yield _sandbox()
    try:
        repo = Repository.open(directory)
    except ForgeError as e:
        yield Check("repository", State.FAILED, e.message, e.hint)
        return
    yield Check("repository", State.OK, f"{repo.git_dir}, default branch {repo.default_branch or 'none yet'}")
    yield _writable(repo)
    yield _locks(repo)
    yield _leftovers(repo, repair=repair)
    yield _turns(repo)
    yield _disk(repo)
    yield _integrity(repo)


def _git() -> Check:
    try:
        text = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return Check("git", State.FAILED, "git was not found.", "Install git 2.38 or newer.")
    version = tuple(int(part) for part in text.split()[2].split(".")[:2] if part.isdigit())
    if version < _OLDEST_GIT:
        return Check("git", State.FAILED, text.strip(), "Merges need git 2.38 or newer: upgrade it.")
    return Check("git", State.OK, text.strip())


def _sandbox() -> Check:
    found = sandbox.available()
    if found.works:
        return Check("sandbox", State.OK, f"bubblewrap {found.version} at {found.path}")
    return Check("sandbox", State.WARNING, f"Commands cannot be confined: {found.reason}.", found.hint)


def _writable(repo: Repository) -> Check:
    places = [repo.common_dir, repo.objects.objects_dir, repo.common_dir / "refs"]
    refused = [place for place in places if not os.access(place, os.W_OK)]
    if refused:
        return Check("writing", State.FAILED, f"{refused[0]} cannot be written.", "Check who owns the repository.")
    return Check("writing", State.OK, "The repository can be written.")


def _locks(repo: Repository) -> Check:
    common = repo.common_dir
    files = [*common.glob("*.lock"), *(common / "refs").rglob("*.lock"), *common.glob("worktrees/*/*.lock")]
    old = [str(file.relative_to(common)) for file in files if _age(file) > _OLD_LOCK]
    if old:
        hint = "If no git is running, a crash left them: remove them."
        return Check("locks", State.WARNING, f"Old lock files: {', '.join(sorted(old))}.", hint)
    return Check("locks", State.OK, "No lock files were left behind.")


def _age(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:  # released meanwhile
        return 0.0


def _leftovers(repo: Repository, *, repair: bool) -> Check:
    found = sweep(repo.objects, pretend=not repair)
    if not found:
        return Check("leftovers", State.OK, "Nothing was left by processes that died.")
    if repair:
        return Check("leftovers", State.OK, f"Removed {len(found)} files that dead processes had left.")
    return Check(
        "leftovers", State.WARNING, f"{len(found)} files were left by dead processes.", "Run `forge doctor --repair`."
    )


def _turns(repo: Repository) -> Check:
    found = reservations(repo.common_dir)
    dead = [each.branch for each in found if each.abandoned]
    if dead:
        hint = "`forge worker --until-idle` finishes what can be finished; `forge session cancel` ends it."
        return Check("turns", State.WARNING, f"Interrupted on {', '.join(dead[:5])}.", hint)
    return Check("turns", State.OK, f"{len(found)} at work." if found else "No agent is at work.")


def _disk(repo: Repository) -> Check:
    free = shutil.disk_usage(repo.common_dir).free
    text = f"{free / (1 << 30):.1f} GiB free"
    if free < _LOW_DISK:
        return Check("disk", State.WARNING, text, "Free some space: saving needs it.")
    return Check("disk", State.OK, text)


def _integrity(repo: Repository) -> Check:
    """That every branch leads to a commit whose files can be read; `git fsck` looks deeper and takes longer."""
    broken = []
    branches = repo.branches()
    for branch in branches:
        try:
            repo.commit_vfs(branch.tip).list_dir()
        except ForgeError as e:
            broken.append(f"{branch.name}: {e.message}")
    if broken:
        return Check("branches", State.FAILED, "; ".join(broken[:3]), "Run `git fsck --full` on the repository.")
    count = "1 branch" if len(branches) == 1 else f"{len(branches)} branches"
    return Check("branches", State.OK, f"{count} can be read.")
