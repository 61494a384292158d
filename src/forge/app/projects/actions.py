"""The actions on a project.

An action is decided under the project's lock and written with its effect in one commit; its run has an id that follows
from it, so a crash in between loses neither, and the same action again changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from forge.app.admin.plugins import plugins_of
from forge.app.process.workshop import Workshop
from forge.app.projects import linked_pages
from forge.app.projects.action_checks import check_given, refuse_without_a_model
from forge.app.projects.catalog import show_card
from forge.app.projects.change import change_project
from forge.app.projects.halted_runs import catch_up
from forge.app.projects.named_run import ActionEffect, begin, open_question, run_named, topic_of
from forge.app.projects.run_kinds import KINDS
from forge.app.projects.runs import go_on, is_free_soon, settled
from forge.app.projects.view import row_of, state_of
from forge.app.projects.work_stop import end_run
from forge.engine.errors import RunWaits
from forge.json_value import Json
from forge.pipeline import action_ids, actions, messages, outline_run, realign
from forge.pipeline.actions import Accepted, Action, Duplicate, EarlierAction, NeedsConfirmation, RefusedAction
from forge.pipeline.answers import Given, answered, in_words, structured
from forge.pipeline.baseline import settle_tests
from forge.pipeline.desk import CONSTRAINTS, INTENT, SPEC
from forge.pipeline.draft import Draft
from forge.pipeline.errors import ActionRefused, ConfirmationNeeded
from forge.pipeline.question_wait import Decision, terminated
from forge.plugins.roles import Notice
from forge.projects.info import Acceptance, LastAction
from forge.projects.intent import parse_intent
from forge.projects.project import Project
from forge.projects.status import HaltReason, Phase

__all__ = ["Action", "ActionRefused"]

_ANSWERS = {Action.PROVIDE_INPUT: "input", Action.RESUME: "resume", Action.OVERRIDE: "override"}
_RETRIES = (Action.RESUME, Action.PROVIDE_INPUT)


async def perform(
    shop: Workshop,
    project: Project,
    action: Action,
    *,
    text: str = "",
    confirmed: bool = False,
    action_id: str | None = None,
    asked: str | None = None,
    given: Sequence[Given] = (),
) -> ActionEffect:
    """Do it, or say why not. An action that has had its effect gives the state as it is and changes nothing.

    `asked` is what a person asked for, where the state of the project decided which action that is. `given` are answers
    by number; a stuck build asks one question.
    """
    # What a person says is committed, told and recorded: not their keys.
    text = shop.redactor.text(text)
    given = tuple(replace(one, text=shop.redactor.text(one.text)) for one in given)
    await go_on(shop, project)
    if action is not Action.TERMINATE:
        await settled(shop, project)
    after = await asyncio.to_thread(shop.events.last, topic_of(project))
    if action is Action.TERMINATE and confirmed:
        await _stop_working(shop, project)
    wanted = _Wanted(
        action, text, confirmed, action_id, action_ids.digest(asked or action, in_words(text, given)), given
    )
    decided, done = await asyncio.to_thread(_decided, shop, project, wanted)
    if isinstance(decided, RefusedAction) and await is_free_soon(shop, project):
        decided, done = await asyncio.to_thread(_decided, shop, project, wanted)
    match decided:
        case RefusedAction(reason=reason, allowed=allowed):
            hint = (
                f"What can be done now: {', '.join(map(str, allowed))}."
                if allowed
                else "It has ended; start a new project."
            )
            raise ActionRefused(reason, hint=hint)
        case NeedsConfirmation(question=question):
            raise ConfirmationNeeded(question, hint="Confirm it (--yes).")
        case Duplicate():
            # The process that performed it first may not have started the run yet, or may be dead.
            if (await asyncio.to_thread(_last_action, project)).id == action_id:
                await _tell_waiting_run(shop, project, wanted)
            return ActionEffect(changed=False, run=await go_on(shop, project), after=after)
    if done["before"] != done["phase"]:
        await show_card(shop, project)
    # Before the run continues, so that it reads what was fetched.
    pulled = await _pulled(shop, project, wanted)
    await _tell_waiting_run(shop, project, wanted)
    await go_on(shop, project)
    run = await asyncio.to_thread(run_named, project)
    message = "\n\n".join(one for one in (decided.message, pulled) if one)
    return ActionEffect(changed=True, run=run, after=after, message=message)


async def _pulled(shop: Workshop, project: Project, wanted: _Wanted) -> str:
    """What the words link to is fetched, and the person told of it in the chat."""
    if wanted.action is Action.TERMINATE:
        return ""
    phase = (await asyncio.to_thread(project.status)).phase
    told = await linked_pages.pull(shop, project, in_words(wanted.text, wanted.given), phase)
    if told:
        await asyncio.to_thread(change_project, shop, project, lambda draft: draft.say(told), "chat: Forge")
    return told


@dataclass(frozen=True, slots=True)
class _Wanted:
    action: Action
    text: str
    confirmed: bool
    action_id: str | None
    digest: str
    given: tuple[Given, ...] = ()

    @property
    def decision(self) -> Decision:
        """For a run that waits: a stuck build asks one question."""
        texts = [self.text, *(one.text for one in self.given)]
        delegated = any(one.delegated for one in self.given)
        return Decision(_ANSWERS.get(self.action, str(self.action)), "\n".join(filter(None, texts)), delegated)


def _decided(shop: Workshop, project: Project, wanted: _Wanted) -> tuple[actions.Decision, Json]:
    decision: actions.Decision | None = None

    def change(draft: Draft) -> None:
        nonlocal decision
        if wanted.action is not Action.TERMINATE:  # terminating ends the run itself, and says so in its own words
            catch_up(row_of(shop, draft.info), draft)
        decision = _decision(shop, project, draft, wanted)
        if not isinstance(decision, Accepted):
            draft.discard()
            return
        question = open_question(shop, project)
        latest = LastAction(str(wanted.action), wanted.action_id, question)
        draft.info = action_ids.remembered(replace(draft.info, last_press=latest), wanted.action_id, wanted.digest)
        if question is None:
            _carry_out(shop, draft, decision, wanted)

    done = change_project(shop, project, change, f"{wanted.action}: by a person")
    if done["before"] != done["phase"]:
        if done["phase"] == Phase.HALTED:
            project.log.write("info", "halt", done["before"], f"{done['halt_reason']}: by a person")
        summary = f"{done['before']} → {done['phase']}, by a person".replace("_", " ")
        notice = Notice(project.id, done["name"], done["phase"], "milestone_complete", summary)
        shop.sender.tell(f"{project.id}/{done['commit']}", notice)
    assert decision is not None
    return decision, done


def _decision(shop: Workshop, project: Project, draft: Draft, wanted: _Wanted) -> actions.Decision:
    action = wanted.action
    if action_ids.is_repeated(draft.info, wanted.action_id, wanted.digest):
        return Duplicate()
    state = state_of(shop, project, draft)
    last = draft.info.last_press
    before = EarlierAction(Action(last.action), last.id) if last else None
    decision = actions.decide(state, action, confirmed=wanted.confirmed, last=before, action_id=wanted.action_id)
    if not isinstance(decision, Accepted):
        return decision
    check_given(state, draft, action, wanted.text, wanted.given)
    refuse_without_a_model(shop, project, draft, state, action)
    if action is Action.DISTILL:
        said = realign.brain_dump(draft.chat, background=draft.info.background)
        messages.check(said, minimum=shop.settings.brain_dump.min_word_count)
    if action is Action.REALIGN and isinstance(told := realign.realigned(draft.chat), realign.NoCorrection):
        return RefusedAction(told.message, actions.allowed(state))
    if action is Action.CONFIRM and state.phase is Phase.SPEC_BUILDING and not draft.read(SPEC):
        return RefusedAction("The specification has not been written yet.", actions.allowed(state))
    return decision


def _carry_out(shop: Workshop, draft: Draft, decision: Accepted, wanted: _Wanted) -> None:
    """The effect of an action on the project's files, where no run waits for it."""
    action, phase = decision.action, draft.status.phase
    if draft.status.halt_reason == HaltReason.TESTS_CANNOT_RUN and action in _ANSWERS:
        settle_tests(draft, _ANSWERS[action], wanted.text, draft.info.waiting.text if draft.info.waiting else "")
    if phase is Phase.HALTED and decision.to is not Phase.HALTED and action in _RETRIES:
        _take_up_again(draft, decision.to)
    if words := in_words(wanted.text, wanted.given, draft.info.open):
        draft.say(words, "human")
    if action is Action.CONFIRM:
        _lock(shop, draft, phase)
    if action in (Action.CORRECT, Action.PROVIDE_INPUT) and draft.status.phase is Phase.SPEC_BUILDING:
        _take_answers(draft, wanted)
    if action is Action.TERMINATE:
        terminated(draft)
        return
    if decision.clears_chat:
        draft.clear_chat()
    if decision.to is Phase.DONE:
        draft.info = replace(draft.info, accepted=Acceptance(draft.now), waiting=None)
        draft.say(decision.message)
        draft.move(Phase.DONE)
        return
    if decision.to is not draft.status.phase:
        draft.move(decision.to)
    if decision.message:
        draft.say(decision.message)
    if phase is Phase.BRAIN_DUMP and action is Action.CORRECT:
        return
    begin(draft, KINDS[decision.to])


def _take_up_again(draft: Draft, to: Phase) -> None:
    """A person's words belong to the phase that continues, not to the halt."""
    if draft.info.outline:
        outline_run.begin_anew(draft)
    draft.move(to)


def _take_answers(draft: Draft, wanted: _Wanted) -> None:
    open_ = draft.info.open
    said = answered(wanted.text, open_) if wanted.text.strip() and not wanted.given else []
    remark = (
        [{"question": "", "unknown": "", "answer": wanted.text.strip()}] if wanted.text.strip() and not said else []
    )
    answers = (*draft.info.answers, *said, *remark, *structured(wanted.given, open_))
    draft.info = replace(draft.info, answers=answers)


def _lock(shop: Workshop, draft: Draft, phase: Phase) -> None:
    """What is confirmed is what is in the files now, a person's own edits included."""
    if phase is Phase.HUMAN_REVIEW:
        intent = parse_intent(draft.read(INTENT) or "", tuple(plugins_of(shop.settings).deliverables))
        draft.name(intent.name or draft.status.project_name)
        draft.set_type(intent.deliverable_type)
        draft.lock(INTENT)
        draft.info = replace(draft.info, open=())
        return
    if not draft.info.repository:
        needs_code = plugins_of(shop.settings).deliverables[draft.status.deliverable_type or ""].needs_code
        if needs_code:
            place = str(shop.settings.workspace / "code" / draft.info.id)
            draft.info = replace(draft.info, repository=place)
    draft.lock(SPEC)
    draft.lock(CONSTRAINTS)


async def _tell_waiting_run(shop: Workshop, project: Project, wanted: _Wanted) -> None:
    """A run that waits for this decision continues with it, and writes what follows from it itself. A question that was
    asked later is not answered by it.
    """
    question = await asyncio.to_thread(open_question, shop, project)
    meant = (await asyncio.to_thread(_last_action, project)).question
    if question is not None and question == meant and (wanted.action in _ANSWERS or wanted.action is Action.TERMINATE):
        await shop.engine.answer(question, wanted.decision.to_text())


def _last_action(project: Project) -> LastAction:
    return project.info().last_press or LastAction("")


async def _stop_working(shop: Workshop, project: Project) -> None:
    """A person who terminates does not wait for the work to end by itself."""
    run = await asyncio.to_thread(run_named, project)
    question = await asyncio.to_thread(open_question, shop, project)
    if run is None or question is not None:
        return
    await end_run(shop, run)


async def restarted(
    shop: Workshop, project: Project, *, text: str = "", action_id: str | None = None
) -> ActionEffect | None:
    """Continue with what a crash interrupted, or begin anew what failed on the way, such as for a full disk.

    None where a project is not in the middle of anything, or this action had its effect before.
    """
    wanted = action_ids.digest(Action.RESUME, shop.redactor.text(text))
    if action_ids.is_repeated(await asyncio.to_thread(project.info), action_id, wanted):
        return None
    after = await asyncio.to_thread(shop.events.last, topic_of(project))
    run = await go_on(shop, project)
    if run is None:
        return None
    await settled(shop, project)
    row = await asyncio.to_thread(shop.engine.status, run)
    if row.waits_for and (waits := await asyncio.to_thread(shop.engine.lacks, row.id)):
        raise RunWaits(waits, hint="Or terminate the project.")
    phase = (await asyncio.to_thread(project.status)).phase
    if row.state in ("failed", "cancelled") and phase in KINDS:

        def begun(draft: Draft) -> None:
            draft.info = action_ids.remembered(draft.info, action_id, wanted)
            begin(draft, KINDS[phase])

        await asyncio.to_thread(change_project, shop, project, begun, "resume: run")
        return ActionEffect(changed=True, run=await go_on(shop, project), after=after)
    question = await asyncio.to_thread(open_question, shop, project)
    return None if row.has_ended or question else ActionEffect(changed=False, run=run, after=after)
