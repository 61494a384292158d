"""A branch that somebody works on for a while is reserved: nobody else's commits land on it until they are done.

Reservations are files beside the operation log, so that every process sees them. They outlive their process: work that
can be resumed keeps its branch. Whoever finds that it never will be may release it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.errors import Conflict
from forge.git.process import disk
from forge.git.process.liveness import died, mark_of_this_process


class BranchBusy(Conflict):
    """Somebody is working on the branch."""

    code = "branch_busy"


@dataclass(frozen=True, slots=True)
class Reservation:
    branch: str
    holder: str
    """Names the work, for example a turn."""
    who: str
    since: float
    process: str

    @property
    def abandoned(self) -> bool:
        """Whether the process that made it is gone; the work itself may still be resumed by another."""
        return died(self.process, age=time.time() - self.since)


def reserve(common_dir: Path, branch: str, holder: str, who: str) -> Reservation:
    """Take `branch` for `holder`; once more by the same holder is fine, by another is `BranchBusy`."""
    wanted = Reservation(branch, holder, who, time.time(), mark_of_this_process())
    path = _path(common_dir, branch)
    with disk.reporting():
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{os.getpid()}.{os.urandom(4).hex()}")
        disk.write_synced(beside, json.dumps([branch, holder, who, wanted.since, wanted.process]).encode())
        try:
            os.link(beside, path)
        except FileExistsError:
            found = reservation(common_dir, branch)
            if found is not None and found.holder != holder:
                raise busy(found) from None
            os.replace(beside, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(beside)
        disk.sync_directory(path.parent)
    return wanted


def release(common_dir: Path, branch: str, holder: str) -> None:
    """Give `branch` back; nothing happens if it is not this holder's."""
    found = reservation(common_dir, branch)
    if found is not None and found.holder == holder:
        with disk.reporting():
            _path(common_dir, branch).unlink(missing_ok=True)


def reservation(common_dir: Path, branch: str) -> Reservation | None:
    return _read(_path(common_dir, branch))


def reservations(common_dir: Path) -> tuple[Reservation, ...]:
    try:
        names = sorted(os.listdir(_folder(common_dir)))
    except FileNotFoundError:
        return ()
    found = (_read(_folder(common_dir) / name) for name in names if not name.startswith("."))
    return tuple(each for each in found if each is not None)


def _read(path: Path) -> Reservation | None:
    try:
        branch, holder, who, since, process = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        return None  # a file damaged by a power cut reserves nothing
    return Reservation(str(branch), str(holder), str(who), float(since), str(process))


def busy(found: Reservation) -> BranchBusy:
    clock = time.strftime("%H:%M", time.localtime(found.since))
    return BranchBusy(
        f"{found.who} is at work on {found.branch} since {clock}; nothing was changed.",
        hint=f"Wait until the turn ends, or end it with `forge session cancel --branch {found.branch}`.",
    )


def _folder(common_dir: Path) -> Path:
    return common_dir / "forge" / "reserved"


def _path(common_dir: Path, branch: str) -> Path:
    return _folder(common_dir) / hashlib.sha256(branch.encode()).hexdigest()[:40]
