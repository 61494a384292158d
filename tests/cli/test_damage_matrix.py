"""Every command that lists or reads, on a repository with a branch for each kind of damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Forge, Ran
from tests.conftest import MakeRepo
from tests.support.damage import DAMAGED, GOOD, damage
from tests.support.soak.hostile.interference import RAW_WORDS

pytestmark = pytest.mark.req("G-01", "G-08", "X-04")

LISTINGS = {
    "branch list": (*GOOD, *DAMAGED),
    "branch list --kept": (),
    "completion --words branches": GOOD,
    "completion --words revisions": GOOD,
    "session list": (),
    "graph": GOOD,
    "log": (),
    "log --grep hello": (),
    "file list": ("a.txt",),
    "file search hello": ("a.txt",),
    "completion --words paths --begun a": ("a.txt",),
    "board": (),
    "undo --list": (),
    "tools list": (),
    "context show": (),
}
READS = (
    "log --branch {}",
    "log --branch {} --grep hello",
    "show {}",
    "file list --branch {}",
    "file show a.txt --branch {}",
    "file search hello --branch {}",
    "blame a.txt --branch {}",
    "diff main {}",
    "session show --branch {}",
    "context show --branch {}",
    "tools list --branch {}",
    "branch new copy --from {}",
    "merge {} --into good --preview",
    "merge good --into {} --preview",
    "rebase {} --onto good --preview",
    "cherry-pick {} --onto good --preview",
    "exec --branch {} -- true",
)


@pytest.fixture
def place(make_repo: MakeRepo) -> Path:
    place = make_repo({"a.txt": "hello\n"})
    damage(place)
    return place


def clear(ran: Ran) -> Ran:
    """In Forge's own words, whatever it came to."""
    said = ran.out + ran.err
    assert not [raw for raw in (*RAW_WORDS, "Traceback", "Please report") if raw in said], said
    return ran


@pytest.mark.parametrize("command", LISTINGS)
def test_one_damaged_branch_hides_no_other(place: Path, forge: Forge, command: str) -> None:
    ran = clear(forge("-C", str(place), *command.split()))
    assert ran.code == 0, ran.err
    assert [name for name in LISTINGS[command] if name not in ran.out] == []


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("command", READS)
def test_reading_a_damaged_branch_works_or_says_what_is_wrong(
    place: Path, forge: Forge, command: str, name: str
) -> None:
    ran = clear(forge("-C", str(place), *command.format(name).split()))
    assert ran.code not in (2, 70), ran.err
    assert ran.code == 0 or "→" in ran.err, ran.err
