"""Unpacked images on disk: the root file system of each, made once, seen read-only by every command on it."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge.environment.errors import ImageMissing
from forge.environment.image import Image, ImageEngine, checked_root
from forge.environment.layer_store import remove, tree_size
from forge.git.process import disk
from forge.sandbox import view

_RECORD = "image.json"
_SECONDS = 1_800


class ImageStore:
    """Below the same root as the layers. A root is removed when no layer stands on it."""

    def __init__(self, root: Path) -> None:
        self._images = root / "images"

    def root(self, image_id: str) -> Path | None:
        """None where it is not unpacked."""
        place = self._images / image_id
        return place / "root" if (place / _RECORD).exists() else None

    def size(self) -> int:
        """Bytes of all of them."""
        found = self._images.iterdir() if self._images.is_dir() else ()
        return sum(_size(place) for place in found if not place.name.startswith("."))

    @contextmanager
    def in_use(self, image_id: str) -> Iterator[None]:
        """While a command runs on it, or a layer is made on it, nobody removes it."""
        with self._locked(image_id, fcntl.LOCK_SH):
            yield

    def unpack(self, image: Image, engine: ImageEngine) -> Path:
        """Its root, unpacked now or before. Whoever unpacks the same meanwhile is waited for."""
        with self._locked(image.id, fcntl.LOCK_EX, name="unpacking"):
            if (found := self.root(image.id)) is not None:
                return found
            aside = self._images / f".{image.id}.making"
            remove(aside)
            try:
                with disk.reporting():
                    (aside / "root").mkdir(parents=True)
                    aside.chmod(0o700)
                    with engine.exported(image) as stream:
                        _extracted(stream.fileno(), aside / "root", image.name)
                    checked_root(aside / "root")
                    _prepare(aside / "root")
                    record = {"name": image.name, "size": tree_size(aside)}
                    disk.write_synced(aside / _RECORD, json.dumps(record).encode())
                    aside.rename(self._images / image.id)
            finally:
                remove(aside)
        found = self.root(image.id)
        assert found is not None
        return found

    def remove_others(self, kept: Collection[str]) -> tuple[str, ...]:
        """Remove the roots that no layer needs, except those in use."""
        gone = []
        for place in self._images.iterdir() if self._images.is_dir() else ():
            if place.name.startswith(".") or place.name in kept:
                continue
            with suppress(BlockingIOError), self._locked(place.name, fcntl.LOCK_EX | fcntl.LOCK_NB):
                aside = place.with_name(f".{place.name}.gone")
                remove(aside)
                place.rename(aside)
                remove(aside)
                gone.append(place.name)
        return tuple(gone)

    @contextmanager
    def _locked(self, image_id: str, how: int, name: str = "use") -> Iterator[None]:
        self._images.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._images / f".{image_id}.{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)


def _extracted(stream: int, root: Path, name: str) -> None:
    """Devices are left out, owners are not kept."""
    command = ("tar", "-x", "-f", "-", "-C", str(root), "--no-same-owner", "--no-same-permissions",
               "--delay-directory-restore", "--exclude=./dev/*", "--exclude=dev/*")  # fmt: skip
    done = subprocess.run(command, stdin=stream, stderr=subprocess.PIPE, timeout=_SECONDS, check=False)
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ImageMissing(
            f"The image {name} could not be unpacked: {said[-1] if said else 'tar failed'}",
            hint="Free space, and look whether the engine can export it.",
        )


def _prepare(root: Path) -> None:
    """Take away rights that programs would have outside of the sandbox, and add the user that commands run as."""
    for folder, names, files in os.walk(root):
        for name in (*names, *files):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
                os.chmod(path, stat.S_IMODE(mode) & 0o777)
            if stat.S_ISDIR(mode):
                os.chmod(path, (stat.S_IMODE(mode) & 0o777) | 0o700)
            elif stat.S_ISREG(mode) and not mode & 0o400:
                os.chmod(path, stat.S_IMODE(mode) & 0o777 | 0o400)
    etc = root / "etc"
    if etc.is_symlink():
        etc.unlink()
    etc.mkdir(exist_ok=True)
    users = view.with_user(*(_text(etc / name) for name in ("passwd", "group")))
    for name, content in zip(("passwd", "group", "hosts", "resolv.conf"), (*users, "", ""), strict=True):
        # What is a link in the image may point anywhere, and is replaced.
        with suppress(FileNotFoundError):
            (etc / name).unlink()
        (etc / name).write_text(content, encoding="utf-8")


def _text(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


def _size(place: Path) -> int:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return int(json.loads((place / _RECORD).read_bytes())["size"])
    return 0
