"""Checks of where Forge keeps things: settings, the data directory, the workspace, the disk, a server that runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from forge.app.admin.checks import REPAIR, Check, Place, failed, ok, warning
from forge.app.admin.settings import plugin_faults
from forge.settings import config_path

_LOW_DISK = 1 << 30


def settings(place: Place) -> Check:
    """That they can be read was seen before; this is what they say."""
    path = config_path(place.environ)
    if place.settings.warnings:
        return warning("settings", " ".join(place.settings.warnings), "`forge config check` says more.")
    return ok("settings", str(path) if path.exists() else f"No file at {path}; all is by default.")


def plugins(place: Place) -> Check:
    faults = plugin_faults(place.settings)
    if faults:
        return warning("plugins", " ".join(faults[:3]), f"See {place.settings.plugins_directory} and the settings.")
    return ok("plugins", "All that are enabled can be used.")


def data(place: Place) -> Check:
    return _kept("data", place.settings.data_dir, "Set FORGE_DATA_DIR, or check who owns it.")


def workspace(place: Place) -> Check:
    return _kept("workspace", place.settings.workspace, "Set FORGE_WORKSPACE, or check who owns it.")


def _kept(name: str, folder: Path, hint: str) -> Check:
    there = _nearest(folder)
    if not there.is_dir():
        return failed(name, f"{there} is no directory.", hint)
    if not (os.access(there, os.W_OK | os.X_OK) and _takes_something(there)):
        return failed(name, f"{there} cannot be written.", hint)
    return ok(name, str(folder) if there == folder else f"{folder}, not made yet.")


def _takes_something(folder: Path) -> bool:
    """Only trying tells: some file systems refuse whoever they say may write, root too."""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".forge-"):
            return True
    except OSError:
        return False


def disk(place: Place) -> Check:
    """The fullest of the disks that Forge writes to."""
    folders = [place.settings.data_dir, place.settings.workspace]
    if place.repo is not None:
        folders.append(place.repo.common_dir)
    free = min(shutil.disk_usage(_nearest(folder)).free for folder in folders)
    text = f"{free / (1 << 30):.1f} GiB free"
    if free < _LOW_DISK:
        return warning("disk", text, "Free some space: saving needs it.")
    return ok("disk", text)


def _nearest(folder: Path) -> Path:
    """The folder, or the one in which it would be made."""
    return next((each for each in (folder, *folder.parents) if each.exists()), Path("/"))


def server(place: Place) -> Check:
    folder = place.settings.data_dir
    if not (folder / "server.json").exists():
        return ok("server", "None runs here; `forge serve` starts one.")
    from forge.app.process import server_lock  # noqa: PLC0415 - loads what projects need, and mostly no server runs

    try:
        found = server_lock.found_server(folder)
    except server_lock.ServerMissing:
        if not place.repair:
            return warning("server", "It is announced and does not answer; it may have died.", REPAIR)
    else:
        return ok("server", f"Runs at {found.url}, process {found.pid}.")
    try:
        with server_lock.only_server(folder):
            (folder / server_lock.FILE).unlink(missing_ok=True)
    except server_lock.ServerRunning as e:
        return failed("server", "A process has locked the data directory and does not answer.", e.hint)
    return ok("server", "Removed the announcement of a server that died.")
