"""One piece of work in a process of its own: `python -m tests.support.soak.step REPOSITORY ACTION`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from forge.git import Repository


def commit(repo: Repository) -> None:
    workspace = repo.workspace("work")
    number = len(workspace.list_files())
    workspace.write_file(f"{number}.txt", f"{number}\n")
    workspace.commit(f"number {number}")


ACTIONS: dict[str, Callable[[Repository], object]] = {
    "commit": commit,
    "create": lambda repo: repo.create_branch("ai/new", "work"),
    "delete": lambda repo: repo.delete_branch("gone"),
    "rename": lambda repo: repo.rename_branch("gone", "there"),
    "rewind": lambda repo: repo.rewind_branch("work", "work~1"),
}


def main(place: str, action: str) -> None:
    repo = Repository.open(Path(place))
    ACTIONS[action](repo)
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
