"""Values that programs write into the settings file: taken as they are, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.app.admin.settings import change_setting, set_value
from forge.settings import SettingsInvalid

pytestmark = pytest.mark.req("X-02")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "config.yaml").write_text("")
    return {"HOME": str(tmp_path), "FORGE_CONFIG": str(tmp_path / "config.yaml")}


def test_a_value_that_does_not_fit_is_not_taken_as_a_word(environ: dict[str, str], tmp_path: Path) -> None:
    """A variable hides it here, and the word `["no", "path"]` could be one; it is not what was sent."""
    hidden = {**environ, "FORGE_WORKSPACE": str(tmp_path / "work")}
    with pytest.raises(SettingsInvalid):
        set_value(hidden, "workspace", ["no", "path"])
    assert (tmp_path / "config.yaml").read_text() == ""


def test_what_a_variable_brings_need_not_be_in_the_file(environ: dict[str, str]) -> None:
    with_token = {**environ, "FORGE_NOTION_TOKEN": "from-outside"}
    assert set_value(with_token, "connectors.notion.enabled", True).value is True
    with pytest.raises(SettingsInvalid, match="credentials"):
        set_value(environ, "connectors.notion.enabled", True)


@pytest.mark.parametrize("number", [10**13, -(10**13), float("inf")])
def test_huge_numbers_are_refused(environ: dict[str, str], number: float) -> None:
    with pytest.raises(SettingsInvalid):
        set_value(environ, "polish.max_iterations", number)
    with pytest.raises(SettingsInvalid):
        change_setting(environ, "polish.max_iterations", str(number))
