"""What people say to a project is kept, named and counted, whatever it looks like."""

from __future__ import annotations

import json

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import Action
from forge.app.projects.autopilot import LocalPilot, watch
from forge.app.projects.catalog import create
from forge.app.projects.messages import Given, say
from forge.projects import context_file
from forge.projects.errors import ProjectExists
from tests.support.scripted_projects import CLEAR, Office, office, pressed, said, script

__all__ = ["office", "script"]

NOTION = "https://www.notion.so/team/Plan-0123456789abcdef0123456789abcdef"
DOCUMENT = "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit?usp=sharing"


@pytest.mark.req("P-03", "X-06")
def test_a_link_is_kept_whole_and_it_is_said_that_it_was_not_read(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project = await create(shop, "Links", agent="builtin")
        told = (await say(shop, project, f"{CLEAR} See {NOTION} and {DOCUMENT}.")).message
        words, *answers = [message.content for message in project.chat()][-3:]
        assert NOTION in words
        assert DOCUMENT in words
        assert "\n\n".join(answers) == told
        assert f"Notion is not set up; the page was not read: {NOTION}" in told
        assert "connectors.notion" in told
        assert f"Google Drive is not set up; the page was not read: {DOCUMENT}" in told

    office.do(use)


@pytest.mark.req("P-03")
def test_of_other_links_nothing_is_said(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project = await create(shop, "Links", agent="builtin")
        assert (await say(shop, project, f"{CLEAR} See https://example.org/a.", about="problem")).message == ""

    office.do(use)


@pytest.mark.req("W-02")
def test_a_name_without_letters_of_the_alphabet_is_untitled_and_a_second_one_a_duplicate(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        assert (await create(shop, "日本語", agent="builtin")).directory.name == "untitled-project"
        with pytest.raises(ProjectExists):
            await create(shop, "!!!", agent="builtin")
        for nothing in ("", "   ", None):
            project = await create(shop, nothing, agent="builtin")
            assert project.directory.name == project.id

    office.do(use)


@pytest.mark.req("W-03", "W-07")
def test_the_priming_counts_as_a_turn(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project = await create(shop, "Turns", agent="builtin")
        assert project.state().values["turn_count"] == 1
        await say(shop, project, CLEAR)
        assert project.state().values["turn_count"] == 2

    office.do(use)


@pytest.mark.req("W-03", "W-05")
def test_the_state_file_has_the_team_context_as_the_context_file_has_it(office: Office) -> None:
    async def use(shop: Workshop) -> None:
        project = await create(shop, "Context", agent="builtin")

        def saved() -> dict[str, str]:
            return dict(json.loads((project.directory / "state.json").read_text())["org_context"])

        context_file.update_org_context(
            project.records,
            company="Acme",
            domain="Lights",
            public_context="Sells lights.",
            internal_context="Bob decides.",
        )
        told = {
            "company": "Acme",
            "domain": "Lights",
            "public_context": "Sells lights.",
            "internal_context": "Bob decides.",
        }
        assert saved() == told
        assert context_file.read(project.records) == context_file.OrgContext(**told)
        (project.directory / "context.md").write_text("# Acme\n\nDomain: Lamps\n\n## Internal Context\nAnn decides.\n")
        await say(shop, project, CLEAR)
        assert saved() == {
            "company": "Acme",
            "domain": "Lamps",
            "public_context": "",
            "internal_context": "Ann decides.",
        }

    office.do(use)


SIGNS = ("{{ name }}", "{% raw %}", "{# note #}", "{{ 7*7 }}", "${HOME}", "%(user)s", "{0}")
TEMPLATES = (
    "We want to plan a mail campaign for forty members with the greeting “Dear {{ name }}” and a {% raw %} block. "
    "The budget must not exceed 1500 euros, and every mail must show {{ 7*7 }} and {# note #} as they are. "
    "The footer has to name ${HOME}, %(user)s and {0}. Should the subject be “Hi {{ name }}”?"
)


@pytest.mark.req("P-03", "P-04", "P-05", "P-06")
@pytest.mark.parametrize("by", ["rules", "model"])
def test_signs_of_templates_stay_text_from_the_brain_dump_to_the_plan(
    office: Office, by: str, request: pytest.FixtureRequest
) -> None:
    if by == "model":
        request.getfixturevalue("script")

    async def use(shop: Workshop) -> None:
        project = await create(shop, "Mails", agent="builtin")
        await say(shop, project, TEMPLATES, about="problem")
        assert project.chat()[-1].content == TEMPLATES
        await pressed(shop, project, Action.DISTILL)
        intent = project.records.read("docs/intent.md") or ""
        assert [sign for sign in SIGNS if sign not in intent] == []
        await said(shop, project, "The sender is {{ team }} {% if x %}.")
        assert "{{ team }} {% if x %}" in (project.records.read("docs/intent.md") or "")
        await pressed(shop, project, Action.CONFIRM)
        given = [Given(1, text="Yes: “Hi {{ name }}” {%- x -%}")]
        seen = await watch(LocalPilot(shop, project), await say(shop, project, "", given=given), lambda _: None)
        assert seen.open_questions == ()
        assert "“Hi {{ name }}” {%- x -%}" in (project.records.read("docs/spec.md") or "")
        constraints = project.records.read("docs/constraints.md") or ""
        assert "{{ 7*7 }}" in constraints
        seen = await pressed(shop, project, Action.CONFIRM)
        assert (seen.phase, seen.outline is None) == (("halted", False) if by == "rules" else ("done", True))
        assert seen.deliverable is not None
        plan = (project.directory / seen.deliverable).read_text()
        assert [sign for sign in ("{{ name }}", "{{ 7*7 }}", "{# note #}") if sign not in plan] == []
        assert " 49 " not in intent + plan

    office.do(use)
