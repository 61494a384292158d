"""The visible copy of approvals in plain git: branches that approve different tools merge, rebase and are picked."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from forge.app.sessions.tools import approved, revoked, tools_of
from forge.git import Repository
from forge.tools.approvals import FIRST_FORMAT, PATH, POINTER, write_approvals
from tests.conftest import Git, MakeRepo

pytestmark = pytest.mark.req("G-12", "G-06")
TOOL = """\
def get_schema():
    return {"name": "NAME", "description": "d", "parameters": {"type": "object", "properties": {}}}


def execute(vfs, args):
    return "hello"
"""
NAMES = ("greet", "count", "sort", "plan")


@pytest.fixture
def place(make_repo: MakeRepo) -> Path:
    return make_repo({f"tools/{name}.py": TOOL.replace("NAME", name) for name in NAMES})


def states(place: Path, branch: str = "main") -> dict[str, str]:
    return {tool.name: tool.state for tool in tools_of(Repository.open(place), branch).own}


def approve(place: Path, branch: str, *names: str) -> None:
    approved(Repository.open(place), branch, names)


def change(place: Path, branch: str, name: str, text: str) -> None:
    files = Repository.open(place).workspace(branch)
    files.write_file(f"tools/{name}.py", TOOL.replace("NAME", name).replace("hello", text))
    files.commit(f"change {name}")


@pytest.mark.parametrize("start", ["nothing", "approved", "first format"])
@pytest.mark.parametrize("way", ["merge", "rebase", "cherry-pick", "octopus"])
def test_branches_that_approve_different_tools_come_together(place: Path, git: Git, way: str, start: str) -> None:
    if start != "nothing":
        approve(place, "main", "plan")
    if start == "first format":
        as_first_format(place)
    git(place, "reset", "--quiet", "--hard")
    git(place, "branch", "ai/one")
    git(place, "branch", "ai/two")
    approve(place, "ai/one", "greet")
    approve(place, "ai/two", "count")
    approve(place, "ai/two", "sort")
    if way == "octopus":
        git(place, "merge", "--quiet", "--no-edit", "ai/one", "ai/two")
    elif way == "merge":
        git(place, "merge", "--quiet", "--no-edit", "ai/one")
        git(place, "merge", "--quiet", "--no-edit", "ai/two")
    elif way == "rebase":
        git(place, "merge", "--quiet", "--no-edit", "ai/one")
        git(place, "rebase", "--quiet", "main", "ai/two")
        git(place, "checkout", "--quiet", "main")
        git(place, "merge", "--quiet", "--ff-only", "ai/two")
    else:
        git(place, "cherry-pick", "ai/one", "ai/two~1", "ai/two")
    wanted = {"greet": "approved", "count": "approved", "sort": "approved"}
    assert states(place) == {**wanted, "plan": "new" if start == "nothing" else "approved"}
    assert tools_of(Repository.open(place), "main").differences == ()


def as_first_format(place: Path) -> None:
    """Write the copy of main as an earlier Forge did."""
    repo = Repository.open(place)
    files = repo.workspace("main")
    listed = {}
    for path in files.list_files(".forge/approved_tools/"):
        data = json.loads(files.read_bytes(path))
        listed[data.pop("tool")] = {key: value for key, value in data.items() if key != "schema_version"}
        files.delete_record(path)
    files.write_record(PATH, json.dumps({"schema_version": FIRST_FORMAT, "tools": listed}, indent=1).encode())
    files.commit("as an earlier Forge wrote it")
    assert states(place)["plan"] == "approved"


def test_the_same_tool_approved_in_two_versions_is_approved_in_either(place: Path, git: Git) -> None:
    approve(place, "main", "greet")
    git(place, "reset", "--quiet", "--hard")
    git(place, "branch", "ai/one")
    change(place, "ai/one", "greet", "one")
    approve(place, "ai/one", "greet")
    change(place, "main", "greet", "two")
    approve(place, "main", "greet")
    git(place, "reset", "--quiet", "--hard")
    git(place, "merge", "--quiet", "--no-edit", "-X", "theirs", "ai/one")
    assert states(place)["greet"] == "approved"
    change(place, "main", "greet", "two")
    assert states(place)["greet"] == "approved"
    change(place, "main", "greet", "three")
    assert states(place)["greet"] == "changed"


def test_the_same_approval_on_two_branches_is_one_file(place: Path, git: Git) -> None:
    git(place, "branch", "ai/one")
    approve(place, "ai/one", "greet")
    approve(place, "main", "greet")
    assert git(place, "rev-parse", "main:.forge") == git(place, "rev-parse", "ai/one:.forge")


def test_a_branch_that_revokes_merges_with_one_that_approves(place: Path, git: Git) -> None:
    approve(place, "main", "greet", "plan")
    git(place, "reset", "--quiet", "--hard")
    git(place, "branch", "ai/one")
    approve(place, "ai/one", "count")
    revoked(Repository.open(place), "main", "greet")
    git(place, "reset", "--quiet", "--hard")
    git(place, "merge", "--quiet", "--no-edit", "ai/one")
    assert states(place) == {"count": "approved", "greet": "new", "plan": "approved", "sort": "new"}
    assert tools_of(Repository.open(place), "main").differences == ()


@pytest.mark.parametrize("seed", range(6))
def test_random_approvals_never_conflict(place: Path, git: Git, seed: int) -> None:
    """Approvals, changes, revocations and merges by plain git: only the tools themselves may clash."""
    chance = random.Random(seed)
    branches = ["main", "ai/one", "ai/two"]
    for name in branches[1:]:
        git(place, "branch", name)
    for number in range(14):
        branch = chance.choice(branches)
        name = chance.choice(NAMES)
        deed = chance.choice(("approve", "approve", "change", "revoke", "merge"))
        if deed == "approve":
            approve(place, branch, name)
        elif deed == "change":
            change(place, branch, name, f"{number}")
            approve(place, branch, name)
        elif deed == "revoke" and states(place, branch)[name] == "approved":
            revoked(Repository.open(place), branch, name)
        else:
            git(place, "checkout", "--quiet", "--force", branch)
            for other in branches:
                git(place, "merge", "--quiet", "--no-edit", "-X", "ours", other)
            git(place, "checkout", "--quiet", "--force", "--detach")
    for branch in branches:
        files = Repository.open(place).commit_vfs(branch)
        assert not files.file_exists(PATH) or files.read_bytes(PATH) == POINTER


def test_names_that_are_no_tools_are_not_taken_over(place: Path) -> None:
    files = Repository.open(place).workspace("main")
    entry = '{"path": "p", "hash": "h", "files": {}, "approved_by": "a", "approved_at": "t"}'
    files.write_record(PATH, f'{{"schema_version": 1, "tools": {{"../evil": {entry}}}}}'.encode())
    write_approvals(files, {"greet": None})
    assert set(files.pending) == {PATH}
