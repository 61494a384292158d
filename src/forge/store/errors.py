"""What can go wrong between Forge and its database."""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput, NotFound, Upstream


class StoreAddressInvalid(InvalidInput):
    """The database URL cannot be used."""

    code = "store_address_invalid"


class StoreUnavailable(Upstream):
    """The database cannot be reached, read or written."""

    code = "store_unavailable"


class StoreDamaged(StoreUnavailable):
    """The file of the database holds something else than it should."""

    code = "store_damaged"


class StoreInUse(Conflict):
    """The database cannot be moved while other processes have it open."""

    code = "store_in_use"


class StoreTooNew(Conflict):
    """A newer Forge has changed the database; this one leaves it alone."""

    code = "store_too_new"


class QuestionUnknown(NotFound):
    code = "question_unknown"


class QuestionIsClosed(Conflict):
    """It was answered, timed out or cancelled before."""

    code = "question_closed"
