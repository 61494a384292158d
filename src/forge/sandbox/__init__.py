"""Commands in a confined directory: `run` them, and ask whether that is `available` on this machine."""

from forge.sandbox.bubblewrap import Availability, available
from forge.sandbox.command import run
from forge.sandbox.errors import (
    DirectoryMissing,
    InvalidCommand,
    SandboxFailed,
    SandboxUnavailable,
    UnsafeDirectory,
)
from forge.sandbox.limits import DEFAULT_LIMITS, CommandResult, Limits
from forge.sandbox.own_python import COMMAND as OWN_PYTHON
from forge.sandbox.view import Mount

__all__ = [
    "DEFAULT_LIMITS",
    "OWN_PYTHON",
    "Availability",
    "CommandResult",
    "DirectoryMissing",
    "InvalidCommand",
    "Limits",
    "Mount",
    "SandboxFailed",
    "SandboxUnavailable",
    "UnsafeDirectory",
    "available",
    "run",
]
