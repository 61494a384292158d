"""An agent's question at a terminal, and from another one: asked where somebody sits, answered once."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from forge.cli.terminal.output import Output
from forge.cli.terminal.turn_output import ProseTurnDisplay
from forge.events import QuestionAsked
from tests.cli.conftest import PROGRAM, Forge
from tests.cli.terminals import Terminal
from tests.conftest import MakeRepo

pytestmark = pytest.mark.req("G-11", "X-02")

ASK = {"calls": [{"name": "ask_user", "arguments": {"question": "Which colour?", "choices": ["red", "blue"]}}]}


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FORGE_DATA_DIR", str(tmp_path / "data"))
    path = make_repo({"a.txt": "hello\n"})
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    recording = tmp_path / "answers.jsonl"
    recording.write_text(f"{json.dumps(ASK)}\n{json.dumps({'text': 'Good.'})}\n")
    return "chat", "--branch", "ai/x", "-m", "a sign", "--model", f"recorded:{recording}"


def results(forge: Forge) -> list[str]:
    messages = forge("session", "show", "--branch", "ai/x", "--turn", "1", "--json").document["messages"]
    return [each["text"] for each in messages if each["role"] == "tool"]


def test_a_question_is_asked_at_the_terminal_and_answered_by_its_number(
    forge: Forge, repo: Path, words: tuple[str, ...]
) -> None:
    with Terminal(*words, cwd=repo) as terminal:
        shown = terminal.read_until("you › ")
        assert "Which colour?" in shown
        assert "2. blue" in shown
        terminal.type("\n2\n")
        terminal.read_until("Good.")
        assert terminal.wait() == 0
    assert results(forge) == ["blue"]


def test_a_question_left_open_is_answered_by_another_command(forge: Forge, repo: Path, words: tuple[str, ...]) -> None:
    with Terminal(*words, cwd=repo) as terminal:
        terminal.read_until("you › ")
    refused = forge("chat", "--branch", "ai/x", "-m", "something else")
    assert refused.code == 1
    assert "waits for an answer: Which colour?" in refused.err
    assert "forge session answer --branch ai/x" in refused.err
    assert forge("worker", "--until-idle", "--json").document == {"stopped": False}, "only a person can go on with it"
    missing = forge("session", "answer", "--branch", "main", "-m", "red")
    assert (missing.code, "Nothing is asked on main." in missing.err) == (1, True)
    assert forge("session", "answer", "--branch", "ai/x").code == 2
    ran = forge("session", "answer", "--branch", "ai/x", "-m", "red", "--json")
    assert ran.code == 0, ran.err
    assert (ran.document["text"], ran.document["stopped"]) == ("Good.", None)
    assert results(forge) == ["red"]


def test_a_question_answered_elsewhere_lets_the_terminal_go_on(
    forge: Forge, repo: Path, words: tuple[str, ...]
) -> None:
    with Terminal(*words, cwd=repo) as terminal:
        terminal.read_until("you › ")
        command = [str(PROGRAM), "session", "answer", "--branch", "ai/x", "-m", "green"]
        done = subprocess.run(command, cwd=repo, env=os.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        terminal.read_until("Answered: green")
        assert terminal.wait() == 0
    assert results(forge) == ["green"]


def test_programs_are_never_asked(forge: Forge, repo: Path, words: tuple[str, ...]) -> None:
    ran = forge(*words, "--json")
    assert ran.code == 0
    assert ran.document["text"] == "Good."
    assert results(forge)[0].startswith("The tool ask_user is not allowed here.")


def test_a_question_of_several_lines_is_shown_in_lines(capsys: pytest.CaptureFixture[str]) -> None:
    asked = QuestionAsked("q1", "r1", "Two ways:\n1. red\n2. blue", ("red", "blue"), None)
    ProseTurnDisplay(Output(json=False)).event(asked)
    assert capsys.readouterr().out.startswith("Two ways:\n1. red\n2. blue\n")
