"""The demo as it really runs: the recording fits the program exactly, and its reviews tell the truth about the code."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from forge.app.demo import DemoFailed, Shown, begin, brain_dump, clear_away, demo_settings, show
from forge.app.demo_recording import RECORDING
from forge.app.process.workshop import open_workshop
from forge.app.projects import agents
from forge.app.projects.catalog import workspace_of
from forge.app.sessions.conversation import sessions_of
from forge.deliverables.code import deliverable
from forge.errors import Upstream
from forge.git import Repository
from forge.pipeline.recorded import RecordedAnswers, RecordingEnded, RecordingUnreadable
from forge.plugins.roles import Desk, TestResults
from forge.projects.project import Project
from forge.sessions.conversation import conversation
from forge.sessions.messages import AssistantMessage, ToolResult
from forge.settings import Settings
from tests.conftest import GIT_CONFIG

PROBES = Path(__file__).with_name("demo_probes.py")
TESTS = [0, 6, 11, 11, 15, 21, 27, 34]
BUILT, ROUND_1, ROUND_2 = -3, -2, -1


@dataclass(frozen=True, slots=True)
class Ran:
    shown: Shown
    settings: Settings
    trees: Path

    @property
    def repo(self) -> Repository:
        return Repository.open(Path(str(self.shown.outcome.repository)))

    def files(self, commit: int) -> Path:
        """The files as they were at one of the branch's commits, in a directory."""
        id_ = self.shown.outcome.commits[commit]["id"]
        place = self.trees / str(id_)
        if not place.exists():
            place.mkdir()
            archived = subprocess.run(["git", "archive", id_], cwd=self.repo.git_dir, capture_output=True, check=True)
            subprocess.run(["tar", "-x", "-C", str(place)], input=archived.stdout, check=True)
        return place


def settings_in(place: Path) -> Settings:
    (place / "config.yaml").write_text("")
    environ = {"PATH": os.environ["PATH"], "HOME": str(place), "FORGE_CONFIG": str(place / "config.yaml")}
    return demo_settings(environ, place / "demo")


async def shown_in(settings: Settings) -> Shown:
    async with open_workshop(settings, os.environ) as shop:
        return await show(shop, await begin(shop), hear=lambda _: None)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Once for all tests here, so it comes before the home that each test has."""
    place = tmp_path_factory.mktemp("demo")
    (place / ".gitconfig").write_text(GIT_CONFIG)
    (place / "trees").mkdir()
    settings = settings_in(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(place))
        patch.setenv("GIT_CONFIG_GLOBAL", str(place / ".gitconfig"))
        shown = asyncio.run(shown_in(settings))
    return Ran(shown, settings, place / "trees")


def recorded(package: str) -> list[dict[str, Any]]:
    text = (resources.files(package) / "recordings" / f"{RECORDING}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.req("P-07", "P-09", "P-10")
def test_the_demo_ends_well_after_the_rounds_that_were_recorded(ran: Ran) -> None:
    done = ran.shown.outcome
    assert (done.phase, done.halt_reason, ran.shown.name) == ("done", None, "Trip Split")
    counts = [(r["critical"], r["medium"], r["minor"], r["verdict"]["guard"]) for r in done.rounds]
    assert counts == [(1, 2, 4, "none"), (0, 4, 2, "none"), (0, 1, 2, "termination")]
    assert [r["verdict"]["outcome"] for r in done.rounds] == ["continue", "continue", "done"]
    assert done.seconds > 0


@pytest.mark.req("P-07")
def test_the_tests_really_ran_in_the_sandbox_and_one_failure_was_mended(ran: Ran) -> None:
    runs = ran.shown.test_runs
    assert [run["total"] for run in runs] == TESTS
    assert [run["failed"] for run in runs] == [0, 0, 1, 0, 0, 0, 0, 0]
    assert {run["command"] for run in runs[1:]} == {"python3 -m unittest discover -s tests -t ."}
    assert ran.shown.outcome.tests is not None
    assert ran.shown.outcome.tests["passed"] == TESTS[-1]
    assert runs[-1]["commit"] == ran.repo.refs.tip(str(ran.shown.outcome.branch))


def test_the_reviews_name_the_tests_that_ran(ran: Ran) -> None:
    """A recorded review that tells other figures than the run would mislead whoever reads it."""
    reviews = [line["output"] for line in recorded("forge.pipeline") if line["prompt"] == "code-review"]
    told = [(review["tests"]["total"], review["tests"]["passed"]) for review in reviews]
    assert told == [(r["tests"]["total"], r["tests"]["passed"]) for r in ran.shown.outcome.rounds]
    for review in reviews:
        found = Counter(issue["severity"] for issue in review["issues"])
        assert {name: review[name] for name in ("critical", "medium", "minor")} == {
            name: found[name] for name in ("critical", "medium", "minor")
        }


@pytest.mark.req("X-01")
def test_all_work_is_on_the_branch_and_the_repository_is_sound(ran: Ran) -> None:
    done, repo = ran.shown.outcome, ran.repo
    assert [commit["subject"] for commit in done.commits][-1].startswith("Spread odd cents fairly")
    assert len(done.commits) == 7
    assert repo.refs.tip("main") == ran.shown.baseline
    assert [commit.subject for commit in repo.log("main")] == ["Begin"]
    for place in (Path(str(done.repository)), Path(done.directory)):
        checked = subprocess.run(["git", "fsck", "--strict"], cwd=place, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stdout) == (0, "")


def test_every_recorded_answer_is_used_and_none_is_missing(ran: Ran) -> None:
    """Fails when the program asks more, less or otherwise than it did when the recording was made."""
    log = (Path(ran.shown.outcome.directory) / "forge.log").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in log.splitlines()]
    asked = [line["detail"].split(" to ")[0] for line in lines if line["detail"].endswith(f" to recorded:{RECORDING}")]
    assert asked == [line["prompt"] for line in recorded("forge.pipeline")]
    assert [line for line in lines if line["level"] != "info"] == []
    said = [
        message
        for turn in conversation(sessions_of(ran.repo, ran.settings).files("main", ran.shown.outcome.commits[-1]["id"]))
        for message in turn.items
        if isinstance(message, AssistantMessage)
    ]
    places = sorted(entry["recorded"] for message in said for entry in message.opaque)
    assert places == list(range(len(recorded("forge.agents"))))


def test_every_recorded_tool_call_does_what_it_says(ran: Ran) -> None:
    turns = conversation(sessions_of(ran.repo, ran.settings).files("main", ran.shown.outcome.commits[-1]["id"]))
    results = [message for turn in turns for message in turn.items if isinstance(message, ToolResult)]
    calls = sum(len(line.get("calls", ())) for line in recorded("forge.agents"))
    assert len(results) == calls
    assert [result.text for result in results if result.failed] == []


def probed(place: Path) -> dict[str, bool]:
    """Which of the reviewed defects the code in `place` has."""
    ran = subprocess.run(
        [sys.executable, "-B", str(PROBES)], cwd=place, capture_output=True, text=True, check=True, timeout=60
    )
    found: dict[str, bool] = json.loads(ran.stdout)
    return found


def test_each_defect_that_a_review_names_is_there_and_is_gone_after_the_fix(ran: Ran) -> None:
    first = {"lost cents", "no comma", "sharer twice", "names not told", "silent when even", "help without form"}
    second = {"first pays more", "byte order mark", "traceback", "person twice", "second people", "columns"}
    left = {"two-word payer", "only first bad line"}
    built, mended, ended = (probed(ran.files(at)) for at in (BUILT, ROUND_1, ROUND_2))
    assert first <= {name for name, there in built.items() if there}
    # Before the cents were handed out at all, nobody could get too many of them.
    assert {name for name, there in mended.items() if there} == second | left
    assert {name for name, there in ended.items() if there} == left


def test_each_fix_comes_with_tests_that_fail_without_it(ran: Ran, tmp_path: Path) -> None:
    failing: list[int] = []
    for before, after in ((BUILT, ROUND_1), (ROUND_1, ROUND_2)):
        mixed = tmp_path / str(after)
        subprocess.run(["cp", "-r", str(ran.files(before)), str(mixed)], check=True)
        subprocess.run(["cp", "-r", f"{ran.files(after)}/tests/.", str(mixed / "tests")], check=True)
        command = [sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", "."]
        tested = subprocess.run(command, cwd=mixed, capture_output=True, text=True, check=False, timeout=60)
        failing.append(sum(line.startswith(("FAIL:", "ERROR:")) for line in tested.stderr.splitlines()))
    # Six new tests and the sharpened one of criterion 1; then seven new ones.
    assert failing == [7, 7]


def test_a_second_demo_is_a_project_of_its_own_and_fresh_moves_earlier_ones_away(tmp_path: Path) -> None:
    async def demos() -> tuple[list[str], tuple[Path, ...], list[str]]:
        async with open_workshop(settings_in(tmp_path), os.environ) as shop:
            await begin(shop)
            await begin(shop)
            workspace = workspace_of(shop.settings)
            kept = workspace.create("mine", now=datetime.now(UTC)).id
            before = [project.id for project in workspace.list().projects]
            moved = clear_away(shop)
            left = [project.id for project in workspace.list().projects]
            assert left == [kept]
            return before, moved, left

    before, moved, left = asyncio.run(demos())
    assert (len(before), len(moved), len(left)) == (3, 2, 1)
    assert all(place.is_dir() and place.parent.name == "deleted" for place in moved)


def test_the_demo_ignores_limits_and_boards_of_the_person_and_keeps_their_places(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("polish: {medium_max: 0}\nboards: {vibekanban: {enabled: true}}\n")
    places = {"FORGE_WORKSPACE": str(tmp_path / "w"), "FORGE_DATA": str(tmp_path / "d")}
    settings = demo_settings({"HOME": str(tmp_path), "FORGE_CONFIG": str(tmp_path / "config.yaml"), **places})
    assert settings.polish.medium_max == 3
    assert dict(settings.boards) == {}
    assert (settings.workspace, settings.data_dir) == (tmp_path / "w", tmp_path / "d")


def test_a_question_that_was_not_recorded_ends_the_demo_with_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asks_something_new(desk: Desk, *_: object, **__: object) -> dict[str, Any]:
        return {"answer": await desk.ask("completeness-gate", {})}

    monkeypatch.setattr(deliverable, "discovered", asks_something_new)
    with pytest.raises(RecordingEnded, match="has no answer number 1 to completeness-gate") as ended:
        asyncio.run(shown_in(settings_in(tmp_path)))
    assert ended.value.code == "recording_ended"
    assert "docs/demo.md" in ended.value.hint


def test_tests_that_cannot_run_end_the_demo_with_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_found(repo: Repository, branch: str, **_: object) -> TestResults:
        return TestResults(0, 0, 0, "python3: not found", repo.refs.tip(branch), 127, "python3 -m unittest")

    monkeypatch.setattr(agents, "run_tests", not_found)
    with pytest.raises(RecordingEnded, match=r"no longer fits.*The last test run: 0 of 0 passed"):
        asyncio.run(shown_in(settings_in(tmp_path)))
    (place,) = (tmp_path / "demo" / "workspace" / "projects").iterdir()
    assert Project.at(place).status().phase != "done"


def test_a_sandbox_that_does_not_work_ends_the_demo_and_is_not_blamed_on_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> TestResults:
        raise Upstream("There is no sandbox here.")

    monkeypatch.setattr(agents, "run_tests", broken)
    with pytest.raises(DemoFailed, match=r"failed while building: .*There is no sandbox here") as ended:
        asyncio.run(shown_in(settings_in(tmp_path)))
    assert "forge doctor" in ended.value.hint


def test_a_recording_without_an_answer_says_which_one() -> None:
    with pytest.raises(RecordingEnded, match="no answer number 4 to code-review"):
        RecordedAnswers.named(RECORDING).answer("code-review", 4)


@pytest.mark.parametrize("line", ["{", "[]", '{"prompt": "code-review", "nth": 1}', '{"prompt": "x", "nth": "two"}'])
def test_a_recording_that_cannot_be_read_says_which_line(tmp_path: Path, line: str) -> None:
    good = json.dumps({"prompt": "code-review", "nth": 1, "output": {"critical": 0}})
    (tmp_path / "mine.answers.jsonl").write_text(f"{good}\n\n{line}\n")
    with pytest.raises(RecordingUnreadable, match="Line 3 of the recording"):
        RecordedAnswers.named(str(tmp_path / "mine.jsonl"))
    (tmp_path / "mine.answers.jsonl").write_text(f"{good}\n")
    assert json.loads(RecordedAnswers.named(str(tmp_path / "mine.jsonl")).answer("code-review", 1)) == {"critical": 0}


def test_the_brain_dump_is_what_a_person_would_write() -> None:
    assert len(brain_dump().split()) > 100
