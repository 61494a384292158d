"""Open-source components that could help: proposed by an agent, looked up, and held against the scorecard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from forge.deliverables.code.candidates import Candidate, proposed
from forge.deliverables.code.facts import Facts
from forge.deliverables.code.registries import Registries
from forge.deliverables.code.scorecard import Finding, Scorecard, Signal, Verdict, scorecard
from forge.errors import ForgeError
from forge.json_value import Json
from forge.plugins.errors import AgentFailed
from forge.plugins.roles import Desk

_NO_REGISTRY = "no registry is configured"
_CANNOT = "builtin_cannot"
_CELL = 80


async def discovered(desk: Desk, registries: Registries | None, *, now: Callable[[], datetime]) -> Json:
    """Each candidate with its eight signals, and the same as a Markdown table for the specification."""
    try:
        candidates = await proposed(desk)
    except ForgeError as e:
        if not isinstance(e, AgentFailed) and e.code != _CANNOT:
            raise
        candidates = e.message
    if isinstance(candidates, str):
        await desk.progress(f"open-source components: none looked at ({candidates})")
        return {"candidates": [], "table": "None looked at."}
    if not candidates:
        return {"candidates": [], "table": "None proposed."}
    await desk.progress(f"looking up {', '.join(each.name for each in candidates)}")
    moment = now()
    facts = await _facts(registries, candidates, moment)
    cards = [scorecard(each, now=moment) for each in facts]
    return {
        "candidates": [_told(each, card) for each, card in zip(candidates, cards, strict=True)],
        "table": table(list(zip(candidates, cards, strict=True))),
    }


async def _facts(registries: Registries | None, candidates: Sequence[Candidate], now: datetime) -> tuple[Facts, ...]:
    if registries is None or not registries.any:
        return tuple(Facts.unknown(_NO_REGISTRY) for _ in candidates)
    # The HTTP library is large; most runs ask no registry.
    from forge.deliverables.code.registry import look_up  # noqa: PLC0415

    return await look_up(registries, [(each.name, each.ecosystem) for each in candidates], now=now)


def table(cards: Sequence[tuple[Candidate, Scorecard]]) -> str:
    """A row for each component; a red flag or something unknown comes with its reason."""
    heads = ["component", "for", "result", *Signal]
    rows = [
        [f"`{each.name}` ({each.ecosystem})", each.purpose, _result(card), *(_shown(f) for f in card.findings)]
        for each, card in cards
    ]
    lines = [heads, ["---"] * len(heads), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _result(card: Scorecard) -> str:
    return f"{card.qualification}: {card.passed} of {len(card.findings)}"


def _shown(finding: Finding) -> str:
    figure = f"{finding.figure}, " if finding.figure else ""
    return (
        f"pass: {finding.figure}" if finding.verdict is Verdict.PASS else f"{finding.verdict}: {figure}{finding.reason}"
    )


def _told(candidate: Candidate, card: Scorecard) -> Json:
    return {
        "name": candidate.name,
        "ecosystem": candidate.ecosystem,
        "purpose": candidate.purpose,
        "signals": [
            {"signal": str(f.signal), "verdict": str(f.verdict), "figure": f.figure, "reason": f.reason}
            for f in card.findings
        ],
        "qualified": str(card.qualification),
    }


def _cell(text: str, longest: int = _CELL) -> str:
    """On one line, and without what would begin another cell."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
    return line if len(line) <= longest else line[: longest - 1].rstrip("\\") + "…"
