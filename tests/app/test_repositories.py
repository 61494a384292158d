"""Repositories that Forge looks after."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import (
    add_repository,
    forget_repository,
    id_of,
    list_repositories,
    opened,
    repository,
)
from forge.app.repositories.write import save
from forge.errors import Denied, NotFound
from forge.git import Repository
from forge.git.objects import object_store
from tests.app.facade import BO, READER, Place, place, shop
from tests.conftest import Git, MakeRepo
from tests.support.repack import idle, wait_until

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("X-02")


def test_an_added_repository_is_listed_with_its_branches(place: Place) -> None:
    [entry] = list_repositories(place.shop, LOCAL)
    assert (entry.id, entry.name, entry.path) == (place.id, "repo", str(place.path))
    assert (entry.default_branch, entry.current_branch, entry.problem) == ("main", "main", None)
    assert len(entry.id) == 12


def test_a_repository_is_added_once_from_wherever_in_it(place: Place, git: Git, tmp_path: Path) -> None:
    git(place.path, "worktree", "add", "-q", str(tmp_path / "beside"), "-b", "other")
    assert add_repository(place.shop, LOCAL, place.path / "b").id == place.id
    assert add_repository(place.shop, LOCAL, tmp_path / "beside").id == place.id
    assert len(list_repositories(place.shop, LOCAL)) == 1
    assert place.deeds() == ["repository.add"]


def test_a_forgotten_repository_is_unknown_and_untouched(place: Place, git: Git) -> None:
    before = git(place.path, "rev-parse", "main")
    forget_repository(place.shop, LOCAL, place.id)
    with pytest.raises(NotFound) as unknown:
        repository(place.shop, LOCAL, place.id)
    assert unknown.value.code == "repository_missing"
    assert git(place.path, "rev-parse", "main") == before
    assert place.deeds() == ["repository.add", "repository.forget"]


def test_what_is_somebody_elses_is_missing_like_what_never_was(place: Place) -> None:
    messages = []
    for id_ in (place.id, "0" * 12):
        with pytest.raises(NotFound) as refused:
            repository(place.shop, BO, id_)
        messages.append((refused.value.code, refused.value.message.replace(id_, "ID"), refused.value.hint))
    assert messages[0] == messages[1]
    assert list_repositories(place.shop, BO) == ()


def test_adding_tells_a_user_nothing_of_other_places(place: Place, tmp_path: Path) -> None:
    """Not even whether somebody else has added what is there."""
    messages = []
    for path in (place.path, tmp_path / "nothing"):
        with pytest.raises(NotFound) as refused:
            add_repository(place.shop, BO, path)
        messages.append((refused.value.code, refused.value.message.replace(str(path), "PATH")))
    assert messages[0] == messages[1]


def test_a_key_without_the_scope_is_refused(place: Place) -> None:
    with pytest.raises(Denied) as refused:
        add_repository(place.shop, READER, place.path)
    assert refused.value.code == "scope_missing"
    with pytest.raises(Denied):
        forget_repository(place.shop, READER, place.id)


def test_a_repository_that_is_gone_is_listed_with_its_problem(place: Place) -> None:
    shutil.rmtree(place.path)
    [entry] = list_repositories(place.shop, LOCAL)
    assert entry.problem
    assert entry.default_branch is None


def test_a_repository_stays_open_and_another_in_its_place_is_noticed(
    place: Place, make_repo: MakeRepo, git: Git
) -> None:
    first = place.repo
    assert place.repo is first
    git(place.path, "commit", "-q", "--allow-empty", "-m", "by git itself")
    assert place.repo.commit("main").subject == "by git itself"
    shutil.rmtree(place.path)
    make_repo({"new.txt": "x"})
    assert place.repo is not first
    assert place.repo.commit_vfs("main").list_files() == ["new.txt"]


def test_a_changed_configuration_is_noticed(place: Place, git: Git) -> None:
    git(place.path, "branch", "trunk")
    assert place.repo.default_branch == "main"
    git(place.path, "config", "forge.defaultBranch", "trunk")
    assert place.repo.default_branch == "trunk"


def test_the_id_is_that_of_the_shared_directory(shop: Workshop, make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    path = make_repo({"a": "b"})
    git(path, "worktree", "add", "-q", str(tmp_path / "beside"), "-b", "other")
    assert id_of(Repository.open(path)) == id_of(Repository.open(tmp_path / "beside"))


def test_a_repository_is_open_once_whichever_way_it_is_named(make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    path = make_repo({"a": "b"})
    git(path, "worktree", "add", "-q", str(tmp_path / "beside"), "-b", "other")
    before = opened(path)
    assert opened(path / ".git") is before
    beside = opened(tmp_path / "beside")
    assert (beside.current_branch, opened(path).current_branch) == ("other", "main")
    git(path, "config", "core.abbrev", "9")
    assert opened(path) is not before
    assert opened(path / ".git") is opened(path)


@pytest.mark.parametrize("held", [30.0, 0.0])
def test_many_threads_use_one_open_repository(
    place: Place, git: Git, held: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writers of 6 branches and readers at once: nothing is lost or misread, however often packs are let go."""
    monkeypatch.setattr(object_store, "_HELD_SECONDS", held)
    repo = opened(place.path)
    names = [f"ai/{number}" for number in range(6)]
    for name in names:
        repo.create_branch(name, "main")

    def write(name: str) -> None:
        for number in range(8):
            save(repo, name, "a.txt", f"{name} {number}\n".encode())
            assert repo.commit_vfs(name).read_file("a.txt") == f"{name} {number}\n"

    def read(_: int) -> None:
        for _ in range(30):
            assert {branch.name for branch in repo.branches()} >= {*names, "main"}
            assert repo.commit_vfs("main").read_file("b/c.txt") == "two\n"

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(write, names))
        done = [pool.submit(write, name) for name in names] + [pool.submit(read, number) for number in range(3)]
        for each in done:
            each.result()
    for name in names:
        assert git(place.path, "rev-list", "--count", f"main..{name}") == "16"
    # git's check would stumble over packs that a repack takes away meanwhile.
    wait_until(lambda: idle(place.path / ".git"))
    git(place.path, "fsck", "--strict")
