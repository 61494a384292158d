"""`forge notes`: shown and edited from a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Forge

pytestmark = pytest.mark.req("C-17")


def test_a_note_is_written_shown_and_edited(forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert forge("project", "new", "Party").code == 0
    none = forge("notes", "show", "Party")
    assert (none.code, none.out) == (0, "")
    assert "No note yet" in none.err
    assert forge("notes", "edit", "Party", stdin="Ask Ana.\n").out == "Saved. 9 characters, saved just now\n"
    assert forge("notes", "show", "Party").out == "Ask Ana.\n"
    assert forge("notes", "edit", "Party", stdin="Ask Ana.\n").out == "Nothing changed.\n"
    file = tmp_path / "note.txt"
    file.write_text("Ask Ben.")
    assert forge("notes", "edit", "Party", "--file", str(file), "--json").document["version"] == 2
    assert forge("notes", "show", "Party", "--json").document["text"] == "Ask Ben."


def test_a_file_that_is_not_there_changes_nothing(forge: Forge) -> None:
    assert forge("project", "new", "Party").code == 0
    missing = forge("notes", "edit", "Party", "--file", "nowhere.txt")
    assert (missing.code, "There is no file nowhere.txt." in missing.err) == (1, True)
    assert forge("notes", "show", "Party", "--json").document["version"] == 0
