"""A machine for each checklist, on which nothing is configured: a home, a data directory, a workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import at_home

_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where everything of it is. `forge` may be run there in fixtures and in tests of the module."""
    place = tmp_path_factory.mktemp("machine")
    with pytest.MonkeyPatch.context() as patch:
        (place / "home").mkdir()
        at_home(place / "home", patch)
        for name in _KEYS:
            patch.delenv(name, raising=False)
        patch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
        (place / "config.yaml").write_text("")
        for name, file in {"DATA_DIR": "data", "CONFIG": "config.yaml", "WORKSPACE": "workspace"}.items():
            patch.setenv(f"FORGE_{name}", str(place / file))
        yield place


def contents(directory: Path) -> dict[str, str]:
    """Every file by its path, except git's own and locks."""
    found = (path for path in directory.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(directory).as_posix(): path.read_text() for path in found if path.name != ".lock"}
