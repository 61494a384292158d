"""Plain git interferes at every moment of every kind of work."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.support.soak.hostile.interference import ACTS, Act, Moments, assert_whole
from tests.support.soak.hostile.scenes import BRANCH, SCENES, Scene, world


@dataclass(frozen=True, slots=True)
class Interfered:
    scene: str
    moments: int
    runs: int


def run(folder: Path, rounds: int | None, seed: int) -> list[Interfered]:
    """Every act at every moment of every scene; with `rounds`, as many of them for each scene, at random."""
    chance = random.Random(seed)
    return [_interfered(folder, name, scene, rounds, chance) for name, scene in SCENES.items()]


def moments_of(folder: Path, scene: Scene) -> list[str]:
    """The moments of a scene that nobody interferes with."""
    with _place(folder) as place:
        seen = Moments(place.repo)
        scene(place.repo, seen)
        assert_whole(place.repo)
    return seen.names


def interfere(folder: Path, scene: Scene, act: Act, at: int) -> None:
    with _place(folder) as place:
        moment = Moments(place.repo, act, at, BRANCH)
        try:
            scene(place.repo, moment)
            assert_whole(place.repo)
        except BaseException as e:
            name = moment.names[at] if at < len(moment.names) else "a moment that did not come"
            e.add_note(f"{act.__name__} at moment {at}, {name}, of {moment.names}")
            raise


def _interfered(folder: Path, name: str, scene: Scene, rounds: int | None, chance: random.Random) -> Interfered:
    moments = moments_of(folder, scene)
    every = list(_every(ACTS, len(moments)))
    chosen = every if rounds is None else chance.sample(every, min(rounds, len(every)))
    for act, at in chosen:
        interfere(folder, scene, act, at)
    return Interfered(name, len(moments), len(chosen))


def _every(acts: Iterable[Act], moments: int) -> Iterator[tuple[Act, int]]:
    return ((act, at) for act in acts for at in range(moments))


class _place:  # noqa: N801 - reads as a block
    """A world that goes when the block ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "world"

    def __enter__(self) -> Self:
        self._folder.mkdir()
        self.repo = world(self._folder)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)
