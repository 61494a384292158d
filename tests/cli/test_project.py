"""`forge project`: each subcommand with its document, its exit codes, and what it says to people."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL, audited
from forge.app.access.local_access import opened_access
from forge.boards.overview import ProjectRow, columns
from forge.events import BOARD, ProjectChanged
from forge.settings import load
from forge.store.events import Events
from tests.cli.conftest import Forge
from tests.support.scripted_projects import CLEAR, OPEN, Script, reviews, script

__all__ = ["script"]

pytestmark = pytest.mark.usefixtures("workspace")

VIEW = [
    "id",
    "name",
    "directory",
    "phase",
    "halt_reason",
    "deliverable_type",
    "agent",
    "busy",
    "waiting",
    "question",
    "open_questions",
    "actions",
    "rounds",
    "tests",
    "repository",
    "branch",
    "deliverable",
    "created_at",
    "updated_at",
    "phase_times",
    "archived",
    "queued",
    "queue_place",
    "problem",
    "trouble",
    "label",
    "outline",
    "scene_question",
    "offers",
    "stuck",
]


@pytest.mark.req("X-02", "P-12", "W-02", "W-06", "W-08")
def test_every_subcommand_gives_its_document_and_its_exit_code(forge: Forge, workspace: Path, tmp_path: Path) -> None:
    made = forge("project", "new", "Party!", "-m", OPEN, "--agent", "builtin", "--json")
    assert (made.code, list(made.document), made.document["phase"]) == (0, VIEW, "brain_dump")
    assert made.document["directory"] == str(workspace / "projects/party")
    again = forge("project", "new", "Party?", "--json")
    assert (again.code, again.error) == (1, "project_exists")

    (tmp_path / "notes.txt").write_text("The garden is behind the house.\n")
    added = forge("-C", str(tmp_path), "project", "say", "party", "-f", "notes.txt", "--json")
    assert (added.code, list(added.document)) == (0, VIEW)
    assert (workspace / "projects/party/resources/notes.txt").exists()

    distilled = forge("project", "distill", "--json")
    assert (distilled.code, distilled.document["phase"]) == (4, "human_review"), distilled.err
    assert forge("project", "status", "party", "--json").document["actions"] == [
        "confirm",
        "correct",
        "realign",
        "terminate",
    ]
    confirmed = forge("project", "confirm", made.document["id"], "--json")
    assert (confirmed.code, confirmed.document["phase"]) == (4, "spec_building")
    assert len(confirmed.document["open_questions"]) == 2
    name = made.document["id"]
    now, whole = (forge("project", "show", name, *more, "--json").document["chat"] for more in ((), ("--earlier",)))
    assert whole[-len(now) :] == now
    assert "human" in {each["role"] for each in whole[: -len(now)]}
    early = forge("project", "confirm", "--json")
    assert (early.code, early.error) == (1, "action_refused")
    assert "forge project say " in early.document["error"]["hint"]
    assert "2 questions are still open" in early.err
    wrong = forge("project", "say", "party", "--delegate", "3", "--json")
    assert (wrong.code, wrong.error) == (1, "answer_refused")
    answered = forge("project", "say", "party", "--delegate", "all", "--json")
    assert (answered.code, answered.document["open_questions"]) == (4, [])
    done = forge("project", "confirm", "party", "--json")
    assert (done.code, done.document["waiting"]) == (4, "outline")
    assert done.document["label"] == f"Outline ready · {done.document['outline']['open']} points open"
    told = forge("project", "status", "party")
    assert done.document["label"] in told.out
    assert "phase3" not in told.out
    assert "Connect a model to write it" in told.out
    assert "forge project resume party --agent MODEL   (Write it with a model." in told.out
    assert done.document["label"] in forge("project", "list").out
    asked = forge("project", "terminate", "party", "--json")
    assert (asked.code, asked.error) == (4, "confirmation_needed")

    opened = forge("project", "show", "party", "--json").document
    assert list(opened) == ["project", "chat", "recovered"]
    assert list(opened["project"]) == VIEW
    assert [list(message) for message in opened["chat"]] == [["role", "content", "phase", "timestamp"]] * 2
    lines = forge("project", "log", "party", "-n", "5", "--json").document
    assert [list(line) for line in lines] == [["timestamp", "level", "event", "phase", "detail"]] * 5
    events = [(line["event"], line["detail"]) for line in forge("project", "log", "party", "--json").document]
    assert events.count(("plugin_loaded", "forge")) == len([each for each, _ in events if each == "config_loaded"]) > 1
    listed = forge("project", "artifacts", "party", "--json").document
    assert [entry["name"] for entry in listed] == [
        "constraints.md",
        "how-this-was-made.md",
        "intent.md",
        "outline.md",
        "spec.md",
    ]
    assert [list(entry) for entry in listed] == [["name", "path", "bytes"]] * 5
    saved = forge("-C", str(tmp_path), "project", "artifacts", "party", "--save", "outline.md", "--json")
    assert saved.document == {"saved": str(tmp_path / "outline.md")}

    assert forge("project", "rename", "party", "Garden party", "--json").document["name"] == "Garden party"
    assert forge("project", "archive", "party", "--json").document["archived"] is True
    assert forge("project", "list", "--json").document == {"projects": [], "broken": []}
    assert [each["name"] for each in forge("project", "list", "--all", "--json").document["projects"]] == [
        "Garden party"
    ]
    assert forge("project", "archive", "party", "--undo", "--json").document["archived"] is False
    kept = forge("project", "delete", "party", "--json")
    assert (kept.code, kept.error) == (1, "deletion_unconfirmed")
    assert "--confirm party" in kept.document["error"]["hint"]
    gone = forge("project", "delete", "party", "--confirm", "party", "--json").document
    assert list(gone) == ["deleted", "kept"]
    assert Path(gone["kept"]).is_dir()
    with opened_access(load(os.environ), os.environ) as access:
        deeds, told = audited(access, LOCAL), Events(access.database).after(BOARD)
    done = [deed.action for deed in reversed(deeds)]
    assert (done[0], done[-4:]) == ("project.create", [*["project.change"] * 3, "project.delete"])
    assert set(done[1:-4]) == {"project.say", "project.add_resource", "project.distill", "project.confirm"}
    assert all(deed.subject.startswith("project:") for deed in deeds)
    changes = [item.event.what for item in told if isinstance(item.event, ProjectChanged)]
    assert changes == ["created", "renamed", "archived", "unarchived", "deleted"]
    missing = forge("project", "status", "party", "--json")
    assert (missing.code, missing.error) == (1, "project_missing")


@pytest.mark.req("P-12")
@pytest.mark.req("W-02")
@pytest.mark.parametrize("name", ["..", "two\nlines"])
def test_a_name_that_cannot_be_shown_is_refused(forge: Forge, workspace: Path, name: str) -> None:
    forge("project", "new", "Fine")
    for refused in (forge("project", "new", name, "--json"), forge("project", "rename", "fine", name, "--json")):
        assert (refused.code, refused.error) == (1, "invalid_project_name")
    assert [each["name"] for each in forge("project", "list", "--json").document["projects"]] == ["Fine"]


def test_a_project_is_made_with_the_type_that_was_chosen(forge: Forge, workspace: Path) -> None:
    assert forge("project", "new", "Song", "--type", "plan", "--json").document["deliverable_type"] == "plan"
    assert forge("project", "new", "Air", "--type", "song", "--json").error == "deliverable_type_unknown"


def test_a_copy_of_a_project_is_deleted_and_not_the_project_that_it_was_made_of(forge: Forge, workspace: Path) -> None:
    forge("project", "new", "Garden", "--json")
    shutil.copytree(workspace / "projects" / "garden", workspace / "projects" / "garden-copy")
    gone = forge("project", "delete", "garden-copy", "--confirm", "garden-copy", "--json")
    assert gone.code == 0, gone
    assert [each.name for each in (workspace / "projects").iterdir() if each.name.startswith("garden")] == ["garden"]


@pytest.mark.req("P-10", "P-12")
def test_a_halt_by_a_guard_is_exit_code_3_and_people_read_what_to_do(forge: Forge, script: Script) -> None:
    script.answers["plan-review"] = reviews(9, 0)
    forge("project", "new", "Party", "-m", CLEAR, "--agent", "builtin")
    for command in ("distill", "confirm"):
        assert forge("project", command, "party").code == 4
    halted = forge("project", "confirm", "party")
    assert halted.code == 3
    assert "Party  Halted: the maximum of rounds is reached  party" in halted.out
    assert "guard_max" not in halted.out
    for offer in ("(Retry. ", "(Edit the words. ", "(Provide input. ", "(Accept. ", "(Terminate. "):
        assert offer in halted.out
    assert "→ forge project resume party" in halted.out
    assert "→ forge project override party --yes" in halted.out
    unsure = forge("project", "override", "party", "--json")
    assert unsure.code == 4
    assert unsure.error == "confirmation_needed"
    assert "--yes" in unsure.err
    done = forge("project", "resume", "party")
    assert (done.code, "▸ done" in done.out) == (0, True), done
    assert "round 2: 0 critical, 0 medium, 0 minor → termination: done" in done.out

    stuck = json.dumps({"stuck": True, "reason": "Indoors or outdoors?", "content": ""})
    script.answers["plan-build"] = lambda _: stuck
    forge("project", "new", "Ball", "-m", CLEAR, "--agent", "builtin")
    for command in ("distill", "confirm", "confirm"):
        waits = forge("project", command, "ball")
    assert waits.code == 4
    assert "It waits for you: Indoors or outdoors?" in waits.out
    del script.answers["plan-build"]
    script.answers["plan-review"] = reviews(0)
    assert forge("project", "provide-input", "ball", "-m", "Outdoors.").code == 0
    assert forge("project", "terminate", "ball", "--yes", "--json").error == "action_refused"


@pytest.mark.req("X-04", "W-04", "W-07")
def test_people_are_told_what_was_recovered_what_failed_and_what_is_of_another_version(
    forge: Forge, script: Script, workspace: Path
) -> None:
    made = forge("project", "new", "Party", "--agent", "builtin")
    assert made.code == 0
    assert made.out.startswith("Welcome to your new project.")
    assert "→ forge project distill party" in made.out
    early = forge("project", "distill", "party", "--json")
    assert (early.code, early.error) == (1, "brain_dump_too_short")
    forge("project", "say", "party", "-m", CLEAR)
    place = workspace / "projects/party"
    for file in ("project.json", "status.json"):
        (place / file).write_text("{")
    told = forge("project", "status", "party")
    assert told.code == 0
    for file in ("project.json", "status.json"):
        assert f"forge: {file} could not be read" in told.err
    (place / "chat_history.json").unlink()
    assert "chat_history.json was missing; it was restored" in forge("project", "say", "party", "-m", "More.").err
    state = json.loads((place / "state.json").read_text())
    (place / "state.json").write_text(json.dumps({**state, "schema_version": "0.1"}))
    opened = forge("project", "show", "party")
    assert (opened.code, "another version of Forge (state 0.1, here 1.0)" in opened.err) == (0, True)
    assert CLEAR in opened.out

    def broken(_: object) -> str:
        raise OSError(28, "No space left on device")

    script.answers["brain-dump-intake"] = broken
    failed = forge("project", "distill", "party")
    assert failed.code == 4
    assert "Stopped: A file cannot be read or written: No space left" in failed.out
    assert "It waits for you: A file cannot be read or written: No space left on device." in failed.out
    assert "→ forge project resume party" in failed.out
    del script.answers["brain-dump-intake"]
    assert forge("project", "resume", "party").code == 4


def test_the_board_names_a_project_that_cannot_be_read(forge: Forge) -> None:
    status = Path(forge("project", "new", "Torn", "--json").document["directory"]) / "status.json"
    status.unlink()
    status.mkdir()
    shown = forge("board")
    assert (shown.code, shown.out) == (0, "")
    assert "torn: status.json cannot be read" in shown.err
    assert [each.partition(":")[0] for each in forge("board", "--json").document["broken"]] == ["torn"]


def test_the_board_says_how_long_what_is_done_took(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"building": 120.0, "done": 0.0}
    row = ProjectRow("1", "Party", "done", None, "plan", times, 1, (0,), "2026-11-17T06:00:00.000Z")
    monkeypatch.setattr("forge.app.projects.board.board_of", lambda shop: columns([row]))
    assert forge("board").out.splitlines()[1].split()[:3] == ["Party", "2", "min"]


@pytest.mark.req("P-04")
def test_a_dump_that_only_names_a_thing_has_an_aim(forge: Forge) -> None:
    forge("project", "new", "Club")
    forge("project", "say", "-m", "A reading club for twelve people, every second Monday evening, with cake and books.")
    forge("project", "distill")
    assert forge("project", "confirm", "--json").document["open_questions"] == []


@pytest.mark.req("P-03")
def test_what_can_be_kept_is_kept_and_the_file_that_cannot_be_is_named(
    forge: Forge, workspace: Path, tmp_path: Path
) -> None:
    forge("project", "new", "Party", "--agent", "builtin")
    (tmp_path / "good.txt").write_text("The garden is behind the house.\n")
    (tmp_path / "last.txt").write_text("Bring chairs.\n")
    files = ("-f", "good.txt", "-f", "missing.txt", "-f", "last.txt")
    said = forge("-C", str(tmp_path), "project", "say", "party", "-m", CLEAR, *files, "--json")
    assert said.code == 1
    assert [(each["file"], bool(each["message"])) for each in said.document["failed"]] == [("missing.txt", True)]
    project = workspace / "projects/party"
    assert sorted(file.name for file in (project / "resources").iterdir()) == ["good.txt", "last.txt"]
    assert CLEAR in [message["content"] for message in json.loads((project / "chat_history.json").read_text())]
    told = forge("-C", str(tmp_path), "project", "say", "party", "-m", "The budget is 900 euros.", "-f", "missing.txt")
    assert told.code == 1
    assert "missing.txt was not added" in told.err


@pytest.mark.req("P-03", "X-02")
def test_what_forge_says_in_several_lines_is_shown_in_lines_and_steers_no_terminal(forge: Forge) -> None:
    forge("project", "new", "Party", "--agent", "builtin")
    words = "See https://www.notion.so/a/Plan-0f1e2d3c4b5a69788796a5b4c3d2e1f0\nand \x1b[31mthis."
    said = forge("project", "say", "party", "-m", words).out
    assert "Notion is not set up" in said
    assert "\\x0a" not in said
    shown = forge("project", "show", "party").out
    assert "\nand \\x1b[31mthis.\n" in shown
    assert "\x1b" not in shown
