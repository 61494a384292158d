"""Forge as a wheel in an environment of its own, built and installed by uv."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.machine import ROOT, Machine

PRIVATE_UV = ROOT / ".forge-setup" / "venv" / "bin" / "uv"
# Looked up while the test modules are loaded: a version manager's shim needs the developer's home to answer.
UV = shutil.which("uv") or (str(PRIVATE_UV) if PRIVATE_UV.exists() else None)


@dataclass(frozen=True, slots=True)
class Installed:
    environ: dict[str, str]
    program: Path
    place: Path

    def run(self, *words: str, cwd: Path | None = None) -> str:
        command = [str(self.program), *words]
        ran = subprocess.run(
            command, env=self.environ, cwd=cwd or self.place, capture_output=True, text=True, check=False, timeout=120
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout + ran.stderr
        return ran.stdout

    @contextmanager
    def serving(self, *words: str) -> Iterator[dict[str, Any]]:
        """A server on a free port, by what it prints when it is ready."""
        command = [str(self.program), "serve", "--port", "0", "--json", *words]
        with subprocess.Popen(command, env=self.environ, cwd=self.place, stdout=subprocess.PIPE) as running:
            assert running.stdout is not None
            try:
                yield json.loads(running.stdout.readline())
            finally:
                running.send_signal(signal.SIGTERM)
            assert running.wait(30) == 0


def done(machine: Machine, *command: str | Path, cwd: Path, **more: str) -> str:
    ran = machine.run(*command, cwd=cwd, **more)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def build_wheel(machine: Machine, checkout: Path, place: Path, **more: str) -> Path:
    done(machine, "uv", "build", "--quiet", "--wheel", "--out-dir", place, cwd=checkout, **more)
    (wheel,) = place.glob("*.whl")
    return wheel


def lock_packages(machine: Machine, checkout: Path, file: Path) -> None:
    """Write the packages that the lock file names for users, by their versions."""
    exporting = ("--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-hashes", "--output-file", file)
    done(machine, "uv", "export", *exporting, cwd=checkout)


def install(machine: Machine, environment: Path, *what: str | Path, cwd: Path) -> None:
    python = environment / "bin" / "python"
    done(machine, "uv", "pip", "install", "--quiet", "--no-deps", "--python", python, *what, cwd=cwd)
