"""`forge contracts` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.contracts.kinds import ORDER, Kind
from forge.contracts.templates import template
from tests.cli.conftest import Forge
from tests.conftest import MakeRepo

pytestmark = pytest.mark.req("C-05")


@pytest.fixture
def garden(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("FORGE_CONFIG", raising=False)
    assert forge("project", "new", "Garden", "--agent", "builtin").code == 0
    return "garden"


def test_contracts_are_written_listed_checked_and_shown(forge: Forge, garden: str) -> None:
    assert [each["state"] for each in forge("contracts", "list", garden, "--json").document["items"]] == ["missing"] * 9
    missing = forge("contracts", "check", garden)
    assert missing.code == 1
    assert "manifesto.md is missing" in missing.out
    for kind in ORDER:
        saved = forge("contracts", "edit", kind, garden, "--json", stdin=template(kind))
        assert (saved.code, saved.document["version"]) == (0, 1), saved.err
    assert "fit together" in forge("contracts", "check", garden).out
    assert forge("contracts", "check", garden, "--mini", "--json").document["findings"][0]["code"] == "phases_not_two"
    shown = forge("contracts", "show", "physics.yaml", garden)
    assert (shown.code, shown.out) == (0, template(Kind.PHYSICS))
    assert forge("contracts", "window", "3", garden).out.startswith("## Phase 3 — Board")
    assert forge("contracts", "window", "4", garden, "--json").error == "phase_missing"
    assert forge("contracts", "schema", "boundaries", "--json").document["title"] == "boundaries"
    assert "valid" in forge("contracts", "list", garden).out


def test_versions_are_listed_compared_and_restored(forge: Forge, garden: str, tmp_path: Path) -> None:
    assert forge("contracts", "history", "ui", garden, "--json").error == "contract_missing"
    text = tmp_path / "ui.md"
    text.write_text(template(Kind.UI))
    assert forge("contracts", "edit", "ui", garden, "--file", str(text)).code == 0
    text.write_text(template(Kind.UI) + "\n## Motion\n\nNone.\n")
    assert "version 2" in forge("contracts", "edit", "ui", garden, "--file", str(text)).out
    assert "Nothing was changed." in forge("contracts", "edit", "ui", garden, "--file", str(text)).out
    listed = forge("contracts", "history", "ui", garden, "--json").document["versions"]
    assert [(each["number"], each["author"]) for each in listed] == [(2, "Ada Example"), (1, "Ada Example")]
    assert "+## Motion" in forge("contracts", "diff", "ui", garden).out
    assert "-## Motion" in forge("contracts", "diff", "ui", garden, "--from", "2", "--to", "1").out
    assert forge("contracts", "restore", "ui", "1", garden, "--json").document["version"] == 3
    assert forge("contracts", "show", "ui", garden, "--version", "2").out == text.read_text()
    assert forge("contracts", "restore", "ui", "9", garden, "--json").error == "version_missing"


def test_what_cannot_be_read_is_refused_and_kept_out(forge: Forge, garden: str) -> None:
    refused = forge("contracts", "edit", "boundaries", garden, "--json", stdin='{"layers": [')
    assert refused.error == "contract_malformed"
    assert forge("contracts", "edit", "poem", garden, "--json", stdin="x").error == "contract_unknown"
    assert forge("contracts", "list", garden, "--json").document["commit"] is None


def test_the_editor_gets_the_text_and_its_changes_are_saved(
    forge: Forge, garden: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from forge.cli.terminal import editor  # noqa: PLC0415 - patched here only

    script = tmp_path / "editor.sh"
    script.write_text('#!/bin/sh\nprintf "\\n## Added\\n\\nBy hand.\\n" >> "$1"\n')
    script.chmod(0o755)
    monkeypatch.setattr(editor, "given_text", lambda _: None)
    monkeypatch.setattr("forge.cli.commands.contracts.given_text", lambda _: None)
    monkeypatch.setenv("VISUAL", str(script))
    assert forge("contracts", "edit", "manifesto", garden, "--json").document["version"] == 1
    assert forge("contracts", "show", "manifesto", garden).out.endswith("## Added\n\nBy hand.\n")


ANSWERS = "product: A shared list of tasks.\nfeatures: [Add tasks, Delete tasks]\nlanguages: Python\n"


@pytest.mark.req("C-02", "C-03")
def test_questions_are_answered_and_contracts_generated(forge: Forge, garden: str, tmp_path: Path) -> None:
    assert forge("contracts", "generate", garden, "--json").error == "nothing_known"
    assert forge("contracts", "answer", garden, "--set", "colour=red", "--json").error == "contract_question_unknown"
    assert forge("contracts", "answer", garden, "--set", "product", "--json").error == "bad_usage"
    assert forge("contracts", "answer", garden, "--json", stdin="product: [").error == "answers_malformed"
    assert forge("contracts", "answer", garden, stdin=ANSWERS).out.startswith("3 of 17 questions answered.")
    assert forge("contracts", "answer", garden, "--set", "style=plain", "--json").document["by_person"] == 4
    shown = forge("contracts", "questions", garden).out
    assert "A shared list of tasks." in shown
    assert "not answered" in shown
    done = forge("contracts", "generate", garden)
    assert done.code == 0, done.err
    assert done.out.startswith("builtin writes 9 contracts.")
    assert "9/9 builder_directive: saved" in done.err
    assert "fit together" in forge("contracts", "check", garden).out
    assert forge("contracts", "generate", garden, "--json").error == "nothing_to_generate"
    assert forge("contracts", "stop", garden, "--json").error == "no_generation"
    forge("contracts", "edit", "ui", garden, stdin=template(Kind.UI))
    assert forge("contracts", "generate", "ui", garden, "--json").error == "contract_edited"
    assert forge("contracts", "generate", "ui", garden, "--force", "--keep").code == 2
    again = forge("contracts", "generate", "ui", garden, "--force", "--json").document
    assert [(each["contract_type"], each["state"]) for each in again["contracts"]] == [("ui", "saved")]
    assert forge("contracts", "generate", garden, "--agent", "claude", "--all", "--force", "--json").error == (
        "program_cannot_write_contracts"
    )


@pytest.mark.req("C-18")
def test_leaks_are_told_with_file_and_line(forge: Forge, garden: str, make_repo: MakeRepo) -> None:
    assert forge("contracts", "leaks", garden, "--json").error == "nothing_delivered"
    assert forge("contracts", "edit", "manifesto", garden, stdin=template(Kind.MANIFESTO)).code == 0
    place = str(make_repo({"clean.py": "x = 1\n"}))
    assert (
        forge("contracts", "leaks", garden, "--in", place).out.strip() == "No contract text in 1 file of branch main."
    )
    text = "# Every task and comment can be\n# exported; deleting means deleting.\n# Forge-Turn: 12\n"
    make_repo({"app.py": text})
    found = forge("contracts", "leaks", garden, "--in", place)
    assert found.code == 1
    assert "app.py:1 text of a contract (manifesto): every task and comment can be exported" in found.out
    assert "app.py:3 Forge metadata" in found.out
    assert "2 leaks in 2 files of branch main." in found.out
