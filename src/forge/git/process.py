"""Who is alive: marks that tell a running process from one that died, on this machine and boot."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any


def mark_of_this_process() -> str:
    """A line that `died` can judge later, also after a restart of the machine."""
    pid = os.getpid()
    return json.dumps({"forge": 1, "pid": pid, "started": _started(pid), "boot": _boot()})


def died(mark: str) -> bool:
    """Whether `mark` is Forge's and its process is certainly gone. Unknown counts as alive."""
    try:
        fields: dict[str, Any] = json.loads(mark)
    except ValueError:
        return False
    if not isinstance(fields, dict) or fields.get("forge") != 1:
        return False
    boot, pid = _boot(), fields.get("pid")
    if not boot or not fields.get("boot") or not isinstance(pid, int):
        return False
    return fields["boot"] != boot or fields.get("started") != _started(pid)


@cache
def _boot() -> str:
    """This start of this machine and the process namespace in it; empty where that cannot be known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
