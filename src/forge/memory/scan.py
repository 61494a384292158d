"""The last resort: an initiative rebuilt from the milestone files of `documentation/milestones/_active/`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from forge.memory.values import LONG_AGO, Initiative, Milestone, MilestoneStatus, Source, Status, one_line

_MOST_FILES = 500
_MOST_BYTES = 1_000_000
_TASK = re.compile(r"^\s*[-*+] \[(?P<mark>[ xX])\]", re.MULTILINE)
_TITLE = re.compile(r"^#[ \t]+(?P<title>.+)$", re.MULTILINE)


def scanned(directory: Path) -> Initiative | None:
    """One milestone per Markdown file; ticked boxes are its progress. None if there is no such file."""
    root = directory / Source.SCAN.value
    files = list(_files(root))
    if not files:
        return None
    milestones = tuple(_milestone(root, path) for path in files)
    current = next((each for each in milestones if each.status is not MilestoneStatus.COMPLETED), None)
    folders = sorted({path.relative_to(root).parts[0] for path in files if path.parent != root})
    begun = any(each.done for each in milestones)
    name = folders[0] if len(folders) == 1 else directory.name
    return Initiative(
        id="",
        title=one_line(name, 200),
        type="APEX",
        status=Status.IN_PROGRESS if begun else Status.CREATED,
        phase=("implement" if begun else "plan") if current else "review",
        context=one_line(name, 200),
        milestones=milestones,
        milestone=current.id if current else "",
        updated=max(_changed(path) for path in files),
    )


def _files(root: Path) -> Iterator[Path]:
    found = 0
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith(".md") and not path.is_symlink() and found < _MOST_FILES:
                found += 1
                yield path


def _milestone(root: Path, path: Path) -> Milestone:
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:  # its name is still known
        text = ""
    marks = [found["mark"] != " " for found in _TASK.finditer(text)]
    done, total = sum(marks), len(marks)
    title = _TITLE.search(text)
    id_ = path.relative_to(root).with_suffix("").as_posix()
    if total and done == total:
        status = MilestoneStatus.COMPLETED
    else:
        status = MilestoneStatus.IN_PROGRESS if done else MilestoneStatus.PENDING
    return Milestone(one_line(id_), one_line(title["title"] if title else path.stem, 200), status, done, total)


def _changed(path: Path) -> datetime:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return LONG_AGO
