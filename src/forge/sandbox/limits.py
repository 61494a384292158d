"""What a command may use up, and what came of running it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from forge.errors import InvalidInput

MIB = 1024**2
GIB = 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one run; reaching time, memory, processes or disk ends the whole process tree."""

    seconds: float = 300
    memory_bytes: int = 4 * GIB
    """Memory of all processes together, shared pages counted once, and of the private /tmp and /dev/shm."""
    processes: int = 512
    output_bytes: int = MIB
    """Kept per stream; of longer output the end is kept."""
    file_bytes: int = 4 * GIB
    """The largest file that may be written."""
    disk_bytes: int = 16 * GIB
    """How much fuller the directory's file system may become while the command runs."""
    scratch_bytes: int = GIB
    """Most that the private /tmp (which holds the home) and /dev/shm take each; both count as memory."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (math.isfinite(value) and value > 0):
                raise InvalidInput(f"The limit {field.name} is {value}.", hint="Limits are finite numbers above zero.")


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended. `exit_code` follows the shell: 128 + n after signal n, 127 not found, 126 not runnable."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    duration: float
    timed_out: bool = False
    limited: tuple[str, ...] = ()
    """Which limits were reached: time, memory, processes, disk, file size, output."""
    sandboxed: bool = True
    notes: tuple[str, ...] = ()
    cancelled: bool = False

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    @property
    def stdout_text(self) -> str:
        return self.stdout.decode("utf-8", "replace")

    @property
    def stderr_text(self) -> str:
        return self.stderr.decode("utf-8", "replace")
