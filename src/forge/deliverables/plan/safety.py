"""What a plan run may never do. Checked in code before every action, whatever a prompt says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from forge.plugins.roles import Allowed, Operation

_REASONS: Mapping[Operation, str] = MappingProxyType(
    {
        Operation.SHELL_EXEC: "a plan is a document; building it runs no commands",
        Operation.FILE_CREATE_SOURCE: "a plan is a document; building it writes no source files",
        Operation.PACKAGE_INSTALL: "a plan is a document; building it installs nothing",
        Operation.TEST_EXEC: "a plan is a document; it has no tests to run",
    }
)


class PlanSafety:
    """Implements `SafetyRules`."""

    @property
    def blocked_operations(self) -> frozenset[Operation]:
        return frozenset(_REASONS)

    def validate(self, operation: Operation) -> Allowed:
        reason = _REASONS.get(operation, "")
        return Allowed(allowed=not reason, reason=reason)
