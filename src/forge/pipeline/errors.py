"""What can go wrong on the way from a brain dump to a deliverable."""

from __future__ import annotations

from collections.abc import Collection

from forge.errors import Conflict, InvalidInput


class ActionRefused(Conflict):
    """The project is in a state where this cannot be done."""

    code = "action_refused"


class ActionIdReused(Conflict):
    """The id of an action was used before, for another one."""

    code = "press_reused"


class ConfirmationNeeded(InvalidInput):
    """Done only when it is confirmed."""

    code = "confirmation_needed"


class TypeUnknown(InvalidInput):
    """No plugin brings this type of deliverable."""

    code = "deliverable_type_unknown"

    @classmethod
    def among(cls, name: str | None, known: Collection[str]) -> TypeUnknown:
        there = ", ".join(sorted(known))
        return cls(f"There is no deliverable type {name}.", hint=f"There are: {there}; plugins can bring others.")
