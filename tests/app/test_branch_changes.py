"""What a reviewer reads of a build branch, and what a planner reads of a repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.app.projects.branch_changes import ALL_OF_IT, ONLY_CHANGES, reviewed_changes
from forge.app.projects.code_repository import new_code_repository, repository_facts
from forge.git import Repository
from tests.conftest import MakeRepo

BODY = "".join(f"line {n}\n" for n in range(1, 40))


@pytest.mark.req("P-09")
def test_a_reviewer_reads_a_diff_with_renames_and_deletions_and_numbered_new_files(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a.py": BODY, "old.py": BODY.upper(), "gone.py": "print('gone')\n"}))
    baseline = repo.resolve("HEAD")
    repo.create_branch("build", "HEAD")
    work = repo.workspace("build")
    work.write_file("a.py", BODY.replace("line 20\n", "line twenty\n"))
    work.rename_file("old.py", "moved.py")
    work.delete_file("gone.py")
    work.write_file("new.py", "first\nsecond\n")
    work.commit("build")
    found = reviewed_changes(repo, "build", baseline)
    assert "-line 20\n+line twenty\n" in found["diff"]
    assert " line 11\n" in found["diff"]
    assert "rename from old.py\nrename to moved.py" in found["diff"]
    assert "-print('gone')" in found["diff"]
    assert found["new_files"] == "=== new.py\n    1  first\n    2  second"
    assert found["scope"] == ONLY_CHANGES


@pytest.mark.req("P-09")
def test_in_a_repository_that_forge_made_everything_counts(home: Path, tmp_path: Path) -> None:
    repo = new_code_repository(tmp_path / "code")
    assert reviewed_changes(repo, "main", str(repo.resolve("main")))["scope"] == ALL_OF_IT


@pytest.mark.req("P-05")
def test_a_repository_tells_its_files_readme_instructions_manifests_and_tests(make_repo: MakeRepo) -> None:
    files = {
        "README.md": "# Tally\n",
        "AGENTS.md": "Use tabs.\n",
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "src/tally.py": "def count(): ...\n",
        "tests/test_tally.py": "import pytest\n\ndef test_a(): ...\n",
    }
    repo = Repository.open(make_repo(files))
    facts = repository_facts(repo, "HEAD", lambda text: text)
    for part in ("src/tally.py", "# Tally", "Use tabs.", "[tool.pytest.ini_options]"):
        assert part in facts["repository"]
    assert "pytest" in facts["test_command"]
    assert repository_facts(repo, "HEAD", lambda text: text, command="make check")["test_command"].startswith(
        "`make check`"
    )
