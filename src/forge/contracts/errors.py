"""Facts about contracts that stop what was asked.

InvalidInput   ContractMalformed · PhasesWhole
NotFound       ContractUnknown · ContractMissing · PhaseMissing · VersionMissing · BatchMissing
Conflict       ContractChanged
"""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput, NotFound


class ContractUnknown(NotFound):
    code = "contract_unknown"


class ContractMissing(NotFound):
    code = "contract_missing"


class PhaseMissing(NotFound):
    code = "phase_missing"


class VersionMissing(NotFound):
    code = "version_missing"


class BatchMissing(NotFound):
    """No such set of contracts was pinned."""

    code = "batch_missing"


class ContractMalformed(InvalidInput):
    """It cannot be read as what it should be, so it was not saved."""

    code = "contract_malformed"


class PhasesWhole(InvalidInput):
    """An agent asked for all phases at once."""

    code = "phases_whole"


class ContractChanged(Conflict):
    """Somebody else saved it after the text was read that an edit began with."""

    code = "contract_changed"
