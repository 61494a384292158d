"""The demo on a machine that has git, Python and a shell, and neither a sandbox nor Node."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from pathlib import Path

import pytest

from forge.app.demo import DemoFailed, begin, demo_settings, show
from forge.app.process.workshop import open_workshop
from tests.cli.conftest import PROGRAM
from tests.conftest import GIT_CONFIG
from tests.support.machine import Machine

pytestmark = pytest.mark.req("X-01")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine.with_only(tmp_path / "programs", "cat", "env", "git", "printf", "sh")
    made.add_python()
    return made


@pytest.mark.slow
def test_without_a_sandbox_the_demo_says_what_that_means_and_runs_to_its_end(machine: Machine, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_CONFIG)
    environ = {"PATH": str(machine.programs), "HOME": str(home)}
    command = [str(PROGRAM), "demo", "--dir", str(tmp_path / "demo")]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, "")
    told = " ".join(ran.stdout.split())
    assert "There is no sandbox here, because bubblewrap (bwrap) is not on the PATH: the demo's own tests" in told
    assert "Trip Split: done after 3 rounds" in told
    assert "The tests ran 8 times without a sandbox" in told
    trying = re.search(r"^  (printf .*)$", ran.stdout, re.MULTILINE)
    assert trying is not None
    words = ["sh", "-c", trying[1]]
    tried = subprocess.run(words, env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert (tried.returncode, "Cleo pays Ana 3.33" in tried.stdout) == (0, True), tried.stderr


def test_only_the_demo_itself_may_run_its_recording_without_a_sandbox(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project can be given the recording as its agent; its repository may be a stranger's all the same."""
    monkeypatch.setenv("PATH", str(machine.programs))
    settings = demo_settings({"HOME": str(tmp_path), "PATH": os.environ["PATH"]}, tmp_path / "demo")

    async def shown() -> None:
        async with open_workshop(settings, os.environ) as shop:
            await show(shop, await begin(shop), hear=lambda _: None)

    with pytest.raises(DemoFailed, match="bubblewrap"):
        asyncio.run(shown())
