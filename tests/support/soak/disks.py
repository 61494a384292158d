"""Disks of our own to fill up, to make read-only, and to cut the power of."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@cache
def why_no_mounts() -> str:
    """Empty where this process can mount disks of its own; otherwise the reason."""
    if os.geteuid() != 0:
        return "mounting a disk needs root"
    lacking = [name for name in ("mount", "umount", "mkfs.ext4") if shutil.which(name) is None]
    if lacking:
        return f"{lacking[0]} is not installed"
    with tempfile.TemporaryDirectory() as folder:
        image = _new_image(Path(folder) / "image", 2)
        point = Path(folder) / "disk"
        point.mkdir()
        tried = subprocess.run(["mount", "-o", "loop", image, point], capture_output=True, text=True, check=False)
        if tried.returncode:
            return f"mounts are not allowed here: {tried.stderr.strip()}"
        _run("umount", point)
    return ""


@contextmanager
def ext4(folder: Path, megabytes: int) -> Iterator[tuple[Path, Path]]:
    """A new file system: its mount point and the file that is its disk."""
    image = _new_image(folder / "image", megabytes)
    with mounted(image, folder / "disk") as point:
        yield point, image


@contextmanager
def mounted(image: Path, point: Path) -> Iterator[Path]:
    point.mkdir()
    _run("mount", "-o", "loop", image, point)
    try:
        yield point
    finally:
        _unmount(point)
        point.rmdir()


@contextmanager
def tmpfs(point: Path, kilobytes: int) -> Iterator[Path]:
    point.mkdir(exist_ok=True)
    _run("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "forge-soak", point)
    try:
        yield point
    finally:
        _unmount(point)


@contextmanager
def room_for(point: Path, *, kilobytes: int | None = None, files: int | None = None) -> Iterator[None]:
    """A tmpfs that takes only so much more than it holds now."""
    now = os.statvfs(point)
    if kilobytes is not None:
        used = (now.f_blocks - now.f_bfree) * now.f_frsize // 1024
        _run("mount", "-o", f"remount,size={used + kilobytes}k", point)
    if files is not None:
        _run("mount", "-o", f"remount,nr_inodes={now.f_files - now.f_ffree + files}", point)
    try:
        yield
    finally:
        _run("mount", "-o", f"remount,size={now.f_blocks * now.f_frsize}", point)
        _run("mount", "-o", f"remount,nr_inodes={now.f_files}", point)


@contextmanager
def read_only(point: Path) -> Iterator[None]:
    _run("mount", "-o", "remount,ro", point)
    try:
        yield
    finally:
        _run("mount", "-o", "remount,rw", point)


def _unmount(point: Path) -> None:
    """A repository that was opened here keeps files open until it is collected; a repack until it is done."""
    gc.collect()
    for _ in range(50):
        if subprocess.run(["umount", point], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.1)
    _run("umount", "--lazy", point)


def _new_image(path: Path, megabytes: int) -> Path:
    with path.open("wb") as file:
        file.truncate(megabytes << 20)
    _run("mkfs.ext4", "-q", "-F", path)
    return path


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
