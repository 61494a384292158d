"""Log, show and distances held against git itself on generated histories."""

from __future__ import annotations

import os
import random
import subprocess
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from forge.errors import ForgeError, InvalidInput
from forge.git.errors import InvalidPath, InvalidRevision, RevisionMissing
from forge.git.history.commit_log import ahead_behind, log, refs_at, show
from forge.git.history.diff import ChangeKind
from forge.git.history.newest import MOST
from forge.git.objects.object_store import Objects
from forge.git.values import CommitId

pytestmark = pytest.mark.req("G-08")

START = 1_700_000_000
AUTHORS = ["Ada <ada@example.org>", "Grace H. <grace@example.org>", "Zoë <zoe@example.org>"]


class Repo:
    """A bare repository fed by `git fast-import`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
        self.objects = Objects(path, path)

    def git(self, *args: str, stdin: bytes = b"", **env: str) -> str:
        done = subprocess.run(
            ["git", f"--git-dir={self.path}", *args],
            input=stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **env},
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def fast_import(self, stream: bytes) -> dict[int, CommitId]:
        marks = self.path / "marks"
        self.git("fast-import", "--quiet", "--force", f"--export-marks={marks}", stdin=stream)
        pairs = (line[1:].split() for line in marks.read_text().splitlines())
        return {int(mark): CommitId(oid) for mark, oid in pairs}

    def commit(self, files: dict[str, str], *, message: bytes = b"a change", parents: Sequence[str] = ()) -> CommitId:
        """A commit that holds exactly `files`."""
        index = str(self.path / "an-index")
        Path(index).unlink(missing_ok=True)
        for path, text in files.items():
            blob = self.git("hash-object", "-w", "--stdin", stdin=text.encode())
            self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", GIT_INDEX_FILE=index)
        tree = self.git("write-tree", GIT_INDEX_FILE=index)
        options = [word for parent in parents for word in ("-p", parent)]
        return CommitId(self.git("commit-tree", tree, *options, stdin=message))


def commit_text(mark: int, parents: Sequence[int], when: int, author: str, message: str, changes: str) -> str:
    size = len(message.encode())
    words = ["from", *["merge"] * len(parents)]
    lines = "".join(f"{word} :{parent}\n" for word, parent in zip(words, parents, strict=False))
    # Going on from the commit before needs no words, and is much faster.
    reset = "reset refs/heads/building\n\n"
    if list(parents) == [mark - 1]:
        reset = lines = ""
    return (
        f"{reset}commit refs/heads/building\nmark :{mark}\nauthor {author} {when} +0530\n"
        f"committer Bob <bob@example.org> {when + 5} -0800\ndata {size}\n{message}\n{lines}{changes}\n"
    )


def random_history(repo: Repo, rng: random.Random, size: int) -> list[CommitId]:
    stream = [f"blob\nmark :{n}\ndata 2\n{n % 10}\n\n" for n in range(1, 9)]
    for place in range(size):
        wanted = rng.choice([0, *[1] * 12, *[2] * 4, 3, 4]) if place else 0
        recent = range(max(0, place - 12), place)
        parents = [parent + 100 for parent in rng.sample(recent, min(wanted, len(recent)))]
        message = rng.choice(["fix: a.b (c)", "FIX: a*b [c]", "Grüße\n\nbody\n  indented  \n\nKey: value\n", "x\n\n\n"])
        changes = f"M 100644 :{rng.randrange(1, 9)} {rng.choice(['a', 'b*', 'lib/c', 'lib/d'])}\n"
        when = START + place * 60 + rng.randrange(-90, 90)
        stream.append(commit_text(place + 100, parents, when, rng.choice(AUTHORS), message, changes))
    marks = repo.fast_import("".join(stream).encode())
    repo.git("update-ref", "-d", "refs/heads/building")
    return [marks[place + 100] for place in range(size)]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "r.git")


@pytest.mark.parametrize("seed", range(12))
def test_random_histories_come_as_git_gives_them(repo: Repo, seed: int) -> None:
    rng = random.Random(seed)
    commits = random_history(repo, rng, 60)
    tips = rng.sample(commits, 3) + commits[-2:]
    not_these = [f"^{rng.choice(commits)}"]

    def ids(**options: object) -> list[str]:
        return [commit.id for commit in log(repo.objects, tips, **options)]  # type: ignore[arg-type]

    def gits(*args: str) -> list[str]:
        return repo.git("rev-list", *args).split()

    assert ids() == gits("--topo-order", *tips)
    assert ids(order="date") == ids(order="date", limit=MOST) == gits(*tips)
    assert ids(order="date", limit=20, skip=5) == ids(order="date", limit=MOST, skip=5)[:20] == gits(*tips)[5:25]
    assert ids(exclude=[not_these[0][1:]]) == gits("--topo-order", *tips, *not_these)
    assert ids(first_parent=True) == gits("--topo-order", "--first-parent", *tips)
    assert ids(limit=7, skip=3) == gits("--topo-order", *tips)[3:10]
    assert ids(limit=0) == []
    assert ids(paths=["lib"]) == ids(paths=["lib/"]) == gits("--topo-order", *tips, "--", "lib")
    assert ids(paths=["a", "lib/c"]) == gits("--topo-order", *tips, "--", "a", "lib/c")
    middle = START + 30 * 60
    assert ids(since=middle) == gits("--topo-order", f"--max-age={middle}", *tips)
    assert ids(until=middle) == gits("--topo-order", f"--min-age={middle}", *tips)
    for commit in log(repo.objects, tips):
        assert commit == repo.objects.commit(commit.id)
    for commit in log(repo.objects, tips, paths=["a"]):
        assert commit == repo.objects.commit(commit.id)


def test_search_texts_are_plain_text_in_any_case(repo: Repo) -> None:
    commits = random_history(repo, random.Random(2), 40)

    def subjects(**options: str) -> set[str]:
        return {commit.subject for commit in log(repo.objects, commits, **options)}  # type: ignore[arg-type]

    assert subjects(grep="fix: A.B (") == {"fix: a.b (c)"}
    assert subjects(grep="A*B [C]") == {"FIX: a*b [c]"}
    assert subjects(grep="grüße") == {"Grüße"}
    assert subjects(grep="--output=x") == set()
    names = {commit.author.name for commit in log(repo.objects, commits, author="grace h.")}
    assert names == {"Grace H."}
    with pytest.raises(InvalidInput):
        log(repo.objects, commits, grep="a\0b")


def test_limited_to_paths_a_merge_still_names_all_its_parents(repo: Repo) -> None:
    base = repo.commit({"a": "1"})
    left = repo.commit({"a": "2"}, parents=[base])
    right = repo.commit({"a": "1", "b": "1"}, parents=[base])
    merge = repo.commit({"a": "2", "b": "1"}, parents=[left, right])
    after = repo.commit({"a": "3", "b": "2"}, parents=[merge])
    both = {commit.id: commit.parents for commit in log(repo.objects, [after], paths=["a", "b"])}
    assert both[merge] == (left, right)
    assert set(both) == {base, left, right, merge, after}


def test_a_file_is_followed_across_its_renames(repo: Repo) -> None:
    text = "".join(f"line {n}\n" for n in range(30))
    first = repo.commit({"old": text, "other": "x"})
    second = repo.commit({"old": text, "other": "y"}, parents=[first])
    third = repo.commit({"b*": text + "more\n", "other": "y"}, parents=[second])
    followed = [commit.id for commit in log(repo.objects, [third], paths=["b*"], follow=True)]
    assert followed == [third, first]
    assert [commit.id for commit in log(repo.objects, [third], paths=["b*"])] == [third]
    repo.git("config", "log.follow", "true")
    assert [commit.id for commit in log(repo.objects, [third], paths=["b*"])] == [third]
    for paths in ([], ["a", "b"]):
        with pytest.raises(InvalidInput):
            log(repo.objects, [third], paths=paths, follow=True)


@pytest.mark.req("X-06")
@pytest.mark.parametrize("path", ["*", ":(exclude)a", ":!a", "--all", "-p", ":/x", "a?"])
def test_paths_are_literal(repo: Repo, path: str) -> None:
    first = repo.commit({"ab": "1"})
    second = repo.commit({"ab": "1", path: "x"}, parents=[first])
    third = repo.commit({"ab": "2", path: "x"}, parents=[second])
    assert [commit.id for commit in log(repo.objects, [third], paths=[path])] == [second]


@pytest.mark.parametrize("path", ["", "../x", "/etc", "a\0b"])
def test_a_path_that_cannot_be_in_a_repository_is_refused_at_once(repo: Repo, path: str) -> None:
    commit = repo.commit({"a": "1"})
    with pytest.raises(InvalidPath):
        log(repo.objects, [commit], paths=[path])


@pytest.mark.req("X-06")
@pytest.mark.parametrize("point", ["--all", "main", "HEAD~1", "^HEAD", "a..b", ":/x", "refs/heads/a b", "@", ""])
def test_a_point_is_an_id_or_a_full_ref_name(repo: Repo, point: str) -> None:
    repo.git("update-ref", "refs/heads/main", repo.commit({"a": "1"}))
    with pytest.raises(InvalidRevision):
        log(repo.objects, [point])
    with pytest.raises(InvalidRevision):
        log(repo.objects, ["refs/heads/main"], exclude=[point])


def test_points_that_do_not_exist_are_named(repo: Repo) -> None:
    for point in ("1" * 40, "refs/heads/none"):
        with pytest.raises(RevisionMissing, match=point):
            log(repo.objects, [point])


def test_refs_and_annotated_tags_can_be_starts(repo: Repo) -> None:
    commit = repo.commit({"a": "1"})
    repo.git("update-ref", "refs/heads/main", commit)
    repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    repo.git("tag", "-a", "-m", "x", "v1", commit)
    for point in ("HEAD", "refs/heads/main", "refs/tags/v1"):
        assert [found.id for found in log(repo.objects, [point])] == [commit]


def test_an_empty_repository_has_an_empty_history(repo: Repo) -> None:
    assert list(log(repo.objects, ["HEAD"])) == []
    assert list(log(repo.objects, [])) == []
    assert refs_at(repo.objects) == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n\nlate subject\n",
        b"no newline",
        b"trailing  \n\n  spaces \n\n\n",
        b"tab\tand \xc3\xbc\n",
        b"caf\xe9 that is no UTF-8\n",
    ],
)
def test_messages_come_as_they_were_stored(repo: Repo, raw: bytes) -> None:
    tree = repo.git("hash-object", "-t", "tree", "-w", "--stdin")
    person = b"A <a@b> 1700000000 -0330"
    body = b"tree %s\nauthor %s\ncommitter %s\n\n%s" % (tree.encode(), person, person, raw)
    commit = CommitId(repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=body))
    (found,) = log(repo.objects, [commit])
    assert found == repo.objects.commit(commit)
    assert found.message == raw.decode("utf-8", "replace")
    assert found.author.offset == -210


def test_a_message_in_an_old_encoding_is_read(repo: Repo) -> None:
    commit = repo.commit({"a": "1"})
    raw = repo.git("cat-file", "commit", commit).encode()
    head, _, _ = raw.partition(b"\n\n")
    old = head + b"\nencoding ISO-8859-1\n\ncaf\xe9\n"
    stored = CommitId(repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=old))
    (found,) = log(repo.objects, [stored])
    assert found.message == repo.objects.commit(stored).message == "café\n"


MESSAGE = b"""subject

Not-a-trailer: because prose follows
in the same paragraph of the body.

Signed-off-by: Ada <ada@example.org>
Forge-Turn: 7
Long-One: begins here
  and goes on
Forge-Turn: 8
"""


def test_show_gives_trailers_changes_and_refs(repo: Repo) -> None:
    text = "".join(f"{n}\n" for n in range(20))
    first = repo.commit({"a": text, "b": "1\n"})
    second = repo.commit({"moved": text + "more\n", "b": "1\n", "c": "\0"}, message=MESSAGE, parents=[first])
    repo.git("update-ref", "refs/heads/main", second)
    repo.git("tag", "v1", second)
    shown = show(repo.objects, second)
    assert shown.commit == repo.objects.commit(second)
    assert shown.trailers == (
        ("Signed-off-by", "Ada <ada@example.org>"),
        ("Forge-Turn", "7"),
        ("Long-One", "begins here and goes on"),
        ("Forge-Turn", "8"),
    )
    assert [(change.kind, change.path, change.additions) for change in shown.changes] == [
        (ChangeKind.ADDED, "c", 0),
        (ChangeKind.RENAMED, "moved", 1),
    ]
    assert shown.refs == ("HEAD", "refs/heads/main", "refs/tags/v1")


def test_a_first_commit_shows_all_its_files_and_a_merge_what_it_brought(repo: Repo) -> None:
    first = repo.commit({"a": "1", "b": "1"}, message=b"plain")
    assert [(c.kind, c.path) for c in show(repo.objects, first).changes] == [
        (ChangeKind.ADDED, "a"),
        (ChangeKind.ADDED, "b"),
    ]
    assert show(repo.objects, first).trailers == ()
    left = repo.commit({"a": "2", "b": "1"}, parents=[first])
    right = repo.commit({"a": "1", "b": "2"}, parents=[first])
    merge = repo.commit({"a": "2", "b": "2"}, parents=[left, right])
    assert [change.path for change in show(repo.objects, merge).changes] == ["b"]
    with pytest.raises(RevisionMissing):
        show(repo.objects, CommitId("2" * 40))
    with pytest.raises(InvalidRevision):
        show(repo.objects, CommitId("--help"))


def test_the_newest_commits_come_without_git(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    one = repo.commit({"a": "1"})
    two = repo.commit({"a": "2"}, parents=[one])
    monkeypatch.setattr(repo.objects, "git", None)
    assert [commit.id for commit in log(repo.objects, [two], order="date", limit=50)] == [two, one]


def test_the_edge_of_a_shallow_clone_shows_as_a_first_commit(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "1", "b": "1"}, parents=[first])
    repo.git("update-ref", "refs/heads/main", second)
    repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    clone = tmp_path / "clone.git"
    repo.git("clone", "-q", "--bare", "--depth=1", f"file://{repo.path}", str(clone))
    objects = Objects(clone, clone)
    assert [commit.id for commit in log(objects, ["HEAD"])] == [second]
    assert [commit.id for commit in log(objects, ["HEAD"], order="date", limit=9)] == [second]
    assert [change.path for change in show(objects, second).changes] == ["a", "b"]


@pytest.mark.parametrize("seed", range(4))
def test_distances_are_those_of_git(repo: Repo, seed: int) -> None:
    rng = random.Random(seed)
    commits = random_history(repo, rng, 50)
    for _ in range(6):
        a, b = rng.choice(commits), rng.choice(commits)
        ahead = len(repo.git("rev-list", a, f"^{b}").split())
        behind = len(repo.git("rev-list", b, f"^{a}").split())
        assert ahead_behind(repo.objects, a, b) == (ahead, behind)
    with pytest.raises(ForgeError):
        ahead_behind(repo.objects, commits[0], CommitId("3" * 40))


def test_refs_are_listed_at_their_commits_and_aliases_only_once(repo: Repo) -> None:
    commit = repo.commit({"a": "1"})
    for name in ("refs/heads/main", "refs/remotes/origin/main", "refs/tags/v1", "refs/forge/kept/x@1", "refs/notes/x"):
        repo.git("update-ref", name, commit)
    repo.git("symbolic-ref", "HEAD", "refs/heads/main")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    repo.git("tag", "blob", repo.git("hash-object", "-w", "--stdin", stdin=b"x"))
    assert refs_at(repo.objects) == {
        commit: ("HEAD", "refs/heads/main", "refs/tags/v1", "refs/remotes/origin/main", "refs/forge/kept/x@1")
    }
    (repo.path / "HEAD").write_text("ref: refs/heads/broken\n")
    (repo.path / "refs" / "heads" / "broken").write_text("what\n")
    assert "HEAD" not in refs_at(repo.objects)[commit]


@pytest.mark.req("X-06")
def test_nothing_that_the_repository_configures_is_run(repo: Repo) -> None:
    first = repo.commit({"a": "1", ".gitattributes": "* diff=evil\n"})
    second = repo.commit({"a": "2", ".gitattributes": "* diff=evil\n"}, parents=[first])
    ran = repo.path / "ran"
    for key in ("diff.external", "diff.evil.command", "diff.evil.textconv", "core.pager", "core.fsmonitor"):
        repo.git("config", key, f"touch {ran}; cat")
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "gpg.program", f"touch {ran}")
    repo.git("config", "format.pretty", "fuller")
    assert [commit.id for commit in log(repo.objects, [second], paths=["a"], follow=True)] == [second, first]
    assert [change.path for change in show(repo.objects, second).changes] == ["a"]
    assert not ran.exists()


LONG = 20_000


@pytest.fixture(scope="module")
def long_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = Repo(tmp_path_factory.mktemp("long") / "r.git")
    stream = ["blob\nmark :1\ndata 1\nx\n"]
    for place in range(LONG):
        parents = [place + 1] if place else []
        stream.append(commit_text(place + 2, parents, START + place, AUTHORS[0], f"commit {place}", "M 644 :1 a\n"))
    marks = repo.fast_import("".join(stream).encode())
    repo.git("update-ref", "refs/heads/main", marks[LONG + 1])
    return repo.path


def test_a_long_history_is_never_held_as_a_whole(long_history: Path) -> None:
    objects = Objects(long_history, long_history)
    tracemalloc.start()
    count = sum(1 for _ in log(objects, ["refs/heads/main"]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == LONG
    assert peak < 4 << 20


def test_leaving_a_log_early_ends_git(long_history: Path) -> None:
    before = children_of_this_process()
    commits = log(Objects(long_history, long_history), ["refs/heads/main"], order="date")
    assert next(commits).subject == f"commit {LONG - 1}"
    assert len(children_of_this_process() - before) == 1
    commits.close()  # type: ignore[attr-defined]
    assert children_of_this_process() == before


def children_of_this_process() -> set[str]:
    task = Path("/proc/self/task")
    return {pid for thread in task.iterdir() for pid in (thread / "children").read_text().split()}
