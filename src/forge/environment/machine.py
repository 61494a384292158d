"""This machine as setups find it: interpreters, Node, the system, and where its package managers look for packages.

Hosts are never guessed: the package managers of the machine name them, from their own configuration and defaults.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from forge.environment.package_index import (
    NO_LOGIN,
    Index,
    host_of,
    pip_settings,
    python_indexes,
    uv_settings,
    without_login,
)
from forge.environment.proposal import Runtime
from forge.git.process import disk
from forge.sandbox.view import shows

_PROBE = """
import glob, json, os, platform, sys
found = {"version": platform.python_version(), "prefix": sys.base_prefix, "venv": True, "hosts": []}
try:
    import ensurepip, venv
    bundled = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
    sys.path += glob.glob(os.path.join(bundled, "pip-*.whl")) + glob.glob("/usr/share/python-wheels/pip-*.whl")
except ImportError:
    found["venv"] = False
try:
    from pip._internal.models.index import PyPI
    found["index"] = PyPI.simple_url
    found["hosts"] = [PyPI.netloc, PyPI.file_storage_domain]
except ImportError:
    pass
print(json.dumps(found))
"""
_SECONDS = 20
_USR = Path("/usr")
_PYTHON_NAME = re.compile(r"python3(\.\d+)?\Z")
_VERSIONS = (".pyenv/versions", ".local/share/uv/python", ".asdf/installs/python", ".local/share/mise/installs/python")


@dataclass(frozen=True)
class Machine:
    """`environ` and `home` are the person's; `cache` remembers what interpreters answered."""

    environ: Mapping[str, str]
    home: Path
    cache: Path

    @cached_property
    def system(self) -> str:
        """The part of a layer's key that another machine may not share."""
        release = platform.freedesktop_os_release() if Path("/etc/os-release").exists() else {}
        libc = "-".join(platform.libc_ver())
        return " ".join((release.get("ID", "linux"), release.get("VERSION_ID", ""), platform.machine(), libc)).strip()

    @cached_property
    def pythons(self) -> tuple[Runtime, ...]:
        """Interpreters that can make virtual environments, those of the system first, then the newest first."""
        found: dict[Path, Runtime] = {}
        for path in self._python_paths():
            real = Path(os.path.realpath(path))
            told = self._answer(real)
            if told.get("venv") and real not in found:
                found[real] = Runtime("python", str(told["version"]), real, Path(str(told["prefix"])))
        system = [each for each in found.values() if shows(each.prefix)]
        others = [each for each in found.values() if not shows(each.prefix)]
        return (*system, *sorted(others, key=lambda each: _parts(each.version), reverse=True))

    def python(self, wanted: str = "", exact: str = "") -> Runtime | None:
        """The interpreter for `requires-python`; `exact` is the version that the repository pins, if it is here."""
        fitting = [each for each in self.pythons if _fits(each.version, wanted)]
        pinned = [each for each in fitting if exact and f"{each.version}.".startswith(f"{exact.strip()}.")]
        return next(iter((*pinned, *fitting)), None)

    @cached_property
    def node(self) -> Runtime | None:
        path = shutil.which("node", path=self.environ.get("PATH"))
        if path is None:
            return None
        real = Path(os.path.realpath(path))
        told = self._remembered([real], [str(real), "--version"])
        version = told.strip().lstrip("v")
        return Runtime("node", version, real, real.parent.parent) if version else None

    def program(self, name: str) -> Runtime | None:
        """Another program of the person's PATH, such as cargo; with rustup, that of the toolchain it chooses."""
        path = shutil.which(name, path=self.environ.get("PATH"))
        if path is None:
            return None
        real = Path(os.path.realpath(path))
        if real.name == "rustup":
            told = self._remembered([real, self.home / ".rustup/settings.toml"], [str(real), "which", name]).strip()
            real = Path(told) if told else real
        return Runtime(name, "", real, real.parent.parent)

    @cached_property
    def python_index(self) -> Index:
        """Of pip and uv: configured indexes, else the one that pip knows by itself."""
        of_uv = uv_settings(self.environ, self.home)
        variables, hosts, notes = python_indexes({**pip_settings(self.environ, self.home), **of_uv})
        if "UV_INDEX" in variables and not of_uv:
            # Indexes that are pip's are used as pip does: the best version of all of them, not the first index alone.
            variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
        if "PIP_INDEX_URL" not in variables:
            told = next((told for each in self.pythons if (told := self._answer(each.executable)).get("hosts")), {})
            hosts = [*_words(told.get("hosts")), *hosts]
            if not told:
                notes.append("No pip was found that names its package index; add hosts to .forge/environment.yaml.")
        return Index(variables, tuple(dict.fromkeys(hosts)), tuple(notes))

    @cached_property
    def node_index(self) -> Index:
        npm = shutil.which("npm", path=self.environ.get("PATH"))
        if npm is None:
            return Index(notes=("npm is not installed: no package registry is known.",))
        files = [Path(os.path.realpath(npm)), self.home / ".npmrc", Path("/etc/npmrc"), Path("/usr/etc/npmrc")]
        told = self._remembered(files, [npm, "config", "list", "--json"])
        try:
            settings = json.loads(told)
        except ValueError:
            return Index(notes=("npm does not tell its configuration: no package registry is known.",))
        found = [("registry", str(settings.get("registry") or ""))]
        found += [
            (name, str(value)) for name, value in settings.items() if name.endswith(":registry") and name[0] == "@"
        ]
        variables, hosts, notes = {}, [], []
        for name, address in found:
            bare, had_login = without_login(address)
            if bare:
                variables[f"npm_config_{name}"] = bare
                hosts.append(host_of(bare))
            if had_login:
                notes.append(NO_LOGIN.format(host=host_of(bare)))
        return Index(variables, tuple(dict.fromkeys(filter(None, hosts))), tuple(notes))

    def _python_paths(self) -> Iterator[Path]:
        for folder in ("/usr/local/bin", "/usr/bin"):
            yield from sorted(each for each in Path(folder).glob("python3*") if _PYTHON_NAME.fullmatch(each.name))
        for folder in _VERSIONS:
            for place in sorted((self.home / folder).glob("*")):
                yield from sorted(
                    each for each in (place / "bin").glob("python3.*") if _PYTHON_NAME.fullmatch(each.name)
                )

    def _answer(self, python: Path) -> dict[str, object]:
        """What an interpreter tells about itself."""
        try:
            told = json.loads(self._remembered([python], [str(python), "-I", "-c", _PROBE]) or "{}")
        except ValueError:
            return {}
        return told if isinstance(told, dict) else {}

    def _remembered(self, files: Sequence[Path], command: Sequence[str]) -> str:
        """The output of `command`, asked once for each state of `files` and of the variables of package managers."""
        states = []
        for file in files:
            with suppress(OSError):
                stat = file.stat()
                states.append(f"{file} {stat.st_size} {stat.st_mtime_ns}")
        theirs = sorted(each for each in self.environ.items() if each[0].lower().startswith(("npm_", "pip_")))
        place = self.cache / f"{sha256(repr((states, list(command), theirs)).encode()).hexdigest()[:32]}.txt"
        with suppress(OSError, UnicodeDecodeError):
            return place.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory(prefix="forge-ask-") as empty:
            told = _output(command, self.environ, Path(empty))
        if told:
            with disk.reporting():
                self.cache.mkdir(parents=True, exist_ok=True)
                disk.replace_synced(place, told.encode())
        return told


class MachineInImage(Machine):
    """Package managers look for packages where those of this machine do; interpreters are those of an image."""

    @cached_property
    def system(self) -> str:
        return f"image {platform.machine()}"

    def python(self, wanted: str = "", exact: str = "") -> Runtime | None:
        del wanted, exact  # which one the image has shows when it runs; pip refuses what does not fit
        return Runtime("python", "of the image", Path("python3"), _USR)

    def program(self, name: str) -> Runtime | None:
        return Runtime(name, "of the image", Path(name), _USR)

    @cached_property
    def node(self) -> Runtime | None:
        return Runtime("node", "of the image", Path("node"), _USR)


def _words(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else []


def _output(command: Sequence[str], environ: Mapping[str, str], directory: Path) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            env=dict(environ),
            cwd=directory,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def _fits(version: str, wanted: str) -> bool:
    try:
        return not wanted or SpecifierSet(wanted).contains(version, prereleases=True)
    except InvalidSpecifier:
        return True


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
