"""A build that needs a decision, at the command line: killed, resumed, shown, answered by the number of an option."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.beside import Beside, beside, until
from tests.cli.conftest import Forge
from tests.conftest import MakeRepo
from tests.support.code_projects import IDEA, NO_CANDIDATE, NO_FINDING, intent, specification

pytestmark = pytest.mark.req("P-07", "P-12", "X-04")
Json = dict[str, Any]
QUESTION = "Does an empty text count as zero?"
CLASS = "import unittest\n\n\nclass Tests(unittest.TestCase):\n"
CRITERIA = CLASS + "".join(
    f"    def test_criterion_{n}(self):\n        self.assertEqual({n} + 1, {n + 1})\n" for n in range(1, 6)
)
PARSE = f"{CLASS}    def test_parse(self):\n        self.assertEqual(1 + 1, 2)\n"


def written(path: str, content: str) -> Json:
    return {"name": "write_file", "arguments": {"path": path, "content": content}}


def asked() -> Json:
    return {"name": "need_decision", "arguments": {"question": QUESTION, "options": ["zero", "an error"]}}


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """What a model answers in turns, and beside it what it answers to the prompts of the pipeline."""
    pause = {"name": "run_command", "arguments": {"command": "sleep 1"}}
    turns: list[Json] = [
        {"calls": [pause]},
        {"text": "The specification names no empty text.", "calls": [written("parse.py", "\n"), asked()]},
        {"calls": [written("parse.py", "ZERO = 0\n"), written("test_parse.py", PARSE)]},
        {"text": "Done.\n\nCommit: Parse durations"},
        {"calls": [written("test_acceptance.py", CRITERIA)]},
        {"text": "Done.\n\nCommit: Test every criterion"},
    ]
    answers = {
        "brain-dump-intake": intent(),
        "spec-building": specification("Parse"),
        "open-source": NO_CANDIDATE,
        "code-review": NO_FINDING,
        "team-context": json.dumps({"kind": "problem", "context": ""}),
    }
    lines = [{"prompt": name, "nth": 1, "output": output} for name, output in answers.items()]
    (tmp_path / "model.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in turns))
    (tmp_path / "model.answers.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return f"recorded:{tmp_path / 'model.jsonl'}"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Beside]:
    with beside(tmp_path, {}) as made:
        yield made


def test_a_decision_survives_kill_and_is_answered_by_its_number(
    there: Beside, make_repo: MakeRepo, recording: str
) -> None:
    code, idea = make_repo({"README.md": "Durations\n"}), there.data.parent / "idea.txt"
    idea.write_text(IDEA)
    options = ("--repo", str(code), "--name", "Durations", "--type", "code", "--agent", recording, "--auto-confirm")
    building = there.start("run", str(idea), *options)
    log = there.data.parent / "workspace" / "projects" / "durations" / "forge.log"
    until(lambda: log.exists() and "task 1 of 1" in log.read_text(), what=lambda: building.err)
    building.signal(signal.SIGKILL)
    building.ended()
    resumed = there.run("project", "resume", "durations")
    assert resumed.code == 4, resumed.out + resumed.err
    assert f"It waits for you: Task `parse` (“Parse”): {QUESTION}" in resumed.out
    assert "The specification names no empty text." in resumed.out
    assert "    1. zero\n    2. an error\n" in resumed.out
    assert "--option NUMBER takes an option" in resumed.out
    wrong = there.run("project", "provide-input", "durations", "--option", "3")
    assert (wrong.code, "There is no option 3." in wrong.err, "2 options" in wrong.err) == (2, True, True)
    done = there.run("project", "provide-input", "durations", "--option", "1", "--json")
    assert done.code == 0, done.out + done.err
    assert (done.document["phase"], done.document["stuck"]) == ("done", None)
    inputs = json.loads((log.parent / "project.json").read_text())["inputs"]
    assert [each["answer"] for each in inputs] == ["zero"]


def test_an_option_is_no_second_answer(forge: Forge) -> None:
    both = forge("project", "provide-input", "durations", "--option", "1", "-m", "zero")
    assert (both.code, "not several" in both.err) == (2, True)
