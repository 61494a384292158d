"""Facts about contracts that stop what was asked.

NotFound       ContractUnknown · ContractMissing · PhaseMissing
"""

from __future__ import annotations

from forge.errors import NotFound


class ContractUnknown(NotFound):
    code = "contract_unknown"


class ContractMissing(NotFound):
    code = "contract_missing"


class PhaseMissing(NotFound):
    code = "phase_missing"
