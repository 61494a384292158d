"""What stops the work of a deliverable type. Whoever runs it halts the project with these words."""

from __future__ import annotations

from forge.errors import Denied, Upstream


class AgentFailed(Upstream):
    """The agent failed twice in a row."""

    code = "agent_failure"


class AnswerUnusable(Upstream):
    """The agent's answers did not have the form that was asked for, however often it was asked."""

    code = "answer_unusable"


class OperationBlocked(Denied):
    """The deliverable type does not allow this kind of operation."""

    code = "operation_blocked"
