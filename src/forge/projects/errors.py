"""Facts about a project that stop what was asked.

InvalidInput   AnswerMalformed · InvalidRecord · InvalidProjectName · InvalidArtifactName · DeletionUnconfirmed
NotFound       ProjectMissing
Conflict       ProjectExists · ProjectAmbiguous · ProjectBusy · IllegalTransition
Upstream       ProjectUnwritable · ProjectUnreadable
"""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput, NotFound, Upstream


class AnswerMalformed(InvalidInput):
    """An agent's answer does not have the form that was asked for. Message and hint can be sent back to it."""

    code = "answer_malformed"


class InvalidRecord(InvalidInput):
    """A file of the project does not hold what it must hold."""

    code = "invalid_record"


class InvalidProjectName(InvalidInput):
    """A name that could not be shown on one line, or that means a folder."""

    code = "invalid_project_name"


class InvalidArtifactName(InvalidInput):
    code = "invalid_artifact_name"


class DeletionUnconfirmed(InvalidInput):
    code = "deletion_unconfirmed"


class ProjectMissing(NotFound):
    code = "project_missing"


class ProjectExists(Conflict):
    code = "project_exists"


class ProjectAmbiguous(Conflict):
    code = "project_ambiguous"


class ProjectBusy(Conflict):
    """A merge, a rebase or a detached HEAD of the person's is in the way."""

    code = "project_busy"


class IllegalTransition(Conflict):
    code = "illegal_transition"


class ProjectUnwritable(Upstream):
    """The disk is full, read-only or broken."""

    code = "project_unwritable"


class ProjectUnreadable(Upstream):
    code = "project_unreadable"
