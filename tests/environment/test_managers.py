"""Each package manager that counts as tried, on a project locked by itself with packages of the index of this machine.

They need the network and minutes: `script/test --projects` runs them, and nothing else does.
"""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from forge.app.repositories.environments import Environments
from forge.app.repositories.test_runs import Wanted, run_branch_tests
from forge.environment.machine import Machine
from forge.git import Repository
from forge.settings import Settings
from tests.conftest import Git, MakeRepo

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.req("B-02"),
    pytest.mark.slow,
    pytest.mark.skipif(os.environ.get("FORGE_TEST_PROJECTS") != "1", reason="script/test --projects runs them"),
]

PROJECT = """\
[project]
name = "app"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["itsdangerous"]
"""
GROUP = '[dependency-groups]\ntest = ["pytest"]\n'
BUILD = '[build-system]\nrequires = ["{name}"]\nbuild-backend = "{backend}"\n'
PYTHON = {
    "src/app/__init__.py": (
        "from itsdangerous import Signer\n\n\ndef signed(word):\n    return Signer('k').sign(word).decode()\n"
    ),
    "tests/test_app.py": "from app import signed\n\n\ndef test_signed():\n    assert signed('a').startswith('a.')\n",
}
PYTHON_MANAGERS: Mapping[str, tuple[str, str, list[str]]] = {
    "pip": (PROJECT + GROUP + BUILD.format(name="hatchling", backend="hatchling.build"), "", []),
    "uv": (PROJECT + GROUP + BUILD.format(name="hatchling", backend="hatchling.build"), "uv", ["uv", "lock"]),
    "pdm": (
        PROJECT + GROUP + BUILD.format(name="pdm-backend", backend="pdm.backend"), "pdm[locked]", ["pdm", "lock"],
    ),
    "poetry": (
        PROJECT
        + '[tool.poetry]\npackages = [{include = "app", from = "src"}]\n'
        + '[tool.poetry.group.test.dependencies]\npytest = "*"\n'
        + BUILD.format(name="poetry-core", backend="poetry.core.masonry.api"),
        "poetry",
        ["poetry", "lock"],
    ),
}  # fmt: skip
NODE = {
    "package.json": json.dumps(
        {
            "name": "app",
            "version": "1.0.0",
            "private": True,
            "dependencies": {"left-pad": "1.3.0"},
            "devDependencies": {"mocha": "10.8.2"},
            "scripts": {"test": "mocha"},
        }
    ),
    "test/pad.js": "it('pads', () => require('assert').equal(require('left-pad')('a', 3), '  a'));\n",
    ".gitignore": "node_modules\n",
}
NODE_MANAGERS = {
    "npm": ("", ["npm", "install", "--package-lock-only", "--no-audit"]),
    "pnpm": ("pnpm@9", ["pnpm", "install", "--lockfile-only"]),
    "yarn 1": ("yarn@1", ["yarn", "install", "--ignore-scripts"]),
    "yarn 4": ("@yarnpkg/cli-dist@4", ["yarn", "install", "--mode=update-lockfile"]),
}


def person() -> dict[str, str]:
    return {**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir}


def locked(place: Path, command: list[str]) -> None:
    done = subprocess.run(command, cwd=place, env=person(), capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def green(environments: Environments, place: Path, git: Git, manager: str) -> None:
    repo = Repository.open(place)
    (need,) = environments.state(repo, "main").proposal.needs
    assert (need.manager, need.untried) == (manager, False)
    environments.approve(repo, "main", by="Ada", expected=None)
    environments.set_up(repo, "main")
    record = run_branch_tests(repo, "main", Wanted(), redact=str, environments=environments).record
    assert (str(record.outcome), record.passed) == ("passed", 1), record
    assert git(place, "status", "--porcelain") == ""


@pytest.fixture
def environments(tmp_path: Path) -> Environments:
    return Environments(Settings(), person(), tmp_path / "environments")


@pytest.mark.parametrize("manager", PYTHON_MANAGERS)
def test_a_python_project_locked_by_its_manager_has_green_tests(
    environments: Environments, make_repo: MakeRepo, git: Git, tmp_path: Path, manager: str
) -> None:
    project, package, lock = PYTHON_MANAGERS[manager]
    if manager == "poetry":
        # Its own source speaks more than the simple form that every index has.
        index = Machine(person(), Path(person()["HOME"]), tmp_path / "asked").python_index
        address = index.variables.get("PIP_INDEX_URL") or f"https://{index.hosts[0]}/simple"
        project += f'[[tool.poetry.source]]\nname = "index"\nurl = "{address}"\npriority = "primary"\n'
    place = make_repo({**PYTHON, "pyproject.toml": project})
    if lock:
        subprocess.run([sys.executable, "-m", "venv", tmp_path / "tools"], check=True)
        locked(place, [str(tmp_path / "tools/bin/python"), "-m", "pip", "install", "-q", package])
        locked(place, [str(tmp_path / "tools/bin" / lock[0]), *lock[1:]])
        git(place, "add", f"{manager}.lock")
        git(place, "commit", "-qm", "lock")
    (place / ".pdm-python").unlink(missing_ok=True)
    green(environments, place, git, manager)


@pytest.mark.parametrize("manager", NODE_MANAGERS)
def test_a_node_project_locked_by_its_manager_has_green_tests(
    environments: Environments, make_repo: MakeRepo, git: Git, tmp_path: Path, manager: str
) -> None:
    package, lock = NODE_MANAGERS[manager]
    place = make_repo(NODE)
    program = lock[0]
    if package:
        (tmp_path / "tools").mkdir()
        locked(tmp_path / "tools", ["npm", "install", "--no-audit", "--no-fund", "--prefix", ".", package])
        program = str(tmp_path / "tools/node_modules/.bin" / lock[0])
        if manager == "yarn 4":
            (place / "yarn.lock").touch()
    locked(place, [program, *lock[1:]])
    git(place, "add", "-A", ":!.yarn", ":!.pnp*")
    git(place, "commit", "-qm", "lock")
    for left in (".yarn", ".pnp.cjs"):
        subprocess.run(["rm", "-rf", place / left], check=True)
    green(environments, place, git, manager.split(maxsplit=1)[0])
