"""Who is alive: marks that tell a running process from one that died, on this machine and boot."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

# A process elsewhere cannot be looked at; what it left this long ago it is no longer working on.
_GIVEN_UP = 3600.0


def mark_of_this_process() -> str:
    """A line that `died` can judge later, also after a restart of the machine."""
    return _mark(os.getpid())


def died(mark: str, *, age: float = 0.0) -> bool:
    """Whether `mark` is Forge's and its process is gone. Unknown counts as alive until `age` says otherwise."""
    try:
        fields: dict[str, Any] = json.loads(mark)
    except ValueError:
        return False
    if not isinstance(fields, dict) or fields.get("forge") != 1 or not isinstance(fields.get("pid"), int):
        return False
    boot, machine, space = _here()
    if boot and fields.get("boot") == boot and fields.get("space") == space:
        return bool(fields.get("started") != _started(fields["pid"]))
    if boot and machine and fields.get("boot") != boot and fields.get("machine") == machine:
        return True
    # Another container or another machine on a shared disk.
    return age > _GIVEN_UP


def token() -> str:
    """This process in one word that a file or a ref can be named by; `token_died` judges it later."""
    return _token(os.getpid())


def token_died(token: str, *, age: float = 0.0) -> bool:
    """As `died`, for a token."""
    try:
        pid, started, machine, boot, space = token.split("-")
        number = int(pid)
    except ValueError:
        return False
    _, _, here_machine, here_boot, here_space = _token(os.getpid()).split("-")
    if (boot, space) == (here_boot, here_space):
        return started != (_started(number) or "0")
    if boot != here_boot and machine == here_machine:
        return True
    return age > _GIVEN_UP


def has_open(device: int, inode: int) -> bool:
    """Whether a process that we may look at has this file open. Where processes cannot be seen, yes."""
    seen = False
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        seen = True
        with suppress(OSError):
            found = entry.stat()
            if (found.st_dev, found.st_ino) == (device, inode):
                return True
    return not seen


@lru_cache(maxsize=1)
def _mark(pid: int) -> str:
    boot, machine, space = _here()
    fields = {"forge": 1, "pid": pid, "started": _started(pid), "boot": boot, "machine": machine, "space": space}
    return json.dumps(fields)


@lru_cache(maxsize=1)
def _token(pid: int) -> str:
    boot, machine, space = (hashlib.sha256(each.encode()).hexdigest()[:8] for each in _here())
    return f"{pid}-{_started(pid) or 0}-{machine}-{boot}-{space}"


@cache
def _here() -> tuple[str, str, str]:
    """This start of the machine, the machine, the process namespace; empty where that cannot be known."""
    return (
        _first_line(Path("/proc/sys/kernel/random/boot_id")),
        _first_line(Path("/etc/machine-id")),
        os.readlink("/proc/self/ns/pid") if Path("/proc/self/ns/pid").is_symlink() else "",
    )


def _first_line(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _started(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]
