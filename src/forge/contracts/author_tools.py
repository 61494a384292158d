"""What an agent that writes a contract can fetch: what the project says, and parts of the contracts before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from forge.contracts import outline
from forge.contracts.kinds import ORDER, Kind, kind_named
from forge.contracts.material import DOCUMENTS, STORIES, TECHNICAL, Material
from forge.contracts.templates import template
from forge.errors import ForgeError
from forge.json_value import Json
from forge.tools.tool import FunctionTool, ToolRetry


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


def tools(work: Work, reads: list[Kind]) -> list[FunctionTool]:
    """`reads` gets each contract that was given."""
    known = work.material
    there = [name for name in DOCUMENTS if known.documents.get(name)]
    whole: Json = {"document": {"enum": there, "description": "That one whole."}} if there else {}
    return [
        FunctionTool(
            "get_project_intent",
            "Purpose, constraints, scale, risks, decisions, open questions.",
            {"type": "object", "properties": whole},
            lambda args: known.project_intent(args.get("document")),
        ),
        FunctionTool(
            "get_technical_preferences",
            "Languages, frameworks, hosting, tests, data.",
            _sections(TECHNICAL),
            lambda args: known.technical_preferences(args.get("sections") or TECHNICAL),
        ),
        FunctionTool(
            "get_user_stories",
            "Users, stories, features, pages.",
            _sections(STORIES),
            lambda args: known.user_stories(args.get("sections") or STORIES),
        ),
        FunctionTool(
            "get_prior_contract",
            "An earlier contract, or parts of it.",
            _prior_schema(work.kind),
            lambda args: _prior(work, reads, args),
        ),
    ]


def _sections(names: tuple[str, ...]) -> Json:
    """All of them are given where none is named."""
    return {"type": "object", "properties": {"sections": {"type": "array", "items": {"enum": list(names)}}}}


def _prior_schema(kind: Kind) -> Json:
    """It names the headings that every contract of a kind has, so that no call is needed to learn them."""
    before = ORDER[: ORDER.index(kind)]
    headings = "; ".join(f"{each.value}: {', '.join(outline.always(each))}" for each in before if outline.always(each))
    parts = "outline, ids, headings or single ids, with commas; else all."
    return {
        "type": "object",
        "properties": {
            "contract_type": {"enum": [*(each.value for each in before), kind.value]},
            "part": {"type": "string", "description": f"{parts} {headings}".strip()},
        },
        "required": ["contract_type"],
    }


def _prior(work: Work, reads: list[Kind], args: Json) -> str:
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
    given = _parts(kind, text, part)
    reads.append(kind)
    work.fetched(Fetched(kind, part, given))
    return given


def _parts(kind: Kind, text: str, names: str) -> str:
    """A heading may have a comma of its own, so the whole is tried first."""
    if not names:
        if kind is Kind.PHASES:
            raise ToolRetry("All phases at once are too much. Ask for `outline`, or for phases by their numbers.")
        return text
    whole = _part(kind, text, names)
    if whole is not None:
        return whole
    given: list[str] = []
    for name in (each.strip() for each in names.split(",")):
        found = _part(kind, text, name)
        if found is None:
            raise ToolRetry(f"{kind.file} has no part {name[:60]!r}. It has: {', '.join(outline.parts(kind, text))}.")
        if found not in given:
            given.append(found)
    return "\n\n".join(given)


def _part(kind: Kind, text: str, name: str) -> str | None:
    match name:
        case outline.OUTLINE:
            return outline.outline(kind, text)
        case outline.IDS:
            return outline.ids(kind, text)
    return outline.part(kind, text, name)
