"""Brain dump → intent: what a person said, organised into six sections that they correct and confirm."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forge.counts import counted
from forge.pipeline import provenance, realign, resources
from forge.pipeline.desk import INTENT
from forge.pipeline.material import REPOSITORY
from forge.pipeline.material import gathered as gathered_material
from forge.plugins.roles import DeliverableType, description_of
from forge.projects import context_file
from forge.projects.intent import Intent, format_intent, named, parse_intent, unknowns
from forge.projects.status import Phase

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.answerer import Picture
    from forge.pipeline.draft import Draft
    from forge.pipeline.journey import Explored, Journey
    from forge.projects.chat import ChatMessage
    from forge.projects.project import Project

_INTAKE = "brain-dump-intake"
_HOW = (
    f"{provenance.BY_RULES} Every sentence is yours, sorted by words such as “want”, “must”, “probably”, “not sure”.",
    "What wants nothing, limits nothing and leaves nothing open is background.",
    "The words are English: in another language, only questions are recognised.",
)


@dataclass(frozen=True, slots=True)
class Dump:
    """What a person has said so far: the dump itself, and corrections of what was made of it."""

    messages: tuple[str, ...]
    corrections: tuple[str, ...]
    realigned: bool = False
    """The last thing said was to realign: the last distillation does not count any more."""


def dump_of(chat: Sequence[ChatMessage], background: Sequence[str] = ()) -> Dump:
    """The brain dump and all corrections of substance; team context is in its own file."""
    said = [message.content for message in chat if message.role == "human"]
    dump = realign.brain_dump(chat, background=background)
    return Dump(dump, realign.corrections(chat), bool(said) and realign.is_realign(said[-1]))


async def distill(journey: Journey) -> Json:
    """From `distilling` to `human_review`, with `docs/intent.md` as a draft."""
    gathered, pictures = await _gathered(journey)
    dump, material = await asyncio.to_thread(_material, journey, gathered)
    types = tuple(journey.around.types)
    intent = await journey.asked(
        _INTAKE,
        material,
        lambda answer: parse_intent(answer, types),
        pictures=pictures,
        gather=lambda: gathered_material(journey, (REPOSITORY,)),
    )
    intent = with_explored(intent, await asyncio.to_thread(journey.around.explored))
    intent, kept_choices = as_chosen(intent, material["name"], material["chosen_type"], dump.corrections)
    text = format_intent(intent if intent.name else named(intent, _short_name(dump)))

    def done(draft: Draft) -> None:
        kept = draft.redraft(INTENT, text)
        draft.info = replace(draft.info, unknowns=len(unknowns(intent)))
        _note(draft, "" if journey.around.agents.by_rules(_INTAKE) else journey.around.agents.who(_INTAKE))
        draft.move(Phase.HUMAN_REVIEW)
        draft.say(_summary(intent, gathered, kept, kept_choices))

    await journey.change(
        done, "intent: distilled", event_type="human_needed", summary="The intent is ready: correct or confirm it."
    )
    return {"phase": str(Phase.HUMAN_REVIEW)}


def with_explored(intent: Intent, found: Explored) -> Intent:
    """What the exploration knows is in the intent whoever wrote it, each line with its origin."""

    def joined(now: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
        return (*now, *(line for line in more if not any(_origin(line) in each for each in now)))

    return replace(
        intent,
        assumptions=joined(intent.assumptions, found.assumptions),
        constraints=joined(intent.constraints, found.constraints),
        unknowns=joined(intent.unknowns, found.unknowns),
    )


def _origin(line: str) -> str:
    return line[line.rfind("[") :]


def _note(draft: Draft, who: str) -> None:
    if who:
        provenance.written_by(draft, "Intent", who)
    else:
        provenance.note(draft, "Intent", _HOW)


def _material(journey: Journey, gathered: Json) -> tuple[Dump, Json]:
    project = journey.project
    dump = dump_of(project.chat(), project.info().background)
    return dump, {
        "name": typed_name(project),
        "chosen_type": project.status().deliverable_type or "",
        "deliverable_types": [_described(type_) for type_ in journey.around.types.values()],
        "team_context": project.records.read(context_file.FILE) or "",
        "brain_dump": [*dump.messages, *(text for text in (journey.around.explored().text,) if text)],
        "resources": [{"path": r["path"], "text": r["text"]} for r in gathered["read"]],
        "corrections": list(dump.corrections),
        # Whoever realigns wants to get away from what was made since.
        "previous": "" if dump.realigned else project.records.read(INTENT) or "",
    }


async def _gathered(journey: Journey) -> tuple[Json, tuple[Picture, ...]]:
    """Read the resources once; what cannot be read is named, never silently left out."""

    def look() -> resources.Resources:
        return resources.read(
            journey.project.directory / "resources",
            vision=journey.around.agents.sees,
            max_file_size_mb=journey.around.parameters.max_file_size_mb,
        )

    async def read() -> Json:
        found = await asyncio.to_thread(look)
        return {
            "read": [{"path": r.path, "text": journey.around.redact(r.text)} for r in found.texts],
            "notes": [f"{r.path}: {r.note}" for r in found.texts if r.note],
            "skipped": [f"{s.path}: {s.reason}" for s in found.skipped],
        }

    gathered = await journey.steps.step("read resources", read)
    for skipped in gathered["skipped"]:
        journey.project.log.write("warn", "error", str(Phase.DISTILLING), f"not read: {skipped}")
    seen = await asyncio.to_thread(look) if journey.around.agents.sees else None
    return gathered, seen.pictures if seen else ()


def typed_name(project: Project) -> str:
    """What the person called it when they made it; empty if they did not."""
    name = project.state().project_name
    return "" if name == "Untitled" else name


def _described(type_: DeliverableType) -> str:
    about = description_of(type_)
    return f"{type_.name}: {about}" if about else type_.name


def as_chosen(
    intent: Intent, name: str, chosen_type: str, corrections: Sequence[str]
) -> tuple[Intent, tuple[str, ...]]:
    """With the name and the type that the person typed, unless they said another one since; and what was kept so."""
    said = "\n".join(corrections).casefold()
    told: list[str] = []
    if name and intent.name != name and not (intent.name and intent.name.casefold() in said):
        intent = named(intent, name)
    is_named = re.search(rf"\b{re.escape(intent.deliverable_type)}\b", said)
    if chosen_type and intent.deliverable_type != chosen_type and not is_named:
        told.append(
            f"The text reads like a {intent.deliverable_type}; it stays a {chosen_type}, as you chose. "
            f"Say “{intent.deliverable_type}” if you want that instead."
        )
        intent = replace(intent, deliverable_type=chosen_type, reasoning="you chose it.")
    return intent, tuple(told)


def _short_name(dump: Dump) -> str:
    words = " ".join(dump.messages).split()
    return " ".join(words[:4]).strip(".,:;!?").title() or "Untitled Project"


def _summary(intent: Intent, gathered: Json, kept: Sequence[str], choices: Sequence[str]) -> str:
    count = len(intent.open_questions)
    # They are asked once, with the specification, where each has its field.
    open_ = counted(count, "question stays", "questions stay")
    asked = f"\n\n{open_} open: answer here if you like, or after you have confirmed." if count else ""
    left_out = _listed("Not read", gathered["skipped"]) + _listed("Read with a note", gathered["notes"])
    edited = f"\n\nAs you edited them: {', '.join(kept)}." if kept else ""
    chosen = "".join(f"\n\n{sentence}" for sentence in choices)
    return f"This is what I understood; it is in {INTENT}. Correct me, or confirm it.{chosen}{asked}{edited}{left_out}"


def _listed(title: str, lines: Sequence[str]) -> str:
    return f"\n\n{title}:\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
