"""Links in words that come after the brain dump: fetched where a connector is set up, named where none is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import Action
from forge.projects.project import Project
from tests.support.connector_servers import TOKEN, NotionServer, running
from tests.support.scripted_projects import (
    CLEAR,
    OPEN,
    Office,
    Script,
    at_specification,
    new,
    office,
    pressed,
    said,
    script,
)

__all__ = ["office", "script"]

ID = "0123456789abcdef0123456789abcdef"
NOTION = f"https://www.notion.so/team/Plan-{ID}"
NOT_READ = f"Notion is not set up; the page was not read: {NOTION}"


def forge_words(project: Project) -> str:
    return "\n".join(message.content for message in project.chat() if message.role == "ai")


@pytest.fixture
def connected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    """Somebody who has set up Notion, with one page."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = NotionServer()
    title = {"type": "title", "title": [{"type": "text", "plain_text": "Holiday", "annotations": {}}]}
    server.pages[ID] = {"object": "page", "properties": {"Name": title}}
    words = {"rich_text": [{"type": "text", "plain_text": "Somewhere warm.", "annotations": {}}]}
    server.children[ID] = [{"id": "b", "type": "paragraph", "has_children": False, "paragraph": words}]
    with running(server):
        yield Office.at(
            tmp_path / "office",
            f"connectors:\n  notion:\n    enabled: true\n    api_token: {TOKEN}\n    base_url: {server.url}\n",
        )


@pytest.mark.req("P-03", "X-06")
def test_a_correction_says_of_its_link_that_it_was_not_read(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop)
        await pressed(shop, project, Action.DISTILL)
        await said(shop, project, f"It is all in {NOTION}.")
        assert forge_words(project).count(NOT_READ) == 1
        await pressed(shop, project, Action.CONFIRM)
        await said(shop, project, f"The budget is in {NOTION} as well.")
        # The chat begins anew with each confirmation.
        assert forge_words(project).count(NOT_READ) == 1

    office.do(use)


@pytest.mark.req("P-03")
def test_a_page_that_a_correction_links_to_is_distilled(connected: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop)
        await pressed(shop, project, Action.DISTILL)
        await said(shop, project, f"It is all in {NOTION}.")
        assert f"Saved resources/notion_{ID}.md." in forge_words(project)
        read = script.of("brain-dump-intake")[-1].material["resources"]
        assert [each["path"] for each in read] == [f"notion_{ID}.md"]
        assert "Somewhere warm." in read[0]["text"]

    connected.do(use)


@pytest.mark.req("P-03")
def test_a_page_that_an_answer_links_to_reaches_the_specification(connected: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        project = await at_specification(shop, dump=OPEN)
        assert "later_pages" not in script.of("spec-building")[-1].material
        await said(shop, project, f"As in {NOTION}.")
        read = script.of("spec-building")[-1].material["later_pages"]
        assert "Somewhere warm." in read[0]["text"]

    connected.do(use)


@pytest.mark.req("P-03")
def test_input_for_a_halted_project_says_of_its_link_that_it_was_not_read(office: Office, script: Script) -> None:
    async def use(shop: Workshop) -> None:
        script.answers["brain-dump-intake"] = lambda _: "no intent at all"
        project = await new(shop, dump=CLEAR)
        assert (await pressed(shop, project, Action.DISTILL)).phase == "halted"
        del script.answers["brain-dump-intake"]
        assert (await said(shop, project, f"See {NOTION}.")).phase == "human_review"
        assert forge_words(project).count(NOT_READ) == 1

    office.do(use)
