"""Checks of the machine: programs, the sandbox, the clock."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from forge import sandbox
from forge.app.admin.checks import Check, Place, failed, ok, warning
from forge.store.database import OLDEST_SQLITE

_OLDEST_GIT = (2, 38)
_OLDEST_PYTHON = (3, 11)
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SKEW = 2.0


def git(_: Place) -> Check:
    try:
        text = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return failed("git", "git was not found.", "Install git 2.38 or newer.")
    words = text.split()
    version = tuple(int(part) for part in (words[2] if len(words) > 2 else "").split(".")[:2] if part.isdigit())
    if version < _OLDEST_GIT:
        return failed("git", text.strip(), "Merges need git 2.38 or newer: upgrade it.")
    return ok("git", text.strip())


def python(_: Place) -> Check:
    told = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.version_info < _OLDEST_PYTHON:
        return failed("python", told, "Forge needs Python 3.11 or newer.")
    return ok("python", told)


def sqlite(place: Place) -> Check:
    told = f"SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info >= OLDEST_SQLITE or place.records.path is None:
        return ok("sqlite", told)
    oldest = ".".join(map(str, OLDEST_SQLITE))
    return failed("sqlite", told, f"Use a Python that comes with SQLite {oldest} or newer, or PostgreSQL.")


def confined(_: Place) -> Check:
    found = sandbox.available()
    if found.works:
        return ok("sandbox", f"bubblewrap {found.version} at {found.path}")
    return warning("sandbox", f"Commands cannot be confined: {found.reason}.", found.hint)


def browser(place: Place) -> Check:
    """Only a note: nothing but tests in a browser needs one."""
    path = place.environ.get("PATH", "")
    program = next((found for name in _BROWSERS if (found := shutil.which(name, path=path))), None)
    kept = Path(place.environ.get("HOME", "/")) / ".cache" / "ms-playwright"
    bundled = sorted(kept.glob("chromium-*")) if kept.is_dir() else []
    where = program or (str(bundled[-1]) if bundled else None)
    return ok("chromium", where or "Not found; only tests in a browser need it.")


def clock(place: Place) -> Check:
    """Compared with the file system, which may be another machine's, and with a database server."""
    folder = place.settings.data_dir
    with tempfile.NamedTemporaryFile(dir=folder if folder.is_dir() else None, prefix=".clock-") as file:
        file.write(b"x")
        file.flush()
        skews = {"the file system": Path(file.name).stat().st_mtime - time.time()}
    if place.records.path is None and place.records.usable:
        skews["the database server"] = place.records.facts.clock or 0.0
    whose, skew = max(skews.items(), key=lambda each: abs(each[1]))
    if abs(skew) > _SKEW:
        hint = "Let all machines set their clocks by the network (NTP)."
        return warning("clock", f"{whose} is {abs(skew):.0f} s {'ahead' if skew > 0 else 'behind'}.", hint)
    return ok("clock", f"Agrees with {' and '.join(skews)}.")
