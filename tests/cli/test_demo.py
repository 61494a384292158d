"""`forge demo` as a person and as a program sees it; what it prints to paste is pasted."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from forge.app import demo
from forge.app.demo import Shown
from forge.app.projects.autopilot import PilotOutcome
from forge.pipeline.recorded import RecordingEnded
from tests.cli.conftest import PROGRAM, Forge
from tests.conftest import GIT_CONFIG

KEYS = ["project", "directory", "phase", "halt_reason", "label", "outline", "deliverable", "repository", "branch"]
KEYS += ["commits", "rounds", "tests", "seconds"]


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(GIT_CONFIG)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "XDG_", "FORGE_"))}
    return {
        **kept,
        "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


@pytest.fixture(scope="module")
def printed(environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Into a place whose name a shell would trip over."""
    place = tmp_path_factory.mktemp("a place")
    ran = subprocess.run(
        [str(PROGRAM), "demo", "--dir", "my demo"],
        cwd=place,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [path.name for path in place.iterdir()] == ["my demo"]
    return ran.stdout


def test_the_demo_tells_what_is_recorded_and_what_is_real_before_it_begins(printed: str) -> None:
    beginning = " ".join(printed.partition("Project ")[0].split())
    assert "The model's answers are recorded; the rest is real" in beginning
    assert "│ ok so every trip with the others" in beginning


def test_progress_shows_every_phase_and_round(printed: str) -> None:
    phases = re.findall(r"^▸ (.*)$", printed, re.MULTILINE)
    assert phases == ["distilling", "human review", "spec building", "building", "polishing", "done"]
    assert "round 1: 1 critical, 2 medium, 4 minor → continues" in printed


def test_the_end_shows_branch_commits_trajectory_and_tests(printed: str) -> None:
    assert re.search(r"^Trip Split: done after 3 rounds, with 34 tests, in \d+\.\d s$", printed, re.MULTILINE)
    assert re.search(r"^Branch forge/build-\S+ of .*/my demo/workspace/code/", printed, re.MULTILINE)
    assert len(re.findall(r"^  [0-9a-f]{10}  \S", printed, re.MULTILINE)) == 7
    rows = re.findall(r"^(\d)  +(\d+)  +(\d+)  +(\d+)  +(\d+ of \d+)  +(.+)$", printed, re.MULTILINE)
    assert rows == [
        ("1", "1", "2", "4", "21 of 21", "continues"),
        ("2", "0", "4", "2", "27 of 27", "continues"),
        ("3", "0", "1", "2", "34 of 34", "termination: done"),
    ]
    assert "Once 1 of 11 failed, and the agent fixed the code." in " ".join(printed.split())


def test_everything_to_look_at_next_works_when_it_is_pasted(
    printed: str, environ: dict[str, str], tmp_path: Path
) -> None:
    pasted = [line.strip() for line in printed.partition("Look at next")[2].splitlines()]
    commands = [line for line in pasted if line and not line.startswith("#")]
    expected = ["Cleo pays Ana 3.33", "def shares(", "Hand out cents", "Done after 3 rounds", "Trip Split"]
    assert len(commands) == len(expected)
    for command, shown in zip(commands, expected, strict=True):
        ran = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=60
        )
        assert (ran.returncode, "forge:" in ran.stderr) == (0, False), command
        assert shown in ran.stdout, command


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A demo that has been shown already."""
    counts = {"iteration": 1, "critical": 0, "medium": 0, "minor": 1, "total": 1}
    verdict = {"guard": "termination", "outcome": "done", "reason": "…"}
    tests = {"total": 3, "passed": 3, "failed": 0, "exit_code": 0, "commit": "0" * 40, "command": "…"}
    round_ = {**counts, "verdict": verdict, "mended": "", "tests": tests}
    commits = ({"id": "0" * 40, "subject": "Build it"},)
    places = ("20260101-abcd", "/w/projects/20260101-abcd", "done", None, "Done", None)
    built = ("forge/build-x", "/w/code/x", "forge/build-x")
    shown = Shown("Name", PilotOutcome(*places, *built, commits, (round_,), tests, 1.5), "1" * 40, ({**tests},))

    async def show(*_: object, **__: object) -> Shown:
        return shown

    monkeypatch.setattr(demo, "show", show)
    return shown


def test_a_program_gets_one_document_and_nothing_else(forge: Forge, tmp_path: Path, ended: Shown) -> None:
    ran = forge("demo", "--dir", str(tmp_path / "d"), "--json")
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.document) == KEYS
    assert ran.document["rounds"] == [json.loads(json.dumps(entry)) for entry in ended.outcome.rounds]


@pytest.mark.usefixtures("ended")
def test_without_a_place_the_demo_is_a_project_of_the_ordinary_workspace(
    forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_WORKSPACE", str(tmp_path / "w"))
    monkeypatch.setenv("FORGE_DATA", str(tmp_path / "d"))
    ran = forge("demo")
    assert "\n  forge project show --earlier 20260101-abcd\n" in ran.out
    (listed,) = forge("project", "list", "--json").document["projects"]
    assert listed["agent"] == "recorded:demo"


@pytest.mark.usefixtures("ended")
def test_fresh_moves_earlier_demos_away_and_says_where(forge: Forge, tmp_path: Path) -> None:
    place = tmp_path / "d"
    assert forge("demo", "--dir", str(place)).code == 0
    ran = forge("demo", "--dir", str(place), "--fresh")
    assert f"An earlier demo is in {place / 'workspace' / 'deleted'}" in ran.out
    assert len(list((place / "workspace" / "projects").iterdir())) == 1


def test_a_recording_that_no_longer_fits_is_an_error_with_its_reason(
    forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def show(*_: object, **__: object) -> Shown:
        raise RecordingEnded("The recording demo has no answer number 4 to code-review.", hint="Record it again.")

    monkeypatch.setattr(demo, "show", show)
    ran = forge("demo", "--dir", str(tmp_path / "d"), "--json")
    assert (ran.code, ran.error) == (1, "recording_ended")
