"""A disk that fills up in the middle of every kind of write."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from forge.git import Repository
from forge.git.errors import StorageFailed
from tests.support.soak import disks, evidence

Act = Callable[[], object]


@dataclass(frozen=True, slots=True)
class SpaceRun:
    attempts: int
    refused: int


def _save(repo: Repository, branch: str, chance: random.Random) -> Act:
    """A save of some size; the same pending changes are there to be saved again after a failure."""
    workspace = repo.workspace(branch)
    for number in range(3):
        workspace.write_bytes(f"random/{number}.bin", chance.randbytes(4000))
    expected = dict(workspace.pending)

    def act() -> None:
        assert dict(workspace.pending) == expected
        workspace.commit("save")
        assert not workspace.pending

    return act


def _actions(repo: Repository, name: str, chance: random.Random) -> dict[str, Act]:
    """Everything that writes. What an action needs is made before the disk is full."""
    for part in ("work", "delete", "rename", "rewind"):
        repo.create_branch(f"{name}/{part}", "main")
    return {
        "save": _save(repo, f"{name}/work", chance),
        "save to a checkout": _save(repo, "main", chance),
        "create": lambda: repo.create_branch(f"{name}/new", "main"),
        "delete": lambda: repo.delete_branch(f"{name}/delete"),
        "rename": lambda: repo.rename_branch(f"{name}/rename", f"{name}/renamed"),
        "rewind": lambda: repo.rewind_branch(f"{name}/rewind", "main~1"),
        "undo": repo.undo,
    }


def writes_on_a_filling_disk(point: Path, *, kilobytes: Iterable[int], files: Iterable[int], seed: int = 0) -> SpaceRun:
    """Try everything with so much room left, see that nothing changed, make room and see it work."""
    chance = random.Random(seed)
    place = point / "repo"
    repo = Repository.init(place)
    for number in range(2):
        workspace = repo.workspace("main")
        workspace.write_file("file.txt", f"{number}\n")
        workspace.commit(f"number {number}")
    attempts = refused = 0
    rooms = [{"kilobytes": size} for size in kilobytes] + [{"files": count} for count in files]
    for number, room in enumerate(rooms):
        # Where a save could not bring the checkout along for want of room, the person does it.
        evidence.git(place, "reset", "--hard", "--quiet")
        for act in _actions(repo, f"ai/{number}", chance).values():
            attempts += 1
            refused += not _tried(place, point, act, room)
    evidence.assert_sound(place)
    evidence.assert_readable(place)
    return SpaceRun(attempts, refused)


def _tried(place: Path, point: Path, act: Act, room: dict[str, int]) -> bool:
    before = _state(place)
    with disks.room_for(point, **room):
        try:
            act()
        except StorageFailed as e:
            complaint = e
        else:
            return True
    assert "full" in complaint.message
    assert complaint.hint
    assert _state(place) == before
    left = evidence.leftovers(place)
    assert not left, left
    evidence.assert_sound(place)
    evidence.assert_log_tells_all(place)
    act()
    evidence.assert_log_tells_all(place)
    return False


def _state(place: Path) -> tuple[str, str]:
    """Branches and the person's checkout. A spare ref that keeps a tip may stay when even removing it takes room."""
    return evidence.git(place, "for-each-ref", "refs/heads"), evidence.git(place, "status", "--porcelain")
