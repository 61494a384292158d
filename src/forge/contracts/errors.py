"""Facts about contracts that stop what was asked.

InvalidInput   ContractMalformed · PhasesWhole · AnswersMalformed · NothingKnown · ProgramCannotWrite
NotFound       ContractUnknown · ContractMissing · PhaseMissing · VersionMissing · BatchMissing · QuestionUnknown
               NothingDelivered
Conflict       ContractChanged · ContractEdited · NothingToGenerate · GenerationRunning · NoGeneration
Upstream       ContractNotSubmitted · GenerationFailed
"""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput, NotFound, Upstream


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


class NothingDelivered(NotFound):
    """The project builds no code, so there are no files to look at."""

    code = "nothing_delivered"


class ContractMalformed(InvalidInput):
    """It cannot be read as what it should be, so it was not saved."""

    code = "contract_malformed"


class PhasesWhole(InvalidInput):
    """An agent asked for all phases at once."""

    code = "phases_whole"


class ContractChanged(Conflict):
    """Somebody else saved it after the text was read that an edit began with."""

    code = "contract_changed"


class AnswersMalformed(InvalidInput):
    """The answers to the questionnaire cannot be read."""

    code = "answers_malformed"


class QuestionUnknown(NotFound):
    """The questionnaire does not ask this."""

    code = "contract_question_unknown"


class NothingKnown(InvalidInput):
    """There is no intent, no spec and no answer that a contract could be written from."""

    code = "nothing_known"


class ProgramCannotWrite(InvalidInput):
    """An agent program was to write contracts; only models have the tools for it."""

    code = "program_cannot_write_contracts"


class ContractEdited(Conflict):
    """A person wrote the contract that is to be generated."""

    code = "contract_edited"


class NothingToGenerate(Conflict):
    """Everything that was asked for is there."""

    code = "nothing_to_generate"


class GenerationRunning(Conflict):
    code = "generation_running"


class NoGeneration(Conflict):
    """Nothing is being generated, so there is nothing to stop."""

    code = "no_generation"


class ContractNotSubmitted(Upstream):
    """The agent ended without anything that can be read as the contract."""

    code = "contract_not_submitted"


class GenerationFailed(Upstream):
    """The model gave no answer."""

    code = "generation_failed"
