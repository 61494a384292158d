"""Long output on a terminal goes through the person's pager, chosen as git chooses it; nowhere else does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Forge
from tests.cli.terminals import on_terminal
from tests.conftest import Git, MakeRepo

PAGER = "sed s/^/paged:/"


@pytest.fixture
def place(make_repo: MakeRepo, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"a.txt": "one\n", "src/cache.py": "x = 1\n"})
    (repo / "pic.bin").write_bytes(bytes(range(256)) * 12288)
    (repo / "a.txt").write_text("two\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "second")
    git(repo, "branch", "ai/cache")
    monkeypatch.chdir(repo)
    for name in ("GIT_PAGER", "PAGER", "LESS"):
        monkeypatch.delenv(name, raising=False)
    return repo


@pytest.mark.req("G-16")
@pytest.mark.parametrize("command", [("log",), ("diff", "HEAD"), ("show",), ("blame", "a.txt")])
def test_every_line_goes_through_the_pager(place: Path, command: tuple[str, ...]) -> None:
    code, shown = on_terminal(*command, cwd=place, env={"GIT_PAGER": PAGER})
    assert code == 0
    lines = [line for line in shown.splitlines() if line]
    assert lines
    assert all(line.startswith("paged:") for line in lines)
    code, shown = on_terminal(*command, "--no-pager", cwd=place, env={"GIT_PAGER": PAGER})
    assert (code, "paged:" in shown) == (0, False)


def test_the_pager_is_chosen_in_gits_order(place: Path, git: Git) -> None:
    git(place, "config", "core.pager", "sed s/^/config:/")
    everything = {"GIT_PAGER": "sed s/^/git:/", "PAGER": "sed s/^/pager:/"}
    assert on_terminal("log", cwd=place, env=everything)[1].startswith("git:")
    assert on_terminal("log", cwd=place, env={"PAGER": "sed s/^/pager:/"})[1].startswith("config:")
    git(place, "config", "--unset", "core.pager")
    assert on_terminal("log", cwd=place, env={"PAGER": "sed s/^/pager:/"})[1].startswith("pager:")
    assert on_terminal("log", cwd=place, env={"PAGER": 'sed "s/^/$LESS:/"'})[1].startswith("FRX:")
    for none in ("", "cat"):
        assert "second" in on_terminal("log", cwd=place, env={"GIT_PAGER": none})[1]


def test_a_pager_that_is_left_early_is_no_error(place: Path, git: Git) -> None:
    for number in range(300):
        git(place, "commit", "-q", "--allow-empty", "-m", f"commit {number} {'x' * 400}")
    code, shown = on_terminal("log", cwd=place, env={"GIT_PAGER": "head -n 1"})
    assert code == 0
    assert len(shown.splitlines()) == 1
    assert "roken pipe" not in shown
    assert on_terminal("log", cwd=place, env={"GIT_PAGER": "true"}) == (0, "")


def test_pipes_and_json_get_no_pager(forge: Forge, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, shown = on_terminal("log", "--json", cwd=place, env={"GIT_PAGER": PAGER})
    assert (code, "paged:" in shown) == (0, False)
    monkeypatch.setenv("GIT_PAGER", PAGER)
    assert "paged:" not in forge("log").out


@pytest.mark.req("G-16")
def test_a_binary_file_is_named_with_its_size_and_applies_with_a_flag(forge: Forge, place: Path, git: Git) -> None:
    shown = forge("diff", "HEAD").out
    assert "differ (binary, 3 MB)" in shown
    assert "GIT binary patch" not in shown
    assert "binary, 3 MB" in forge("diff", "HEAD", "--stat").out
    whole = forge("diff", "HEAD", "--binary").out
    git(place, "checkout", "-q", "HEAD~1")
    (place.parent / "whole.patch").write_text(whole)
    git(place, "apply", str(place.parent / "whole.patch"))
    assert (place / "pic.bin").read_bytes() == bytes(range(256)) * 12288


@pytest.mark.usefixtures("place")
def test_what_was_meant_is_offered(forge: Forge) -> None:
    assert "Did you mean ai/cache?" in forge("log", "--branch", "ai/cahce").err
    assert "Did you mean ai/cache?" in forge("log", "ai/cahe").err
    assert "Did you mean src/cache.py?" in forge("blame", "src/cahce.py").err
    assert "Did you mean src/cache.py?" in forge("blame", "cache.py").err
    assert "Did you mean src/cache.py?" in forge("file", "show", "src/cach.py").err
    assert "Did you mean" not in forge("log", "zzzzzz").err


def test_log_blame_and_show_take_a_branch(forge: Forge, place: Path, git: Git) -> None:
    git(place, "commit", "-q", "--allow-empty", "-m", "third")
    assert "third" not in forge("log", "--branch", "ai/cache").out
    assert "second" in forge("show", "--branch", "ai/cache").out
    assert "two" in forge("blame", "a.txt", "-b", "ai/cache").out
    assert forge("blame", "a.txt", "-b", "ai/cache", "--at", "HEAD").code == 2
