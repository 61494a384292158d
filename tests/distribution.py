"""How tests are dealt out to processes: which of them stay together, and which come first.

pytest-xdist knows groups by a mark, but with pytest 9.2 it does without a word as if there were none.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling


class Together(LoadScopeScheduling):
    """Modules that share something, such as a server and a browser, stay whole and begin first: it is made once."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        return module if _shares(self.config.rootpath / module) else nodeid


@cache
def _shares(module: Path) -> bool:
    files = (file for file in (module, module.with_name("conftest.py")) if file.is_file())
    return any('scope="module"' in file.read_text() for file in files)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The slow ones first, so that none is left to one worker when the others have nothing more to do."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling | None:
    return Together(config, log) if config.getvalue("dist") == "loadgroup" else None
