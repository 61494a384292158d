"""`forge log`, `diff`, `graph` and `blame`."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Forge, Installed, masked
from tests.conftest import Git, MakeRepo


@pytest.fixture
def repo(make_repo: MakeRepo, git: Git, dated: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fork and a merge: first, then side beside main work, then their merge."""
    repo = make_repo({"a.txt": "one\ntwo\nthree\n", "src/app.py": "x = 1\n" * 20, "b.bin": b"\0\1"})
    git(repo, "checkout", "--quiet", "-b", "side")
    (repo / "a.txt").write_text("one\n2\nthree\n")
    git(repo, "commit", "--quiet", "--all", "--message", "side work\n\nWith a body.", "--author=Eve <eve@example.org>")
    git(repo, "checkout", "--quiet", "main")
    git(repo, "mv", "src/app.py", "src/main.py")
    (repo / "b.bin").write_bytes(b"\0\2")
    git(repo, "commit", "--quiet", "--all", "--message", "main work")
    git(repo, "merge", "--quiet", "--message", "join", "side")
    git(repo, "tag", "v1", "HEAD~1")
    monkeypatch.chdir(repo)
    return repo


def subjects(forge: Forge, *args: str) -> list[str]:
    return [commit["subject"] for commit in forge("log", "--json", *args).document]


def test_commits_are_shown_newest_first(forge: Forge, repo: Path) -> None:
    lines = forge("log").out.splitlines()
    assert [line.split(" ago  ")[1] for line in lines] == snapshot(
        ["join  Ada Example", "side work  Eve", "main work  Ada Example", "first  Ada Example"]
    )
    assert all(len(line.split()[0]) == 7 for line in lines)


def test_programs_get_whole_commits(forge: Forge, repo: Path, git: Git) -> None:
    assert forge("log", "side", "-n", "1", "--json").document == snapshot(
        [
            {
                "id": "2006f7095f6724b590386ebe6fdace5fb8421a06",
                "parents": ["7a760a7134ec499fc3bc913a24e121e1f7771003"],
                "subject": "side work",
                "message": "side work\n\nWith a body.\n",
                "author": {"name": "Eve", "email": "eve@example.org", "time": 1577836800},
                "committer": {"name": "Ada Example", "email": "ada@example.org", "time": 1577836800},
                "time": 1577836800,
            }
        ]
    )


def test_the_log_is_narrowed(forge: Forge, repo: Path) -> None:
    assert subjects(forge, "-n", "2") == ["join", "side work"]
    assert subjects(forge, "-n", "0") == []
    assert subjects(forge, "--skip", "3") == ["first"]
    assert subjects(forge, "--author", "EVE@") == ["side work"]
    assert subjects(forge, "--grep", "BODY") == ["side work"]
    assert subjects(forge, "v1") == ["main work", "first"]
    assert subjects(forge, "--path", "a.txt") == ["side work", "first"]
    assert subjects(forge, "--path", "a.txt", "--path", "src") == ["join", "side work", "main work", "first"]
    assert subjects(forge, "--path", "src/main.py", "--follow") == ["main work", "first"]


@pytest.mark.req("G-08")
def test_any_commit_can_be_looked_at_compared_branched_from_and_gone_back_to(
    forge: Forge, repo: Path, git: Git
) -> None:
    old = git(repo, "rev-parse", "HEAD~1")
    tip = git(repo, "rev-parse", "HEAD")
    assert forge("file", "show", "--at", old, "a.txt").out == "one\ntwo\nthree\n"
    assert "modified  a.txt  +1 −1\n" in forge("diff", old, "HEAD", "--stat").out
    assert forge("branch", "new", "from-there", "--from", old).code == 0
    assert forge("branch", "rewind", "main", old).code == 0
    assert git(repo, "rev-parse", "main", "from-there").split() == [old, old]
    assert tip in [kept["tip"] for kept in forge("branch", "list", "--kept", "--json").document]
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "--quiet", "--prune=now")
    assert forge("file", "show", "--at", tip, "a.txt").out == "one\n2\nthree\n"


def test_a_diff_is_what_git_can_apply(installed: Installed, repo: Path, git: Git, tmp_path: Path) -> None:
    patch = installed("diff", "HEAD~2", "HEAD", "--path", "a.txt", "--path", "src")
    assert (patch.code, patch.err) == (0, "")
    git(repo, "checkout", "--quiet", "--detach", "HEAD~2")
    git(repo, "apply", "--index", "-", stdin=patch.out)
    git(repo, "checkout", "--quiet", "HEAD", "b.bin")
    assert git(repo, "diff", "--cached", "--name-status", "main") == "M\tb.bin"


def test_one_commit_is_compared_with_its_parent(forge: Forge, repo: Path) -> None:
    assert masked(forge("diff", "side").out) == snapshot("""\
diff --git a/a.txt b/a.txt
index <id>..<id> 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
""")
    assert forge("diff", "v1~1", "--stat").out == snapshot("""\
added  a.txt       +3 −0
added  b.bin       binary, 2 bytes
added  src/app.py  +20 −0
""")


def test_renames_and_binary_files_are_named_as_such(forge: Forge, repo: Path) -> None:
    assert forge("diff", "v1", "--stat").out == snapshot("""\
modified  b.bin                     binary, 2 bytes
renamed   src/app.py → src/main.py  +0 −0
""")
    binary, renamed = forge("diff", "v1", "--json", "--stat").document
    assert (binary["binary"], binary["kind"]) == (True, "modified")
    assert (renamed["kind"], renamed["old_path"], renamed["new_path"], renamed["similarity"]) == (
        "renamed",
        "src/app.py",
        "src/main.py",
        100,
    )
    assert "patch" not in renamed
    assert forge("diff", "v1", "--json").document[1]["patch"].endswith("rename to src/main.py\n")


def test_commits_that_are_alike_have_no_diff(forge: Forge, repo: Path) -> None:
    done = forge("diff", "v1", "v1")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert forge("diff", "v1", "main~1", "--json").document == []


def test_the_graph_is_drawn_with_its_branches(forge: Forge, repo: Path) -> None:
    done = forge("graph")
    assert (done.code, done.err) == (0, "")
    drawn = masked("\n".join(line.rpartition("  ")[0] or line for line in done.out.splitlines()))
    assert drawn == snapshot("""\
●  <id> [HEAD] [main] join
├─╮
● │  <id> [tag v1] main work
│ ●  <id> [side] side work
├─╯
●  <id> first""")


def test_the_graph_comes_in_pages(forge: Forge, repo: Path) -> None:
    pages = []
    cursor: list[str] = []
    while True:
        page = forge("graph", "-n", "1", "--json", *cursor).document
        pages += page["rows"]
        if page["next"] is None:
            break
        cursor = ["--after", page["next"]]
    assert [row["subject"] for row in pages] == ["join", "main work", "side work", "first"]
    assert pages == forge("graph", "--json").document["rows"]
    assert set(pages[0]["edges"][0]) == {"from_lane", "to_lane", "parent"}
    assert forge("graph", "-n", "2").err == "There are more commits: -n shows more than 2.\n"
    assert forge("graph", "--after", "nonsense", "--json").error == "invalid_input"


def test_abandoned_commits_are_drawn_on_demand(forge: Forge, repo: Path) -> None:
    assert forge("branch", "rewind", "main", "HEAD~1").code == 0
    assert "join" not in forge("graph").out
    shown = forge("graph", "--abandoned").out
    assert "abandoned [kept main@" in shown
    assert "join" in shown


def test_blame_names_who_wrote_each_line(forge: Forge, repo: Path) -> None:
    done = forge("blame", "a.txt")
    assert (done.code, done.err) == (0, "")
    lines = [line.split(" ago ") for line in done.out.splitlines()]
    assert [(who.split()[1], text.split()) for who, text in lines] == snapshot(
        [("Ada", ["1", "one"]), ("Eve", ["2", "2"]), ("Ada", ["3", "three"])]
    )


def test_blame_keeps_to_the_lines_and_the_commit_asked_for(forge: Forge, repo: Path) -> None:
    (line,) = forge("blame", "a.txt", "--lines", "2", "--json").document
    assert line["author"]["name"] == "Eve"
    assert (line["number"], line["text"], line["summary"]) == (2, "2", "side work")
    lines = forge("blame", "src/app.py", "--at", "v1~1", "--lines", "3,5", "--json").document
    assert [line["number"] for line in lines] == [3, 4, 5]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["log", "nowhere"], "revision_missing"),
        (["log", "main..side"], "invalid_revision"),
        (["log", "--path", "../x"], "invalid_path"),
        (["diff", "nowhere"], "revision_missing"),
        (["diff", "main", "nowhere"], "revision_missing"),
        (["diff", "main", "--path", "/x"], "invalid_path"),
        (["blame", "nothing"], "file_missing"),
        (["blame", "src"], "file_missing"),
        (["blame", "../x"], "invalid_path"),
        (["blame", "a.txt", "--lines", "9"], "invalid_input"),
        (["blame", "a.txt", "--at", "nowhere"], "revision_missing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_cannot_be_is_told_by_its_code(forge: Forge, repo: Path, words: list[str], error: str) -> None:
    done = forge(*words, "--json")
    assert (done.code, done.error) == (1, error)


@pytest.mark.req("G-07")
def test_a_diff_leaves_the_conversation_out_until_it_is_asked_for(forge: Forge, repo: Path, git: Git) -> None:
    (repo / ".forge/session").mkdir(parents=True)
    (repo / ".forge/session.json").write_text("{}\n")
    (repo / ".forge/session/0001.json").write_text("{}\n")
    git(repo, "add", ".forge")
    git(repo, "commit", "--quiet", "--message", "only words")
    (repo / ".forge/config.yaml").write_text("limits: {}\n")
    git(repo, "add", ".forge")
    git(repo, "commit", "--quiet", "--message", "a setting")

    def paths(*words: str) -> list[str]:
        return [change["new_path"] for change in forge("diff", *words, "--json").document]

    assert paths("HEAD~2", "HEAD") == [".forge/config.yaml"]
    every = [".forge/config.yaml", ".forge/session.json", ".forge/session/0001.json"]
    assert paths("HEAD~2", "HEAD", "--with-sessions") == every
    assert paths("HEAD~2", "HEAD", "--path", ".forge") == every
    words = forge("diff", "HEAD~1")
    assert (words.code, words.out) == (0, "")
    assert words.err == "Only the conversation changed; --with-sessions shows it.\n"


def test_a_diff_takes_a_branch_like_its_neighbours(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "branch", "topic", "side")
    assert forge("file", "save", "--branch", "topic", "new.txt", stdin="new\n").code == 0
    git(repo, "reset", "--quiet", "--hard", "HEAD~1")

    def paths(*words: str) -> list[str]:
        return [change["new_path"] for change in forge("diff", *words, "--json").document]

    assert paths("--branch", "topic") == ["a.txt", "new.txt"], "since it left the default branch"
    assert paths("side", "-b", "topic") == ["new.txt"]
    assert paths("-b", "topic", "--path", "new.txt") == ["new.txt"]
    for words in ((), ("main", "side", "--branch", "topic")):
        assert forge("diff", *words).code == 2
    assert forge("diff", "--branch", "main", "--json").error == "invalid_input"
    assert forge("diff", "--branch", "nowhere", "--json").error == "branch_missing"
