"""Forge's own Python inside a sandbox. Where an image is the root, it brings its loader and its libraries along."""

from __future__ import annotations

import os
import shlex
import sys
from functools import cache
from pathlib import Path

from forge.sandbox.errors import SandboxFailed
from forge.sandbox.view import Mount, shows

_PLACE = "/run/forge/python"
COMMAND = ("sh", f"{_PLACE}/start")
"""What commands call where `run` is told that they need it."""
_LOADERS = ("ld-linux", "ld-musl", "ld64.so", "ld.so")


def words(root: Path | None) -> tuple[str, ...]:
    """How it is started."""
    executable = os.path.realpath(sys.executable)
    if root is None:
        return (executable,)
    prefix = Path(sys.base_prefix).resolve()
    inside = f"{_PLACE}/prefix/{Path(executable).relative_to(prefix)}"
    loader, folders = _libraries()
    path = ":".join(f"{_PLACE}/libraries/{number}" for number in range(len(folders)))
    return (f"{_PLACE}/{Path(loader).name}", "--library-path", path, inside)


def files(root: Path | None) -> dict[str, bytes]:
    """What `COMMAND` consists of."""
    return {COMMAND[-1]: f'exec {shlex.join(words(root))} "$@"\n'.encode()}


def mounts(root: Path | None) -> tuple[Mount, ...]:
    """What it needs to be visible, besides what every command sees."""
    prefix = Path(sys.base_prefix).resolve()
    if root is None:
        places = () if shows(prefix) else dict.fromkeys((prefix, Path(sys.base_prefix)))
        return tuple(Mount(str(place), prefix) for place in places)
    loader, folders = _libraries()
    libraries = [Mount(f"{_PLACE}/libraries/{number}", Path(each)) for number, each in enumerate(folders)]
    return (
        Mount(f"{_PLACE}/prefix", prefix),
        Mount(f"{_PLACE}/{Path(loader).name}", Path(os.path.realpath(loader))),
        *libraries,
    )


@cache
def _libraries() -> tuple[str, tuple[str, ...]]:
    """The loader of this process, and the folders of the libraries that it has loaded."""
    loader = ""
    folders: dict[str, None] = {}
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.partition("/")[2].rstrip("\n")
            name = path.rpartition("/")[2]
            if name.startswith(_LOADERS):
                loader = f"/{path}"
            if name.startswith(("lib", *_LOADERS)) and ".so" in name and "site-packages" not in path:
                folders[f"/{path.rpartition('/')[0]}"] = None
    if not loader:
        raise SandboxFailed(
            "The loader of this Python is not known, so it cannot run in an image.",
            hint="Leave `environments.image` out: the system of this machine is the base then.",
        )
    return loader, tuple(folders)
