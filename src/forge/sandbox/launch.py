"""The start and the end of a command's process tree, as values: how its leader is started, and what remains of it."""

from __future__ import annotations

import errno
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from forge.sandbox.errors import InvalidCommand, SandboxFailed


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a leader process that reports as bubblewrap's `--json-status-fd` does."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    directory: Path
    status: int
    """Read end of the report."""
    passed: tuple[int, ...]
    """Descriptors for the leader; closed here once it has started."""
    namespaced: bool = False
    """The child that the report names is a namespace's first process, and the command waits: it writes an empty line
    when it is ready and starts when it reads one."""

    def start(self, *, with_input: bool) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self.argv,
                bufsize=0,
                stdin=subprocess.PIPE if with_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self.environment,
                cwd=self.directory,
                pass_fds=self.passed,
                start_new_session=True,
            )
        except OSError as e:
            if e.errno == errno.E2BIG:
                raise InvalidCommand(
                    "The command is longer than the system allows.", hint="Pass long input through stdin or a file."
                ) from e
            raise SandboxFailed(
                f"No process could be started: {e.strerror}.", hint="Look at the machine's free memory and processes."
            ) from e
        finally:
            for descriptor in self.passed:
                os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Ended:
    """What remains of a process tree. Without `exit_code` the command itself was never started."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    duration: float
    limited: tuple[str, ...]
    cancelled: bool = False
