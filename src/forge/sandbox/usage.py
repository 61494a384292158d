"""What a running process tree uses, read from /proc, and which limit that breaks.

Control groups would be exact, but an ordinary user or a container seldom may make one. /proc works everywhere.
The private /tmp and /dev/shm live in memory and count in full, whether or not somebody holds their files open. What no
process maps or holds open elsewhere (System V segments) is not seen; the kernel's out-of-memory killer takes the
sandbox first, because every process in it carries the highest out-of-memory score.
"""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from forge.sandbox.limits import Limits
from forge.sandbox.supervisor import descendants
from forge.sandbox.view import SHM, TMP

THREADS_PER_PROCESS = 32
"""Threads allowed per process of the limit: far more than programs use, far fewer than a thread bomb makes."""

_SLOW_LOOKS = 10
_BYTES_PER_FILE = 1024
"""What the kernel needs for a file in memory besides its content."""
_GONE = (FileNotFoundError, ProcessLookupError)


@dataclass(frozen=True, slots=True)
class _Memory:
    own: int
    shared: int


class Watch:
    """Compares the tree below a process with its limits, look by look."""

    def __init__(self, limits: Limits, directory: Path) -> None:
        self._limits = limits
        self._directory = directory
        self._used_before = _used_space(directory)
        self._looks = 0

    def exceeded(self, root: int) -> str | None:
        """The name of the first limit that the processes below `root` have broken, or None."""
        limits = self._limits
        memories: dict[int, _Memory] = {}
        threads = 0
        for pid in descendants(root):
            with contextlib.suppress(*_GONE):
                memories[pid], count = _status(pid)
                threads += count
            if len(memories) > limits.processes or threads > limits.processes * THREADS_PER_PROCESS:
                return "processes"
        used = _used_memory(memories, limits.memory_bytes)
        self._looks += 1
        slow = self._looks % _SLOW_LOOKS == 0
        files = _scratch(root)
        if slow:
            files += _open_memory_files(memories)
        # What is mapped of these files counts as shared memory already.
        used += max(0, files - sum(m.shared for m in memories.values()))
        if slow and _used_space(self._directory) - self._used_before > limits.disk_bytes:
            return "disk"
        return "memory" if used > limits.memory_bytes else None


def processes_visible() -> bool:
    """Whether this kernel lists a process's children, on which every look depends."""
    return os.path.exists(f"/proc/self/task/{threading.get_native_id()}/children")


def parent_of(pid: int) -> int | None:
    try:
        return _figures(f"/proc/{pid}/status").get(b"PPid")
    except _GONE:
        return None


def _used_memory(memories: dict[int, _Memory], limit: int) -> float:
    largest = max((m.own for m in memories.values()), default=0)
    summed = sum(m.own + m.shared for m in memories.values())
    if largest > limit or summed <= limit:
        return summed
    # Forked processes share most pages: only now is the exact, slow figure worth asking for.
    return sum(min(m.own + m.shared, _proportional(pid)) for pid, m in memories.items())


def _status(pid: int) -> tuple[_Memory, int]:
    figures = _figures(f"/proc/{pid}/status")
    own = figures.get(b"RssAnon", 0) + figures.get(b"VmSwap", 0)
    return _Memory(own * 1024, figures.get(b"RssShmem", 0) * 1024), figures.get(b"Threads", 1)


def _proportional(pid: int) -> float:
    try:
        figures = _figures(f"/proc/{pid}/smaps_rollup")
    except _GONE:
        return 0
    except PermissionError:
        return float("inf")
    return (figures.get(b"Pss", 0) + figures.get(b"SwapPss", 0)) * 1024


def _figures(path: str) -> dict[bytes, int]:
    figures: dict[bytes, int] = {}
    with open(path, "rb") as file:
        for line in file.read().splitlines():
            name, _, value = line.partition(b":")
            number = value.strip().removesuffix(b" kB")
            if number.isdigit():
                figures[name] = int(number)
    return figures


def _open_memory_files(pids: dict[int, _Memory]) -> int:
    """Bytes in memory files (memfd) that these processes hold open, each counted once."""
    sizes: dict[int, int] = {}
    for pid in pids:
        with contextlib.suppress(PermissionError, *_GONE):
            for name in os.listdir(f"/proc/{pid}/fd"):
                path = f"/proc/{pid}/fd/{name}"
                if os.readlink(path).startswith("/memfd:"):
                    entry = os.stat(path)
                    sizes[entry.st_ino] = entry.st_blocks * 512
    return sum(sizes.values())


def _scratch(root: int) -> int:
    """Bytes that the private /tmp and /dev/shm of the namespace of `root` hold in memory."""
    return sum(_held_in_memory(f"/proc/{root}/root{place}", place) for place in (TMP, SHM))


def _held_in_memory(inside: str, outside: str) -> int:
    try:
        # One descriptor for both questions: while the sandbox starts, a path leads elsewhere from one call to the next.
        directory = os.open(inside, os.O_PATH)
        try:
            if os.fstat(directory).st_dev == os.stat(outside).st_dev:
                return 0  # the machine's own: not mounted yet, or no namespace
            figures = os.fstatvfs(directory)
        finally:
            os.close(directory)
    except OSError:  # no longer there, or not yet
        return 0
    files = max(0, figures.f_files - figures.f_ffree)
    return (figures.f_blocks - figures.f_bfree) * figures.f_frsize + files * _BYTES_PER_FILE


def _used_space(directory: Path) -> int:
    try:
        figures = os.statvfs(directory)
    except OSError:  # somebody removed it meanwhile: then it does not fill up
        return 0
    return (figures.f_blocks - figures.f_bfree) * figures.f_frsize
