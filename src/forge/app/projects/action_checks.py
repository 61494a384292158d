"""Checks before an action has its effect: answers that fit no question, and work that needs a model."""

from __future__ import annotations

from collections.abc import Sequence

from forge.app.admin.plugins import plugins_of
from forge.app.process.workshop import Workshop
from forge.app.projects.chosen_agents import chosen_agents_of
from forge.builtin_rules import judged, needs_a_model
from forge.pipeline import realign
from forge.pipeline.actions import Action, ActionState
from forge.pipeline.answers import AnswerRefused, Given, checked
from forge.pipeline.delivery_run import PLAN
from forge.pipeline.desk import INTENT
from forge.pipeline.draft import Draft
from forge.projects.intent import parse_intent
from forge.projects.project import Project
from forge.projects.status import Phase


def check_given(state: ActionState, draft: Draft, action: Action, text: str, given: Sequence[Given]) -> None:
    """Answers fit what is asked now, or nothing happens."""
    if action is Action.PROVIDE_INPUT and not given and not text.strip():
        raise AnswerRefused("The input is empty.", hint="Write something, or let Forge decide.")
    if state.waiting == "halted" and any(one.delegated for one in given):
        raise AnswerRefused("Nothing is asked here.", hint="Retry, or say what was missing.")
    checked(given, 1 if state.waiting == "stuck" else len(draft.info.open))


def refuse_without_a_model(shop: Workshop, project: Project, draft: Draft, state: ActionState, action: Action) -> None:
    """Rules make outlines of plans. Everything else is refused before it begins, not two phases later."""
    match action, state.phase:
        case Action.RESUME, _ if state.outline:
            if chosen_agents_of(shop, project).by_rules("spec-building"):
                raise needs_a_model("Writing it")
        case Action.DISTILL, _:
            kind = judged("\n\n".join(realign.brain_dump(draft.chat)), draft.status.deliverable_type or "")
            if kind.kind != PLAN and kind.sure and chosen_agents_of(shop, project).by_rules("brain-dump-intake"):
                raise needs_a_model("Code", otherwise="Or say “It is a plan.” to get an outline.")
        case Action.CONFIRM, Phase.HUMAN_REVIEW:
            intent = parse_intent(draft.read(INTENT) or "", tuple(plugins_of(shop.settings).deliverables))
            if intent.deliverable_type != PLAN and chosen_agents_of(shop, project).by_rules("spec-building"):
                raise needs_a_model(f"A deliverable of type {intent.deliverable_type}")
