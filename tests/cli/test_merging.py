"""`forge merge`, `rebase` and `cherry-pick`: previews, conflicts, resolutions."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Forge, masked
from tests.conftest import Git, MakeRepo


@pytest.fixture
def repo(make_repo: MakeRepo, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`clean` merges into main, `clashing` does not: each of its first two commits changes the same line."""
    repo = make_repo({"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n"})
    git(repo, "checkout", "--quiet", "-b", "clean")
    save(repo, git, "new.txt", "new\n", "add new.txt")
    git(repo, "checkout", "--quiet", "-b", "clashing", "main")
    save(repo, git, "a.txt", "one\nTWO a\nthree\n", "first change")
    save(repo, git, "a.txt", "one\nTWO b\nthree\n", "second change")
    save(repo, git, "c.txt", "c\n", "add c.txt")
    git(repo, "checkout", "--quiet", "main")
    save(repo, git, "a.txt", "one\nTWO main\nthree\n", "main change")
    monkeypatch.chdir(repo)
    return repo


def save(repo: Path, git: Git, name: str, content: str, message: str) -> None:
    (repo / name).write_text(content)
    git(repo, "add", name)
    git(repo, "commit", "--quiet", "--message", message)


@pytest.mark.req("G-07")
def test_the_conversation_is_not_among_the_files_of_a_preview(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "checkout", "--quiet", "clean")
    (repo / ".forge").mkdir()
    save(repo, git, ".forge/session.json", "{}\n", "talk")
    git(repo, "checkout", "--quiet", "main")
    assert forge("merge", "clean", "--preview").out == "merge clean into main: clean\n  added  new.txt\n"
    kept = forge("merge", "clean", "--conversation", "keep", "--json").document
    assert kept["files"] == {"new.txt": "added"}
    assert kept["conversation"] == {"turns": 0, "files": 1, "summaries": 0}
    assert git(repo, "ls-tree", "-r", "--name-only", "main", ".forge") == ".forge/session.json"


@pytest.fixture
def merged(tmp_path: Path) -> Path:
    file = tmp_path / "merged"
    file.write_text("one\nTWO merged\nthree\n")
    return file


def test_a_preview_shows_the_result_and_writes_nothing(forge: Forge, repo: Path, git: Git) -> None:
    before = git(repo, "for-each-ref"), git(repo, "count-objects", "-v")
    done = forge("merge", "clean", "--preview")
    assert (done.code, done.out, done.err) == (0, "merge clean into main: clean\n  added  new.txt\n", "")
    shown = forge("merge", "clean", "--preview", "--json").document
    assert (shown["outcome"], shown["performed"], shown["operation"]) == ("clean", False, None)
    assert (git(repo, "for-each-ref"), git(repo, "count-objects", "-v")) == before


def test_a_merge_gives_what_its_preview_showed(forge: Forge, repo: Path, git: Git) -> None:
    shown = forge("merge", "clean", "--preview", "--json").document
    done = forge("merge", "clean", "-m", "bring it in")
    assert done.code == 0
    assert masked(done.out, repo) == snapshot("""\
merge clean into main: clean
  added  new.txt
main → <id>
Your checkout <repo> follows.
""")
    assert git(repo, "rev-parse", "HEAD^{tree}") == shown["tree"]
    assert (
        git(repo, "log", "-1", "--format=%s %P")
        == f"bring it in {shown['target_tip']} {git(repo, 'rev-parse', 'clean')}"
    )
    assert forge("merge", "clean").out == "merge clean into main: up to date\n"


def test_a_branch_that_is_only_behind_just_follows_unless_told_otherwise(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "branch", "behind", "main~1")
    git(repo, "branch", "behind2", "main~1")
    assert masked(forge("merge", "main", "--into", "behind").out) == snapshot("""\
merge main into behind: fast-forward
  modified  a.txt
behind → <id>
""")
    assert git(repo, "rev-parse", "behind") == git(repo, "rev-parse", "main")
    assert forge("merge", "main", "--into", "behind2", "--no-ff").code == 0
    assert git(repo, "rev-parse", "behind2^2") == git(repo, "rev-parse", "main")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["merge", "clashing"],
            snapshot("""\
merge clashing into main: conflicts
  modified  a.txt
  added     c.txt
  conflict  a.txt (content)
Nothing was changed. Give each content, for example --resolve a.txt=FILE
"""),
        ),
        (
            ["rebase", "clashing", "--onto", "main"],
            snapshot("""\
rebase clashing onto main: conflicts
  stopped  <id>  first change
  waiting  <id>  second change
  waiting  <id>  add c.txt
  conflict  a.txt (content)
Nothing was changed. Give each content, for example --resolve <id>:a.txt=FILE
"""),
        ),
        (
            ["cherry-pick", "clashing~1", "clashing"],
            snapshot("""\
cherry-pick <id>, <id> onto main: conflicts
  stopped  <id>  second change
  waiting  <id>  add c.txt
  conflict  a.txt (content)
Nothing was changed. Give each content, for example --resolve <id>:a.txt=FILE
"""),
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_conflicts_wait_for_a_person_with_code_4_and_nothing_changed(
    forge: Forge, repo: Path, git: Git, words: list[str], told: str
) -> None:
    before = git(repo, "for-each-ref"), git(repo, "count-objects", "-v"), git(repo, "status", "--porcelain")
    done = forge(*words)
    assert (done.code, masked(done.out), done.err) == (4, told, "")
    for more in ([], ["--preview"]):
        found = forge(*words, *more, "--json")
        assert (found.code, found.err) == (4, "")
        assert (found.document["outcome"], found.document["performed"]) == ("conflicts", False)
    assert (git(repo, "for-each-ref"), git(repo, "count-objects", "-v"), git(repo, "status", "--porcelain")) == before


def test_programs_get_the_three_sides_of_a_conflict(forge: Forge, repo: Path, git: Git) -> None:
    (conflict,) = forge("merge", "clashing", "--json").document["conflicts"]
    sides = {
        name: git(repo, "rev-parse", f"{rev}:a.txt")
        for name, rev in {"base": "main~1", "ours": "main", "theirs": "clashing"}.items()
    }
    assert {name: conflict[name] for name in sides} == {
        name: {"mode": "100644", "id": oid} for name, oid in sides.items()
    }
    assert conflict["marked"] == snapshot("""\
one
<<<<<<< main
TWO main
=======
TWO b
>>>>>>> clashing
three
""")


def test_a_merge_goes_through_with_the_contents_given(forge: Forge, repo: Path, git: Git, merged: Path) -> None:
    resolve = ["--resolve", f"a.txt={merged}"]
    shown = forge("merge", "clashing", *resolve, "--preview", "--json").document
    assert (shown["outcome"], shown["conflicts"]) == ("clean", [])
    assert forge("merge", "clashing", *resolve).code == 0
    assert git(repo, "rev-parse", "HEAD^{tree}") == shown["tree"]
    assert (repo / "a.txt").read_text() == merged.read_text()
    assert git(repo, "status", "--porcelain") == ""


def test_a_path_in_conflict_can_be_deleted(forge: Forge, repo: Path) -> None:
    assert forge("merge", "clashing", "--resolve", "a.txt=").code == 0
    assert forge("file", "list").out == "b.txt\nc.txt\n"


def test_a_chain_that_stops_twice_takes_a_content_for_each_stop(
    forge: Forge, repo: Path, git: Git, merged: Path, tmp_path: Path
) -> None:
    second = git(repo, "rev-parse", "clashing~1")
    (tmp_path / "again").write_text("one\nTWO again\nthree\n")
    words = ["rebase", "clashing", "--onto", "main", "--resolve", f"a.txt={merged}"]
    stopped = forge(*words, "--json")
    assert stopped.code == 4
    assert [step["state"] for step in stopped.document["steps"]] == ["picked", "stopped", "waiting"]

    done = forge(*words, "--resolve", f"{second[:7]}:a.txt={tmp_path / 'again'}")
    assert (done.code, masked(done.out)) == (
        0,
        snapshot("""\
rebase clashing onto main: clean
  picked  <id>  first change
  picked  <id>  second change
  picked  <id>  add c.txt
  modified  a.txt
clashing → <id>
"""),
    )
    assert git(repo, "log", "--format=%s", "main..clashing") == "add c.txt\nsecond change\nfirst change"
    assert git(repo, "show", "clashing~2:a.txt") == "one\nTWO merged\nthree"
    assert git(repo, "show", "clashing:a.txt") == "one\nTWO again\nthree"


@pytest.mark.parametrize(
    ("resolve", "code", "error"),
    [
        ("a.txt", 2, "bad_usage"),
        ("=file", 2, "bad_usage"),
        ("a.txt=/nowhere/file", 1, "invalid_input"),
        ("a.txt=/", 1, "invalid_input"),
        ("b.txt=", 1, "invalid_input"),
        ("0000000:a.txt=", 1, "invalid_input"),
    ],
)
def test_a_resolution_that_makes_no_sense_is_told(
    forge: Forge, repo: Path, git: Git, resolve: str, code: int, error: str
) -> None:
    before = git(repo, "for-each-ref")
    done = forge("merge", "clashing", "--resolve", resolve, "--json")
    assert (done.code, done.error) == (code, error)
    assert git(repo, "for-each-ref") == before


def test_contents_where_nothing_is_in_conflict_are_refused(forge: Forge, repo: Path, merged: Path) -> None:
    assert forge("merge", "clean", "--resolve", f"a.txt={merged}", "--json").error == "invalid_input"


def test_commits_are_copied_onto_another_branch(forge: Forge, repo: Path, git: Git) -> None:
    picked = git(repo, "rev-parse", "clashing")
    done = forge("cherry-pick", "clashing", "-x", "--onto", "clean")
    assert (done.code, masked(done.out)) == (
        0,
        snapshot("""\
cherry-pick <id> onto clean: clean
  picked  <id>  add c.txt
  added  c.txt
clean → <id>
"""),
    )
    assert git(repo, "log", "-1", "--format=%B", "clean") == f"add c.txt\n\n(cherry picked from commit {picked})\n"


def test_a_merge_is_copied_only_with_a_mainline(forge: Forge, repo: Path, git: Git) -> None:
    assert forge("merge", "clean", "--no-ff").code == 0
    git(repo, "branch", "other", "main~1")
    assert forge("cherry-pick", "main", "--onto", "other", "--json").error == "invalid_revision"
    assert forge("cherry-pick", "main", "--onto", "other", "--mainline", "1").code == 0
    assert git(repo, "show", "other:new.txt") == "new"


def test_the_person_s_other_work_stays_as_it_is(forge: Forge, repo: Path, git: Git) -> None:
    (repo / "b.txt").write_text("mine, not committed\n")
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    before = git(repo, "status", "--porcelain")
    assert forge("merge", "clean").code == 0
    assert forge("rebase", "clean", "--onto", "main").code == 0
    assert git(repo, "status", "--porcelain") == before
    assert (repo / "b.txt").read_text() == "mine, not committed\n"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["merge", "nowhere"], "revision_missing"),
        (["merge", "clean", "--into", "nowhere"], "branch_missing"),
        (["merge", "clean", "--into", "HEAD~1"], "invalid_name"),
        (["rebase", "nowhere", "--onto", "main"], "branch_missing"),
        (["rebase", "clean", "--onto", "nowhere"], "revision_missing"),
        (["cherry-pick", "nowhere"], "revision_missing"),
        (["cherry-pick", "clean", "--onto", "nowhere"], "branch_missing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_cannot_be_is_told_by_its_code(forge: Forge, repo: Path, words: list[str], error: str) -> None:
    done = forge(*words, "--json")
    assert (done.code, done.error) == (1, error)


def test_unrelated_histories_are_not_merged(forge: Forge, repo: Path, git: Git) -> None:
    stranger = git(repo, "commit-tree", "-m", "stranger", "HEAD^{tree}")
    assert forge("merge", stranger, "--json").error == "invalid_revision"
