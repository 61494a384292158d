"""The order of writing, the status file, steps that repeat, and directories that cannot be written."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest
import yaml

from forge.errors import InvalidInput
from forge.memory import Drafts, Memory, NoteKind, Status
from forge.memory.errors import MilestoneMissing
from forge.memory.storage import Directory
from tests.memory.conftest import Clock, codes, contents


class Recording(Directory):
    """Notes what is written, and dies at a write of choice as a crash would."""

    def __init__(self, directory: Path, die_at: int | None = None) -> None:
        super().__init__(directory)
        self.written: list[str] = []
        self._die_at = die_at

    def write(self, path: str, data: bytes) -> None:
        if len(self.written) == self._die_at:
            raise KeyboardInterrupt
        self.written.append(path)
        super().write(path, data)


def initiative(directory: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((directory / ".claude/initiative.json").read_text())
    return found


def status_file(directory: Path) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((directory / "WORKFLOW-STATUS.yaml").read_text())
    return found


@pytest.mark.req("M-01", "M-02")
def test_l1_is_whole_before_l2_is_touched(tmp_path: Path) -> None:
    Memory(tmp_path).start("Cart", "APEX", "the cart")
    storage = Recording(tmp_path)
    Memory(tmp_path, storage=storage).advance("analyze", "plan")
    assert storage.written == [
        ".claude/initiative.json",
        "WORKFLOW-STATUS.yaml",
        "MEMORY.md",
        ".claude/initiative.json",  # notes that nothing is owed any more
    ]


@pytest.mark.req("M-01")
def test_l1_has_the_names_that_others_read(memory: Memory, tmp_path: Path) -> None:
    memory.start("Cart", "APEX", "the cart")
    memory.confidence("scope", 0.5, "explorer")
    memory.confidence("scope", 0.75, "spec")
    found = initiative(tmp_path)
    assert {key: found[key] for key in ("title", "type", "status", "currentPhase", "context", "lastUpdated")} == {
        "title": "Cart",
        "type": "APEX",
        "status": "created",
        "currentPhase": "analyze",
        "context": "the cart",
        "lastUpdated": "2026-03-01T12:00:00.000Z",
    }
    interview = json.loads((tmp_path / ".claude/interview-state.json").read_text())
    assert interview["topics"]["scope"] == {
        "confidence": 0.75,
        "history": [
            {"value": 0.5, "source": "explorer", "at": "2026-03-01T12:00:00.000Z"},
            {"value": 0.75, "source": "spec", "at": "2026-03-01T12:00:00.000Z"},
        ],
    }


@pytest.mark.req("M-02")
def test_a_completion_is_one_line_and_a_learning_only_comes_when_there_is_one(memory: Memory, tmp_path: Path) -> None:
    memory.start("Cart", "APEX", "the cart")
    memory.milestone_started("m1")
    assert not (tmp_path / "MEMORY.md").exists()
    memory.learn("Prices are\nwhole cents.")
    memory.complete("totals are right")
    text = (tmp_path / "MEMORY.md").read_text()
    assert "- Prices are whole cents. <!--" in text
    assert "- Completed APEX for the cart: totals are right <!--" in text


@pytest.mark.req("M-04")
def test_the_status_file_follows_as_the_table_says(memory: Memory, tmp_path: Path) -> None:
    memory.start("Cart", "APEX")
    memory.milestone_started("m1", "Totals", total=2)
    memory.milestone_started("m2", "Taxes")
    memory.milestone_started("m1")
    assert status_file(tmp_path)["milestone"] == "m1"
    before = (tmp_path / "WORKFLOW-STATUS.yaml").read_bytes()
    memory.task_completed("m1")
    assert (tmp_path / "WORKFLOW-STATUS.yaml").read_bytes() == before
    assert initiative(tmp_path)["milestones"][0]["progress"] == {"done": 1, "total": 2}  # type: ignore[index]
    memory.milestone_completed("m1")
    assert (status_file(tmp_path)["milestone"], initiative(tmp_path)["currentMilestone"]) == ("m2", "m2")
    assert [each["status"] for each in status_file(tmp_path)["milestones"]] == ["completed", "in_progress"]  # type: ignore[attr-defined]
    with pytest.raises(MilestoneMissing):
        memory.task_completed("m9")
    memory.change_status(Status.BLOCKED, reason="waits")
    assert (status_file(tmp_path)["status"], initiative(tmp_path)["status"]) == ("blocked", "blocked")


@pytest.mark.req("M-04")
def test_keys_and_comments_of_others_stay(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "WORKFLOW-STATUS.yaml").write_text("# ours\nteam:\n  - ada\nstatus: idle  # by hand\n# end\n")
    memory.start("Cart", "APEX")
    text = (tmp_path / "WORKFLOW-STATUS.yaml").read_text()
    assert status_file(tmp_path)["team"] == ["ada"]
    assert status_file(tmp_path)["status"] == "created"
    assert "# ours" in text
    assert "# end" in text
    path = tmp_path / ".claude/initiative.json"
    path.write_text(json.dumps({**initiative(tmp_path), "owner": {"name": "Ada"}}))
    memory.advance("analyze", "plan")
    assert initiative(tmp_path)["owner"] == {"name": "Ada"}


@pytest.mark.req("M-02", "M-07")
def test_a_repeated_step_changes_nothing(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    calls = [
        lambda: memory.start("Cart", "APEX", "the cart", step="1"),
        lambda: memory.advance("analyze", "plan", step="2"),
        lambda: memory.learn("cents", step="3"),
        lambda: memory.delegate("reviewer: the diff", step="4"),
        lambda: memory.confidence("scope", 0.5, "spec", step="5"),
        lambda: memory.milestone_started("m1", total=3, step="6"),
        lambda: memory.task_completed("m1", step="7"),
        lambda: memory.complete("done", step="8"),
    ]
    for number, call in enumerate(calls):
        assert call().changed
        before = contents(tmp_path)
        clock.pass_(hours=1)
        for again in calls[: number + 1]:
            assert not again().changed
        assert contents(tmp_path) == before


@pytest.mark.req("M-02", "M-07")
def test_lines_without_an_initiative_are_not_repeated_either(memory: Memory, tmp_path: Path) -> None:
    assert memory.learn("cents", step="a").changed
    assert not memory.learn("cents", step="a").changed
    assert memory.learn("cents", step="b").changed
    assert (tmp_path / "MEMORY.md").read_text().count("- cents") == 2
    assert not (tmp_path / ".claude/initiative.json").exists()


@pytest.mark.req("M-02", "M-07")
@pytest.mark.parametrize("die_at", range(5))
def test_after_a_crash_at_any_write_the_same_step_gives_the_same_files(tmp_path: Path, die_at: int) -> None:
    clock = Clock()
    ends = []
    for name, deadly in (("whole", None), ("torn", die_at)):
        directory = tmp_path / name
        directory.mkdir()
        Memory(directory, now=clock).start("Cart", "APEX", "the cart", step="1")
        try:
            storage = Recording(directory, deadly)
            Memory(directory, storage=storage, now=clock).advance("analyze", "plan", step="2")
        except KeyboardInterrupt:
            Memory(directory, now=clock).advance("analyze", "plan", step="2")
        id_ = str(initiative(directory)["id"]).encode()
        lines = [line.split(b"sum=")[0] for line in (directory / "MEMORY.md").read_bytes().split(b"\n")]
        ends.append(
            (
                [line.replace(id_, b"ID") for line in lines],
                {**initiative(directory), "id": ""},
                {**status_file(directory), "initiative": ""},
            )
        )
    assert ends[0] == ends[1]


@pytest.mark.req("M-06")
@pytest.mark.parametrize("how", ["directory", "link out"])
def test_without_l2_there_is_one_warning_and_the_lines_come_later(tmp_path: Path, clock: Clock, how: str) -> None:
    notes, place = tmp_path / "here/MEMORY.md", tmp_path / "here"
    place.mkdir()
    (tmp_path / "secret").write_text("not ours")
    if how == "link out":
        notes.symlink_to(tmp_path / "secret")
    else:
        notes.mkdir()
    memory = Memory(place, now=clock)
    memory.start("Cart", "APEX", "the cart")
    first, second = memory.advance("analyze", "plan"), memory.learn("cents")
    assert (first.saved, second.saved) == (True, True)
    assert codes(first.warnings).count("notes_unavailable") == 1
    assert "notes_unavailable" not in codes(second.warnings)
    assert not any(each.prominent for each in first.warnings)
    assert (tmp_path / "secret").read_text() == "not ours"
    notes.unlink() if how == "link out" else notes.rmdir()
    memory.change_status(Status.BLOCKED)
    text = notes.read_text()
    assert text.index("planning the cart") < text.index("- cents")


@pytest.mark.req("M-06")
def test_without_l1_work_goes_on_unsaved_and_every_answer_says_so(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / ".claude").write_text("in the way")
    memory = Memory(tmp_path, now=clock)
    answers = [
        memory.start("Cart", "APEX", "the cart"),
        memory.advance("analyze", "plan"),
        memory.learn("cents"),
        memory.confidence("scope", 0.5, "spec"),
        memory.read(),
        memory.resume(),
    ]
    for answer in answers:
        (loud,) = [each for each in answer.warnings if each.prominent]
        assert loud.code == "memory_unsaved"
        assert "will not persist" in loud.message
    found = memory.read()
    assert found.initiative is not None
    assert (found.source, found.initiative.phase, len(found.interview.topics)) == ("session", "plan", 1)
    assert "planning the cart" in (tmp_path / "MEMORY.md").read_text()
    (tmp_path / ".claude").unlink()
    saved = memory.advance("plan", "implement")
    assert saved.saved
    memory.confidence("scope", 0.6, "spec")
    assert initiative(tmp_path)["counter"] == 4
    assert not any(each.prominent for each in memory.read().warnings)
    assert len(Memory(tmp_path).read().interview.topics[0].history) == 2


@pytest.mark.req("M-06")
def test_a_read_only_directory_is_told_and_left_alone(tmp_path: Path) -> None:
    Memory(tmp_path).start("Cart", "APEX", "the cart")
    Memory(tmp_path).advance("analyze", "plan")
    before = contents(tmp_path)
    for path in (tmp_path / ".claude", tmp_path):
        path.chmod(0o555)
    for folder in (tmp_path, *tmp_path.parents):
        if (
            folder.owner() == tmp_path.owner()
            and folder.name.startswith(("pytest", "popen", "test_"))
            and folder != tmp_path
        ):
            folder.chmod(folder.stat().st_mode | 0o055)
    read, write = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_as_nobody, args=(tmp_path, write))
    child.start()
    write.close()
    changed, told, loud = read.recv()
    child.join()
    for path in (tmp_path, tmp_path / ".claude"):
        path.chmod(0o755)
    assert (changed, loud) == (True, 1)
    assert set(told) == {"memory_unsaved", "notes_unavailable", "workflow_status_unavailable"}
    assert contents(tmp_path) == before


def _as_nobody(directory: Path, answer: object) -> None:
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    result = Memory(directory).advance("plan", "implement")
    told = (result.changed, codes(result.warnings), sum(each.prominent for each in result.warnings))
    answer.send(told)  # type: ignore[attr-defined]


@pytest.mark.req("M-06")
def test_a_missing_directory_is_not_made(tmp_path: Path) -> None:
    result = Memory(tmp_path / "gone").start("Cart", "APEX")
    assert not result.saved
    assert not (tmp_path / "gone").exists()


@pytest.mark.req("M-01")
def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    Memory(tmp_path).start("Cart", "APEX")
    Memory(tmp_path).milestone_started("m1", total=1)
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=_work, args=(tmp_path, name)) for name in ("a", "b")]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    found = Memory(tmp_path).read()
    assert found.initiative is not None
    assert found.initiative.milestones[0].done == 24
    assert {entry.text for entry in found.lines(NoteKind.LEARNING)} == {f"{who}{i}" for who in "ab" for i in range(12)}
    assert len(found.interview.topics[0].history) == 24


def _work(directory: Path, name: str) -> None:
    memory = Memory(directory)
    for i in range(12):
        memory.task_completed("m1", step=f"{name}{i}")
        memory.learn(f"{name}{i}")
        memory.confidence("scope", i / 20, name)


@pytest.mark.req("M-07")
def test_drafts_give_the_files_to_whoever_commits_them(memory: Memory, tmp_path: Path) -> None:
    memory.start("Cart", "APEX", "the cart")
    before = contents(tmp_path)

    def read(path: str) -> str | None:
        return (tmp_path / path).read_text() if (tmp_path / path).exists() else None

    drafts = Drafts(read)
    Memory(tmp_path, storage=drafts).advance("analyze", "plan", step="x")
    assert set(drafts.written) == {".claude/initiative.json", "WORKFLOW-STATUS.yaml", "MEMORY.md"}
    assert contents(tmp_path) == before


@pytest.mark.req("M-08")
def test_secrets_and_senseless_values_do_not_get_in(memory: Memory, tmp_path: Path) -> None:
    memory.learn("the key is sk-ant-abcdefghijklmnopqrstuvwx and \x1b[31mred\ud800")
    text = (tmp_path / "MEMORY.md").read_text()
    assert "sk-ant-abc" not in text
    assert "\x1b" not in text
    for value in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidInput):
            memory.confidence("scope", value, "spec")
    with pytest.raises(InvalidInput):
        memory.learn(" \n ")
