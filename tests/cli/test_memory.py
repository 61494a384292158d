"""`forge memory`: what people and coding agents see and do."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.cli.main import COMMANDS, Command
from forge.memory import Memory
from tests.cli.conftest import Forge, Ran

KEYS = {"initiative", "changed", "saved", "warnings"}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "memory", Command("memory", "what is remembered"))


@pytest.fixture
def memory(forge: Forge, tmp_path: Path) -> Forge:
    def run(*args: str, stdin: bytes | str = b"") -> Ran:
        return forge("-C", str(tmp_path), "memory", *args, stdin=stdin)

    return run


@pytest.mark.req("M-07")
def test_a_coding_agent_can_do_a_whole_workflow(memory: Forge, tmp_path: Path) -> None:
    assert memory("start", "Cart", "--type", "DEBUG", "--context", "the cart", "--json").document.keys() == KEYS
    assert memory("advance", "troubleshoot", "fix", "--json").document["initiative"]["phase"] == "fix"
    first = memory("add", "cents", "--step", "1", "--json").document
    again = memory("add", "cents", "--step", "1", "--json").document
    assert (first["changed"], again["changed"]) == (True, False)
    assert memory("add", "tester: all tests", "--delegation").code == 0
    assert memory("status", "completed", "--reason", "cents are right").code == 0
    text = (tmp_path / "MEMORY.md").read_text()
    assert "Active DEBUG workflow: root cause found, fixing the cart" in text
    assert "Completed DEBUG for the cart: cents are right" in text
    document = memory("context", "--json").document
    assert [line["text"] for line in document["lines"]["Learnings"]] == ["cents"]
    assert [line["text"] for line in document["lines"]["Delegations"]] == ["tester: all tests"]


@pytest.mark.req("M-05")
def test_a_refused_status_is_an_error_with_a_reason(memory: Forge) -> None:
    memory("start", "Cart")
    ran = memory("status", "completed", "--json")
    assert (ran.code, ran.error) == (1, "initiative_status_refused")
    assert "created cannot become completed" in ran.err
    assert memory("status", "--json").document["initiative"]["status"] == "created"
    assert memory("status", "asleep", "--json").error == "invalid_input"
    assert "created" in memory("status").out


@pytest.mark.req("M-08")
def test_the_view_of_everything_has_the_history_of_confidence_and_writes_nothing(memory: Forge, tmp_path: Path) -> None:
    made = Memory(tmp_path)
    made.start("Cart", "FORGE", "the cart")
    made.confidence("scope", 0.4, "explorer")
    made.confidence("scope", 0.9, "spec")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    ran = memory("context")
    assert "scope: 0.40 (explorer) → 0.90 (spec)" in ran.out
    (topic,) = memory("context", "--json").document["interview"]
    assert [(each["value"], each["source"]) for each in topic["history"]] == [(0.4, "explorer"), (0.9, "spec")]
    assert memory("show").code == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.req("M-03", "M-04")
def test_layers_are_shown_one_by_one_and_resuming_brings_them_together(memory: Forge, tmp_path: Path) -> None:
    memory("start", "Cart", "--context", "the cart")
    stale = (tmp_path / "WORKFLOW-STATUS.yaml").read_bytes()
    memory("advance", "analyze", "plan")
    (tmp_path / "WORKFLOW-STATUS.yaml").write_bytes(stale)
    shown = memory("show", "--json").document
    assert {each["source"]: each["agrees"] for each in shown["layers"]} == {
        ".claude/initiative.json": True,
        "MEMORY.md": True,
        "WORKFLOW-STATUS.yaml": False,
    }
    assert "tells something else" in memory("show").out
    resumed = memory("resume", "--json").document
    assert (resumed["source"], resumed["brought_up"]) == (".claude/initiative.json", ["WORKFLOW-STATUS.yaml"])
    assert "plan · in_progress" in memory("resume").out


@pytest.mark.req("M-06")
def test_what_is_not_saved_is_said_loudly(memory: Forge, tmp_path: Path) -> None:
    (tmp_path / ".claude").write_text("in the way")
    ran = memory("start", "Cart", "--json")
    assert ran.code == 1
    assert (ran.document["saved"], ran.document["warnings"][0]["code"]) == (False, "memory_unsaved")
    assert "ERROR: Cannot write state files" in ran.err


def test_empty_and_missing_directories_and_wrong_words_are_told(memory: Forge, forge: Forge, tmp_path: Path) -> None:
    for command in ("show", "context", "status", "resume"):
        ran = memory(command)
        assert ran.code == 0
        assert "forge memory start" in ran.err
    assert memory("advance", "analyze", "plan", "--json").error == "initiative_missing"
    assert memory("add", "x", "--learning", "--delegation").code == 2
    assert forge("-C", str(tmp_path / "gone"), "memory", "show", "--json").error == "not_found"


@pytest.mark.req("M-07", "M-08")
def test_milestones_tasks_and_confidence_have_their_verbs(memory: Forge, tmp_path: Path) -> None:
    memory("start", "Cart")
    assert memory("milestone", "M1", "--title", "Pay", "--tasks", "2").code == 0
    done = memory("task", "M1", "--json").document["initiative"]["milestones"]
    assert [(each["id"], each["done"], each["total"]) for each in done] == [("M1", 1, 2)]
    assert (
        memory("milestone", "M1", "--done", "--json").document["initiative"]["milestones"][0]["status"] == "completed"
    )
    assert memory("task", "M9", "--json").error == "milestone_missing"
    assert memory("milestone", "M1", "--done", "--tasks", "2").code == 2
    assert memory("confidence", "scope", "0.4", "--source", "spec").code == 0
    assert memory("confidence", "scope", "0.9").code == 0
    (topic,) = memory("context", "--json").document["interview"]
    assert [(each["value"], each["source"]) for each in topic["history"]] == [(0.4, "spec"), (0.9, "person")]
    assert memory("confidence", "scope", "7", "--json").error == "invalid_input"
    assert "1 topic\n" in memory("show").out
