"""A package index, and environments of a person who uses it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forge import sandbox
from forge.app.repositories.environments import Environments
from forge.settings import Settings
from tests.support.package_server import PackageServer, package_server

GREETING = {"greeting/__init__.py": "def hello(name):\n    return f'hello {name}'\n"}


@pytest.fixture(autouse=True)
def _bubblewrap_works() -> None:
    found = sandbox.available()
    assert found.works, f"these tests need bubblewrap: {found.reason}"


@pytest.fixture
def index() -> Iterator[PackageServer]:
    with package_server() as served:
        served.add_wheel("greeting", "1.0", GREETING)
        served.add_wheel(
            "greeting", "2.0", {"greeting/__init__.py": "def hello(name):\n    return f'good day {name}'\n"}
        )
        served.add_package("left-word", "1.0.0", {"index.js": "module.exports = (text) => text.split(' ')[0];\n"})
        yield served


MakeEnvironments = Callable[..., Environments]


@pytest.fixture
def make_environments(tmp_path: Path, home: Path, index: PackageServer) -> MakeEnvironments:
    def make(**environ: str) -> Environments:
        person = {"PATH": os.environ["PATH"], "HOME": str(home), **index.environ, **environ}
        return Environments(Settings(), person, tmp_path / "environments")

    return make


@pytest.fixture
def environments(make_environments: MakeEnvironments) -> Environments:
    return make_environments()
