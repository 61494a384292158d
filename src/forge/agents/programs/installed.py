"""Which agent programs are installed, in which version, and what of the machine they need to see to run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from forge.agents.errors import ProgramMissing
from forge.agents.programs.known import KNOWN
from forge.agents.programs.program import Program
from forge.errors import ForgeError
from forge.sandbox import Limits, run

_SYSTEM = ("/usr", "/opt", "/bin", "/sbin", "/nix/store")
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")
_VERSION_LIMITS = Limits(seconds=5, output_bytes=4096)


@dataclass(frozen=True, slots=True)
class InstalledProgram:
    """A program that is there: the file that runs, its version where it tells one, and the paths it needs to see."""

    program: Program
    executable: Path
    version: str
    visible: tuple[Path, ...]
    search_path: str
    """Where it finds interpreters such as node, before the system's own places."""


_versions: dict[tuple[Path, int, int], str] = {}


def find_programs(path: str, programs: Iterable[Program] = tuple(KNOWN.values())) -> tuple[InstalledProgram, ...]:
    """Those of `programs` that are installed in the directories of `path`, written as PATH is."""
    found = []
    for program in programs:
        with contextlib.suppress(ProgramMissing):
            found.append(find_program(program, path))
    return tuple(found)


def find_program(program: Program, path: str) -> InstalledProgram:
    place = shutil.which(program.command[0], path=path)
    if place is None:
        raise ProgramMissing(
            f"{program.command[0]} is not installed.", hint=f"Install it, or set agents.{program.name}.command."
        )
    executable = Path(place).resolve()
    visible, interpreters = _needs(executable, path)
    search_path = os.pathsep.join(interpreters)
    found = InstalledProgram(program, executable, "", (*visible, *program.readonly), search_path)
    return InstalledProgram(program, executable, _version(found), found.visible, search_path)


def _version(found: InstalledProgram) -> str:
    status = found.executable.stat()
    key = found.executable, status.st_mtime_ns, status.st_size
    if key not in _versions:
        _versions[key] = _packaged_version(found.executable) or _told_version(found)
    return _versions[key]


def _packaged_version(executable: Path) -> str:
    """The version in the package that an npm installation put around the program: no process is needed to ask."""
    if "node_modules" not in executable.parts:
        return ""
    for folder in executable.parents:
        if folder.name == "node_modules":
            return ""
        with contextlib.suppress(OSError, ValueError):
            description = json.loads((folder / "package.json").read_bytes())
            if isinstance(description, dict) and description.get("name"):
                return str(description.get("version") or "")
    return ""


def _told_version(found: InstalledProgram) -> str:
    """What the program answers, asked in an empty directory of the sandbox; empty when it does not."""
    if not found.program.version:
        return ""
    with tempfile.TemporaryDirectory(prefix="forge-version-") as empty:
        try:
            result = run(
                (str(found.executable), *found.program.version),
                Path(empty),
                _VERSION_LIMITS,
                env=environment(found),
                readonly=found.visible,
            )
        except ForgeError:
            return ""
    told = _VERSION.search(result.stdout_text) if result.ok else None
    return told.group() if told else ""


def environment(found: InstalledProgram) -> dict[str, str]:
    system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": f"{found.search_path}:{system}" if found.search_path else system}


def _needs(executable: Path, path: str) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Paths that a program outside the system's directories is made of, and where its interpreter is."""
    visible: list[Path] = []
    if not _in_system(executable):
        visible.append(_installation(executable))
        if (settings := visible[0] / "pyvenv.cfg").is_file():
            visible += _base_of(settings)
    interpreters = []
    if (name := _interpreter(executable)) and (place := shutil.which(name, path=path)):
        real = Path(place).resolve()
        if not _in_system(real):
            visible.append(real.parent.parent if real.parent.name == "bin" else real)
            interpreters.append(str(real.parent))
    return tuple(dict.fromkeys(visible)), tuple(interpreters)


def _installation(executable: Path) -> Path:
    """The smallest directory that holds all of the program, or the file itself where it is alone."""
    for folder in reversed(executable.parents):
        if folder.name == "node_modules":
            return folder
    environment = executable.parent.parent
    return environment if (environment / "pyvenv.cfg").is_file() else executable


def _base_of(settings: Path) -> list[Path]:
    for line in settings.read_text("utf-8", "replace").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "home":
            base = Path(value.strip()).resolve().parent
            return [] if _in_system(base) else [base]
    return []


def _interpreter(executable: Path) -> str:
    """The name behind `#!/usr/bin/env`, in the first line of a script."""
    with contextlib.suppress(OSError), executable.open("rb") as file:
        words = file.readline(200).decode("utf-8", "replace").split()
        if words and words[0].startswith("#!") and words[0].endswith("/env"):
            return next((word for word in words[1:] if not word.startswith("-")), "")
    return ""


def _in_system(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in _SYSTEM)
