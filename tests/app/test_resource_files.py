"""What a person gave to a project, read by whoever builds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.app.projects.resource_files import resource_texts, resource_tool
from forge.tools.tool import ToolRetry


@pytest.fixture
def given(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sample.csv").write_text("a;b\n" * 6_000)
    (tmp_path / "notes.md").write_text("The key is 4711.\n")
    return tmp_path


@pytest.mark.req("P-03", "P-07", "G-11")
def test_a_model_lists_resources_and_reads_them_in_pages(given: Path) -> None:
    tool = resource_tool(given, 50)
    assert tool.execute(None, {}) == "notes.md (17 bytes)\ndata/sample.csv (24,000 bytes)"
    assert tool.execute(None, {"path": "resources/notes.md"}) == "The key is 4711.\n"
    first = str(tool.execute(None, {"path": "data/sample.csv"}))
    assert first.endswith("[More follows: read on with offset=20000.]")
    assert len(str(tool.execute(None, {"path": "data/sample.csv", "offset": 20_000}))) == 4_000


@pytest.mark.req("P-03")
@pytest.mark.parametrize("path", ["missing.md", "../notes.md", "/etc/passwd"])
def test_nothing_outside_the_resources_is_read(given: Path, path: str) -> None:
    with pytest.raises(ToolRetry, match="There is no file"):
        resource_tool(given / "data", 50).execute(None, {"path": path})


@pytest.mark.req("P-14")
def test_a_program_gets_copies_without_secrets(given: Path) -> None:
    with resource_texts(given, 50, lambda text: text.replace("4711", "[redacted:key]")) as place:
        assert place is not None
        assert (place / "notes.md").read_text() == "The key is [redacted:key].\n"
        assert (place / "data" / "sample.csv").exists()
    with resource_texts(given / "nothing", 50, str) as place:
        assert place is None
