"""What projects hold in their code repositories, and who sweeps what nobody needs any more."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL
from forge.app.admin.checks import CheckState
from forge.app.admin.doctor import examine
from forge.app.process.workshop import Workshop, open_workshop
from forge.app.projects import holds
from forge.app.projects.catalog import create
from forge.app.projects.project_access import delete_found
from forge.git import Repository
from forge.git.refs import snapshots
from forge.git.refs.holds import HELD
from forge.git.refs.reservations import release, reserve
from forge.store.repositories import Repositories
from tests.conftest import Git, MakeRepo
from tests.support.scripted_projects import Office
from tests.support.soak.evidence import assert_sound

pytestmark = pytest.mark.req("G-09", "X-04")

BUILD = "forge/build-p1"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office.at(tmp_path / "office")


@pytest.fixture
def place(make_repo: MakeRepo) -> Path:
    place = make_repo({"a.txt": "hello\n"})
    Repository.open(place).create_branch(BUILD, "main")
    saved(place, "built.txt")
    return place


def saved(place: Path, name: str) -> str:
    files = Repository.open(place).workspace(BUILD)
    files.write_file(name, "built\n")
    return files.commit(f"build {name}")


def prune(place: Path, git: Git) -> None:
    git(place, "reflog", "expire", "--expire=now", "--all")
    git(place, "gc", "--quiet", "--prune=now")


def held(place: Path, git: Git) -> list[str]:
    return [ref.removeprefix(HELD) for ref in git(place, "for-each-ref", "--format=%(refname)", HELD).split()]


def left_by_a_dead_process(place: Path) -> None:
    code = (
        "import os; from forge.git import Repository\n"
        f"repo = Repository.open({str(place)!r}); block = repo.refs.held.during([repo.resolve('main')])\n"
        "block.__enter__(); os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_build_branch_that_was_deleted_between_two_turns_comes_back(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    tip = repo.resolve(BUILD)
    holds.hold(repo, "p1", repo.resolve("main"), tip)
    git(place, "branch", "-D", BUILD)
    prune(place, git)
    assert holds.standing(Repository.open(place), "p1", BUILD).startswith(f"{BUILD} was deleted; it is back")
    assert git(place, "rev-parse", BUILD) == tip
    assert holds.standing(Repository.open(place), "p1", BUILD) == ""
    assert_sound(place)


def test_what_was_built_is_kept_when_its_branch_is_moved_to_something_else(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    tip = repo.resolve(BUILD)
    holds.hold(repo, "p1", repo.resolve("main"), tip)
    git(place, "branch", "-f", BUILD, "main")
    assert "which is kept as" in holds.standing(Repository.open(place), "p1", BUILD)
    holds.hold(repo, "p1", repo.resolve("main"), repo.resolve(BUILD))
    prune(place, git)
    assert git(place, "show", f"refs/forge/kept/{BUILD}@{tip[:12]}:built.txt") == "built"
    assert_sound(place)


def test_a_branch_that_only_went_on_is_left_alone(place: Path) -> None:
    repo = Repository.open(place)
    holds.hold(repo, "p1", repo.resolve("main"), repo.resolve(BUILD))
    saved(place, "more.txt")
    assert holds.standing(Repository.open(place), "p1", BUILD) == ""
    assert repo.refs.kept() == []


def test_a_tip_that_is_gone_leaves_the_hold_as_it_was(place: Path, git: Git) -> None:
    repo = Repository.open(place)
    base, tip = repo.resolve("main"), repo.resolve(BUILD)
    holds.hold(repo, "p1", base, tip)
    gone = saved(place, "gone.txt")
    git(place, "branch", "-f", BUILD, tip)
    prune(place, git)
    fresh = Repository.open(place)
    holds.hold(fresh, "p1", base, gone)  # type: ignore[arg-type]
    assert holds.held_of(fresh, "p1") == (base, tip)
    assert_sound(place)


def test_whoever_serves_sweeps_at_its_start_and_a_project_that_goes_on_keeps_its_holds(
    place: Path, office: Office, git: Git
) -> None:
    repo = Repository.open(place)

    async def made(shop: Workshop) -> tuple[str, str]:
        Repositories(shop.database).add("0123456789ab", path=str(place), name="repo")
        going = await create(shop, "Going", agent="builtin", repository=place)
        gone = await create(shop, "Gone", agent="builtin", repository=place)
        for each in (going, gone):
            holds.hold(repo, each.id, repo.resolve("main"), repo.resolve(BUILD))
        assert len(held(place, git)) == 4
        await asyncio.to_thread(delete_found, shop, LOCAL, gone, confirm=gone.directory.name)
        return going.id, gone.id

    going, gone = office.do(made)
    assert not any(gone in name for name in held(place, git)), "a deleted project holds nothing"
    left_by_a_dead_process(place)
    repo.refs.hold("deadbeef0001", [repo.resolve(BUILD)])
    work = repo.workspace(BUILD)
    work.write_file("pending.txt", "pending\n")
    snapshots.keep(repo.refs, work, "000001-deadbeef0001")
    repo.refs.held.shown(repo.resolve(BUILD))
    kept = {f"project-{going}-0", f"project-{going}-1"}
    assert len(held(place, git)) == 5

    async def serves() -> None:
        async with open_workshop(office.settings, office.environ, serve=True):
            until = time.monotonic() + 20
            while set(held(place, git)) - kept != previews(held(place, git)) and time.monotonic() < until:
                await asyncio.sleep(0.05)

    asyncio.run(serves())
    assert set(held(place, git)) == kept | previews(held(place, git))
    assert len(previews(held(place, git))) == 1
    assert git(place, "for-each-ref", "refs/forge/turns") == ""
    prune(place, git)
    assert_sound(place)


def previews(names: list[str]) -> set[str]:
    return {name for name in names if name.startswith("preview-")}


def test_a_snapshot_of_a_turn_that_is_at_work_stays(place: Path) -> None:
    repo = Repository.open(place)
    reserve(repo.common_dir, BUILD, "deadbeef0001", "model")
    work = repo.workspace(BUILD)
    work.write_file("pending.txt", "pending\n")
    snapshots.keep(repo.refs, work, "000001-deadbeef0001")
    assert holds.swept(repo, lambda _: False).snapshots == ()
    release(repo.common_dir, BUILD, "deadbeef0001")
    assert holds.swept(repo, lambda _: False).snapshots == ("000001-deadbeef0001",)
    assert repo.refs.under("refs/forge/turns/") == []


def test_the_doctor_names_what_was_left_and_removes_it(place: Path, office: Office, git: Git) -> None:
    repo = Repository.open(place)
    left_by_a_dead_process(place)
    repo.refs.hold("deadbeef0001", [repo.resolve(BUILD)])

    def look(*, repair: bool = False) -> tuple[CheckState, str, str]:
        (check,) = [each for each in examine(place, office.environ, repair=repair) if each.name == "leftovers"]
        return check.state, check.detail, check.hint

    assert look()[:2] == (CheckState.WARNING, "2 holds were left by dead processes.")
    assert len(held(place, git)) == 2, "looking removed something"
    assert look(repair=True)[:2] == (CheckState.OK, "Removed 2 holds that dead processes had left.")
    assert held(place, git) == []
    holds.hold(repo, "elsewhere", repo.resolve("main"), None)
    state, detail, hint = look(repair=True)
    assert (state, detail) == (
        CheckState.WARNING,
        "Held for projects that are not in this workspace: project-elsewhere-0.",
    )
    assert "git update-ref -d refs/forge/held/project-elsewhere-0" in hint
    assert held(place, git) == ["project-elsewhere-0"]


def test_a_preview_is_held_for_a_while(place: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repository.open(place)
    tip = repo.resolve(BUILD)
    repo.refs.held.shown(tip)
    repo.refs.held.shown(tip)
    assert len(held(place, git)) == 1
    git(place, "branch", "-D", BUILD)
    prune(place, git)
    assert holds.swept(repo, lambda _: False).holds == ()
    assert git(place, "show", f"{tip}:built.txt") == "built"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 2 * 3600 + 1)
    assert len(holds.swept(repo, lambda _: False).holds) == 1
    assert held(place, git) == []
