"""Conversations in both places: in the tree, and on a ref beside the branch."""

from __future__ import annotations

import pytest

from forge.git import Repository
from forge.sessions.places import Sessions
from tests.conftest import MakeRepo


@pytest.fixture(params=["tree", "side-ref"])
def sessions(request: pytest.FixtureRequest, make_repo: MakeRepo) -> Sessions:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    repo.create_branch("ai/x", "main")
    return Sessions(repo, beside=request.param == "side-ref")
