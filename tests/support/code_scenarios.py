"""Whole code projects with scripted models: repositories as people have them, one good model, and bad ones."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import util
from pathlib import Path
from tempfile import TemporaryDirectory

from forge.app.process.workshop import Workshop
from forge.app.projects.catalog import workspace_of
from forge.app.projects.view import ProjectView
from forge.git import Repository
from forge.pipeline.actions import Action
from forge.projects.project import Project
from forge.projects.status import Phase
from tests.support.code_projects import NO_FINDING, Say, ScriptedCoder, answering, built, call, edits, specification
from tests.support.project_runs import at_phase
from tests.support.scripted_projects import Office, pressed

UNITTEST = "import unittest\n\n\nclass {name}(unittest.TestCase):\n"
CRITERIA = 5
OLD_TESTS = (
    UNITTEST.format(name="Old")
    + "    def test_sum(self):\n        self.assertEqual(1 + 1, 2)\n        self.assertEqual(2 + 2, 4)\n\n"
    + "    def test_text(self):\n        self.assertEqual('a'.upper(), 'A')\n"
)
BROKEN_TEST = UNITTEST.format(name="Broken") + "    def test_clock(self):\n        self.assertEqual(1, 2)\n"
PARSE = '"""Durations as seconds."""\n\n\ndef parse(text: str) -> int:\n    return int(text.removesuffix("s"))\n'
PYTHON = {"README.md": "# Sums\n", "test_old.py": OLD_TESTS}


def unittest_file(name: str, *tests: str) -> str:
    body = "".join(f"    def {test}(self):\n        self.assertEqual(parse('3s'), 3)\n\n" for test in tests)
    return f"from parse import parse\n{UNITTEST.format(name=name)}{body}"


def python_work(order: str, number: int) -> Sequence[Say]:
    """Looks, writes code and tests, says what it did."""
    look = Say("", (call("search", pattern="parse"),))
    names = [f"test_criterion_{n}" for n in range(1, CRITERIA + 1)]
    acceptance = {"test_acceptance.py": unittest_file("Acceptance", *names)}
    code = {"parse.py": PARSE, "test_parse.py": unittest_file("Parse", "test_seconds")}
    return [look, *edits(_ordered(order, code, acceptance))]


def _ordered(order: str, code: Mapping[str, str], acceptance: Mapping[str, str]) -> dict[str, str]:
    """The files of the tasks that an order names, which may be both."""
    wants_acceptance = "Task `acceptance-tests`" in order
    others = [each for each in re.findall(r"^Task `([^`]+)`", order, re.MULTILINE) if each != "acceptance-tests"]
    return {**(code if others or not wants_acceptance else {}), **(acceptance if wants_acceptance else {})}


def node_tests(*names: str) -> str:
    head = 'import assert from "node:assert";\nimport { test } from "node:test";\n'
    head += 'import { parse } from "../parse.mjs";\n\n'
    return head + "".join(f'test("{name}", () => assert.equal(parse("3s"), 3));\n' for name in names)


def node_work(order: str, number: int) -> Sequence[Say]:
    names = [f"criterion {n}: it does" for n in range(1, CRITERIA + 1)]
    source = 'export function parse(text) {\n  return Number(text.replace("s", ""));\n}\n'
    code = {"parse.mjs": source, "test/parse.test.mjs": node_tests("parses seconds")}
    return edits(_ordered(order, code, {"test/acceptance.test.mjs": node_tests(*names)}))


NODE = {
    "package.json": json.dumps({"name": "sums", "type": "module", "scripts": {"test": "node --test"}}),
    "sum.mjs": "export const sum = (a, b) => a + b;\n",
    "test/sum.test.mjs": (
        'import assert from "node:assert";\nimport { test } from "node:test";\nimport { sum } from "../sum.mjs";\n\n'
        'test("adds", () => assert.equal(sum(1, 2), 3));\ntest("rounds", () => assert.equal(sum(0.1, 0.2), 0.3));\n'
    ),
    "tools/count.py": "print(1)\n",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a project ended, and what it took."""

    project: Project
    seen: ProjectView
    model: ScriptedCoder
    seconds: float

    @property
    def reason(self) -> str:
        return self.seen.question


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    files: Mapping[str, str] = field(default_factory=dict)
    work: Callable[[str, int], Sequence[Say]] = python_work
    reviews: str = NO_FINDING
    resources: Mapping[str, str] = field(default_factory=dict)
    is_new: bool = False
    """Without a repository."""
    command: str = ""
    """The test command of the project."""
    plan: str = ""
    """Of the finished project that it follows."""
    tasks: Sequence[str] = ("Parse",)
    unproven: bool = False
    """The person goes on although the tests cannot run."""

    def run(self, place: Path, repository: Path | None = None) -> Ended:
        office = Office.at(place / "office")
        code = None if self.is_new else repository or repository_with(place / "code", self.files)
        given = [_written(place / name, text) for name, text in self.resources.items()]
        model = ScriptedCoder(self.work, {"code-review": self.reviews, "spec-building": specification(*self.tasks)})
        began = time.monotonic()

        async def use(shop: Workshop) -> tuple[Project, ProjectView]:
            after = _finished_plan(office, self.plan) if self.plan else None
            project, seen = await built(shop, code, files=given, command=self.command, after=after)
            if self.unproven and seen.halt_reason == "tests_cannot_run":
                seen = await pressed(shop, project, Action.OVERRIDE, confirmed=True)
            return project, seen

        with answering(model):
            project, seen = office.do(use)
        return Ended(project, seen, model, time.monotonic() - began)


def _finished_plan(office: Office, text: str) -> Project:
    project = workspace_of(office.settings).create("Plan", agent="builtin", now=datetime(2026, 1, 1, tzinfo=UTC))
    at_phase(project, Phase.DONE, {"docs/plan.md": text}, kind="plan")
    return project


def repository_with(place: Path, files: Mapping[str, str]) -> Path:
    repo = Repository.init(place)
    vfs = repo.workspace("main")
    for path, text in files.items():
        vfs.write_file(path, text)
    vfs.commit("Begin")
    return place


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def sample_work(order: str, number: int) -> Sequence[Say]:
    """Reads the sample that the person gave before it builds."""
    return [Say("", (call("read_resource", path="sample.csv"),)), *python_work(order, number)]


def many_files(count: int) -> dict[str, str]:
    return {**PYTHON, **{f"data/part_{n % 200}/item_{n}.txt": f"item {n}\n" for n in range(count)}}


# -- source distributions

_RUNNER = ("_pytest", "pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
VENDORED = "PYTHONPATH=.vendor:src:. python3 -m pytest -q -p no:cacheprovider --continue-on-collection-errors"


def unpacked(archive: Path, place: Path) -> Path:
    """A repository with the files of a source distribution."""
    with tarfile.open(archive) as packed:
        packed.extractall(place, filter="data")
    [code] = [each for each in place.iterdir() if each.is_dir()]
    files = {path.relative_to(code): path for path in code.rglob("*") if path.is_file() and not path.is_symlink()}
    repo = Repository.init(code)
    vfs = repo.workspace("main")
    for path, source in files.items():
        vfs.write_bytes(str(path), source.read_bytes())
    vfs.commit("Begin")
    return code


def runner_files() -> dict[str, str]:
    """pytest and what it needs, as files of a repository that brings its own runner."""
    with TemporaryDirectory() as place:
        for name in _RUNNER:
            found = util.find_spec(name)
            assert found is not None
            assert found.origin is not None
            _vendor(Path(found.origin), Path(place))
        paths = [path for path in Path(place).rglob("*.py") if "__pycache__" not in path.parts]
        return {f".vendor/{path.relative_to(place)}": path.read_text("utf-8") for path in paths}


def _vendor(origin: Path, place: Path) -> None:
    """A package, or a module of one file."""
    place.mkdir(exist_ok=True)
    if origin.name == "__init__.py":
        shutil.copytree(origin.parent, place / origin.parent.name, ignore=shutil.ignore_patterns("*.pyc"))
    else:
        shutil.copy(origin, place)


def pytest_work(order: str, number: int) -> Sequence[Say]:
    """In a repository whose tests are in `tests/`."""
    case = "def {name}():\n    assert int('3s'.removesuffix('s')) == 3\n\n\n"
    names = [f"test_criterion_{n}" for n in range(1, CRITERIA + 1)]
    acceptance = {"tests/test_forge_acceptance.py": "".join(case.format(name=name) for name in names)}
    return edits(_ordered(order, {"tests/test_forge_seconds.py": case.format(name="test_seconds")}, acceptance))
