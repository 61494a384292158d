"""Checks of the repository that the doctor was called in."""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path

from forge.app.admin.checks import REPAIR, Check, Place, failed, ok, some, warning
from forge.counts import counted
from forge.errors import ForgeError
from forge.git import Repository
from forge.git.refs import holds as held
from forge.git.refs.reservations import Reservation, release, reservations

_OLD_LOCK = 600.0


def opened(place: Place) -> Check:
    repo = _repo(place)
    return ok("repository", f"{repo.git_dir}, default branch {repo.default_branch or 'none yet'}")


def writing(place: Place) -> Check:
    repo = _repo(place)
    places = [repo.common_dir, repo.objects.objects_dir, repo.common_dir / "refs"]
    refused = [each for each in places if not os.access(each, os.W_OK)]
    if refused:
        return failed("writing", f"{refused[0]} cannot be written.", "Check who owns the repository.")
    return ok("writing", "The repository can be written.")


def locks(place: Place) -> Check:
    common = _repo(place).common_dir
    files = [*common.glob("*.lock"), *(common / "refs").rglob("*.lock"), *common.glob("worktrees/*/*.lock")]
    old = sorted(str(file) for file in files if age(file) > _OLD_LOCK)
    if old:
        # Not ours to remove: nobody can tell from outside whether a git elsewhere still holds them.
        hint = f"If no git is running, a crash left them: `rm {shlex.join(old)}`"
        return warning("locks", f"Old lock files: {', '.join(old)}.", hint)
    return ok("locks", "No lock files were left behind.")


def age(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:  # released meanwhile
        return 0.0


def leftovers(place: Place) -> Check:
    from forge.app.projects import holds  # noqa: PLC0415 - loads what projects need

    repo = _repo(place)
    found = holds.swept(repo, holds.over_projects(place.settings), pretend=not place.repair)
    kinds = {"file": found.files, "hold": found.holds, "snapshot": found.snapshots}
    told = " and ".join(counted(len(each), kind) for kind, each in kinds.items() if each)
    if found and not place.repair:
        verb = "was" if len(found) == 1 else "were"
        return warning("leftovers", f"{told} {verb} left by dead processes.", REPAIR)
    if unknown := holds.unknown_projects(repo, place.settings):
        hint = f"If its project is gone: `git update-ref -d {shlex.quote(held.HELD + unknown[0])}`"
        return warning("leftovers", f"Held for projects that are not in this workspace: {some(unknown)}.", hint)
    if found:
        return ok("leftovers", f"Removed {told} that dead processes had left.")
    return ok("leftovers", "Nothing was left by processes that died.")


def turns(place: Place) -> Check:
    """Branches that are reserved: for a turn at work, one that was interrupted, or one that will never continue."""
    common = _repo(place).common_dir
    found = reservations(common)
    over = [each for each in found if _is_over(place, each)]
    if over and place.repair:
        for each in over:
            release(common, each.branch, each.holder)
        names = some([each.branch for each in over])
        return ok("turns", f"Released {names}, which {counted(len(over), 'ended turn')} had kept.")
    if over:
        return warning("turns", f"Still reserved by turns that have ended: {some([o.branch for o in over])}.", REPAIR)
    dead = [each.branch for each in found if each.abandoned]
    waiting = [f"{each.branch}: {reason}" for each in found if each.abandoned and (reason := _waits_for(place, each))]
    if waiting:
        end = f"`forge session cancel --branch {shlex.quote(dead[0])}` ends it; its words are kept."
        return warning("turns", f"Interrupted on {waiting[0]}", end)
    if dead:
        end = f"`forge session cancel --branch {shlex.quote(dead[0])}`"
        hint = f"`forge worker --until-idle` finishes what can be finished; {end} ends it."
        return warning("turns", f"Interrupted on {some(dead)}.", hint)
    return ok("turns", f"{len(found)} at work." if found else "No agent is running.")


def _waits_for(place: Place, held: Reservation) -> str:
    from forge.app.sessions.messages import run_of  # noqa: PLC0415 - as below

    run = place.records.run(run_of(held.holder)) if place.records.exist and place.records.usable else None
    return "" if run is None else run.waits_for


def _is_over(place: Place, held: Reservation) -> bool:
    """Whether nobody will continue with it: its run has ended, or its process is dead and no database knows the run."""
    from forge.app.sessions.messages import run_of  # noqa: PLC0415 - loads what agents need, and mostly nothing is reserved

    if place.records.exist and not place.records.usable:
        return False
    run = place.records.run(run_of(held.holder))
    return held.abandoned if run is None else run.has_ended


def branches(place: Place) -> Check:
    """That every branch leads to a commit whose files can be read; `git fsck` looks deeper and takes longer."""
    repo = _repo(place)
    found = repo.branches()
    broken = [f"{branch.name}: {branch.damage}" for branch in found if branch.damage]
    for branch in (each for each in found if not each.damage):
        try:
            repo.commit_vfs(branch.tip).list_dir()
        except ForgeError as e:
            broken.append(f"{branch.name}: {e.message}")
    if broken:
        return failed("branches", "; ".join(broken[:3]), "Run `git fsck --full` on the repository.")
    return ok("branches", f"{counted(len(found), 'branch', 'branches')} can be read.")


def conversations(place: Place) -> Check:
    """That plain git can merge every branch: no two have other bytes at one path of a conversation."""
    from forge.app.sessions.migration import unmigrated  # noqa: PLC0415 - loads what conversations need

    if found := unmigrated(_repo(place)):
        told = f"Plain git can stop at .forge/session.json, which has the first format on {some(found)}."
        return warning("conversations", told, "`forge session migrate` makes one commit on each of them.")
    return ok("conversations", "Plain git can merge the conversations of all branches.")


def _repo(place: Place) -> Repository:
    assert place.repo is not None
    return place.repo
