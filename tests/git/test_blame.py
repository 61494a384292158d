"""Blame held against git's own, on files that move, are rewritten and have odd names."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from forge.errors import ForgeError, InvalidInput
from forge.git.errors import FileMissing, InvalidPath
from forge.git.history.blame import BlameLine, blame
from forge.git.objects.object_store import Objects
from forge.git.values import CommitId

pytestmark = pytest.mark.req("G-08")


class Repo:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = 1_700_000_000
        subprocess.run(["git", "init", "-q", str(path)], check=True)
        self.objects = Objects(path / ".git", path / ".git")

    def git(self, *args: str) -> bytes:
        done = subprocess.run(["git", *args], cwd=self.path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def commit(self, message: str = "a change", *, author: str = "Ada <ada@example.org>") -> CommitId:
        self.clock += 60
        self.git("add", "--all")
        self.git("commit", "-q", "-m", message, f"--author={author}", f"--date={self.clock} +0130")
        return CommitId(self.git("rev-parse", "HEAD").decode().strip())


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "r")


def git_says(repo: Repo, commit: CommitId, path: str, *options: str) -> list[tuple[object, ...]]:
    """(number, text, commit, original number) of each line."""
    output = repo.git("blame", "--line-porcelain", *options, commit, "--", path)
    found: list[tuple[object, ...]] = []
    head: list[str] = []
    for line in output.split(b"\n")[:-1]:
        if line.startswith(b"\t"):
            found.append((int(head[2]), line[1:], head[0], int(head[1])))
            head = []
        elif not head:
            head = line.decode().split()
    return found


def own(lines: list[BlameLine]) -> list[tuple[object, ...]]:
    return [(line.number, line.text, line.commit, line.original_number) for line in lines]


@pytest.mark.parametrize("seed", range(5))
def test_every_line_has_the_origin_that_git_finds(repo: Repo, seed: int) -> None:
    rng = random.Random(seed)
    lines = [b"line %d\n" % n for n in range(30)]
    name = "a"
    (repo.path / name).write_bytes(b"".join(lines))
    tip = repo.commit()
    for turn in range(12):
        at = rng.randrange(len(lines) + 1)
        lines[at : at + rng.randrange(4)] = [b"%d of turn %d\r\n" % (n, turn) for n in range(rng.randrange(4))]
        if rng.random() < 0.3:
            (repo.path / name).unlink()
            name = f"moved{turn}"
        lines.append(b"turn %d ends\n" % turn)
        ending = b"" if rng.random() < 0.5 else b"no newline, \xff"
        (repo.path / name).write_bytes(b"".join(lines) + ending)
        tip = repo.commit(f"turn {turn}\n\nwhy")
    found = list(blame(repo.objects, tip, name))
    assert own(found) == git_says(repo, tip, name)
    assert len({line.commit for line in found}) > 3
    for line in found:
        commit = repo.objects.commit(line.commit)
        assert (line.author, line.summary) == (commit.author, commit.subject)
        original = repo.objects.entry(commit.tree, line.original_path)
        assert original
        assert repo.objects.blob(original.id).split(b"\n")[line.original_number - 1] == line.text


def test_a_line_tells_who_wrote_it_when_and_where(repo: Repo) -> None:
    (repo.path / "old name").write_text("first\nsecond\n")
    first = repo.commit("begin", author="Grace <grace@example.org>")
    repo.git("mv", "old name", "new name")
    (repo.path / "new name").write_text("zero\nfirst\nsecond\n")
    second = repo.commit("grow")
    zero, one, _ = blame(repo.objects, second, "new name")
    assert (zero.commit, zero.original_path, zero.original_number) == (second, "new name", 1)
    assert (one.number, one.text, one.commit, one.summary) == (2, b"first", first, "begin")
    assert (one.original_path, one.original_number) == ("old name", 1)
    assert (one.author.name, one.author.email, one.author.offset) == ("Grace", "grace@example.org", 90)


def test_some_lines_only_and_blind_to_white_space(repo: Repo) -> None:
    (repo.path / "a").write_text("one\ntwo\nthree\n")
    first = repo.commit()
    (repo.path / "a").write_text("one\n    two\nthree\n")
    second = repo.commit()
    assert [(x.number, x.commit) for x in blame(repo.objects, second, "a", lines=(2, 99))] == [(2, second), (3, first)]
    assert {x.commit for x in blame(repo.objects, second, "a", ignore_whitespace=True)} == {first}
    for lines in [(0, 1), (3, 2), (4, 4), (-1, 2)]:
        with pytest.raises(InvalidInput):
            blame(repo.objects, second, "a", lines=lines)


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    "name", ["--porcelain", "-L1,1", "a*", ":(top)x", 'q"uo\\te', "tab\t", "li\nne", "ü", "\udcff"]
)
def test_odd_names_are_files_and_nothing_else(repo: Repo, name: str) -> None:
    (repo.path / name).write_text("text\n")
    (repo.path / "axe").write_text("other\n")
    commit = repo.commit()
    (line,) = blame(repo.objects, commit, name)
    assert (line.text, line.original_path) == (b"text", name)


def test_what_is_no_file_is_refused_at_once(repo: Repo) -> None:
    (repo.path / "folder").mkdir()
    (repo.path / "folder" / "a").write_text("x\n")
    commit = repo.commit()
    for path in ("folder", "none", "folder/none"):
        with pytest.raises(FileMissing):
            blame(repo.objects, commit, path)
    with pytest.raises(InvalidPath):
        blame(repo.objects, commit, "../r/folder/a")
    for nowhere in ("--help", "HEAD~9", "1" * 40):
        with pytest.raises(ForgeError):
            blame(repo.objects, CommitId(nowhere), "folder/a")


def test_an_empty_file_has_no_lines(repo: Repo) -> None:
    (repo.path / "a").write_text("")
    assert list(blame(repo.objects, repo.commit(), "a")) == []


@pytest.mark.req("X-06")
def test_nothing_that_the_repository_configures_is_run_or_read(repo: Repo) -> None:
    (repo.path / "a").write_text("x\n")
    (repo.path / ".gitattributes").write_text("* diff=evil\n")
    (repo.path / ".mailmap").write_text("Somebody <else@example.org> <ada@example.org>\n")
    commit = repo.commit()
    ran = repo.path / "ran"
    repo.git("config", "diff.evil.textconv", f"touch {ran}; cat")
    repo.git("config", "diff.external", f"touch {ran}")
    repo.git("config", "blame.ignoreRevsFile", "no-such-file")
    repo.git("config", "mailmap.blob", "HEAD:.mailmap")
    (line,) = blame(repo.objects, commit, "a")
    assert line.author.name == "Ada"
    assert not ran.exists()
