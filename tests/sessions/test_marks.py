"""What a person marks in the context of a branch: no commit, kept with the branch, in the next turn."""

from __future__ import annotations

import pytest

from forge.agents.scripted import ScriptedModel
from forge.app.sessions import context
from forge.git import Repository
from forge.sessions.head import ActiveFile, Head
from forge.sessions.marks import Marks, mark, marks_of, take
from forge.sessions.messages import ContextMessage
from forge.sessions.places import Sessions
from tests.conftest import Git, MakeRepo
from tests.support.turns import Killed, Ledger, MemorySteps, request, turn

FILES = {"AGENTS.md": "Be brief.\n", "CLAUDE.md": "Be kind.\n", "a.txt": "hello\n", "b.txt": "there\n"}


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    repo = Repository.open(make_repo(FILES))
    repo.create_branch("ai/x", "main")
    return repo


def shown(sessions: Sessions, branch: str = "ai/x") -> list[str]:
    return [file.path for file in context.active_files(sessions, branch)]


@pytest.mark.req("G-13")
@pytest.mark.parametrize("branch", ["ai/x", "main"])
def test_a_mark_moves_no_branch_and_touches_no_checkout(repo: Repository, git: Git, branch: str) -> None:
    assert repo.work_tree is not None
    before = git(repo.git_dir, "rev-parse", branch)
    context.add(Sessions(repo), branch, [ActiveFile("a.txt", ((1, 1),))])
    assert git(repo.git_dir, "rev-parse", branch) == before
    assert not git(repo.work_tree, "status", "--porcelain")
    assert not (repo.work_tree / ".forge").exists()
    again = Repository.open(repo.git_dir)
    assert context.active_files(Sessions(again), branch)[-1] == ActiveFile("a.txt", ((1, 1),))


@pytest.mark.req("G-13")
def test_instructions_are_active_from_the_start_and_can_be_switched_off(repo: Repository) -> None:
    sessions = Sessions(repo)
    assert shown(sessions) == ["AGENTS.md", "CLAUDE.md"]
    context.remove(sessions, "ai/x", ["CLAUDE.md"])
    assert shown(sessions) == ["AGENTS.md"]
    context.add(sessions, "ai/x", [ActiveFile("CLAUDE.md")])
    assert shown(sessions) == ["AGENTS.md", "CLAUDE.md"]


@pytest.mark.req("G-13", "G-06")
@pytest.mark.asyncio
@pytest.mark.parametrize("beside", [False, True])
async def test_the_next_turn_takes_the_marks_along_in_its_one_commit(repo: Repository, git: Git, beside: bool) -> None:
    sessions = Sessions(repo, beside=beside)
    context.add(sessions, "ai/x", [ActiveFile("a.txt")])
    context.remove(sessions, "ai/x", ["AGENTS.md"])
    model = ScriptedModel(["I see."])
    await turn(repo, model, request("look"), beside=beside)
    assert not marks_of(repo.common_dir, "ai/x")
    assert shown(sessions) == ["CLAUDE.md", "a.txt"]
    blocks = [m.text for m in model.prompts[0].messages if isinstance(m, ContextMessage) and m.kind != "overview"]
    assert [("hello" in text, "Be kind." in text, "Be brief." in text) for text in blocks] == [
        (False, True, False),
        (True, False, False),
    ]
    assert len(git(repo.git_dir, "rev-list", "main..ai/x").splitlines()) == (0 if beside else 1)
    paths = git(repo.git_dir, "ls-tree", "-r", "--name-only", str(sessions.at("ai/x"))).splitlines()
    assert not [path for path in paths if path.endswith("draft.json")]


@pytest.mark.req("X-04")
@pytest.mark.asyncio
async def test_marks_made_while_a_turn_runs_stay_for_the_next(repo: Repository) -> None:
    sessions = Sessions(repo)
    context.add(sessions, "ai/x", [ActiveFile("a.txt")])
    ledger = Ledger()
    with pytest.raises(Killed):
        await turn(repo, ScriptedModel(["Yes."]), request("go"), MemorySteps(ledger, kill=("before", "commit")))
    context.add(sessions, "ai/x", [ActiveFile("b.txt")])
    await turn(repo, ScriptedModel([]), request("go"), MemorySteps(ledger))
    assert marks_of(repo.common_dir, "ai/x") == Marks((ActiveFile("b.txt"),))
    assert shown(sessions) == ["AGENTS.md", "CLAUDE.md", "a.txt", "b.txt"]


def test_the_last_word_on_a_path_counts(repo: Repository) -> None:
    place = repo.common_dir
    mark(place, "ai/x", add=[ActiveFile("a.txt"), ActiveFile("b.txt")])
    assert mark(place, "ai/x", remove=["a.txt"]) == Marks((ActiveFile("b.txt"),), ("a.txt",))
    head = Head(active_files=(ActiveFile("a.txt"),))
    assert marks_of(place, "ai/x").applied(head).active_files == (ActiveFile("b.txt"),)
    take(place, "ai/x", Marks((ActiveFile("b.txt"),), ("a.txt",)))
    assert not marks_of(place, "ai/x")
