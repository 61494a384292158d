"""Who can answer: providers and whether they have a key, agent programs, and who answers by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forge.agents.errors import ModelUnknown
from forge.agents.models import registry
from forge.agents.models.names import recording_in
from forge.agents.models.registry import Availability
from forge.agents.pricing import Price
from forge.agents.programs import InstalledProgram
from forge.agents.recorded import recordings
from forge.app.access.identity import Who
from forge.app.admin.agent_programs import installed_programs
from forge.settings import Settings

__all__ = ["Availability", "InstalledProgram", "Price"]


@dataclass(frozen=True, slots=True)
class Answerers:
    chat: str
    """Who answers where nobody is named."""
    providers: tuple[Availability, ...]
    programs: tuple[InstalledProgram, ...]


def answerers(settings: Settings, environ: Mapping[str, str]) -> Answerers:
    """Looks for programs and a local server, so it takes a moment. Keys are never in it, only where they come from."""
    programs = installed_programs(settings, environ)
    return Answerers(registry.choose("chat", settings), registry.available(settings), programs)


def refuse_paths(who: Who, name: str | None) -> None:
    """A recording by path is a file of this machine: only the person who sits at it may name one.

    Every use case that takes the name of a model or an agent asks this first.
    """
    recording = None if who.is_local or name is None else recording_in(name)
    if recording is not None and recording not in recordings():
        raise ModelUnknown("There is no such recording.", hint=f"There are: {', '.join(recordings())}.")
