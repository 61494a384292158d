"""What a code run may do: everything of the taxonomy. Agents work on the build branch, in the sandbox."""

from __future__ import annotations

from forge.plugins.roles import Allowed, Operation


class CodeSafety:
    @property
    def blocked_operations(self) -> frozenset[Operation]:
        return frozenset()

    def validate(self, operation: Operation) -> Allowed:
        return Allowed(operation not in self.blocked_operations)
