"""The default branch moves only for people: whichever way it is named, whichever way an agent tries."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.git import PERSON, Actor, ProtectedBranch, Repository
from forge.git.refs.operations.operation import RefMove
from tests.git import worlds
from tests.git.worlds import AGENT, BUILD

pytestmark = pytest.mark.req("C-14", "G-09")

Setup = Callable[[Path], Repository]


def by_argument(place: Path) -> Repository:
    return Repository.open(place, default_branch="trunk")


def by_full_ref_argument(place: Path) -> Repository:
    return Repository.open(place, default_branch="refs/heads/trunk")


def by_setting(place: Path) -> Repository:
    worlds.git(place, "config", "forge.defaultBranch", "trunk")
    return Repository.open(place)


def by_setting_as_full_ref(place: Path) -> Repository:
    worlds.git(place, "config", "forge.defaultBranch", " refs/heads/trunk ")
    return Repository.open(place)


def by_origin(place: Path) -> Repository:
    worlds.git(place, "update-ref", "refs/remotes/origin/trunk", "HEAD")
    worlds.git(place, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    return Repository.open(place)


def by_head_alone(place: Path) -> Repository:
    return Repository.open(place)


def by_head_of_the_main_checkout(place: Path) -> Repository:
    """Opened from a linked worktree, whose own HEAD says nothing about the default branch."""
    linked = place.parent / "linked"
    worlds.git(place, "worktree", "add", "-q", "-b", "linked-work", str(linked))
    return Repository.open(linked)


def by_gits_own_setting(place: Path) -> Repository:
    """What new repositories of this person call it; the person is on another branch just now."""
    worlds.git(place, "config", "init.defaultBranch", "trunk")
    worlds.git(place, "checkout", "-q", "-b", "aside")
    return Repository.open(place)


NAMED = [by_argument, by_full_ref_argument, by_setting, by_setting_as_full_ref, by_origin]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = worlds.template(tmp_path_factory.mktemp("template"), {"f": "1\n"}, {"f": "2\n"})
    worlds.git(place, "branch", "-m", "main", "trunk")
    return place


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    """A repository whose only branch is trunk."""
    return worlds.copied(template, tmp_path / "repo")


def attempts(repo: Repository, branch: str, actor: Actor) -> dict[str, Callable[[], object]]:
    """Every way to move `branch`; `work` is another branch, `gone` a branch that does not exist."""

    def commit() -> None:
        space = repo.workspace(branch, actor=actor)
        space.write_file("f", "agent\n")
        space.commit("by an agent")

    tip, first = repo.resolve(branch), repo.resolve(f"{branch}~1")
    ref = f"refs/heads/{branch}"
    return {
        "commit": commit,
        "create": lambda: repo.create_branch(branch, "work", actor=actor),
        "fork onto": lambda: repo.fork_branch("work", branch, actor=actor),
        "delete": lambda: repo.delete_branch(branch, actor=actor),
        "rename away": lambda: repo.rename_branch(branch, "gone", actor=actor),
        "rename onto": lambda: repo.rename_branch("work", branch, actor=actor),
        "rewind": lambda: repo.rewind_branch(branch, f"{branch}~1", actor=actor),
        "merge": lambda: repo.perform(repo.preview_merge("work", branch), actor=actor),
        "rebase": lambda: repo.perform(repo.preview_rebase(branch, "work"), actor=actor),
        "cherry-pick": lambda: repo.perform(repo.preview_cherry_pick(["work"], branch), actor=actor),
        "raw move": lambda: repo.refs.move([RefMove(ref, tip, first)], actor=actor, reason="x"),
        "raw delete": lambda: repo.refs.move([RefMove(ref, tip, None)], actor=actor, reason="x"),
        "raw land": lambda: repo.refs.land(branch, first, {}, before=tip, actor=actor, reason="x"),
        "among others": lambda: repo.refs.move(
            [RefMove("refs/heads/gone", None, first), RefMove(ref, tip, first)], actor=actor, reason="x"
        ),
    }


def with_work(repo: Repository) -> Repository:
    start = repo.resolve("trunk~1")
    repo.create_branch("work", start)
    space = repo.workspace("work", actor=AGENT)
    space.write_file("new", "by an agent\n")
    space.commit("work")
    return repo


@pytest.mark.parametrize("actor", [AGENT, BUILD], ids=lambda a: a.kind)
@pytest.mark.parametrize("setup", [*NAMED, by_gits_own_setting, by_head_alone, by_head_of_the_main_checkout])
def test_no_agent_or_build_moves_the_default_branch_in_any_way(place: Path, setup: Setup, actor: Actor) -> None:
    repo = with_work(setup(place))
    assert repo.refs.protected("trunk")
    before = worlds.refs(place)
    for how, attempt in attempts(repo, "trunk", actor).items():
        # Making a branch that exists fails before anybody asks who is allowed to.
        expected = "branch_exists" if how in ("create", "fork onto", "rename onto") else "protected_branch"
        with pytest.raises(Exception) as refused:  # noqa: PT011
            attempt()
        assert getattr(refused.value, "code", None) == expected, (how, refused.value)
        assert worlds.refs(place) == before, how


@pytest.mark.parametrize("actor", [AGENT, BUILD], ids=lambda a: a.kind)
@pytest.mark.parametrize("name", ["main", "master", "Main", "MASTER"])
def test_main_and_master_are_protected_even_where_another_branch_is_the_default(
    place: Path, name: str, actor: Actor
) -> None:
    worlds.git(place, "branch", name, "trunk")
    repo = with_work(by_setting(place))
    assert repo.default_branch == "trunk"
    before = worlds.refs(place)
    for how, attempt in attempts(repo, name, actor).items():
        if how not in ("create", "fork onto", "rename onto"):
            with pytest.raises(ProtectedBranch):
                attempt()
        assert worlds.refs(place) == before, how


@pytest.mark.parametrize("name", ["main", "master", "trunk", "Trunk", "TRUNK"])
@pytest.mark.parametrize("setup", NAMED)
def test_no_agent_makes_a_default_branch_that_does_not_exist_yet(place: Path, setup: Setup, name: str) -> None:
    worlds.git(place, "branch", "-m", "trunk", "other")
    repo = setup(place)
    repo.create_branch("work", "other", actor=AGENT)
    before = worlds.refs(place)
    for attempt in (
        lambda: repo.create_branch(name, "work", actor=AGENT),
        lambda: repo.fork_branch("work", name, actor=AGENT),
        lambda: repo.rename_branch("work", name, actor=AGENT),
    ):
        with pytest.raises(ProtectedBranch) as refused:
            attempt()
        assert refused.value.code == "protected_branch"
        assert refused.value.hint
    assert worlds.refs(place) == before


def test_a_setting_in_another_unicode_spelling_protects_all_the_same(place: Path) -> None:
    worlds.git(place, "branch", "caf\u00e9")
    repo = Repository.open(place, default_branch="cafe\u0301")
    assert repo.refs.protected("caf\u00e9")


@pytest.mark.parametrize("name", ["main", "master"])
def test_in_an_empty_repository_no_agent_makes_the_first_commit_on_the_default_branch(
    tmp_path: Path, name: str
) -> None:
    repo = Repository.init(tmp_path / "new", bare=True, default_branch="trunk")
    for branch in (name, "trunk"):
        space = repo.workspace(branch, actor=AGENT)
        space.write_file("f", "x")
        with pytest.raises(ProtectedBranch):
            space.commit("first")
    assert worlds.refs(repo.git_dir) == {}
    space = repo.workspace("work", actor=AGENT)
    space.write_file("f", "x")
    space.commit("first")


def test_a_refused_commit_writes_no_object_and_no_log_entry(place: Path) -> None:
    repo = with_work(by_origin(place))
    space = repo.workspace("trunk", actor=AGENT)
    space.write_bytes("big", b"x" * 100_000)

    def stored() -> set[Path]:
        return {p for p in (place / ".git").rglob("*") if p.is_file()}

    before, operations = stored(), list(repo.operations())
    with pytest.raises(ProtectedBranch):
        space.commit("refused")
    assert stored() == before
    assert list(repo.operations()) == operations


def test_an_agent_cannot_undo_what_a_person_did_on_the_default_branch(place: Path) -> None:
    repo = with_work(by_origin(place))
    space = repo.workspace("trunk", actor=PERSON)
    space.write_file("f", "person\n")
    made = space.commit("by the person")
    for operation in (None, space.last_operation.id if space.last_operation else ""):
        with pytest.raises(ProtectedBranch):
            repo.undo(operation, actor=AGENT)
    assert repo.resolve("trunk") == made


def test_an_agent_cannot_reach_the_default_branch_through_a_symbolic_one(place: Path) -> None:
    repo = with_work(by_origin(place))
    worlds.git(place, "symbolic-ref", "refs/heads/alias", "refs/heads/trunk")
    worlds.git(place, "symbolic-ref", "refs/heads/alias2", "refs/heads/alias")
    before = worlds.refs(place)
    for alias in ("alias", "alias2"):
        space = repo.workspace(alias, actor=AGENT)
        space.write_file("f", "agent\n")
        for attempt in (
            lambda space=space: space.commit("through the alias"),
            lambda alias=alias: repo.rewind_branch(alias, "trunk~1", actor=AGENT),
            lambda alias=alias: repo.perform(repo.preview_merge("work", alias), actor=AGENT),
        ):
            with pytest.raises(ProtectedBranch):
                attempt()
        assert worlds.refs(place) == before


@pytest.mark.parametrize("target", ["refs/tags/v1", "refs/remotes/origin/main", "refs/stash", "refs/notes/commits"])
@pytest.mark.parametrize("actor", [AGENT, PERSON], ids=lambda a: a.kind)
def test_nobody_moves_a_tag_a_remote_branch_or_the_stash_through_a_symbolic_branch(
    place: Path, target: str, actor: Actor
) -> None:
    repo = with_work(by_origin(place))
    worlds.git(place, "update-ref", target, "trunk~1")
    worlds.git(place, "symbolic-ref", "refs/heads/alias", target)
    before = worlds.refs(place)
    space = repo.workspace("alias", actor=actor)
    space.write_file("f", "x\n")
    with pytest.raises(ProtectedBranch):
        space.commit("through the alias")
    with pytest.raises(ProtectedBranch):
        repo.rewind_branch("alias", "trunk", actor=actor)
    assert worlds.refs(place) == before


@pytest.mark.parametrize("ref", ["HEAD", "refs/tags/x", "refs/remotes/origin/x", "refs/stash", "refs/heads/../tags/x"])
def test_the_one_place_that_moves_refs_moves_only_branches(place: Path, ref: str) -> None:
    repo = with_work(by_head_alone(place))
    before = worlds.refs(place), (place / ".git/HEAD").read_bytes()
    tip = repo.resolve("trunk~1")
    for actor, was in itertools.product((PERSON, AGENT), (None, tip)):
        with pytest.raises(Exception) as refused:  # noqa: PT011
            repo.refs.move([RefMove(ref, was, tip)], actor=actor, reason="x")
        assert getattr(refused.value, "code", "")
    assert (worlds.refs(place), (place / ".git/HEAD").read_bytes()) == before


def test_people_may_move_the_default_branch(place: Path) -> None:
    worlds.git(place, "checkout", "-q", "--detach")
    repo = with_work(by_origin(place))
    space = repo.workspace("trunk", actor=PERSON)
    space.write_file("f", "person\n")
    made = space.commit("by a person")
    assert repo.resolve("trunk") == made
    repo.perform(repo.preview_merge("work", "trunk"), actor=PERSON)
    repo.rewind_branch("trunk", made, actor=PERSON)
    repo.rename_branch("trunk", "old-trunk", actor=PERSON)
    repo.create_branch("trunk", "old-trunk", actor=PERSON)
    repo.delete_branch("trunk", actor=PERSON)
    repo.undo(actor=PERSON)
    assert repo.resolve("trunk") == made


def test_agents_work_freely_everywhere_else(place: Path) -> None:
    repo = with_work(by_origin(place))
    for name in ("maintenance", "main2", "trunk2", "feature/trunk", "master-plan", "forge/build-7"):
        assert not repo.refs.protected(name)
        repo.create_branch(name, "trunk", actor=BUILD)
        space = repo.workspace(name, actor=BUILD)
        space.write_file("f", "build\n")
        space.commit("[forge] build", trailers={"Build-Cycle": "7"})
        repo.delete_branch(name, actor=BUILD)


def test_what_protects_is_read_anew_each_time(place: Path) -> None:
    """A person may name the default branch while agents are at work."""
    repo = with_work(by_head_alone(place))
    assert not repo.refs.protected("work")
    worlds.git(place, "config", "forge.defaultBranch", "work")
    space = repo.workspace("work", actor=AGENT)
    space.write_file("f", "x")
    with pytest.raises(ProtectedBranch):
        space.commit("too late")
