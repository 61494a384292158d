"""What the sandbox refuses or cannot do."""

from __future__ import annotations

from forge.errors import Denied, InvalidInput, NotFound, Upstream


class SandboxUnavailable(Denied):
    """Commands cannot be confined here, and nobody allowed plain execution."""

    code = "sandbox_unavailable"


class SandboxFailed(Upstream):
    """Bubblewrap was there but could not do its work."""

    code = "sandbox_failed"


class InvalidCommand(InvalidInput):
    code = "invalid_command"


class DirectoryMissing(NotFound):
    code = "directory_missing"


class UnsafeDirectory(Denied):
    """Making this directory writable would open the system or somebody's home to the command."""

    code = "unsafe_directory"
