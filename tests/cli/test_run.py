"""`forge run`: an idea in a file, taken to the end or to the first decision of a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Forge
from tests.conftest import Git, MakeRepo
from tests.support.scripted_projects import OPEN
from tests.support.soak import recording

pytestmark = pytest.mark.usefixtures("workspace")

KEYS = [
    "project",
    "directory",
    "phase",
    "halt_reason",
    "label",
    "outline",
    "deliverable",
    "repository",
    "branch",
    "commits",
    "rounds",
    "tests",
    "seconds",
]


@pytest.mark.req("X-01", "X-02", "X-03")
def test_an_idea_goes_to_the_first_decision_or_to_the_end(forge: Forge, tmp_path: Path) -> None:
    (tmp_path / "idea.txt").write_text(OPEN)
    first = forge("-C", str(tmp_path), "run", "idea.txt", "--name", "First", "--agent", "builtin")
    assert first.code == 4
    assert first.out.startswith("Project first in ")
    assert "→ forge project confirm first" in first.out

    done = forge("run", "-", "--agent", "builtin", "--auto-confirm", "--json", stdin=OPEN)
    assert (done.code, list(done.document)) == (4, KEYS), done.err
    found = done.document
    assert (found["phase"], found["halt_reason"], found["repository"], found["branch"], found["tests"]) == (
        "halted",
        "phase3_output_incomplete",
        None,
        None,
        None,
    )
    assert Path(found["deliverable"]).read_text().startswith("# ")
    assert [list(commit) for commit in found["commits"]][:1] == [["id", "subject"]]
    assert [entry["verdict"]["outcome"] for entry in found["rounds"]] == ["halt"]
    assert found["outline"]["open"] == found["rounds"][0]["medium"] > 0
    code = forge("run", "-", "--type", "code", "--agent", "builtin", "--json", stdin=OPEN)
    assert (code.code, code.error) == (1, "builtin_cannot")

    nothing = forge("-C", str(tmp_path), "run", "other.txt", "--json")
    assert (nothing.code, nothing.error) == (1, "not_found")


@pytest.mark.req("P-03")
def test_an_idea_of_too_few_words_leaves_no_project_behind(forge: Forge) -> None:
    short = forge("run", "-", "--type", "plan", "--agent", "builtin", "--json", stdin="A party.")
    assert (short.code, short.error) == (1, "brain_dump_too_short")
    assert forge("project", "list", "--all", "--json").document == {"projects": [], "broken": []}


@pytest.mark.req("P-07", "P-09", "X-01")
def test_code_from_an_idea_is_a_tested_branch_of_the_persons_repository(
    forge: Forge, tmp_path: Path, make_repo: MakeRepo, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_CONFIG", str(tmp_path / "own.yaml"))
    (tmp_path / "own.yaml").touch()
    repo = make_repo({"README.md": "mine\n"})
    (repo / "README.md").write_text("not committed\n")
    (tmp_path / "idea.txt").write_text(recording.IDEA)
    agent = recording.written(tmp_path)
    where = ("-C", str(tmp_path))
    done = forge(*where, "run", "idea.txt", "--repo", "repo", "--agent", agent, "--auto-confirm", "--json")
    assert (done.code, list(done.document)) == (0, KEYS), done.err
    found = done.document
    assert (found["phase"], found["deliverable"]) == ("done", found["branch"])
    assert [commit["subject"] for commit in found["commits"]] == [
        "Parse durations",
        "Test the criteria",
        "Refuse an empty text",
    ]
    assert [(entry["critical"], entry["verdict"]["guard"]) for entry in found["rounds"]] == [
        (1, "none"),
        (0, "termination"),
    ]
    assert (found["tests"]["passed"], found["tests"]["total"]) == (7, 7)
    assert found["tests"]["commit"] == git(repo, "rev-parse", found["branch"])
    assert git(repo, "status", "--porcelain") == " M README.md", "the person's checkout was touched"


@pytest.mark.req("P-04", "X-01")
def test_signs_of_templates_are_printed_and_written_as_text(forge: Forge) -> None:
    idea = (
        "# Mails with {{ name }}\n\nWe want to plan a campaign for forty members that greets with “Dear {{ name }}”. "
        "Every mail must show {{ 7*7 }} and {% raw %} as they are. The budget is 1500 euros."
    )
    done = forge("run", "-", "--agent", "builtin", "--auto-confirm", stdin=idea)
    assert done.code == 4, done.err
    project = forge("project", "list", "--json").document["projects"][0]
    assert "{{ name }}" in project["name"]
    assert "{{ name }}" in forge("project", "list").out
    assert "{{ name }}" in done.out
    texts = {path.name: path.read_text() for path in Path(project["directory"]).joinpath("docs").glob("*.md")}
    assert "{{ 7*7 }} and {% raw %}" in texts["intent.md"]
    assert "{{ 7*7 }} and {% raw %}" in texts["constraints.md"]
    assert "“Dear {{ name }}”" in texts["spec.md"]
    for told in (forge("project", "artifacts", project["id"]), forge("project", "log", project["id"]), forge("board")):
        assert told.code == 0
        assert " 49" not in told.out
