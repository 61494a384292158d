"""The testing checklist of the explorer's projects, each item by hand in the browser, in the order of the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Desk, until
from tests.web.projects import say

WISH = (
    "We want to build a dashboard for our dispatchers. They lose two hours every day because they copy orders by hand. "
    "Anna Berg decides."
)
SCENE = "Our team has three people. Bob leads sales and his department uses the planning tool."


class Project:
    """One project as its directory shows it, made and talked to in the browser."""

    def __init__(self, page: Any, desk: Desk, name: str) -> None:
        self.page, self.desk, self.name = page, desk, name
        page.goto(desk.address("/projects/new"))
        page.get_by_label("Name (optional)").fill(name)
        page.get_by_label("Who answers").select_option("builtin")
        self.slug = page.get_by_label("Directory").inner_text()
        page.get_by_role("button", name="Create the project").click()
        page.get_by_label("Message to the project").wait_for()
        self.address = page.url

    @property
    def directory(self) -> Path:
        return self.desk.place / "workspace" / "projects" / self.slug

    @property
    def state(self) -> dict[str, Any]:
        place = self.directory / "state.json"
        until(place.is_file)
        found: dict[str, Any] = json.loads(place.read_text())
        return found

    def said(self, text: str) -> None:
        """Say it, and wait until the answer is in the state."""
        before = len(self.state["messages"])
        say(self.page, text)
        until(lambda: len(self.state["messages"]) >= before + 2)


@pytest.fixture
def project(page: Any, desk: Desk, request: pytest.FixtureRequest) -> Project:
    return Project(page, desk, request.node.name.removeprefix("test_").replace("_", " ")[:40])


def chat(page: Any) -> Any:
    return page.get_by_role("log", name="Chat")


@pytest.mark.req("W-01")
def test_the_workspace_is_made_on_the_first_run(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/projects"))
    expect(page.get_by_role("heading", name="Projects", level=1)).to_be_visible()
    assert (desk.place / "workspace" / "projects").is_dir()


@pytest.mark.req("W-02")
def test_a_name_of_special_characters_gives_a_clean_directory(page: Any, desk: Desk) -> None:
    project = Project(page, desk, "Bob's Project / v2 (Final)")
    assert project.slug == "bobs-project-v2-final"
    assert project.state["project_name"] == "Bob's Project / v2 (Final)"
    assert (project.directory / "artifacts").is_dir()


@pytest.mark.req("W-02")
def test_a_name_that_is_taken_is_an_error_and_no_crash(page: Any, desk: Desk, expect: Any) -> None:
    Project(page, desk, "Taken name")
    page.goto(desk.address("/projects/new"))
    page.get_by_label("Name (optional)").fill("Taken: NAME")
    page.get_by_role("button", name="Create the project").click()
    expect(page.get_by_role("alert").filter(has_text="taken-name")).to_be_visible()
    expect(page.get_by_label("Name (optional)")).to_have_value("Taken: NAME")


@pytest.mark.req("W-07")
def test_a_new_project_asks_for_background_by_itself(project: Project, expect: Any) -> None:
    expect(chat(project.page).get_by_role("article", name="Forge")).to_contain_text("Stakeholders")


@pytest.mark.req("W-07", "W-05")
def test_background_goes_into_the_state_and_the_context_file(project: Project, expect: Any) -> None:
    say(project.page, SCENE)
    project.page.get_by_role("button", name="Background").click()
    expect(chat(project.page)).to_contain_text("Now, what problem or opportunity are you after?")
    assert SCENE in (project.directory / "context.md").read_text()
    assert SCENE in project.state["org_context"]["internal_context"]


@pytest.mark.req("W-07")
def test_a_problem_that_is_stated_at_once_goes_ahead(project: Project, expect: Any) -> None:
    project.said(WISH)
    expect(chat(project.page)).to_contain_text("What happens today, step by step")
    expect(chat(project.page)).not_to_contain_text("Is this background")
    assert project.state["document_skeleton"]["solution_name"] == "dashboard"


@pytest.mark.req("W-03")
def test_every_message_is_saved(project: Project) -> None:
    project.said(WISH)
    before = project.state
    project.said("Every morning there are 80 mails and each order is typed twice.")
    after = project.state
    assert after["messages"][: len(before["messages"])] == before["messages"]
    assert after["messages"][-2]["content"].startswith("Every morning")
    assert after["last_saved"] >= before["last_saved"]


@pytest.mark.req("W-08", "W-03")
def test_a_closed_tab_is_resumed_with_all_state_and_history(project: Project, expect: Any) -> None:
    project.said(WISH)
    before = project.state
    context, name = project.page.context, project.name
    project.page.close()
    page = context.new_page()
    page.goto(project.desk.address("/projects"))
    page.get_by_role("main").get_by_role("link", name=name).first.click()
    for text in ("Welcome to your new project", "They lose two hours every day", "What happens today, step by step"):
        expect(chat(page)).to_contain_text(text)
    panel = page.get_by_role("region", name="Exploration", exact=True)
    expect(panel.get_by_role("row", name="A dashboard would solve the problem")).to_be_visible()
    expect(panel.get_by_role("region", name="Stakeholders")).to_contain_text("Anna Berg")
    expect(panel).to_contain_text("They lose two hours every day because they copy orders by hand.")
    for key in ("assumption_register", "document_skeleton", "routing_context", "messages"):
        assert project.state[key] == before[key], key


@pytest.mark.req("W-04")
def test_a_missing_key_and_another_version_still_load_and_a_warning_is_shown(project: Project, expect: Any) -> None:
    project.said(WISH)
    saved = project.state
    del saved["routing_context"], saved["pending_questions"]
    saved["schema_version"] = "0.7"
    (project.directory / "state.json").write_text(json.dumps(saved))
    project.page.reload()
    expect(chat(project.page)).to_contain_text("They lose two hours every day")
    panel = project.page.get_by_role("region", name="Exploration", exact=True)
    expect(panel).to_contain_text("another version of Forge (state 0.7, here 1.0)")
    expect(panel.get_by_role("row", name="A dashboard would solve the problem")).to_be_visible()
    project.said("Every morning there are 80 mails.")
    assert project.state["routing_context"]["answered"] == 2


@pytest.mark.req("W-05")
def test_a_hand_edit_of_the_context_counts_from_the_next_message(project: Project) -> None:
    project.said(WISH)
    text = "# Depot AG\n\n## Internal Context\nBob has left; Carla leads sales.\n"
    (project.directory / "context.md").write_text(text)
    project.said("Every morning there are 80 mails.")
    assert "Carla leads sales" in project.state["org_context"]["internal_context"]
    assert (project.directory / "context.md").read_text() == text


@pytest.mark.req("W-06")
def test_a_brief_is_saved_as_an_artifact(project: Project, expect: Any) -> None:
    project.said(WISH)
    with project.desk.client() as client:
        id_ = project.address.split("?")[0].rpartition("/")[2]
        body = {"tool": "generate_artifact", "arguments": {"artifact_type": "problem_brief", "reason": "r"}}
        assert client.post(f"/api/projects/{id_}/explore/changes", json=body).is_success
    project.page.reload()
    expect(project.page.get_by_role("article", name="problem brief")).to_be_visible()
    written = (project.directory / "artifacts" / "problem_brief.md").read_text()
    assert "They lose two hours every day" in written
    assert project.state["latest_artifact"] == written


@pytest.mark.req("W-08")
def test_projects_stand_by_their_last_change_and_never_mix(page: Any, desk: Desk, expect: Any) -> None:
    first, second = Project(page, desk, "First of two"), Project(page, desk, "Second of two")
    page.goto(first.address)
    first.said(WISH)
    page.goto(desk.address("/projects"))
    rows = page.get_by_role("main").get_by_role("link").filter(has_text="of two")
    expect(rows.nth(0)).to_contain_text("First of two")
    expect(rows.nth(1)).to_contain_text("Second of two")
    rows.nth(1).click()
    expect(chat(page)).not_to_contain_text("They lose two hours every day")
    second.said("The press needs a new roller because the paper is torn, which takes hours to mend.")
    page.goto(first.address)
    expect(chat(page)).to_contain_text("They lose two hours every day")
    expect(chat(page)).not_to_contain_text("roller")
    assert "roller" not in json.dumps(first.state)
    assert "dashboard" not in json.dumps(second.state)
