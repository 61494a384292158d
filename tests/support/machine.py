"""A stand-in for somebody's machine: an environment with chosen programs on PATH and little else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
STATIC = Path("src", "forge", "web", "static")
STAMP = STATIC.with_suffix(".stamp")

# Installing uses the machine's own caches and index settings; these are read before a test gets its private home.
INSTALLER_SETTINGS = {
    name: value
    for name, value in os.environ.items()
    if name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "REQUESTS_CA_BUNDLE")
    or name.startswith(("PIP_", "UV_", "SSL_"))
    or name.lower().endswith("_proxy")
}

# What the scripts themselves call.
BASIC_PROGRAMS = ("bash", "cat", "cmp", "cp", "env", "git", "id", "mkdir", "mv", "readlink", "rm", "wc")


@dataclass(frozen=True, slots=True)
class Machine:
    """Programs in one directory, before those of `system` (a PATH, which may be empty)."""

    programs: Path
    system: str = ""

    @classmethod
    def with_only(cls, programs: Path, *names: str) -> Machine:
        """A machine that has `names` and nothing else."""
        programs.mkdir()
        for name in names:
            (programs / name).symlink_to(shutil.which(name) or f"/usr/bin/{name}")
        return cls(programs)

    def env(self, **more: str) -> dict[str, str]:
        path = f"{self.programs}:{self.system}" if self.system else str(self.programs)
        return {**INSTALLER_SETTINGS, "PATH": path, **more}

    def run(self, *command: str | Path, cwd: Path, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=cwd,
            input=stdin,
            env=self.env(**more),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def add(self, name: str, script: str) -> None:
        write_program(self.programs / name, script)

    def add_python(self) -> None:
        (self.programs / "python3").symlink_to(os.path.realpath(sys.executable))


def write_program(path: Path, script: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


def copy_checkout(target: Path) -> None:
    """Copies this checkout without what git ignores: nothing installed, nothing built."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def copy_interface(target: Path) -> None:
    """Copies the built web interface of this checkout, where it has one: building it takes half a minute."""
    if (ROOT / STATIC).is_dir():
        shutil.copytree(ROOT / STATIC, target / STATIC)
        shutil.copy2(ROOT / STAMP, target / STAMP)
