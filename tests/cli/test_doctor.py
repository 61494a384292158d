"""`forge doctor`: what it checks, what it says, and its exit code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Forge
from tests.conftest import MakeRepo


@pytest.fixture(autouse=True)
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FORGE_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.delenv("OLLAMA_BASE_URL", raising=False)


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"a": "a\n"})
    monkeypatch.chdir(repo)
    return repo


@pytest.mark.req("X-06")
def test_a_sound_machine_and_repository_pass_every_check(forge: Forge, repo: Path) -> None:
    done = forge("doctor")
    assert (done.code, done.err) == (0, "")
    names = " ".join("".join(line.split()[:2]) for line in done.out.splitlines())
    assert names == snapshot(
        "✓settings ✓git ✓python ✓sqlite ✓sandbox ✓chromium ✓plugins ✓providers ✓ollama ✓agents ✓data ✓workspace ✓disk "
        "✓clock ✓database ✓engine ✓workers ✓runs ✓projects ✓notices ✓answers ✓server ✓repository ✓writing ✓locks "
        "✓leftovers ✓turns ✓branches ✓conversations"
    )
    found = forge("doctor", "--json").document
    assert found["ok"] is True
    assert {check["state"] for check in found["checks"]} == {"ok"}
    assert all(set(check) == {"name", "state", "detail", "hint"} for check in found["checks"])


@pytest.mark.req("X-06")
def test_outside_of_a_repository_the_machine_is_checked_and_nothing_fails(forge: Forge, tmp_path: Path) -> None:
    done = forge("doctor", "-C", str(tmp_path))
    assert done.code == 0
    assert done.out.endswith("✓ repository  None here.\n")
    assert forge("doctor", "-C", str(tmp_path), "--json").document["ok"] is True


def test_what_must_be_mended_gives_exit_code_1(forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "workspace").touch()
    done = forge("doctor", "-C", str(tmp_path))
    assert done.code == 1
    assert "✗ workspace   " in done.out
    assert "→ Set FORGE_WORKSPACE, or check who owns it." in done.out


def test_a_warning_comes_with_a_hint_and_is_no_failure(forge: Forge, repo: Path) -> None:
    lock = repo / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    done = forge("doctor")
    assert done.code == 0
    assert f"! locks       Old lock files: {lock}.\n" in done.out
    assert f"`rm {lock}`\n" in done.out


def test_each_repair_is_told(forge: Forge, repo: Path) -> None:
    left = repo / ".git" / "forge" / "tmp" / "left"
    left.parent.mkdir(parents=True)
    left.touch()
    os.utime(left, (1, 1))
    assert "✓ leftovers   Removed 1 file that dead processes had left.\n" in forge("doctor", "--repair").out
    assert not left.exists()
