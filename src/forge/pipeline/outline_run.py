"""The end of the way without a model: an outline of what the person said, with every open point as a finding.

An outline is never `done` by itself. The project halts with it; with a model it continues from the specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from forge import builtin_rules
from forge.counts import counted
from forge.deliverables.plan.plan_type import OUTLINE
from forge.events import RoundFinished
from forge.pipeline import polish_phase, provenance
from forge.pipeline.guards import Counts, Guard, Verdict
from forge.pipeline.material import ROUNDS
from forge.plugins.roles import Issue, Severity
from forge.projects import polish
from forge.projects.info import Waiting
from forge.projects.status import HaltReason, Phase

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.desk import ProjectDesk
    from forge.pipeline.draft import Draft
    from forge.pipeline.journey import Journey

__all__ = ["OUTLINE"]

WRITE_IT = "Connect a model to write it."


def label(outline: Mapping[str, Any], *, accepted: bool) -> str:
    """As every face names a project that came to an outline."""
    return f"Outline {'accepted' if accepted else 'ready'} · {counted(outline['open'], 'point')} open"


async def deliver_outline(journey: Journey, desk: ProjectDesk) -> Json:
    """From `building` to `halted`, in one change."""
    made = builtin_rules.outlined(desk.name, intent=desk.intent, spec=desk.spec)
    issues = findings(made)
    outline: Json = {"open": len(issues), "points": [asdict(issue) for issue in issues]}
    told = label(outline, accepted=False)
    counts = Counts.of(1, issues)
    verdict = Verdict(Guard.NONE, "halt", f"{told}.", HaltReason.PHASE3_OUTPUT_INCOMPLETE)

    def write(draft: Draft) -> None:
        draft.redraft(OUTLINE, builtin_rules.rendered(made))
        polish_phase.record_round(draft, polish_phase.Looked(counts, issues, None, None, verdict), "")
        provenance.note(draft, "Outline", _how(made))
        draft.info = replace(draft.info, outline=outline, waiting=Waiting("outline", f"{told}. {WRITE_IT}"))
        draft.say(f"{told}. It is in {OUTLINE}: your sentences by section, and what is still to settle. {WRITE_IT}")
        draft.move(Phase.HALTED, halt_reason=HaltReason.PHASE3_OUTPUT_INCOMPLETE)
        # With a model, what is open is decided before anything is written.
        draft.info = replace(draft.info, halted_in=Phase.SPEC_BUILDING)
        draft.end_run(journey.steps.id)

    journey.project.log.write("info", "halt", str(journey.phase), f"{verdict.halt_reason}: {verdict.reason}")
    await journey.change(write, "outline: ready", event_type="human_needed", summary=f"{told}. {WRITE_IT}")
    found = (counts.critical, counts.medium, counts.minor, counts.total)
    journey.steps.emit(RoundFinished(journey.project.id, 1, *found, guard=Guard.NONE, outcome="halt"))
    return {"phase": str(Phase.HALTED)}


def findings(made: builtin_rules.Outlined) -> tuple[Issue, ...]:
    """One for each open point: medium, because an outline can be read but not acted on."""
    return tuple(
        Issue(Severity.MEDIUM, f"Still to settle: {point.text}", f"{OUTLINE}: {part.title}", f"Settle it: {point.why}.")
        for part in made.parts
        for point in part.open
    )


def _how(made: builtin_rules.Outlined) -> list[str]:
    return [
        f"{provenance.BY_RULES} Every sentence in the outline is yours; the headings are those of the template "
        f"“{made.template}”.",
        "A sentence stands in the section whose words it uses most, and in the first one where it fits nowhere.",
        "Open are: questions without an answer, beliefs that nobody has verified, and points of the template of which "
        "no word was found. The words are English; a text in another language is listed in its order.",
    ]


def begin_anew(draft: Draft) -> None:
    """A model continues from here: the outline stays as a document, and its findings are no round of the new way."""
    draft.info = replace(draft.info, outline=None)
    for path in (polish.FILE, polish.LOG_FILE, ROUNDS):
        if draft.read(path) is not None:
            draft.write(path, None)
