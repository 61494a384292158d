"""A turn that an agent program does by itself: it gets the message and a copy of the files, and returns changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path

from forge.agents.answer_text import AnswerText
from forge.agents.desk import Stopped, TurnDesk
from forge.agents.programs import InstalledProgram, ProgramRun, run_program
from forge.agents.steps import Steps
from forge.environment.mounted import NOTHING, Mounted
from forge.events import ModelAnswered
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, Message, UserMessage, usage_from_json
from forge.sessions.redaction import Redactor
from forge.sessions.turns import Reference, TurnStatus

_LONGEST_RUN = 3600.0
_REMEMBERED_CHARACTERS = 24_000
_RULES = """\
You work in a copy of one branch of a git repository; the current directory is its root. What you change in files here
becomes one commit when you have finished; do not commit yourself. End with a few sentences on what you did and checked.
If you changed files, the very last line is the subject of the commit, in this form:

Commit: <subject>
"""
_RESOURCES = "\nFiles that the person gave to this project are in {place}; you can read them there.\n"
Resources = Callable[[], AbstractContextManager[Path | None]]
Surroundings = Callable[[], AbstractContextManager[Mounted]]


@dataclass(frozen=True, slots=True)
class ProgramTurn:
    """A program with all it may know."""

    found: InstalledProgram
    name: str
    """As the turn calls who answered."""
    model: str
    env: Mapping[str, str]
    logins: Path
    redactor: Redactor
    paid: Callable[[str, AssistantMessage], None]
    silence: float | None = None
    """Seconds without any progress after which it is ended."""
    instructions: str = field(default="", repr=False)
    """The prompt of its role, as a model gets it; empty in a chat, where programs bring their own."""
    resources: Resources = field(default=nullcontext, compare=False, repr=False)
    """What the person gave to the project, as a directory that it may read."""
    surroundings: Surroundings = field(default=lambda: nullcontext(NOTHING), compare=False, repr=False)
    """The environment of the branch."""

    async def __call__(self, desk: TurnDesk, steps: Steps) -> None:
        heard = AnswerText(desk.id, steps, self.redactor, self.name)

        async def run() -> Json:
            try:
                run = await self._run(desk, heard)
            except asyncio.CancelledError:
                desk.unfinished = heard.broken_off()
                desk.usage = desk.usage + heard.lost
                said = AssistantMessage("", model=self.name, usage=heard.lost)
                await asyncio.to_thread(self.paid, "program without an answer", said)
                raise
            heard.end()
            told = {"output": self.redactor.text(run.output), "error": self.redactor.text(run.error)}
            return {"success": run.success, "usage": asdict(run.usage), **told}

        done = await desk.keeping_changes(steps, "program", run)
        usage = usage_from_json(done["usage"])
        text = done["output"]
        desk.usage = desk.usage + usage
        said = AssistantMessage(text, model=self.name, usage=usage)
        desk.items.append(said)
        await asyncio.to_thread(self.paid, "program", said)
        steps.emit(
            ModelAnswered(
                desk.id, text, (), usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cost, 1
            )
        )
        if not done["success"]:
            raise Stopped(TurnStatus.FAILED, f"{self.name}: {done['error']}")

    async def _run(self, desk: TurnDesk, heard: AnswerText) -> ProgramRun:
        with self.resources() as given, self.surroundings() as mounted:
            return await run_program(
                self.found,
                _prompt(desk, self.instructions, given),
                desk.vfs,
                desk.repo.materialize,
                model=self.model,
                env=self.env,
                logins=self.logins,
                on_text=heard,
                timeout=_LONGEST_RUN,
                silence=self.silence,
                readonly=(given,) if given else (),
                mounted=mounted,
            )


def _prompt(desk: TurnDesk, instructions: str, resources: Path | None) -> str:
    """What was said before, as far as it fits, and the person's message. Programs read files and instructions alone."""
    past = [item for item in desk.past.items if not isinstance(item, Reference)]
    earlier = [line for message in (*desk.past.earlier, *past) if (line := _line(message))]
    kept: list[str] = []
    room = _REMEMBERED_CHARACTERS
    for line in reversed(earlier):
        room -= len(line)
        if room < 0:
            kept.append("(earlier messages left out)")
            break
        kept.append(line)
    said = next(item.text for item in reversed(desk.items) if isinstance(item, UserMessage))
    history = "The conversation so far:\n\n" + "\n\n".join(reversed(kept)) + "\n\nNow:\n\n" if kept else ""
    given = _RESOURCES.format(place=resources) if resources else ""
    role = f"\n{instructions.strip()}\n" if instructions else ""
    return f"{_RULES}{given}{role}\n{history}{said}\n"


def _line(message: Message) -> str:
    match message:
        case UserMessage(text=text):
            return f"Person: {text}"
        case AssistantMessage(text=text) if text.strip():
            return f"Agent: {text}"
    return ""
