"""What a reviewer is shown of a branch."""

from __future__ import annotations

import pytest

from forge.app.projects.branch_changes import changed_texts
from forge.git import Repository
from tests.conftest import MakeRepo


@pytest.mark.req("P-09")
def test_one_huge_file_hides_no_other_from_the_review(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a.txt": "a\n"}))
    baseline = repo.resolve("HEAD")
    repo.create_branch("build", "HEAD")
    work = repo.workspace("build")
    work.write_file("a-lock.json", "x" * 400_000)
    work.write_file("src/app.py", "print(1)\n")
    work.write_record(".forge/session.json", b"{}")
    work.write_bytes("picture.png", b"\x00\xff")
    work.commit("build")
    shown = changed_texts(repo, "build", baseline)
    assert list(shown) == ["a-lock.json", "src/app.py"]
    assert shown["src/app.py"] == "print(1)\n"
    assert shown["a-lock.json"].startswith("(left out: 400,000 characters")
