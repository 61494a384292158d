"""Agent programs as a person has set them up."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from forge.agents.errors import ProgramMissing
from forge.agents.programs import KNOWN, Found, Program, configured, find_program, find_programs
from forge.settings import Settings


def programs(settings: Settings) -> dict[str, Program]:
    """Those that Forge knows, with the person's changes, and the person's own."""
    return {**KNOWN, **{name: configured(name, options, KNOWN) for name, options in settings.agents.items()}}


def found_program(settings: Settings, environ: Mapping[str, str], name: str) -> Found:
    known = programs(settings)
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        raise ProgramMissing(
            f"There is no agent {name}.",
            hint=f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}; settings can add others.",
        )
    return find_program(known[name], environ.get("PATH", ""))


def installed_programs(settings: Settings, environ: Mapping[str, str]) -> tuple[Found, ...]:
    return find_programs(environ.get("PATH", ""), programs(settings).values())
