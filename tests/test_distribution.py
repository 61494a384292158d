"""Tests that share something of their module run in one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.machine import ROOT

SHARING = """
import os, pathlib, pytest, time

@pytest.fixture(scope="module")
def made(): return 1

@pytest.mark.parametrize("number", range(6))
def test_that_takes_its_time(made, number):
    time.sleep(0.05)
    with pathlib.Path(__name__).open("a") as ran:
        ran.write(f"{os.getpid()}\\n")
"""


def test_a_module_that_shares_something_stays_in_one_process(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"test_{name}.py").write_text(SHARING)
    words = ["-p", "xdist", "-p", "tests.distribution", "-n2", "--dist", "loadgroup", "--rootdir", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    ran = [(tmp_path / f"test_{name}").read_text().split() for name in ("one", "two")]
    assert [len(processes) for processes in ran] == [6, 6]
    assert [len(set(processes)) for processes in ran] == [1, 1]
    assert ran[0][0] != ran[1][0], "side by side"
