"""`forge prompts` on the command line."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from forge.cli.commands import prompts as command
from forge.cli.terminal.session import BadUsage
from forge.errors import Upstream
from forge.prompts import Prompts
from tests.cli.conftest import PROGRAM, Forge


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    monkeypatch.delenv("FORGE_CONFIG", raising=False)
    return home / "config" / "forge" / "prompts"


@pytest.mark.req("P-16")
def test_a_prompt_is_edited_shown_compared_and_reset(forge: Forge, folder: Path) -> None:
    default = forge("prompts", "show", "plan-fix").out
    saved = forge("prompts", "edit", "plan-fix", "--json", stdin=default + "Be brief.\n")
    assert saved.document == {"name": "plan-fix", "path": str(folder / "plan-fix.md"), "changed": True}
    assert forge("prompts", "show", "plan-fix").out == default + "Be brief.\n"
    assert forge("prompts", "show", "plan-fix", "--default").out == default
    assert "+Be brief." in forge("prompts", "diff", "plan-fix").out
    listed = forge("prompts", "list", "--json").document["prompts"]
    assert [each["name"] for each in listed if each["origin"] == "override"] == ["plan-fix"]
    reset = forge("prompts", "reset", "plan-fix", "--json")
    assert reset.document["kept"] == str(folder / "plan-fix.md.replaced-1")
    again = forge("prompts", "diff", "plan-fix")
    assert (again.code, again.out) == (0, "")


@pytest.mark.req("P-16")
def test_a_broken_prompt_is_shown_in_the_list_and_named_on_use(forge: Forge, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "code-fix.md").write_bytes(b"\xff")
    listed = forge("prompts", "list")
    assert listed.code == 0
    assert f"{folder / 'code-fix.md'} cannot be used" in listed.out
    used = forge("prompts", "show", "code-fix", "--json")
    assert (used.code, used.error) == (1, "prompt_unusable")
    assert "forge prompts reset code-fix" in used.err


def test_a_prompt_comes_from_a_file_and_a_missing_one_is_named(forge: Forge, folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.md"
    text.write_text("Review it.\n")
    assert forge("prompts", "edit", "code-review", "--file", str(text)).code == 0
    assert forge("prompts", "show", "code-review").out == "Review it.\n"
    assert forge("prompts", "edit", "code-review", "--file", "-", stdin="From here.").code == 0
    assert (folder / "code-review.md").read_text() == "From here."
    assert forge("prompts", "edit", "code-review", "--file", str(tmp_path / "gone"), "--json").error == "not_found"
    assert forge("prompts", "edit", "code-review", "--json", stdin=" ").error == "prompt_unusable"
    assert forge("prompts", "show", "code-revue", "--json").error == "prompt_missing"


def test_the_directory_is_a_setting(forge: Forge, folder: Path, tmp_path: Path) -> None:
    folder.parent.mkdir(parents=True)
    (folder.parent / "config.yaml").write_text(f"prompts: {{directory: {tmp_path / 'mine'}}}")
    assert forge("prompts", "edit", "plan-fix", stdin="Mine.").code == 0
    assert (tmp_path / "mine" / "plan-fix.md").read_text() == "Mine."


def in_terminal(*args: str, editor: str) -> int:
    """The command with a terminal as its input, so that it asks the editor."""
    master, slave = os.openpty()
    try:
        return subprocess.run(
            [PROGRAM, *args],
            stdin=slave,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "EDITOR": editor, "VISUAL": ""},
            timeout=60,
            check=False,
        ).returncode
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.req("P-16")
def test_on_a_terminal_the_persons_editor_is_opened(folder: Path, tmp_path: Path) -> None:
    editor = tmp_path / "my editor.sh"
    editor.write_text('#!/bin/sh\necho "$1" >> "$2"\n')
    editor.chmod(0o755)
    assert in_terminal("prompts", "edit", "plan-fix", editor=f"'{editor}' added") == 0
    assert (folder / "plan-fix.md").read_text().endswith("\nadded\n")
    assert [file.name for file in folder.iterdir()] == ["plan-fix.md"]


def test_an_editor_that_changes_nothing_or_is_not_there_saves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "true")
    assert command._edited(Prompts(folder), "code-fix") is None
    monkeypatch.setenv("EDITOR", "false")
    with pytest.raises(Upstream, match="nothing was saved"):
        command._edited(Prompts(folder), "code-fix")
    assert len([*tmp_path.iterdir()]) == 1, "what the person wrote is kept"
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    with pytest.raises(Upstream, match="could not be started"):
        command._edited(Prompts(folder), "code-fix")
    monkeypatch.delenv("EDITOR")
    with pytest.raises(BadUsage) as refused:
        command._edited(Prompts(folder), "code-fix")
    assert "--file" in refused.value.hint
    assert not folder.exists()
