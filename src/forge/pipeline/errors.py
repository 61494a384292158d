"""What can go wrong on the way from a brain dump to a deliverable."""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput


class ActionRefused(Conflict):
    """The project is in a state where this cannot be done."""

    code = "action_refused"


class PressReused(Conflict):
    """The id of a press was used before, for another one."""

    code = "press_reused"


class ConfirmationNeeded(InvalidInput):
    """Done only when it is confirmed."""

    code = "confirmation_needed"


class TypeUnknown(InvalidInput):
    """No plugin brings this type of deliverable."""

    code = "deliverable_type_unknown"
