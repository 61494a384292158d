"""Agents outside Forge work on branches through MCP: drafts, commits, refusals, all on real repositories."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from forge.git import Repository
from forge.git.refs import drafts
from forge.git.refs.reservations import release, reserve
from tests.conftest import Git, MakeRepo
from tests.support.mcp_client import draft_in, in_process

pytestmark = [pytest.mark.req("B-13"), pytest.mark.asyncio]
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "pytest", "version": "1"}}
FILES = {"README.md": "# Garden\n", "src/app.py": "def total(a, b):\n    return a - b\n"}


async def test_an_edit_on_a_branch_becomes_one_commit_and_no_checkout_changes(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    async with in_process(repo) as agent:
        text = await agent.call("forge_edit", at="agent/fix", path="src/app.py", search="a - b", replace="a + b")
        draft = draft_in(text)
        await agent.call("forge_write", at=draft, path="docs/note.md", content="fixed\n")
        await agent.call("forge_rename", at=draft, path="README.md", new_path="docs/README.md")
        assert "a + b" in await agent.call("forge_read", at=draft, path="src/app.py")
        assert "a - b" in await agent.call("forge_read", path="src/app.py")
        assert "docs/note.md" in await agent.call("forge_list", at=draft)
        assert "src/app.py" in await agent.call("forge_search", at=draft, pattern="a + b")
        assert "+    return a + b" in await agent.call("forge_diff", at=draft)
        assert git(repo, "branch", "--list", "agent/fix") == ""
        told = await agent.call("forge_commit", draft=draft, message="fix: add, do not subtract")
    assert "agent/fix" in told
    assert git(repo, "rev-list", "--count", "main..agent/fix") == "1"
    assert git(repo, "show", "agent/fix:src/app.py").endswith("a + b")
    assert git(repo, "log", "-1", "--format=%an|%(trailers:key=Forge-Asked-By,valueonly)", "agent/fix").startswith(
        "Forge (pytest)|Ada Example"
    )
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "for-each-ref", "refs/forge/drafts") == ""


@pytest.mark.req("C-10")
async def test_the_default_branch_is_refused_with_what_to_do_instead(make_repo: MakeRepo) -> None:
    repo = make_repo(FILES)
    async with in_process(repo) as agent:
        text = await agent.refused("forge_write", at="main", path="a", content="b")
        assert "default branch" in text
        assert "such as agent/" in text
        draft = draft_in(await agent.call("forge_write", at="agent/a", path="a", content="b"))
        text = await agent.refused("forge_commit", draft=draft, message="m", branch="main")
        assert "already" in text


async def test_a_draft_outlives_the_process_that_made_it(make_repo: MakeRepo) -> None:
    repo = make_repo(FILES)
    async with in_process(repo) as agent:
        draft = draft_in(await agent.call("forge_write", at="agent/a", path="a.txt", content="kept\n"))
    async with in_process(repo) as agent:
        assert draft in await agent.call("forge_list")
        assert "kept" in await agent.call("forge_read", at=draft, path="a.txt")
        await agent.call("forge_commit", draft=draft, message="add a")


async def test_a_draft_survives_the_kill_of_its_process(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "forge_write", "arguments": {"at": "agent/a", "path": "a.txt", "content": "kept\n"}},
        },
    ]
    forge = str(Path(sys.executable).parent / "forge")
    with subprocess.Popen(
        [forge, "-C", str(repo), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(f"{json.dumps(each)}\n" for each in asked))
        process.stdin.flush()
        answers = [process.stdout.readline() for _ in range(2)]
        process.kill()
    draft = draft_in(answers[1])
    async with in_process(repo) as agent:
        assert draft in await agent.call("forge_list")
        await agent.call("forge_commit", draft=draft, message="add a")
    assert git(repo, "show", "agent/a:a.txt") == "kept"


async def test_a_branch_that_moved_elsewhere_is_caught_up_with_before_the_next_commit(
    make_repo: MakeRepo, git: Git
) -> None:
    repo = make_repo(FILES)
    git(repo, "branch", "agent/a")
    async with in_process(repo) as agent:
        draft = draft_in(await agent.call("forge_write", at="agent/a", path="a.txt", content="mine\n"))
        other = draft_in(await agent.call("forge_write", at="agent/a", path="b.txt", content="theirs\n"))
        await agent.call("forge_commit", draft=other, message="theirs")
        text = await agent.refused("forge_commit", draft=draft, message="mine")
        assert "moved meanwhile" in text
        assert "b.txt" in text
        assert "commit again" in text
        assert "theirs" in await agent.call("forge_read", at=draft, path="b.txt")
        await agent.call("forge_commit", draft=draft, message="mine")
    assert git(repo, "log", "--format=%s", "agent/a").splitlines() == ["mine", "theirs", "first"]


async def test_a_file_changed_on_both_sides_is_named_and_goes_to_a_new_branch(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    git(repo, "branch", "agent/a")
    async with in_process(repo) as agent:
        draft = draft_in(await agent.call("forge_write", at="agent/a", path="README.md", content="mine\n"))
        other = draft_in(await agent.call("forge_write", at="agent/a", path="README.md", content="theirs\n"))
        await agent.call("forge_commit", draft=other, message="theirs")
        text = await agent.refused("forge_commit", draft=draft, message="mine")
        assert "Changed on both sides: README.md" in text
        assert "`branch`" in text
        await agent.call("forge_commit", draft=draft, message="mine", branch="agent/mine")
    assert git(repo, "show", "agent/mine:README.md") == "mine"
    assert git(repo, "show", "agent/a:README.md") == "theirs"


async def test_a_reserved_branch_is_busy_and_free_again_after_a_commit(make_repo: MakeRepo) -> None:
    repo = make_repo(FILES)
    common = Repository.open(repo).common_dir
    async with in_process(repo) as agent:
        draft = draft_in(await agent.call("forge_write", at="agent/a", path="a.txt", content="x"))
        reserve(common, "agent/a", "a-turn", "somebody")
        assert "another branch" in await agent.refused("forge_commit", draft=draft, message="m")
        assert "another branch" in await agent.refused("forge_write", at="agent/a", path="b", content="x")
        release(common, "agent/a", "a-turn")
        await agent.call("forge_commit", draft=draft, message="m")
        await agent.call("forge_write", at="agent/a", path="b", content="x")


async def test_many_calls_at_once_on_one_draft_lose_no_change(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    async with in_process(repo) as agent:
        draft = draft_in(await agent.call("forge_write", at="agent/a", path="f0.txt", content="0"))
        calls = [agent.tried("forge_write", at=draft, path=f"f{n}.txt", content=str(n)) for n in range(1, 7)]
        done = await asyncio.gather(*calls)
        kept = [n for n, (failed, _) in enumerate(done, 1) if not failed]
        assert all("Call again" in text for failed, text in done if failed)
        await agent.call("forge_commit", draft=draft, message="all")
    named = set(git(repo, "ls-tree", "--name-only", "agent/a").splitlines())
    assert {f"f{n}.txt" for n in [0, *kept]} <= named
    assert kept


@pytest.mark.req("B-13")
async def test_a_command_runs_on_pending_files_and_its_changes_join_the_draft(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    async with in_process(repo) as agent:
        draft = draft_in(await agent.call("forge_write", at="agent/a", path="in.txt", content="hello\n"))
        text = await agent.call("forge_run", at=draft, command="tr a-z A-Z < in.txt > out.txt; exit 3")
        assert "Exit code 3" in text
        assert "out.txt (added)" in text
        await agent.call("forge_commit", draft=draft, message="run")
    assert git(repo, "show", "agent/a:out.txt") == "HELLO"


async def test_without_a_command_the_tests_run(make_repo: MakeRepo) -> None:
    test = "import unittest\nfrom app import total\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n"
    repo = make_repo({**FILES, "src/test_app.py": test + "        self.assertEqual(total(1, 2), 3)\n"})
    async with in_process(repo) as agent:
        assert "FAILED" in await agent.call("forge_run", at="agent/a")
        draft = draft_in(
            await agent.call("forge_edit", at="agent/a", path="src/app.py", search="a - b", replace="a + b")
        )
        assert "passed" in await agent.call("forge_run", at=draft)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("forge_read", {"path": "../etc/passwd"}, "out of the repository"),
        ("forge_read", {"path": "src/ap.py"}, "Near it: src/app.py"),
        ("forge_read", {"path": 7}, "must be a string"),
        ("forge_read", {"path": "README.md", "line": 1}, "not an argument"),
        ("forge_read", {"path": "README.md", "at": "nowhere"}, "There is no commit or branch nowhere"),
        ("forge_read", {"path": "README.md", "at": "other:main"}, "There is no repository 'other'"),
        ("forge_read", {"path": "README.md", "at": "refs/forge/drafts/00000000"}, "ref of Forge's own"),
        ("forge_write", {"at": "", "path": "a", "content": ""}, "Name the branch"),
        ("forge_write", {"at": "a..b", "path": "a", "content": ""}, "cannot be a branch name"),
        ("forge_write", {"at": "agent/a", "path": ".forge/session.json", "content": ""}, "Forge's own records"),
        ("forge_write", {"at": "agent/a", "path": ".git/config", "content": ""}, ".git"),
        ("forge_edit", {"at": "agent/a", "path": "README.md", "search": "x", "replace": "y"}, "does not occur"),
        ("forge_commit", {"draft": "main", "message": "m"}, "must be a handle"),
        ("forge_commit", {"draft": "draft~.00000000", "message": "m"}, "There is no"),
    ],
)
async def test_a_wrong_call_is_answered_with_what_is_wrong(
    make_repo: MakeRepo, tool: str, arguments: dict[str, object], said: str
) -> None:
    async with in_process(make_repo(FILES)) as agent:
        assert said in await agent.refused(tool, **arguments)


async def test_drafts_that_nobody_changes_are_outdated_after_two_weeks(make_repo: MakeRepo) -> None:
    path = make_repo(FILES)
    async with in_process(path) as agent:
        await agent.call("forge_write", at="agent/a", path="a.txt", content="x")
    repo = Repository.open(path)
    (draft,) = drafts.listed(repo.objects, repo.refs)
    assert drafts.outdated(repo.objects, repo.refs, now=draft.changed + 13 * 86_400) == ()
    assert drafts.outdated(repo.objects, repo.refs, now=draft.changed + 15 * 86_400) == (draft,)
    assert Path(repo.common_dir).exists()
