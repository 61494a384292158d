"""Settings of agent programs, in both shapes that a file may have: by name, or under `available` with a default."""

from __future__ import annotations

import shlex
from collections.abc import ItemsView, Mapping
from typing import Any

from pydantic import Field, field_validator, model_validator

from forge.json_value import Json
from forge.settings.section import Section

Options = Mapping[str, Any]

AVAILABLE: Mapping[str, Options] = {
    "claude": {"supports_vision": True},
    "gemini": {"supports_vision": True},
    "codex": {"supports_vision": False},
}
_OWN = ("default", "call_timeout_seconds", "available")
_VISION = "supports_vision"


class Agents(Section):
    default: str | None = "claude"
    """Works on projects where it is installed and `models` names nobody else."""
    call_timeout_seconds: float = Field(default=300, gt=0)
    available: Mapping[str, Options] = AVAILABLE

    @model_validator(mode="before")
    @classmethod
    def _one_shape(cls, given: object) -> object:
        return one_shape(given)

    @field_validator("available")
    @classmethod
    def _commands_are_lists(cls, value: Mapping[str, Options]) -> Mapping[str, Options]:
        for name, agent in value.items():
            command = agent.get("command")
            if command is not None and not (
                isinstance(command, list) and command and all(isinstance(word, str) for word in command)
            ):
                raise ValueError(f"{name}.command must be a list of words, for example [claude, -p]")
            if agent.get(_VISION, False) not in (True, False):
                raise ValueError(f"{name}.{_VISION} must be true or false")
        return {name: {**AVAILABLE.get(name, {}), **value.get(name, {})} for name in {**AVAILABLE, **value}}

    @property
    def programs(self) -> Mapping[str, Options]:
        """What was set on how to run each of them; those of which nothing was set are left out."""
        told = {name: {k: v for k, v in each.items() if k != _VISION} for name, each in self.available.items()}
        return {name: options for name, options in told.items() if options}

    def supports_vision(self, name: str) -> bool:
        """Whether this agent is given pictures."""
        return self.available.get(name, {}).get(_VISION) is True

    def items(self) -> ItemsView[str, Options]:
        return self.programs.items()

    def __contains__(self, name: object) -> bool:
        return name in self.programs


def one_shape(given: object) -> object:
    """`agents` as it is modelled, from whichever shape it was written in; what is odd is left to validation."""
    if not isinstance(given, Mapping):
        return given
    own: Json = {key: given[key] for key in _OWN if key in given}
    listed = own.get("available", {})
    if not isinstance(listed, Mapping):
        return own
    by_name = {**{key: value for key, value in given.items() if key not in _OWN}, **listed}
    if by_name or "available" in own:
        own["available"] = {name: _entry(str(name), value) for name, value in by_name.items()}
    return own


def _entry(name: str, given: object) -> object:
    """`command: claude` with `flags: --print` is the list [claude, --print]. A line for a shell stays refused."""
    if not isinstance(given, Mapping):
        return given
    entry = dict(given)
    command, flags = entry.get("command"), entry.pop("flags", None)
    if isinstance(command, str) and len(command.split()) == 1:
        entry["command"] = command = [command]
    if isinstance(flags, str):
        try:
            flags = shlex.split(flags)
        except ValueError:
            raise ValueError(f"{name}.flags has a quote that is not closed") from None
    if flags:
        if not isinstance(flags, list) or not isinstance(command, list | None):
            raise ValueError(f"{name}.flags must be words for a command of one word")
        entry["command"] = [*(command or [name]), *flags]
    return entry
