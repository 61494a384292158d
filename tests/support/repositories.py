"""The repositories that the runs begin with."""

from __future__ import annotations

from pathlib import Path

from forge.git import Repository


def repository(folder: Path, *branches: str) -> Path:
    """A checkout of main with some files, and other branches that nobody has checked out."""
    place = folder / "repo"
    repo = Repository.init(place)
    workspace = repo.workspace("main")
    for number in range(20):
        workspace.write_file(f"src/file-{number}.txt", f"{number}\n")
    workspace.commit("first")
    for branch in branches:
        repo.create_branch(branch, "main")
    return place
