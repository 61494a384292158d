"""Chats that a confirmation cleared are still there to be read."""

from __future__ import annotations

import json

import pytest

from forge.projects import chat
from forge.projects.project import Project
from forge.projects.said_before import said_before
from tests.projects.conftest import drafted

pytestmark = pytest.mark.req("P-13")


def say(project: Project, text: str) -> None:
    drafted(project, lambda draft: draft.say(text, "human"))


def clear(project: Project) -> None:
    drafted(project, lambda draft: draft.clear_chat())


def told(project: Project) -> list[str]:
    return [each.content for each in said_before(project)]


def test_nothing_was_said_before_the_first_chat_is_cleared(project: Project) -> None:
    say(project, "a lamp for the harbour")
    assert told(project) == []


def test_each_chat_is_told_as_it_was_when_it_was_cleared(project: Project) -> None:
    first = [each.content for each in project.chat()]
    say(project, "a lamp for the harbour")
    say(project, "and one for the pier")
    clear(project)
    say(project, "the lamp is green")
    clear(project)
    say(project, "now")
    assert told(project) == [*first, "a lamp for the harbour", "and one for the pier", "the lamp is green"]
    assert [each.content for each in project.chat()] == ["now"]


def test_what_a_person_took_out_by_hand_stays_out(project: Project) -> None:
    say(project, "the password is swordfish")
    say(project, "a lamp for the harbour")
    file = project.directory / chat.FILE
    file.write_text(json.dumps([each for each in json.loads(file.read_text()) if "swordfish" not in each["content"]]))
    project.records.take_in()
    clear(project)
    assert "a lamp for the harbour" in told(project)
    assert not any("swordfish" in each for each in told(project))
