"""A graph of 100,000 branches: a page has bounded time, labels and bytes, and counts what it leaves out."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from forge.app.repositories.history import graph_page
from forge.cli.terminal.output import plain
from forge.git import Repository
from forge.git.history.graph import MAX_LABELS, MAX_TIPS
from tests.conftest import MakeRepo, run_git

MANY = 100_000


def with_branches(repo: Path, ids: list[str]) -> Repository:
    main = run_git(repo, "rev-parse", "main")
    lines = [f"{oid} refs/heads/many/{number:06}\n" for number, oid in enumerate(ids)]
    packed = "# pack-refs with: peeled fully-peeled sorted \n" + f"{main} refs/heads/main\n" + "".join(lines)
    (repo / ".git/packed-refs").write_text(packed)
    return Repository.open(repo)


def commits_apart(repo: Path, count: int) -> list[str]:
    """Commits that have nothing in common but their parent."""
    main = run_git(repo, "rev-parse", "main")
    said = "".join(
        f"commit refs/forge/made\nmark :{n + 1}\ncommitter a <a@b> {1_700_000_000 + n} +0000\n"
        f"data 2\nc\n\nfrom {main}\n\n"
        for n in range(count)
    )
    marks = repo / ".git/marks"
    command = ["git", "fast-import", "--quiet", "--force", f"--export-marks={marks}"]
    subprocess.run(command, cwd=repo, input=said.encode(), check=True, capture_output=True)
    found = dict(line.split() for line in marks.read_text().splitlines())
    return [found[f":{n + 1}"] for n in range(count)]


@pytest.mark.req("G-16")
def test_a_hundred_thousand_names_at_one_commit_are_counted(make_repo: MakeRepo) -> None:
    repo = make_repo({"a.txt": "a\n"})
    opened = with_branches(repo, [run_git(repo, "rev-parse", "main")] * MANY)
    began = time.monotonic()
    (row,), more = graph_page(opened, limit=200)
    assert time.monotonic() - began < 20
    assert (len(row.refs), row.refs_left_out, more) == (MAX_LABELS, MANY + 2 - MAX_LABELS, None)
    assert row.refs[:2] == ("HEAD", "refs/heads/main")
    assert len(json.dumps(plain(row))) < 4_000


@pytest.mark.req("G-16")
def test_a_hundred_thousand_tips_make_bounded_pages(make_repo: MakeRepo) -> None:
    repo = make_repo({"a.txt": "a\n"})
    ids = commits_apart(repo, MANY)
    opened = with_branches(repo, ids)
    began = time.monotonic()
    rows, after = graph_page(opened, limit=200)
    assert time.monotonic() - began < 60
    assert len(rows) == 200
    left_out = rows[0].tips_left_out
    assert MAX_TIPS - 3 <= MANY + 1 - left_out <= MAX_TIPS
    assert rows[0].commit.id == ids[-1]
    seen = [row.commit.id for row in rows]
    while after:
        assert len(after) < 40_000
        rows, after = graph_page(opened, limit=200, after=after)
        assert len(json.dumps(plain(rows))) < 20_000_000
        assert rows[0].tips_left_out == left_out
        seen += [row.commit.id for row in rows]
    assert len(seen) == len(set(seen)) == MANY + 1 - left_out
    assert set(ids[-(MAX_TIPS - 3) :]) < set(seen)
