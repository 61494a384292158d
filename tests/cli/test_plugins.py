"""`forge plugins`: what is loaded, what each brings, and what cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Forge


@pytest.mark.req("P-15")
def test_plugins_are_listed_with_what_they_bring_and_what_is_wrong(forge: Forge, tmp_path: Path) -> None:
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "broken.py").write_text("import no_such_library")
    assert forge("config", "set", "plugins.directory", str(folder)).code == 0
    listed = forge("plugins", "--json")
    assert listed.code == 0
    (shipped,) = listed.document["plugins"]
    assert shipped["name"] == "forge"
    assert "deliverables: plan" in shipped["brings"]
    assert "broken.py cannot be loaded: ModuleNotFoundError" in listed.document["problems"][0]
    assert "plan deliverables" in forge("plugins").out
