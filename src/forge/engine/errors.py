"""What can go wrong with durable runs."""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput, NotFound, Upstream


class RunCancelled(Conflict):
    """Somebody cancelled the run. Raised once inside it, so that it can clean up, and to whoever awaits its result."""

    code = "run_cancelled"


class RunUnknown(NotFound):
    code = "run_unknown"


class RunNameUnknown(InvalidInput):
    """No workflow has that name."""

    code = "run_name_unknown"


class RunExists(Conflict):
    """The id belongs to a run of another kind."""

    code = "run_exists"


class RunFailed(Upstream):
    """The run ended in an error that is not Forge's own: a defect, or a changed program."""

    code = "run_failed"


class RunWaits(Conflict):
    """Its process died, and those that could continue with it lack what it needs."""

    code = "run_waits"


class StepFailed(Upstream):
    """A step ended in an error that is not Forge's own."""

    code = "step_failed"


class QueueUnknown(InvalidInput):
    code = "queue_unknown"


class NotJson(InvalidInput):
    """A value that is to be recorded cannot be written as JSON."""

    code = "not_json"


class EngineMisused(Conflict):
    """Started twice, used before its start or after its end."""

    code = "engine_misused"
