"""A change of a project outside of its run: one commit, and the events that follow from it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.change import change_project
from forge.app.projects.first_message import told_about
from forge.events import BOARD, Event, ProjectMoved, ProjectSaid
from forge.pipeline.draft import Draft
from forge.projects.status import HaltReason, Phase
from tests.support.scripted_projects import Office, Script, new, office, script

__all__ = ["office", "script"]

pytestmark = pytest.mark.req("X-02")


def published(shop: Workshop, topic: str, after: int) -> list[Event]:
    return [each.event for each in shop.events.after(topic, after)]


def test_what_is_said_and_where_it_moves_is_published(office: Office, script: Script) -> None:
    del script

    def halt(draft: Draft) -> None:
        draft.say("Stopped.")
        draft.move(Phase.HALTED, halt_reason=HaltReason.AGENT_FAILURE)

    async def use(shop: Workshop) -> None:
        project = await new(shop)
        await shop.events.flush()
        topic = project.subject.topic
        after, board = shop.events.last(topic), shop.events.last(BOARD)
        done = await asyncio.to_thread(change_project, shop, project, halt, "halted: by a test")
        await shop.events.flush()
        moved = ProjectMoved(project.id, "brain_dump", "halted", "agent_failure")
        assert published(shop, topic, after) == [ProjectSaid(project.id, "ai", "Stopped."), moved]
        assert published(shop, BOARD, board) == [moved]
        assert done["commit"] == project.records.tip()

    office.do(use)


def test_what_changes_nothing_is_no_commit_and_no_event(office: Office, script: Script) -> None:
    del script

    def nothing(draft: Draft) -> None:
        draft.say("Said, and taken back.")
        draft.discard()

    async def use(shop: Workshop) -> None:
        project = await new(shop)
        await shop.events.flush()
        topic = project.subject.topic
        tip, after = project.records.tip(), shop.events.last(topic)
        done = await asyncio.to_thread(change_project, shop, project, nothing, "nothing")
        await shop.events.flush()
        assert (done["commit"], project.records.tip(), published(shop, topic, after)) == (None, tip, [])

    office.do(use)


def test_forges_answer_to_a_first_message_is_published(office: Office, script: Script) -> None:
    del script

    def ask(draft: Draft) -> None:
        draft.info = replace(draft.info, scene_asked="We are five.")

    async def use(shop: Workshop) -> None:
        project = await new(shop)
        await shop.events.flush()
        await asyncio.to_thread(change_project, shop, project, ask, "scene: asked")
        await shop.events.flush()
        after = shop.events.last(project.subject.topic)
        pressed = await told_about(shop, project, "background")
        await shop.events.flush()
        assert published(shop, project.subject.topic, after) == [ProjectSaid(project.id, "ai", pressed.message)]

    office.do(use)
