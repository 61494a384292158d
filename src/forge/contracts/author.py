"""One contract written by an agent: it fetches what it needs with tools and submits a text that code checks at once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forge.agents.loop import Cancelled, Failed, Finished, Loop, LoopResult, Submitted, TurnLimit, run_loop
from forge.agents.profile import LoopLimits, Profile
from forge.agents.steps import Steps
from forge.agents.submission import Submission
from forge.contracts import contract, markdown, outline
from forge.contracts.check import check
from forge.contracts.errors import ContractNotSubmitted, GenerationFailed
from forge.contracts.kinds import ORDER, Finding, Kind, kind_named, sentences
from forge.contracts.material import DOCUMENTS, Material
from forge.contracts.templates import template
from forge.engine.errors import RunCancelled
from forge.errors import ForgeError
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, Usage, UserMessage
from forge.sessions.turns import Item
from forge.tools.tool import FunctionTool, ToolRetry
from forge.tools.toolbox import Toolbox

ROLE = "contract-author"
SUBMIT = "submit_contract"
TURNS = 12
_FENCED = re.compile(r"\A\s*(`{3,}|~{3,})[\w+-]*[ \t]*\n(.*?)\n?\1[ \t]*\s*\Z", re.DOTALL)
_BLOCK = re.compile(r"^(`{3,}|~{3,})[\w+-]*[ \t]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
_NOTHING: Json = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A prior contract, or a part of it, as an agent got it."""

    kind: Kind
    part: str
    text: str


@dataclass(frozen=True, slots=True)
class Work:
    """What one contract is written from. `prior` are the contracts before it, as they were when it was begun."""

    kind: Kind
    material: Material
    prior: Mapping[Kind, str]
    mini: bool = False
    fetched: Callable[[Fetched], None] = lambda _: None
    """Told of each prior contract that the agent reads; on a replay again, in the same order."""


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


@dataclass(slots=True)
class _Reads:
    kinds: list[Kind] = field(default_factory=list)


async def write(loop: Loop, work: Work, steps: Steps, *, turns: int = TURNS) -> Authored:
    """Run one conversation to its end. `loop` brings model, journal and limits; its toolbox is replaced."""
    reads = _Reads()
    profile = _profile(loop.profile, work, turns)
    mine = replace(
        loop,
        profile=profile,
        toolbox=Toolbox(_tools(work, reads), profile.tools, files=False),
        submission=_submission(work),
        stop=_has_only_talked,
    )
    task = f"Write the contract `{work.kind.value}` ({work.kind.file}) for {work.material.name}."
    done = await run_loop(mine, [UserMessage(task)], steps)
    return _settled(work, done, tuple(kind for kind in ORDER if kind in reads.kinds))


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
        "properties": {"content": {"type": "string", "minLength": 1, "description": "The whole text."}},
        "required": ["content"],
        "additionalProperties": False,
    }
    about = "Submit the contract. It is checked at once."
    return Submission(schema, findings, SUBMIT, about)


def _tools(work: Work, reads: _Reads) -> list[FunctionTool]:
    known = work.material
    before = [kind.value for kind in ORDER[: ORDER.index(work.kind) + 1]]
    document: Json = {
        "type": "object",
        "properties": {"document": {"enum": list(DOCUMENTS), "description": "That one whole."}},
        "additionalProperties": False,
    }
    prior: Json = {
        "type": "object",
        "properties": {
            "contract_type": {"enum": before},
            "part": {"type": "string", "description": "outline, a heading, or a phase number; else all."},
        },
        "required": ["contract_type"],
        "additionalProperties": False,
    }
    return [
        FunctionTool(
            "get_project_intent",
            "Purpose, constraints, scale, decisions, open questions.",
            document,
            lambda args: known.project_intent(args.get("document")),
        ),
        FunctionTool(
            "get_technical_preferences",
            "Languages, frameworks, hosting, tests, data.",
            _NOTHING,
            lambda _: known.technical_preferences(),
        ),
        FunctionTool("get_user_stories", "Users, stories, features, pages.", _NOTHING, lambda _: known.user_stories()),
        FunctionTool(
            "get_prior_contract",
            "An earlier contract, or a part of it.",
            prior,
            lambda args: _prior(work, reads, args),
        ),
    ]


def _prior(work: Work, reads: _Reads, args: Json) -> str:
    try:
        kind = kind_named(args["contract_type"])
    except ForgeError as e:
        raise ToolRetry(f"{e.message} {e.hint}") from e
    if kind is work.kind:
        return f"An example for another product:\n\n{template(kind, mini=work.mini)}"
    text = work.prior.get(kind)
    if text is None:
        raise ToolRetry(f"{kind.value} is not written. There are: {', '.join(work.prior) or 'none'}.")
    part = str(args.get("part") or "").strip()
    given = _part(kind, text, part)
    reads.kinds.append(kind)
    work.fetched(Fetched(kind, part, given))
    return given


def _part(kind: Kind, text: str, name: str) -> str:
    if not name and kind is Kind.PHASES:
        raise ToolRetry("All phases at once are too much. Ask for `outline`, or for one phase by its number.")
    if not name:
        return text
    if name == outline.OUTLINE:
        return outline.outline(kind, text)
    found = outline.part(kind, text, name)
    if found is None:
        raise ToolRetry(f"{kind.file} has no part {name[:60]!r}. It has: {', '.join(outline.parts(kind, text))}.")
    return found


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
