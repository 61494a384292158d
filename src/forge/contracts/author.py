"""One contract written by an agent: it fetches what it needs with tools and submits a text that code checks at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from forge.agents.loop import Cancelled, Failed, Finished, Loop, LoopResult, Submitted, TurnLimit, run_loop
from forge.agents.profile import LoopLimits, Profile
from forge.agents.steps import Steps
from forge.agents.submission import Submission
from forge.contracts import contract, markdown
from forge.contracts.author_tools import Fetched, Work, tools
from forge.contracts.check import check
from forge.contracts.errors import ContractNotSubmitted, GenerationFailed
from forge.contracts.kinds import ORDER, Finding, Kind, sentences
from forge.engine.errors import RunCancelled
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, Usage, UserMessage
from forge.sessions.turns import Item
from forge.tools.toolbox import Toolbox

__all__ = ["Fetched", "Work"]

ROLE = "contract-author"
SUBMIT = "submit_contract"
TURNS = 12
_FENCED = re.compile(r"\A\s*(`{3,}|~{3,})[\w+-]*[ \t]*\n(.*?)\n?\1[ \t]*\s*\Z", re.DOTALL)
_BLOCK = re.compile(r"^(`{3,}|~{3,})[\w+-]*[ \t]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Authored:
    """A draft was never accepted: its findings say why."""

    kind: Kind
    text: str
    draft: bool
    findings: tuple[str, ...]
    reads: tuple[Kind, ...]
    usage: Usage
    note: str = ""


async def write(loop: Loop, work: Work, steps: Steps, *, turns: int = TURNS) -> Authored:
    """Run one conversation to its end. `loop` brings model, journal and limits; its toolbox is replaced."""
    reads: list[Kind] = []
    profile = _profile(loop.profile, work, turns)
    mine = replace(
        loop,
        profile=profile,
        toolbox=Toolbox(tools(work, reads), profile.tools, files=False),
        submission=_submission(work),
        stop=_has_only_talked,
    )
    task = f"Write the contract `{work.kind.value}` ({work.kind.file}) for {work.material.name}."
    done = await run_loop(mine, [UserMessage(task)], steps)
    return _settled(work, done, tuple(kind for kind in ORDER if kind in reads))


def own_findings(kind: Kind, text: str, prior: Mapping[Kind, str], *, mini: bool = False) -> tuple[Finding, ...]:
    """What the check says of this text beside the contracts before it; later ones are not its business."""
    told = check({**prior, kind: text}, mini=mini)
    undelivered = kind is Kind.PHASES
    return tuple(
        each for each in told if each.file == kind.file or (undelivered and each.code == "feature_undelivered")
    )


def unfenced(text: str) -> str:
    """Without the code fence around the whole of it."""
    found = _FENCED.match(text)
    return found[2] if found else text


def is_readable(kind: Kind, text: str) -> bool:
    """Whether it can be kept as a draft: data must parse, Markdown must have one of its headings."""
    if not contract.parse(kind, text).readable:
        return False
    if kind.form != "markdown":
        return True
    document = markdown.parse(text)
    wanted = kind.sections or tuple(each.heading for each in document.sections if each.heading.startswith("Phase "))
    return bool(document.title) and any(document.section(each) is not None for each in wanted)


def _profile(profile: Profile, work: Work, turns: int) -> Profile:
    limits = LoopLimits(turns, profile.limits.usd)
    return replace(profile, system=f"{profile.system.rstrip()}\n\n{form(work.kind, mini=work.mini)}", limits=limits)


def form(kind: Kind, *, mini: bool = False) -> str:
    """What the contract has to look like; the tool for prior contracts has an example of it."""
    sections = f"Sections: {', '.join(kind.sections)}." if kind.sections else ""
    exactly = "Exactly two phases, 0 and 1." if mini and kind is Kind.PHASES else ""
    return "\n".join(each for each in (f"## {kind.file}", sections, _RULES[kind], exactly) if each)


_RULES = {
    Kind.MANIFESTO: "Purpose, then principles that decide when two goods collide.",
    Kind.BLUEPRINT: "Users, features with ids `F1…`, architecture, what is left out.",
    Kind.STACK: "Name languages with versions under *Languages*; say why where it is not obvious.",
    Kind.SCHEMA: "One `### Name` with a table for each entity under *Entities*.",
    Kind.PHYSICS: (
        "OpenAPI 3.1 in YAML: `openapi`, `info`, `security`, `paths`, `components`. Every operation has an "
        "`operationId` and responses. A component schema has the name of an entity of `schema`, or says `x-entity`. "
        "No anchors."
    ),
    Kind.BOUNDARIES: (
        "JSON: `layers` (name, paths), `allowed` (from, to), `forbidden` (layer, import, reason), `invariants`."
    ),
    Kind.UI: "Pages with ids `P1…`.",
    Kind.PHASES: (
        "Phases from 0; each with objective, what it depends on, what it touches, deliverables `D0.1` and criteria "
        "`A0.1`. A deliverable names what it delivers in brackets: F1, P1, entity:Name, endpoint:operationId. Every "
        "feature of `blueprint` is named by one."
    ),
    Kind.BUILDER_DIRECTIVE: (
        "The order has every phase once. One test command in backticks. Limits of: turns_per_phase, minutes_per_phase, "
        "fix_attempts, cost_usd."
    ),
}


def _submission(work: Work) -> Submission:
    async def findings(value: Json) -> Sequence[str]:
        text = unfenced(value["content"])
        return sentences(await asyncio.to_thread(own_findings, work.kind, text, work.prior, mini=work.mini))

    schema: Json = {
        "type": "object",
        "properties": {"content": {"type": "string", "minLength": 1}},
        "required": ["content"],
    }
    about = "Submit the whole text. It is checked at once."
    return Submission(schema, findings, SUBMIT, about)


def _has_only_talked(items: Sequence[Item]) -> bool:
    """Twice in a row without a call: the agent was told to submit and did not."""
    said = [each for each in items if isinstance(each, AssistantMessage)][-2:]
    return len(said) == 2 and not any(each.calls for each in said)


def _settled(work: Work, done: LoopResult, reads: tuple[Kind, ...]) -> Authored:
    kind, reason = work.kind, ""
    match done.end:
        case Submitted(value=value):
            return Authored(kind, unfenced(value["content"]), draft=False, findings=(), reads=reads, usage=done.usage)
        case Cancelled():
            raise RunCancelled(f"{kind.value} was cancelled", hint="what was written before is kept")
        case Failed(reason=told):
            raise GenerationFailed(f"{kind.value} was not written: {told}", hint="Generate it again; the rest is kept.")
        case TurnLimit(reason=told):
            reason = told
        case Finished():
            reason = f"The agent did not call {SUBMIT}."
    text = _draft(kind, done.items)
    if text is None:
        raise ContractNotSubmitted(
            f"{kind.value} was not written: nothing that was submitted or said can be read as {kind.file}. {reason}",
            hint="Generate it again, with another model if need be; the contracts before it are kept.",
        )
    findings = sentences(own_findings(kind, text, work.prior, mini=work.mini))
    return Authored(kind, text, draft=True, findings=tuple(findings), reads=reads, usage=done.usage, note=reason)


def _draft(kind: Kind, items: Sequence[Item]) -> str | None:
    """The last submission that can be read, else the last text that can."""
    answers = [each for each in reversed(items) if isinstance(each, AssistantMessage)]
    submitted: list[Any] = [
        call.arguments.get("content") for each in answers for call in reversed(each.calls) if call.name == SUBMIT
    ]
    said = [text for each in answers for text in _candidates(each.text)]
    texts = (unfenced(each) for each in (*submitted, *said) if isinstance(each, str))
    return next((each for each in texts if each.strip() and is_readable(kind, each)), None)


def _candidates(text: str) -> list[str]:
    """The whole answer, and what is in its code fences, the longest first."""
    return [text, *sorted((found[2] for found in _BLOCK.finditer(text)), key=len, reverse=True)]
