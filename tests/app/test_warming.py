"""Filling the search cache in a process of its own."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from forge.app.repositories.search_cache import warm_in_background
from forge.git import Repository
from forge.git.search.cache_fill import is_warm
from tests.conftest import MakeRepo


def warm(repo: Repository) -> bool:
    return is_warm(repo.objects, repo.commit("main").tree)


def wait_until_warm(repo: Repository) -> None:
    deadline = time.monotonic() + 60
    while not warm(repo):
        assert time.monotonic() < deadline, "the cache was not filled"
        time.sleep(0.05)


@pytest.fixture
def large(make_repo: MakeRepo) -> Path:
    """Just large enough, and full of modules that a careless Python would import from the current directory."""
    names = ("forge/__init__.py", "forge/app/repositories/search_cache.py", "os.py", "subprocess.py", "pygit2.py")
    traps = dict.fromkeys(names, "open('trapped', 'w').close()\nraise SystemExit\n")
    return make_repo({f"d{n % 10}/f{n}.txt": f"{n}\n" for n in range(1000)} | traps)


@pytest.mark.req("X-06")
def test_a_large_repository_is_warmed_without_running_its_files(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(large)
    repo = Repository.open(large)
    assert warm_in_background(repo, repo.resolve("main"))
    wait_until_warm(repo)
    assert not (large / "trapped").exists()
    assert not warm_in_background(repo, repo.resolve("main"))


def test_a_small_repository_is_left_cold(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a": "a\n"}))
    assert not warm_in_background(repo, repo.resolve("main"))
    assert not warm(repo)
