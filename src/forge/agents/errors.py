"""What can go wrong between Forge and whoever answers."""

from __future__ import annotations

from forge.errors import Denied, InvalidInput, NotFound, Upstream


class ModelUnknown(InvalidInput):
    code = "model_unknown"


class KeyMissing(Denied):
    """No key for the provider, or one that it refuses."""

    code = "key_missing"


class ModelOverloaded(Upstream):
    """The provider asks to come back later, and kept asking after the retries."""

    code = "model_overloaded"


class ModelFailed(Upstream):
    """The provider cannot be reached, broke off, or answered nonsense."""

    code = "model_failed"
    asked_again = False
    """True where the same was asked twice already: nobody else has to ask once more."""


class PromptTooLong(Upstream):
    code = "prompt_too_long"


class LimitReached(Denied):
    """A spending limit stopped the agent."""

    code = "limit_reached"


class ProgramMissing(InvalidInput):
    """The agent program is not installed."""

    code = "program_missing"


class ModelRoleUnknown(InvalidInput):
    """There is no such role under `models` in the settings."""

    code = "model_role_unknown"


class ProfileUnknown(NotFound):
    """Nothing says whose model answers a prompt, and which tools it has."""

    code = "profile_unknown"
