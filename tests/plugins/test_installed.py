"""A plugin from a separate package, built and installed as people do it, and found by another process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "example_package"
ROOT = Path(__file__).parents[2]
# Taken before any test has a home of its own: the installer's cache is in the real one.
ENVIRON = dict(os.environ)
ASK = """
import json, sys
from importlib.metadata import version
from forge.plugins.loader import load_plugins
found = load_plugins()
print(json.dumps({
    "deliverables": sorted(found.deliverables),
    "channels": sorted(found.channels),
    "problems": found.problems,
    "loaded": found.loaded,
    "module": type(found.deliverables["checklist"]).__module__,
    "file": sys.modules["forge_checklist"].__file__,
    "version": version("forge-checklist"),
}))
"""


def installers() -> list[list[str]]:
    own = ROOT / ".forge-setup" / "venv" / "bin" / "uv"
    uv = shutil.which("uv", path=ENVIRON.get("PATH")) or (str(own) if own.exists() else None)
    into = ["--no-deps", "--python", sys.executable, "--target"]
    with_uv = [[uv, "pip", "install", *offline, *into] for offline in (["--offline"], [])] if uv else []
    return [*with_uv, [sys.executable, "-m", "pip", "install", "--no-deps", "--target"]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "package"
    shutil.copytree(PACKAGE, source)
    said = []
    for command in installers():
        done = subprocess.run(
            [*command, str(place), str(source)], env=ENVIRON, capture_output=True, text=True, timeout=120, check=False
        )
        if done.returncode == 0:
            return place
        said.append(done.stderr)
    pytest.skip(f"no installer could build a package here: {said[-1][-300:]}")


@pytest.mark.req("P-15")
def test_a_third_type_comes_from_another_package_without_touching_forge(installed: Path) -> None:
    assert list(installed.glob("forge_checklist-0.1.0.dist-info"))
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = json.loads(done.stdout)
    assert "checklist" in found["deliverables"]
    assert "book" in found["channels"]
    assert "checklist" in found["loaded"]
    assert not [problem for problem in found["problems"] if "checklist" in problem]
    assert (found["module"], found["version"]) == ("forge_checklist.checklist", "0.1.0")
    assert Path(found["file"]).is_relative_to(installed)
