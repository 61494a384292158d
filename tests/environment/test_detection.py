"""What a branch needs, read from its files; nothing of the branch runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge.app.repositories.environments import Environments
from forge.environment.machine import Machine
from forge.environment.proposal import Proposal
from forge.git import Repository
from tests.conftest import MakeRepo
from tests.support.package_server import PackageServer

pytestmark = pytest.mark.req("B-02")

PROJECT = "[project]\nname = 'a'\nversion = '1'\n"
NODE = json.dumps({"dependencies": {"a": "1"}})
CASES: dict[str, tuple[dict[str, str], str, str]] = {
    "uv": ({"pyproject.toml": PROJECT, "uv.lock": ""}, "uv", "uv sync --locked"),
    "poetry": ({"pyproject.toml": "[tool.poetry.dependencies]\npython = '*'\n"}, "poetry", "poetry install"),
    "pdm": ({"pyproject.toml": PROJECT, "pdm.lock": ""}, "pdm", "pdm sync"),
    "requirements": ({"requirements.txt": "a\n"}, "pip", "-r requirements.txt"),
    "extras": ({"pyproject.toml": f"{PROJECT}[project.optional-dependencies]\ntest = ['a']\n"}, "pip", "-e '.[test]'"),
    "groups": ({"pyproject.toml": f"{PROJECT}[dependency-groups]\ntests = ['a']\n"}, "pip", "--group tests"),
    "pytest": ({"pyproject.toml": PROJECT, "conftest.py": ""}, "pip", "-e . pytest"),
    "npm": ({"package.json": NODE, "package-lock.json": "{}"}, "npm", "npm ci"),
    "npm without a lock": ({"package.json": NODE}, "npm", "npm install --no-audit"),
    "pnpm": ({"package.json": NODE, "pnpm-lock.yaml": "lockfileVersion: '6.0'\n"}, "pnpm", "pnpm@8"),
    "yarn": ({"package.json": NODE, "yarn.lock": "# yarn lockfile v1\n"}, "yarn", "yarn@1"),
    "go": ({"go.mod": "module a\n"}, "go", "go mod download"),
}


def proposal(environments: Environments, make_repo: MakeRepo, files: dict[str, str]) -> Proposal:
    repo = Repository.open(make_repo(files))
    return environments.proposal(repo, repo.commit_vfs("main"))


@pytest.mark.parametrize(("files", "manager", "command"), CASES.values(), ids=CASES)
def test_a_manager_is_known_by_its_files(
    environments: Environments, make_repo: MakeRepo, files: dict[str, str], manager: str, command: str
) -> None:
    found = proposal(environments, make_repo, files)
    assert [need.manager for need in found.needs] == [manager]
    assert any(command in each for each in found.commands), found.commands
    assert bool(found.untried) is (manager == "go")


def test_hosts_are_those_of_the_person_without_their_login(
    environments: Environments, make_repo: MakeRepo, index: PackageServer
) -> None:
    found = proposal(environments, make_repo, {"requirements.txt": "a\n", "package.json": NODE})
    assert found.hosts == (index.host,)


def test_settings_of_linters_change_neither_hash_nor_key(environments: Environments, make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"pyproject.toml": PROJECT}))
    before = environments.proposal(repo, repo.commit_vfs("main"))
    files = repo.workspace("main")
    files.write_file("pyproject.toml", f"{PROJECT}[tool.ruff]\nline-length = 100\n")
    after = environments.proposal(repo, files)
    assert (after.hash, after.key) == (before.hash, before.key)
    files.write_file("pyproject.toml", f"{PROJECT}dependencies = ['b']\n")
    assert environments.proposal(repo, files).key != before.key


def test_a_branch_without_such_files_needs_nothing(environments: Environments, make_repo: MakeRepo) -> None:
    assert proposal(environments, make_repo, {"README.md": "", ".tool-versions": "ruby 3.3\n"}).is_empty


def test_indexes_of_pip_are_all_asked_by_uv_too(tmp_path: Path) -> None:
    extra = "https://one.example/simple https://two.example/simple"
    of_pip = Machine({"PIP_EXTRA_INDEX_URL": extra}, tmp_path, tmp_path / "asked").python_index.variables
    assert (of_pip["UV_INDEX"], of_pip["UV_INDEX_STRATEGY"]) == (extra, "unsafe-best-match")
    of_uv = Machine({"UV_INDEX": extra}, tmp_path, tmp_path / "asked").python_index.variables
    assert of_uv["UV_INDEX"] == extra
    assert "UV_INDEX_STRATEGY" not in of_uv
