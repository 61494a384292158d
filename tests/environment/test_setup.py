"""From an approved proposal to a layer that commands get: real pip and npm, real sandbox, an index on loopback."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import threading
import time
from pathlib import Path

import pytest

from forge.app.repositories.commands import CommandRun, run_on_branch
from forge.app.repositories.environments import Environments, EnvironmentStatus, SetupApprovalDenied
from forge.app.repositories.test_runs import Wanted, run_branch_tests
from forge.app.sessions.sandbox_commands import TurnCommands
from forge.environment.errors import ProposalChanged, SetupFailed, SetupNotApproved
from forge.environment.layer_store import Layer
from forge.environment.services import missing
from forge.git import PERSON, Actor, ActorKind, Repository
from forge.sandbox import Limits
from forge.tools.user_tools import approve, approved_tools
from tests.conftest import Git, MakeRepo
from tests.environment.conftest import MakeEnvironments
from tests.support.package_server import PackageServer

pytestmark = pytest.mark.req("B-02")

TEST = """\
import unittest
from greeting import hello

class Greets(unittest.TestCase):
    def test_hello(self):
        self.assertEqual(hello("Ada"), "hello Ada")
"""
PYTHON = {"requirements.txt": "greeting==1.0\n", "test_app.py": TEST}
PACKAGE = json.dumps({"name": "app", "dependencies": {"left-word": "1.0.0"}, "scripts": {"test": "node test.js"}})
NODE = {
    "package.json": PACKAGE,
    "test.js": "if (require('left-word')('one two') !== 'one') process.exit(1); console.log('ok');\n",
}


def ready(environments: Environments, repo: Repository, branch: str = "main") -> Layer:
    environments.approve(repo, branch, by="Ada", expected=None)
    return environments.set_up(repo, branch)


def shell(environments: Environments, repo: Repository, script: str, branch: str = "main") -> CommandRun:
    command = ["sh", "-c", script]
    return run_on_branch(repo, repo.workspace(branch), command, limits=Limits(seconds=60), environments=environments)


@pytest.mark.req("G-04")
def test_a_python_project_runs_its_tests_on_a_branch_without_a_checkout(
    environments: Environments, make_repo: MakeRepo, git: Git, index: PackageServer
) -> None:
    place = make_repo(PYTHON)
    repo = Repository.open(place)
    assert environments.state(repo, "main").state is EnvironmentStatus.NOT_APPROVED
    before = shell(environments, repo, "python3 -m unittest")
    assert before.result.exit_code != 0
    assert any("not approved" in note for note in before.notes)

    layer = ready(environments, repo)
    assert environments.state(repo, "main").state is EnvironmentStatus.READY
    done = shell(environments, repo, "python3 -m unittest && pwd")
    assert done.result.exit_code == 0, done.result.stderr_text
    assert done.result.stdout_text == "/source\n"
    assert done.changes == ()
    assert git(place, "status", "--porcelain") == ""
    assert layer.refused == ()
    assert "/simple/greeting/" in index.requests


def test_a_second_branch_with_the_same_lock_files_has_the_layer_at_once(
    environments: Environments, make_repo: MakeRepo, git: Git, index: PackageServer
) -> None:
    place = make_repo(PYTHON)
    repo = Repository.open(place)
    layer = ready(environments, repo)
    git(place, "branch", "other")
    asked = len(index.requests)
    started = time.monotonic()
    state = environments.state(repo, "other")
    assert state.state is EnvironmentStatus.READY
    assert environments.set_up(repo, "other").key == layer.key
    assert time.monotonic() - started < 1.0
    assert shell(environments, repo, "python3 -m unittest", "other").result.ok
    assert len(index.requests) == asked


def test_a_changed_lock_file_gets_a_layer_of_its_own_without_another_approval(
    environments: Environments, make_repo: MakeRepo
) -> None:
    setup = "setup: ['cp words.lock /env/']\ninputs: [words.lock]\n"
    repo = Repository.open(make_repo({".forge/environment.yaml": setup, "words.lock": "one\n"}))
    first = ready(environments, repo)
    repo.create_branch("newer")
    files = repo.workspace("newer")
    files.write_file("words.lock", "two\n")
    files.commit("newer words")
    assert environments.state(repo, "newer").state is EnvironmentStatus.APPROVED
    assert shell(environments, repo, "cat /env/words.lock", "newer").result.stdout_text == "two\n"
    assert environments.state(repo, "newer").layer != first
    assert environments.state(repo, "main").layer == first
    assert shell(environments, repo, "cat /env/words.lock").result.stdout_text == "one\n"


def test_an_npm_project_has_its_node_modules_and_the_branch_stays_clean(
    environments: Environments, make_repo: MakeRepo
) -> None:
    repo = Repository.open(make_repo(NODE))
    ready(environments, repo)
    done = shell(environments, repo, "npm test --silent && ls node_modules && ! touch node_modules/x 2>/dev/null")
    assert done.result.exit_code == 0, done.result.stderr_text
    assert done.result.stdout_text.splitlines() == ["ok", "left-word"]
    assert done.changes == ()


@pytest.mark.req("X-06")
def test_only_a_person_approves_and_only_what_they_read(environments: Environments, make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo(PYTHON))
    with pytest.raises(SetupNotApproved):
        environments.set_up(repo, "main")
    for kind in (ActorKind.AGENT, ActorKind.BUILD):
        with pytest.raises(SetupApprovalDenied):
            environments.approve(repo, "main", by="robot", actor=Actor(kind, "robot"), expected=None)
    with pytest.raises(ProposalChanged):
        environments.approve(repo, "main", by="Ada", actor=PERSON, expected="sha256:" + "0" * 64)
    assert environments.state(repo, "main").state is EnvironmentStatus.NOT_APPROVED


@pytest.mark.req("X-06")
def test_an_approval_ends_with_any_change_of_what_runs(environments: Environments, make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo(PYTHON))
    environments.approve(repo, "main", by="Ada", expected=None)
    for path, content in (
        (".forge/environment.yaml", "setup: [echo other]\n"),
        (".forge/environment.yaml", "hosts: [evil.example]\n"),
        (".forge/environment.yaml", "variables: {PIP_INDEX_URL: 'http://evil.example'}\n"),
        ("setup.py", "import os\n"),
        ("package.json", PACKAGE),
    ):
        files = repo.workspace("main")
        files.write_file(path, content)
        state = environments.state(repo, "main", files)
        assert state.state is EnvironmentStatus.CHANGED, (path, content)
        assert state.difference
        with pytest.raises(SetupNotApproved):
            environments.set_up(repo, "main", vfs=files)


def test_a_failed_setup_tells_the_last_lines_and_leaves_no_layer(
    environments: Environments, make_repo: MakeRepo, tmp_path: Path
) -> None:
    setup = "setup: ['echo one', 'echo looking for no-such-package; exit 3', 'echo never']\n"
    repo = Repository.open(make_repo({".forge/environment.yaml": setup}))
    environments.approve(repo, "main", by="Ada", expected=None)
    with pytest.raises(SetupFailed) as failed:
        environments.set_up(repo, "main")
    assert "no-such-package" in failed.value.message
    assert failed.value.hint
    state = environments.state(repo, "main")
    assert state.state is EnvironmentStatus.FAILED
    assert state.failure is not None
    assert "exit code 3" in state.failure.reason
    assert state.failure.lines[-1] == "looking for no-such-package"
    assert any("no-such-package" in line for line in environments.log(state))
    assert environments.store.layers() == ()
    assert not list((tmp_path / "environments/layers").glob(".*making"))
    done = shell(environments, repo, "echo still works")
    assert done.result.stdout_text == "still works\n"
    assert any("environment" in note for note in done.notes)


def test_without_a_network_the_person_is_told_what_to_do(
    make_environments: MakeEnvironments, make_repo: MakeRepo, index: PackageServer
) -> None:
    environments = make_environments(PIP_INDEX_URL="http://127.0.0.1:9/simple")
    files = {**PYTHON, ".forge/environment.yaml": "variables: {PIP_RETRIES: '0'}\n"}
    repo = Repository.open(make_repo(files))
    environments.approve(repo, "main", by="Ada", expected=None)
    with pytest.raises(SetupFailed) as failed:
        environments.set_up(repo, "main")
    assert "could not be reached" in failed.value.message
    assert "network" in failed.value.hint
    assert index.requests == []


def test_hosts_that_were_not_approved_are_refused_and_listed(
    environments: Environments, make_repo: MakeRepo, index: PackageServer
) -> None:
    script = "python3 -c \"import urllib.request as r; r.urlopen('http://packages.example/x')\" || true"
    repo = Repository.open(make_repo({".forge/environment.yaml": f"setup:\n  - {json.dumps(script)}\n"}))
    layer = ready(environments, repo)
    assert layer.refused == ("packages.example",)
    assert index.requests == []


def test_two_setups_of_one_key_make_one_layer(environments: Environments, make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({".forge/environment.yaml": "setup: ['sleep 0.5; date +%N > /env/when']\n"}))
    environments.approve(repo, "main", by="Ada", expected=None)
    made: list[Layer] = []
    threads = [
        threading.Thread(target=lambda: made.append(environments.set_up(repo, "main", wait=True))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 3
    assert len({layer.created_at for layer in made}) == 1
    assert len({(layer.root / "when").read_text() for layer in made}) == 1


def test_layers_over_the_budget_go_but_never_one_in_use(environments: Environments, make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a": ""}))
    layers = []
    for number in range(3):
        files = repo.workspace("main")
        files.write_file(".forge/environment.yaml", f"setup: ['head -c 1000000 /dev/zero > /env/{number}']\n")
        files.commit("another")
        layers.append(ready(environments, repo))
    store = environments.store
    with store.in_use(layers[0]):
        gone = store.evict(1_500_000, keep=layers[2].key)
    assert [layer.key for layer in gone] == [layers[1].key]
    assert {layer.key for layer in store.layers()} == {layers[0].key, layers[2].key}
    assert [layer.key for layer in store.evict(1, keep="")] == [layers[2].key, layers[0].key] or not store.layers()


def test_what_a_setup_builds_beside_the_sources_is_part_of_the_layer(
    environments: Environments, make_repo: MakeRepo
) -> None:
    setup = "setup: ['mkdir made && echo folder > made/it && echo file > src/built.so']\n"
    repo = Repository.open(make_repo({".forge/environment.yaml": setup, "src/a.py": "1\n"}))
    ready(environments, repo)
    done = shell(environments, repo, "cat made/it src/built.so; echo 2 >> src/a.py")
    assert done.result.stdout_text == "folder\nfile\n"
    assert [change.path for change in done.changes] == ["src/a.py"]
    repo.create_branch("other")
    assert shell(environments, repo, "cat src/built.so", "other").result.stdout_text == "file\n"


@pytest.mark.skipif(bool(missing(("postgresql",))), reason="PostgreSQL is not installed")
def test_a_service_runs_for_one_command_on_a_private_socket(environments: Environments, make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({".forge/environment.yaml": "services: [postgresql]\n"}))
    ready(environments, repo)
    query = "psql -Atc 'create table t(i int); insert into t values (7); select i from t'; exit 3"
    for _ in range(2):  # each command has a database of its own
        done = shell(environments, repo, query)
        assert done.result.stdout_text.splitlines()[-1:] == ["7"], done.result.stderr_text
        assert done.result.exit_code == 3
        assert done.changes == ()


@pytest.mark.skipif(bool(missing(("redis",))), reason="Redis is not installed")
def test_redis_runs_for_one_command_on_a_private_socket(environments: Environments, make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({".forge/environment.yaml": "services: [redis]\n"}))
    ready(environments, repo)
    script = 'for word in "dbsize" "set a 7" "get a"; do redis-cli -s "${REDIS_URL#unix://}" $word; done; exit 3'
    for _ in range(2):  # each command has a store of its own
        done = shell(environments, repo, script)
        assert done.result.stdout_text.split() == ["0", "OK", "7"], done.result.stderr_text
        assert done.result.exit_code == 3
        assert done.changes == ()


@pytest.mark.req("X-04")
def test_a_tool_of_the_repository_imports_packages_of_the_layer_after_its_own_modules(
    environments: Environments, make_repo: MakeRepo
) -> None:
    tool = """\
import own
from greeting import hello

def get_schema():
    return {"name": "greet", "description": "Greet.", "parameters": {"type": "object", "properties": {}}}

def execute(vfs, args):
    return hello(own.NAME)
"""
    files = {"requirements.txt": "greeting==1.0\n", "tools/greet.py": tool, "own.py": "NAME = 'Ada'\n"}
    repo = Repository.open(make_repo(files))
    vfs = repo.workspace("main")
    approved = approve(vfs, ["greet"], "Ada")
    vfs.commit("approve greet")
    approved.record(repo.common_dir)
    commands = TurnCommands(repo, environments=environments)

    _, (before,) = approved_tools(repo.workspace("main"), {}, find_layer=commands.tool_layer)
    assert "No module named 'greeting'" in before.reason
    assert "without its environment: it is not approved" in before.reason
    ready(environments, repo)
    vfs = repo.workspace("main")
    (found,), _ = approved_tools(vfs, {}, find_layer=commands.tool_layer)
    assert found.execute(vfs, {}) == "hello Ada"


CRATE = {
    "Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "app"\nversion = "0.1.0"\n',
    "src/lib.rs": "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n",
    ".gitignore": "target\n",
}
CMAKE = {
    "CMakeLists.txt": (
        "cmake_minimum_required(VERSION 3.20)\nproject(app C)\nenable_testing()\n"
        "add_executable(app app.c)\nadd_test(NAME runs COMMAND app)\n"
    ),
    "app.c": "int main(void) { return 0; }\n",
}
MAKE = {"Makefile": "check:\n\t@echo 1..1; echo ok 1 - fine\n"}


@pytest.mark.parametrize(
    ("program", "files"), [("cargo", CRATE), ("cmake", CMAKE), ("make", MAKE)], ids=["cargo", "ctest", "make"]
)
def test_other_tools_of_this_machine_run_tests_of_projects_without_dependencies(
    make_environments: MakeEnvironments, make_repo: MakeRepo, program: str, files: dict[str, str]
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    environments = make_environments(HOME=pwd.getpwuid(os.getuid()).pw_dir)
    repo = Repository.open(make_repo(files))
    if not environments.state(repo, "main").proposal.is_empty:
        ready(environments, repo)
    record = run_branch_tests(repo, "main", Wanted(), redact=str, environments=environments).record
    assert (str(record.outcome), record.passed) == ("passed", 1), record


def test_a_tool_that_is_not_installed_is_told(
    make_environments: MakeEnvironments, make_repo: MakeRepo, tmp_path: Path
) -> None:
    environments = make_environments(PATH=str(tmp_path))
    repo = Repository.open(make_repo({"go.mod": "module a\n"}))
    assert "go is not installed on this machine." in environments.state(repo, "main").proposal.notes


def test_a_service_that_is_not_installed_is_told(
    environments: Environments, make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repository.open(make_repo({".forge/environment.yaml": "services: [redis]\n"}))
    monkeypatch.setattr("forge.environment.services.glob", lambda _: [])
    assert any("redis is not installed" in note for note in environments.state(repo, "main").proposal.notes)
    ready(environments, repo)
    done = shell(environments, repo, "echo ran")
    assert done.result.stdout_text == "ran\n"
    assert any("redis is not installed" in note for note in done.notes)


def test_the_test_command_of_the_branch_counts_once_it_is_approved(
    environments: Environments, make_repo: MakeRepo
) -> None:
    setup = "setup: ['true']\ntest: python3 -m unittest discover -s checks\n"
    case = TEST.replace("from greeting import hello", "hello = 'hello {}'.format")
    repo = Repository.open(make_repo({".forge/environment.yaml": setup, "checks/test_a.py": case}))
    assert environments.test_command(repo, repo.workspace("main")) == ""
    ready(environments, repo)
    done = run_branch_tests(repo, "main", Wanted(), redact=str, environments=environments)
    assert done.record.command == "python3 -m unittest discover -s checks"
    assert done.record.passed == 1
    files = repo.workspace("main")
    files.write_file(".forge/environment.yaml", "setup: ['true']\ntest: 'true'\n")
    assert environments.test_command(repo, files) == ""
