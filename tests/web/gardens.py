"""Repositories with a past that several tests need, and where their branches and commits are in the graph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.support.browser import Desk


def aged(desk: Desk) -> tuple[str, Path]:
    """Three commits on main, each with another text."""
    repo = desk.repository({"beds/north.md": "tulips\n"})
    path = desk.place / f"garden-{desk.made}"
    for flower in ("roses", "lilies"):
        (path / "beds" / "north.md").write_text(f"{flower}\n")
        desk.git(path, "commit", "--quiet", "--all", "--message", f"Plant {flower}")
    return repo, path


def planted(desk: Desk, *, conflict: bool = False) -> tuple[str, Path]:
    """Main and `south`, which parted: on different files, or on the same line."""
    repo = desk.repository()
    path = desk.place / f"garden-{desk.made}"
    desk.git(path, "switch", "--quiet", "--create", "south")
    _commit(desk, path, "beds/north.md" if conflict else "beds/south.md", "lilies\n", "Plant lilies")
    desk.git(path, "switch", "--quiet", "main")
    _commit(desk, path, "beds/north.md" if conflict else "paths.md", "roses\n", "Plant roses")
    # Nothing is checked out, so that what the branches say is all there is.
    desk.git(path, "switch", "--quiet", "--detach")
    return repo, path


def _commit(desk: Desk, path: Path, file: str, text: str, subject: str) -> None:
    (path / file).write_text(text)
    desk.git(path, "add", "--all")
    desk.git(path, "commit", "--quiet", "--message", subject)


def branch_in_list(page: Any, name: str) -> Any:
    return page.get_by_role("navigation", name="Branches of the graph").get_by_role("button", name=re.compile(name))


def commit(page: Any, subject: str) -> Any:
    return page.get_by_role("listbox").get_by_role("option", name=re.compile(f"^{subject}"))
