"""Agent programs as a person has set them up."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Mapping

from forge.agents.errors import ProgramMissing
from forge.agents.programs import KNOWN, InstalledProgram, Program, configured, find_program, find_programs
from forge.settings import Settings


def programs(settings: Settings) -> dict[str, Program]:
    """Those that Forge knows, with the person's changes, and the person's own."""
    return {**KNOWN, **{name: configured(name, options, KNOWN) for name, options in settings.agents.items()}}


def found_program(settings: Settings, environ: Mapping[str, str], name: str) -> InstalledProgram:
    known = programs(settings)
    if name not in known:
        near = difflib.get_close_matches(name, ["builtin", *known], 1)
        hint = f"Did you mean {near[0]}?" if near else _who_there_is(known, environ)
        raise ProgramMissing(f"There is no agent {name}.", hint=hint)
    return find_program(known[name], environ.get("PATH", ""))


def installed_programs(settings: Settings, environ: Mapping[str, str]) -> tuple[InstalledProgram, ...]:
    return find_programs(environ.get("PATH", ""), programs(settings).values())


def _who_there_is(known: Mapping[str, Program], environ: Mapping[str, str]) -> str:
    path = environ.get("PATH", "")
    here = [name for name, program in known.items() if shutil.which(program.command[0], path=path)]
    told = f"and {', '.join(here)}" if here else f"and programs, none of which is installed ({', '.join(known)})"
    return f"There are `builtin`, models as `provider:model`, {told}; `forge models` shows who can answer."
