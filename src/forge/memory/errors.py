"""Requests that memory refuses. Nothing has been written when one of these is raised."""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput, NotFound


class StatusRefused(Conflict):
    """The status of an initiative may not change in this way."""

    code = "initiative_status_refused"


class InitiativeActive(Conflict):
    """Another initiative is under way in this directory."""

    code = "initiative_active"


class InitiativeMissing(NotFound):
    """Nothing is known of an initiative in this directory, in no layer."""

    code = "initiative_missing"


class MilestoneMissing(NotFound):
    code = "milestone_missing"


class PhaseUnknown(InvalidInput):
    """The type of workflow has no such phase."""

    code = "phase_unknown"


class WorkflowUnknown(InvalidInput):
    """No type of workflow has this name."""

    code = "workflow_unknown"
