"""The explorer's chat and its project directory, item by item, as far as they are built.

Two projects are made and talked to by commands; each test looks at what one of them left behind.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.checklists.projects import TIME, Walk
from tests.cli.conftest import run_here
from tests.support.scripted_projects import CLEAR, scripted

NAME = "Campaign Analysis: Q3 (Final)"
SCENE = "Our team has three people. The stakeholders are Bob, head of sales, and his department."
KEYS = (
    "messages",
    "turn_count",
    "current_phase",
    "active_mode",
    "assumption_register",
    "assumption_counter",
    "document_skeleton",
    "routing_context",
    "org_context",
    "latest_artifact",
    "pending_questions",
)


@pytest.fixture(scope="module")
def campaign(machine: Path) -> Walk:
    """Background first, then the problem; the context file and the state are edited by hand in between."""
    walk = Walk(machine / "workspace", "campaign-analysis-q3-final")
    with pytest.MonkeyPatch.context() as patch:
        script = scripted(patch)
        script.answers["team-context"] = lambda task: json.dumps(
            {"kind": "background" if "Bob" in task.material["message"] else "problem", "context": SCENE}
        )
        walk.seen("made", run_here("project", "new", NAME, "--agent", "builtin", "--json"))
        walk.seen("twice", run_here("project", "new", NAME.upper(), "--json"))
        walk.step("scene", "say", "-m", SCENE)
        (walk.directory / "context.md").write_text("# Acme\n\n## Internal Context\nBob has left.\n")
        walk.step("problem", "say", "-m", CLEAR)
        walk.step("distilled", "distill")
        told = script.of("brain-dump-intake")[-1].material
        walk.files["told"] = {"team_context": told["team_context"], "brain_dump": json.dumps(told["brain_dump"])}
    return walk


@pytest.fixture(scope="module")
def bobs(machine: Path, campaign: Walk) -> Walk:
    """Made later; the problem comes at once."""
    walk = Walk(machine / "workspace", "bobs-project-v2")
    with pytest.MonkeyPatch.context() as patch:
        scripted(patch)
        walk.seen("made", run_here("project", "new", "Bob's Project / v2", "--agent", "builtin", "--json"))
        walk.step("problem", "say", "-m", CLEAR)
        walk.step("distilled", "distill")
    return walk


@pytest.mark.req("W-01")
def test_projects_are_directories_below_the_folder_of_projects(campaign: Walk, machine: Path) -> None:
    place = machine / "workspace/projects/campaign-analysis-q3-final"
    assert campaign.view("made")["directory"] == str(place)


@pytest.mark.req("W-01")
def test_a_project_has_its_folder_for_artifacts_from_the_beginning(campaign: Walk) -> None:
    assert (campaign.directory / "artifacts").is_dir()


@pytest.mark.req("W-02")
@pytest.mark.parametrize("project", ["campaign", "bobs"])
def test_a_name_of_any_signs_gives_a_safe_directory(request: pytest.FixtureRequest, project: str) -> None:
    walk: Walk = request.getfixturevalue(project)
    assert Path(walk.view("made")["directory"]).name == walk.name


@pytest.mark.req("W-02")
def test_the_name_is_kept_as_it_was_typed(campaign: Walk) -> None:
    assert campaign.value("made", "state.json")["project_name"] == NAME


@pytest.mark.req("W-02")
def test_a_name_that_is_taken_is_an_error_and_changes_nothing(campaign: Walk) -> None:
    assert (campaign.ran["twice"].code, campaign.ran["twice"].error) == (1, "project_exists")
    assert campaign.files["twice"] == campaign.files["made"]


@pytest.mark.req("W-03")
def test_the_state_has_its_version_name_and_time_on_top(campaign: Walk) -> None:
    state = campaign.value("made", "state.json")
    assert list(state)[:3] == ["schema_version", "project_name", "last_saved"]
    assert state["schema_version"] == "1.0"
    assert TIME.fullmatch(state["last_saved"])


@pytest.mark.req("W-03")
@pytest.mark.parametrize("key", KEYS)
def test_the_state_keeps_each_part_of_the_conversation(campaign: Walk, key: str) -> None:
    assert key in campaign.value("made", "state.json")


@pytest.mark.req("W-03", "W-07")
@pytest.mark.parametrize("transient", ["project_dir", "is_priming_turn", "initialized"])
def test_the_state_leaves_out_what_is_only_of_the_moment(campaign: Walk, transient: str) -> None:
    assert transient not in campaign.value("made", "state.json")


@pytest.mark.req("W-03")
def test_the_state_is_indented_so_that_people_can_read_it(campaign: Walk) -> None:
    assert '\n  "project_name"' in campaign.files["made"]["state.json"]


@pytest.mark.req("W-03")
def test_no_half_written_state_stays_behind(campaign: Walk) -> None:
    assert not [path for path in campaign.files["distilled"] if path.endswith(".tmp")]


@pytest.mark.req("W-07")
def test_a_new_project_begins_with_forges_message(campaign: Walk) -> None:
    (message,) = campaign.value("made", "state.json")["messages"]
    assert message["role"] == "assistant"


@pytest.mark.req("W-07")
@pytest.mark.parametrize("subject", ["team", "stakeholders", "systems", "vocabulary", "goals", "politics"])
def test_the_first_message_asks_for_each_part_of_the_background(campaign: Walk, subject: str) -> None:
    assert subject in campaign.said("made")[0].lower()


@pytest.mark.req("W-07")
def test_the_first_message_does_not_ask_for_the_problem_and_leaves_the_way_to_it_open(campaign: Walk) -> None:
    first = campaign.said("made")[0]
    assert "what problem" not in first.lower()
    assert "straight to the problem" in first


@pytest.mark.req("W-07")
def test_the_first_message_counts_as_a_turn(campaign: Walk) -> None:
    assert campaign.value("made", "state.json")["turn_count"] == 1


@pytest.mark.req("W-05", "W-07")
def test_background_that_is_given_goes_into_the_context_file(campaign: Walk) -> None:
    assert campaign.files["scene"]["context.md"] == f"## Internal Context\n{SCENE}\n"


@pytest.mark.req("W-05", "W-07")
def test_background_that_is_given_goes_into_the_state_too(campaign: Walk) -> None:
    assert campaign.value("scene", "state.json")["org_context"]["internal_context"] == SCENE


@pytest.mark.req("W-07")
def test_background_is_acknowledged_and_then_the_problem_or_opportunity_is_asked_for(campaign: Walk) -> None:
    assert campaign.said("scene")[-1] == "Noted in context.md. Now, what problem or opportunity are you after?"


@pytest.mark.req("W-03")
@pytest.mark.parametrize(("step", "turns"), [("scene", 2), ("problem", 3)])
def test_every_turn_is_saved_at_once(campaign: Walk, step: str, turns: int) -> None:
    state = campaign.value(step, "state.json")
    assert (state["turn_count"], state["messages"][-1 if step == "problem" else -2]["role"]) == (turns, "user")


@pytest.mark.req("W-05")
def test_a_hand_edit_of_the_context_file_counts_from_the_next_turn(campaign: Walk) -> None:
    assert campaign.value("problem", "state.json")["org_context"] == {
        "company": "Acme",
        "domain": "",
        "public_context": "",
        "internal_context": "Bob has left.",
    }


@pytest.mark.req("W-05")
def test_saving_a_turn_never_overwrites_the_context_file(campaign: Walk) -> None:
    assert campaign.files["distilled"]["context.md"] == "# Acme\n\n## Internal Context\nBob has left.\n"


@pytest.mark.req("W-05")
def test_an_agent_gets_the_context_file_as_it_is_now(campaign: Walk) -> None:
    assert "Bob has left." in campaign.files["told"]["team_context"]


@pytest.mark.req("W-07")
def test_background_is_no_part_of_the_problem(campaign: Walk) -> None:
    assert json.loads(campaign.files["told"]["brain_dump"]) == [CLEAR]


@pytest.mark.req("W-07")
def test_who_states_the_problem_at_once_is_taken_there(bobs: Walk) -> None:
    assert bobs.status("distilled")["phase"] == "human_review"


@pytest.mark.req("W-07")
def test_who_states_the_problem_at_once_is_not_asked_for_background_again(bobs: Walk) -> None:
    assert sum("background" in text.lower() for text in bobs.said("distilled")) == 1


@pytest.mark.req("W-08")
def test_projects_are_listed_by_their_last_change(bobs: Walk, campaign: Walk) -> None:
    for walk, moment in ((campaign, 2**33), (bobs, 2**33 - 100)):
        os.utime(walk.directory / "state.json", (moment, moment))
    listed = run_here("project", "list", "--json").document["projects"]
    assert [Path(each["directory"]).name for each in listed][:2] == [campaign.name, bobs.name]


@pytest.mark.req("W-08")
@pytest.mark.parametrize("file", ["state.json", "chat_history.json"])
def test_one_project_has_nothing_of_the_other(bobs: Walk, file: str) -> None:
    assert SCENE not in bobs.files["distilled"][file]


@pytest.mark.req("W-08")
def test_opening_a_project_again_shows_its_whole_conversation(campaign: Walk) -> None:
    shown = run_here("project", "show", campaign.name, "--json").document["chat"]
    assert [message["content"] for message in shown] == campaign.said("distilled")


@pytest.mark.req("W-04")
def test_a_state_of_another_version_warns_and_the_project_still_opens(bobs: Walk) -> None:
    place = bobs.directory / "state.json"
    place.write_text(place.read_text().replace('"schema_version": "1.0"', '"schema_version": "0.7"'))
    shown = run_here("project", "show", bobs.name)
    assert (shown.code, "another version of Forge (state 0.7, here 1.0)" in shown.err) == (0, True)
    assert CLEAR in shown.out


@pytest.mark.req("W-04")
def test_a_key_that_is_missing_from_the_state_stops_nothing(campaign: Walk) -> None:
    place = campaign.directory / "state.json"
    saved = json.loads(place.read_text())
    del saved["routing_context"]
    place.write_text(json.dumps(saved))
    assert run_here("project", "show", campaign.name).code == 0
