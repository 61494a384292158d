"""Plain git interferes with work under way: the short form of `script/soak hostile --part plain_git`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.soak.hostile.interference import ACTS, act, delete, expire_and_gc, force, gc
from tests.support.soak.hostile.plain_git import interfere, moments_of
from tests.support.soak.hostile.scenes import SCENES

pytestmark = [pytest.mark.req("G-01", "G-08", "G-09", "X-04")]

_WORST = act(delete, expire_and_gc)
_PROJECT = ("before work 2: request", "before tests 2", "ran work 2: end", "before files 2")
_LONG = ("turn", "turn with its conversation beside", "turn of an agent program", "new branches")


@pytest.mark.parametrize("name", [name for name in SCENES if name not in (*_LONG, "project")])
def test_whatever_plain_git_does_meanwhile_no_ref_leads_to_a_missing_object(name: str, tmp_path: Path) -> None:
    moments = moments_of(tmp_path, SCENES[name])
    for at in range(len(moments)):
        interfere(tmp_path, SCENES[name], _WORST, at)
    chance = random.Random(name)
    for each in chance.sample(ACTS, 3):
        interfere(tmp_path, SCENES[name], each, chance.randrange(len(moments)))


@pytest.mark.parametrize("name", _LONG)
def test_long_work_comes_to_its_end_whatever_plain_git_does_meanwhile(name: str, tmp_path: Path) -> None:
    moments = moments_of(tmp_path, SCENES[name])
    chance = random.Random(name)
    # Each kind of moment once, and a few more with other acts.
    for at in {moment: at for at, moment in enumerate(moments)}.values():
        interfere(tmp_path, SCENES[name], chance.choice([_WORST, act(delete, gc), act(force, expire_and_gc)]), at)
    for each in chance.sample(ACTS, 4):
        interfere(tmp_path, SCENES[name], each, chance.randrange(len(moments)))


@pytest.mark.slow
def test_a_project_builds_to_its_end_whatever_plain_git_does_between_its_turns(tmp_path: Path) -> None:
    """The long form takes each of its moments."""
    moments = moments_of(tmp_path, SCENES["project"])
    acts = (_WORST, act(delete, gc), act(force, expire_and_gc), _WORST)
    for name, each in zip(_PROJECT, acts, strict=True):
        interfere(tmp_path, SCENES["project"], each, moments.index(name))
