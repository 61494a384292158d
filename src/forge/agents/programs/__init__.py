"""Agent programs: claude, codex, gemini, opencode, and any command that a person configures."""

from forge.agents.programs.installed import InstalledProgram, find_program, find_programs
from forge.agents.programs.known import KNOWN
from forge.agents.programs.program import Api, Program, configured
from forge.agents.programs.program_run import TIMEOUT, ProgramRun, run_program

__all__ = [
    "KNOWN",
    "TIMEOUT",
    "Api",
    "InstalledProgram",
    "Program",
    "ProgramRun",
    "configured",
    "find_program",
    "find_programs",
    "run_program",
]
