"""A file over the limit is saved only after a person's yes; agents and commands leave it out and say so."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from forge.app.repositories import write
from forge.git import Actor, ActorKind, Repository
from forge.git.errors import FileTooLarge
from tests.cli.conftest import PROGRAM, Forge
from tests.conftest import Git, MakeRepo

pytestmark = pytest.mark.req("G-05")
LARGE = b"x" * (2 << 20)


@pytest.fixture
def place(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"a.txt": "a\n"})
    monkeypatch.chdir(repo)
    return repo


def test_the_limit_is_fifty_megabytes_unless_it_is_set(place: Path) -> None:
    repo = Repository.open(place)
    assert repo.largest_file == 50 << 20
    space = repo.workspace("main")
    with pytest.raises(FileTooLarge, match=r"video\.bin has 51 MB; files over 50 MB"):
        space.write_bytes("video.bin", b"x" * (51 << 20))
    assert not space.pending


def test_what_the_branch_has_already_may_be_written_again(place: Path) -> None:
    repo = Repository.open(place)
    write.save(repo, "main", "big.bin", LARGE)
    repo.largest_file = 1 << 20
    write.save(repo, "main", "big.bin", LARGE, executable=True)
    with pytest.raises(FileTooLarge):
        write.save(repo, "main", "big.bin", LARGE + b"y")
    write.save(repo, "main", "big.bin", LARGE + b"y", large=True)


def test_an_agent_cannot_say_yes(place: Path, git: Git) -> None:
    git(place, "branch", "ai/one")
    repo = Repository.open(place)
    repo.largest_file = 1 << 20
    with pytest.raises(FileTooLarge):
        write.save(repo, "ai/one", "big.bin", LARGE, actor=Actor(ActorKind.AGENT, "bot"), large=True)


def test_the_command_line_takes_a_flag(forge: Forge, place: Path) -> None:
    config(place)
    done = forge("file", "save", "big.bin", "--json", stdin=LARGE)
    assert done.error == "file_over_limit"
    assert "--large" in done.err
    assert forge("file", "save", "big.bin", "--large", stdin=LARGE).code == 0
    assert forge("file", "save", "big2.bin", "--large", "--as", "bot", "-b", "main", stdin=LARGE).code != 0


def config(place: Path) -> None:
    subprocess.run([PROGRAM, "config", "set", "limits.file_mb", "1"], cwd=place, check=True, capture_output=True)


@pytest.mark.parametrize(("typed", "saved"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_at_a_terminal_the_person_is_asked(place: Path, git: Git, typed: bytes, saved: bool) -> None:
    config(place)
    (place / "large").write_bytes(LARGE)
    before = git(place, "rev-parse", "main")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", f"cd {place} && {PROGRAM} file save big.bin < large"])
    shown = b""
    try:
        while b"[y/N]" not in shown:
            shown += os.read(terminal, 4096)
        os.write(terminal, typed)
        while True:
            shown += os.read(terminal, 4096)
    except OSError:
        pass
    os.waitpid(pid, 0)
    assert b"Save it?" in shown
    assert (git(place, "rev-parse", "main") != before) == saved


def test_a_command_leaves_it_out_and_says_so(forge: Forge, place: Path) -> None:
    config(place)
    script = "head -c 2097152 /dev/zero > big.bin; echo small > small.txt"
    done = forge("exec", "--save", "--json", "--", "sh", "-c", script).document
    assert list(done["changes"]) == ["small.txt"]
    assert "big.bin has 2 MB; files over 1 MB are saved only when a person says so." in str(done["notes"])
    done = forge("exec", "--save", "--large", "--json", "--", "sh", "-c", script).document
    assert "big.bin" in done["changes"]
