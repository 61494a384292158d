"""A command that works alone tells and audits what no operation log has: test runs and environments."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL, audited
from forge.app.access.local_access import opened_access
from forge.app.admin.settings import load_settings
from forge.app.repositories.catalog import id_of, subject_of
from forge.git import Repository
from tests.cli.conftest import Forge
from tests.conftest import MakeRepo

pytestmark = [pytest.mark.req("X-04"), pytest.mark.usefixtures("workspace")]
CASE = "import unittest\n\nclass Cart(unittest.TestCase):\n    def test_empty(self): pass\n"
SETUP = "setup: ['mkdir -p /env/bin']\n"


def told(place: Path, branch: str) -> tuple[Sequence[str], Sequence[str]]:
    """The names of the events of a branch, and the actions in the audit of its repository."""
    repo = Repository.open(place)
    with opened_access(load_settings(None, os.environ), os.environ) as access:
        events = [type(each.event).__name__ for each in access.events.after(subject_of(repo, branch).topic)]
        rows = audited(access, LOCAL)
    mine = [row.action for row in rows if row.subject == f"repository:{id_of(repo)}"]
    return events, mine


def test_a_test_run_is_told_and_audited(forge: Forge, make_repo: MakeRepo) -> None:
    repo = make_repo({"test_cart.py": CASE})
    assert forge("-C", str(repo), "test").code == 0
    assert told(repo, "main") == (["TestsStarted", "TestsEnded"], ["repository.run_tests"])


def test_an_approved_setup_is_told_and_audited(forge: Forge, make_repo: MakeRepo) -> None:
    repo = make_repo({".forge/environment.yaml": SETUP})
    waiting = forge("-C", str(repo), "env", "setup")
    assert waiting.code == 4, waiting.err
    assert told(repo, "main") == ([], [])
    done = forge("-C", str(repo), "env", "setup", "--yes")
    assert done.code == 0, done.err
    events, deeds = told(repo, "main")
    assert (set(events), deeds) == ({"EnvironmentChanged"}, ["environment.approve"])
    assert forge("-C", str(repo), "env", "clear").code == 0
    assert len(told(repo, "main")[0]) == len(events) + 1
