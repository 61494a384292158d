"""What stops the work of a deliverable type. Whoever runs it halts the project with these words."""

from __future__ import annotations

from forge.errors import Conflict, Denied, Upstream
from forge.plugins.roles import Stuck


class AgentFailed(Upstream):
    """The agent failed twice in a row."""

    code = "agent_failure"


class AnswerUnusable(Upstream):
    """The agent's answers did not have the form that was asked for, however often it was asked."""

    code = "answer_unusable"


class DecisionNeeded(Conflict):
    """The work cannot continue before a person has decided something."""

    code = "decision_needed"

    def __init__(
        self, message: str, *, hint: str = "Answer it, and the work continues.", needs: Stuck | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.needs = needs


class OperationBlocked(Denied):
    """The deliverable type does not allow this kind of operation."""

    code = "operation_blocked"
