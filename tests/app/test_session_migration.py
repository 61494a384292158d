"""Branches of the first format: what plain git makes of them, and how each way through Forge ends that."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from forge.app.admin.doctor import examine
from forge.app.repositories import write
from forge.app.repositories.merges import MergeOrder, perform, previewed
from forge.app.sessions.migration import migrate, unmigrated
from forge.git import Repository
from forge.git.merging.preview import MergeKind
from forge.git.refs.reservations import reserve
from forge.sessions.conversation import conversation, read_head
from forge.sessions.head import ActiveFile, Head, active_json
from forge.sessions.layout import HEAD_PATH, POINTER, TurnRef, json_bytes
from forge.sessions.messages import AssistantMessage, Usage, UserMessage, usage_json
from forge.sessions.turns import Turn, item_json, turn_id
from tests.cli.conftest import run_here
from tests.conftest import Git, MakeRepo

pytestmark = pytest.mark.req("G-07", "G-08")
BRANCHES = ("ai/x", "ai/y", "ai/z")
ACTIVE = (ActiveFile("a.txt"), ActiveFile("b.py", ((1, 20),)))
MERGE, REBASE, PICK = MergeKind.MERGE, MergeKind.REBASE, MergeKind.CHERRY_PICK


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    """Three branches with two turns each, as a Forge of the first format left them."""
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    for number, name in enumerate(BRANCHES):
        repo.create_branch(name, "main")
        for turn in (1, 2):
            talk_as_before(repo, name, turn_id(turn, f"{number}{turn}".rjust(8, "0")))
    return repo


def talk_as_before(repo: Repository, branch: str, name: str) -> None:
    vfs = repo.workspace(branch)
    head = read_head(vfs)
    items = (UserMessage(f"{branch}: {name}", "A", 1.0), AssistantMessage("Yes.", model="m"))
    turn = Turn(name, head.last, 1.0, "m", items, usage=Usage(requests=1, input_tokens=10))
    data = {"schema_version": 1, "id": name, "parent": turn.parent, "started": 1.0, "model": "m", "status": "done"}
    rest = {"reason": "", "opens": False, "files": [], "usage": usage_json(turn.usage), "seen": {}}
    vfs.write_record(TurnRef(name).path, json_bytes({**data, **rest, "messages": list(map(item_json, items))}))
    said = {"folder": ".forge/session", "turns": turn.number, "count": head.messages + 2, "last": name}
    usage = usage_json(head.usage + turn.usage)
    active = list(map(active_json, ACTIVE))
    first = {"schema_version": 1, "active_files": active, "messages": said, "usage": usage}
    vfs.write_record(HEAD_PATH, json_bytes(first))
    vfs.write_file(f"{branch[3:]}-{turn.number}.txt", "new\n")
    vfs.commit(f"chat: {name}", trailers={"Forge-Turn": name})


def head_of(repo: Repository, branch: str) -> Head:
    return read_head(Repository.open(repo.git_dir).commit_vfs(branch))


def said(repo: Repository, branch: str) -> list[str]:
    return [turn.asked for turn in conversation(Repository.open(repo.git_dir).commit_vfs(branch))]


def conflicts(repo: Repository, git: Git, order: tuple[str, ...]) -> list[str]:
    """What plain git stops at when these are merged into main one after the other, in a clone of its own."""
    assert repo.work_tree is not None
    git(repo.work_tree, "checkout", "-q", "-B", "trial", "main")
    found: list[str] = []
    for name in order:
        try:
            git(repo.work_tree, "merge", "-q", "--no-ff", "-m", name, name)
        except AssertionError:
            found += git(repo.work_tree, "diff", "--name-only", "--diff-filter=U").splitlines()
            git(repo.work_tree, "merge", "--abort")
    git(repo.work_tree, "checkout", "-q", "main")
    git(repo.work_tree, "branch", "-q", "-D", "trial")
    return found


def test_after_one_command_plain_git_merges_them_in_any_order(repo: Repository, git: Git) -> None:
    before = {name: (said(repo, name), head_of(repo, name)) for name in BRANCHES}
    orders = list(permutations(BRANCHES))
    assert all(conflicts(repo, git, order) == [HEAD_PATH] * 2 for order in orders)
    assert unmigrated(repo) == BRANCHES
    assert [each.state for each in migrate(repo)] == ["migrated"] * 3
    assert not unmigrated(repo)
    assert not migrate(repo)
    for name, (asked, head) in before.items():
        assert said(repo, name) == asked
        assert head_of(repo, name) == head
        assert git(repo.git_dir, "show", f"{name}:{HEAD_PATH}").encode() + b"\n" == POINTER
    assert [conflicts(repo, git, order) for order in orders] == [[]] * 6


def test_a_default_branch_that_has_the_first_format_is_migrated_by_the_command_alone(
    repo: Repository, git: Git
) -> None:
    assert repo.work_tree is not None
    git(repo.work_tree, "merge", "-q", "--no-ff", "-m", "one", "ai/x")
    write.save(repo, "main", "a.txt", b"saved\n")
    assert "main" in unmigrated(repo)
    assert conflicts(repo, git, ("ai/y",)) == [HEAD_PATH]
    migrate(repo)
    assert conflicts(repo, git, ("ai/z", "ai/y", "ai/x")) == []
    assert said(repo, "main") == said(repo, "ai/x")
    assert not git(repo.work_tree, "status", "--porcelain")


def test_a_save_takes_the_second_format_along(repo: Repository, git: Git) -> None:
    before = {name: head_of(repo, name) for name in BRANCHES}
    for name in BRANCHES:
        landed = write.save(repo, name, "a.txt", b"hello\n\n")
        assert landed.changes == {"a.txt": "modified"}
    assert not unmigrated(repo)
    assert {name: head_of(repo, name) for name in BRANCHES} == before
    assert conflicts(repo, git, BRANCHES) == []


@pytest.mark.parametrize("kind", [MERGE, REBASE, PICK])
@pytest.mark.parametrize("terms", ["keep", "squash", "drop"])
def test_no_operation_of_forge_conflicts_on_them(repo: Repository, kind: MergeKind, terms: str) -> None:
    target = "ai/x" if kind is REBASE else "main"
    kept = said(repo, "ai/x")
    for name in ("ai/y", "ai/z") if kind is REBASE else BRANCHES:
        preview = previewed(repo, MergeOrder(kind, target, (name,), conversation=terms))  # type: ignore[arg-type]
        assert not preview.conflicts
        perform(repo, preview)
    if terms == "keep":
        assert said(repo, target) == (kept if kind is not PICK else kept[1:])


def test_one_that_an_agent_works_on_is_left_and_hinders_no_other(repo: Repository) -> None:
    reserve(repo.common_dir, "ai/y", "turn", "An agent")
    found = migrate(repo)
    assert [(each.branch, each.state) for each in found] == [
        ("ai/x", "migrated"),
        ("ai/y", "left"),
        ("ai/z", "migrated"),
    ]
    assert "An agent" in found[1].reason


def test_the_doctor_names_them_and_the_command(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    assert repo.work_tree is not None
    check = next(c for c in examine(repo.work_tree, {"HOME": str(Path.home())}) if c.name == "conversations")
    assert (check.state, "ai/x, ai/y, ai/z" in check.detail) == ("warning", True)
    assert "`forge session migrate`" in check.hint
    monkeypatch.chdir(repo.work_tree)
    assert [each["state"] for each in run_here("session", "migrate", "--preview", "--json").document] == [
        "would_migrate"
    ] * 3
    assert unmigrated(repo) == BRANCHES
    assert "Migrated ai/x" in run_here("session", "migrate").out
    assert run_here("session", "migrate", "--json").document == []
    check = next(c for c in examine(repo.work_tree, {"HOME": str(Path.home())}) if c.name == "conversations")
    assert check.state == "ok"


def test_a_newer_format_is_left_as_it_is(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a.txt": "hello\n", HEAD_PATH: '{"schema_version": 99}\n'}))
    (found,) = migrate(repo)
    assert (found.state, "newer Forge" in found.reason) == ("left", True)
