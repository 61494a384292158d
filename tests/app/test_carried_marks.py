"""What a person marked in the context goes into the next save too, whoever saves; never onto a protected branch."""

from __future__ import annotations

import io

import pytest

from forge.agents.scripted import ScriptedModel
from forge.app.access.identity import LOCAL
from forge.app.repositories import branches, carried_marks, edits, write
from forge.app.sessions import attachments, context
from forge.git import BranchMoved, Repository
from forge.git.workspace.forge_records import FOLDER
from forge.sessions.conversation import read_head
from forge.sessions.head import ActiveFile
from forge.sessions.layout import HEAD_PATH, POINTER
from forge.sessions.marks import Marks, mark, marks_of
from forge.sessions.places import Sessions
from tests.app.facade import Place, place, shop
from tests.cli.conftest import run_here
from tests.conftest import Git, MakeRepo, run_git
from tests.support.mcp_client import draft_in, in_process
from tests.support.turns import request, turn

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("G-06", "G-13")
FILES = {"AGENTS.md": "Be brief.\n", "a.txt": "hello\n", "b.txt": "there\n", "c.txt": "too\n"}


@pytest.fixture(params=["tree", "side-ref"])
def sessions(request: pytest.FixtureRequest, make_repo: MakeRepo) -> Sessions:
    repo = Repository.open(make_repo(FILES))
    repo.create_branch("ai/x", "main")
    repo.sessions_beside = lambda: request.param == "side-ref"
    return Sessions(repo, beside=request.param == "side-ref")


def add(sessions: Sessions, *paths: str, branch: str = "ai/x") -> None:
    context.add(sessions, branch, [ActiveFile(path) for path in paths])


def save(sessions: Sessions, path: str, text: str, branch: str = "ai/x") -> write.Landed:
    return write.save(sessions.repo, branch, path, text.encode())


def shown(sessions: Sessions, branch: str = "ai/x") -> list[str]:
    """As another process sees it, with nothing pending."""
    fresh = Sessions(Repository.open(sessions.repo.git_dir), beside=sessions.beside)
    assert not fresh.marks(branch)
    return [file.path for file in context.active_files(fresh, branch)]


def in_forge(repo: Repository, rev: str) -> list[str]:
    return run_git(repo.git_dir, "ls-tree", "-r", "--name-only", rev, "--", FOLDER).splitlines()


def test_a_save_takes_the_marks_along_in_its_one_commit(sessions: Sessions) -> None:
    add(sessions, "b.txt")
    context.remove(sessions, "ai/x", ["AGENTS.md"])
    before = sessions.repo.refs.tip("ai/x")
    landed = save(sessions, "a.txt", "new\n")
    assert shown(sessions) == ["b.txt"]
    assert run_git(sessions.repo.git_dir, "rev-list", f"{before}..ai/x").splitlines() == [landed.commit]
    assert landed.changes == {"a.txt": "modified"}
    assert landed.operation is not None
    if sessions.beside:
        assert not in_forge(sessions.repo, "ai/x")
    else:
        assert len(in_forge(sessions.repo, "ai/x")) == 2
        assert run_git(sessions.repo.git_dir, "show", f"ai/x:{HEAD_PATH}").encode() + b"\n" == POINTER


def test_a_protected_branch_gets_nothing_and_its_marks_stay(sessions: Sessions) -> None:
    add(sessions, "b.txt", branch="main")
    save(sessions, "a.txt", "new\n", "main")
    assert not in_forge(sessions.repo, "main")
    assert sessions.repo.work_tree is not None
    assert not (sessions.repo.work_tree / FOLDER).exists()
    assert not sessions.repo.refs.under("refs/forge/sessions/")
    assert marks_of(sessions.repo.common_dir, "main") == Marks((ActiveFile("b.txt"),))


def test_marks_of_several_saves_add_up_and_the_last_word_counts(sessions: Sessions) -> None:
    add(sessions, "b.txt", "c.txt")
    save(sessions, "a.txt", "1\n")
    context.remove(sessions, "ai/x", ["b.txt"])
    save(sessions, "a.txt", "2\n")
    add(sessions, "b.txt")
    save(sessions, "a.txt", "3\n")
    assert shown(sessions) == ["AGENTS.md", "c.txt", "b.txt"]


@pytest.mark.asyncio
async def test_the_next_turn_sees_saved_marks_and_holds_them_from_then_on(sessions: Sessions) -> None:
    add(sessions, "b.txt")
    save(sessions, "a.txt", "1\n")
    model = ScriptedModel(["I see."])
    await turn(sessions.repo, model, request("look"), beside=sessions.beside)
    assert "there" in str(model.prompts[0].messages)
    add(sessions, "c.txt")
    save(sessions, "a.txt", "2\n")
    assert shown(sessions) == ["AGENTS.md", "b.txt", "c.txt"]
    branches.fork(sessions.repo, "ai/x", "ai/y")
    assert shown(sessions, "ai/y") == ["AGENTS.md", "b.txt", "c.txt"]
    branches.rename(sessions.repo, "ai/x", "ai/z")
    assert shown(sessions, "ai/z") == ["AGENTS.md", "b.txt", "c.txt"]


def test_a_fork_by_plain_git_has_saved_marks_and_one_from_before_has_not(sessions: Sessions, git: Git) -> None:
    before = str(sessions.repo.refs.tip("ai/x"))
    add(sessions, "b.txt")
    save(sessions, "a.txt", "1\n")
    git(sessions.repo.git_dir, "branch", "ai/y", "ai/x")
    git(sessions.repo.git_dir, "branch", "ai/old", before)
    assert shown(sessions, "ai/y") == ["AGENTS.md", "b.txt"]
    assert shown(sessions, "ai/old") == ["AGENTS.md"]


@pytest.mark.req("G-08")
def test_branches_with_saved_marks_merge_by_plain_git_in_any_order(sessions: Sessions, git: Git) -> None:
    repo = sessions.repo
    assert repo.work_tree is not None
    for name, path in (("ai/x", "a.txt"), ("ai/y", "b.txt"), ("ai/z", "c.txt")):
        if name != "ai/x":
            repo.create_branch(name, "main")
        add(sessions, path, branch=name)
        save(sessions, f"{name[3:]}.new", "new\n", name)
    for name in ("ai/z", "ai/x", "ai/y"):
        git(repo.work_tree, "merge", "-q", "--no-ff", "-m", f"merge {name}", name)
    if not sessions.beside:
        head = read_head(Repository.open(repo.git_dir).commit_vfs("main"))
        assert sorted(file.path for file in head.active_files) == ["a.txt", "b.txt", "c.txt"]


def test_marks_saved_twice_after_a_crash_are_the_same_marks(sessions: Sessions) -> None:
    add(sessions, "b.txt", "c.txt")
    save(sessions, "a.txt", "1\n")
    context.remove(sessions, "ai/x", ["c.txt"])
    pending = marks_of(sessions.repo.common_dir, "ai/x")
    save(sessions, "a.txt", "2\n")
    mark(sessions.repo.common_dir, "ai/x", remove=pending.remove)  # the process died before it could take them
    save(sessions, "a.txt", "3\n")
    assert shown(sessions) == ["AGENTS.md", "b.txt"]
    head = sessions.head("ai/x")
    assert head.off == ()


def test_a_save_that_is_refused_leaves_marks_and_workspace_as_they_were(sessions: Sessions) -> None:
    add(sessions, "b.txt")
    files = sessions.repo.workspace("ai/x")
    run_git(sessions.repo.git_dir, "branch", "-f", "ai/x", run_git(sessions.repo.git_dir, *_NEW))
    files.write_file("a.txt", "mine\n")
    with pytest.raises(BranchMoved):
        carried_marks.commit(sessions.repo, files, "mine")
    assert list(files.pending) == ["a.txt"]
    assert marks_of(sessions.repo.common_dir, "ai/x") == Marks((ActiveFile("b.txt"),))


_NEW = ("commit-tree", "-p", "ai/x", "-m", "elsewhere", "ai/x^{tree}")


def test_the_editor_and_attachments_carry_them_too(place: Place) -> None:
    place.repo.create_branch("ai/x", "main")
    sessions = Sessions(place.repo)
    context.add(sessions, "ai/x", [ActiveFile("b/c.txt")])
    edits.save_file(place.shop, LOCAL, place.id, "ai/x", "a.txt", b"new\n")
    assert shown(sessions) == ["b/c.txt"]
    attachments.attach(place.shop, LOCAL, place.id, "ai/x", name="plan.txt", content=io.BytesIO(b"plan\n"))
    assert shown(sessions) == ["b/c.txt", "attachments/plan.txt"]


def test_a_conversation_that_cannot_be_read_is_in_no_saves_way(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({**FILES, HEAD_PATH: '{"schema_version": 99}\n'}))
    repo.create_branch("ai/x", "main")
    mark(repo.common_dir, "ai/x", add=[ActiveFile("b.txt")])
    write.save(repo, "ai/x", "a.txt", b"new\n")
    assert run_git(repo.git_dir, "show", f"ai/x:{HEAD_PATH}") == '{"schema_version": 99}'
    assert marks_of(repo.common_dir, "ai/x") == Marks((ActiveFile("b.txt"),))


def test_the_command_line_carries_them_as_the_settings_say(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sessions.repo.work_tree is not None
    monkeypatch.chdir(sessions.repo.work_tree)
    run_here("config", "set", "sessions", "side-ref" if sessions.beside else "tree")
    run_here("context", "add", "b.txt", "--branch", "ai/x")
    saved = run_here("file", "save", "a.txt", "--branch", "ai/x", "--json", stdin="new\n").document
    assert saved["files"] == {"a.txt": "modified"}
    assert bool(in_forge(sessions.repo, "ai/x")) != sessions.beside
    assert shown(sessions) == ["AGENTS.md", "b.txt"]
    run_here("context", "add", "c.txt", "--branch", "ai/x")
    run_here("file", "rename", "a.txt", "d.txt", "--branch", "ai/x")
    assert shown(sessions) == ["AGENTS.md", "b.txt", "c.txt"]
    run_here("context", "remove", "b.txt", "--branch", "ai/x")
    run_here("file", "delete", "d.txt", "--branch", "ai/x")
    assert shown(sessions) == ["AGENTS.md", "c.txt"]


@pytest.mark.asyncio
async def test_an_agents_draft_carries_them_and_one_that_is_refused_does_not(sessions: Sessions) -> None:
    repo = sessions.repo
    assert repo.work_tree is not None
    run_here("config", "set", "sessions", "side-ref" if sessions.beside else "tree")
    async with in_process(repo.work_tree) as agent:
        draft = draft_in(await agent.call("forge_write", at="ai/x", path="n.txt", content="new\n"))
        other = draft_in(await agent.call("forge_write", at="ai/x", path="o.txt", content="new\n"))
        mark(repo.common_dir, "ai/x", add=[ActiveFile("b.txt")])
        told = await agent.call("forge_commit", draft=draft, message="add n")
        assert FOLDER not in told
        mark(repo.common_dir, "ai/x", add=[ActiveFile("c.txt")])
        await agent.refused("forge_commit", draft=other, message="add o")
        assert FOLDER not in await agent.call("forge_diff", at=other)
        await agent.call("forge_commit", draft=other, message="add o")
    assert bool(in_forge(repo, "ai/x")) != sessions.beside
    assert shown(sessions) == ["AGENTS.md", "b.txt", "c.txt"]
