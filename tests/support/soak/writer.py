"""The processes that are killed: a nursery that forks writers, and what a writer does to a repository.

Orders come in as JSON lines, what happened goes out as JSON lines. A line is written only after the call that
it reports has returned, so whatever the parent has read is acknowledged.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import FileMode, Option

from forge.errors import ForgeError
from forge.git import BranchMoved, Repository
from forge.git.errors import BranchExists

Say = Callable[..., None]


def commits(repo: Repository, order: dict[str, Any], say: Say) -> None:
    """Commit to one branch again and again, on a workspace that stays open."""
    workspace = repo.workspace(order["branch"])
    for number in _numbers(order):
        name = f"{order['name']}-{number}"
        workspace.write_file(f"files/{order['name']}/{number % 20}.txt", f"{name}\n" * 20)
        workspace.write_file(f"last-{order['name']}.txt", name)
        if order.get("announce"):
            say("trying", subject=name)
        try:
            made = workspace.commit(name)
        except BranchMoved:
            say("lost", subject=name)
            workspace.catch_up()
            made = None
        if made is not None:
            say("landed", commit=made, subject=name, branch=order["branch"])


def branches(repo: Repository, order: dict[str, Any], say: Say) -> None:
    """Everything that can be done to branches, over and over: make, commit, fork, rename, rewind, delete, undo."""
    start = order["branch"]
    for number in _numbers(order):
        name = f"ai/{order['name']}/{number}"
        repo.create_branch(name, start)
        workspace = repo.workspace(name)
        workspace.write_file("work.txt", f"{name}\n")
        made = workspace.commit(f"work {name}")
        say("landed", commit=made, subject=f"work {name}", branch=name)
        repo.rename_branch(name, f"{name}-renamed")
        workspace = repo.workspace(f"{name}-renamed")
        workspace.write_file("more.txt", f"{name}\n")
        more = workspace.commit(f"more {name}")
        say("landed", commit=more, subject=f"more {name}", branch=f"{name}-renamed")
        rewound = repo.rewind_branch(f"{name}-renamed", made)
        repo.undo(rewound.id)
        deleted = repo.delete_branch(f"{name}-renamed")
        if number % 2:
            repo.undo(deleted.id)
        say("round", number=number)


def makers(repo: Repository, order: dict[str, Any], say: Say) -> None:
    """Make branches that others want to make too, each at a commit of one's own."""
    workspace = repo.workspace(order["branch"])
    workspace.write_file("own.txt", order["name"])
    start = workspace.commit(f"start of {order['name']}")
    for number in _numbers(order):
        name = f"raced/{number}"
        try:
            repo.create_branch(name, start)
        except BranchExists:
            say("lost", subject=name)
        else:
            say("landed", commit=start, subject=name, branch=name)


def unsynced(_: Repository, order: dict[str, Any], say: Say) -> None:
    """What a program does that trusts libgit2's defaults; here to show that the runs can tell."""
    pygit2.option(Option.ENABLE_FSYNC_GITDIR, False)
    handle = pygit2.Repository(order["repo"])
    who = pygit2.Signature("Ada Example", "ada@example.org")
    ref = f"refs/heads/{order['branch']}"
    for number in _numbers(order):
        name = f"{order['name']}-{number}"
        tree = handle.TreeBuilder()
        tree.insert("file.txt", handle.create_blob(name.encode()), FileMode.BLOB)
        parent = handle.references[ref].target
        made = handle.create_commit(ref, who, who, name, tree.write(), [parent])
        say("landed", commit=str(made), subject=name, branch=order["branch"])
        time.sleep(0.002)  # without waiting for the disk it would fill it in seconds


WORK: dict[str, Callable[[Repository, dict[str, Any], Say], None]] = {
    "commits": commits,
    "branches": branches,
    "makers": makers,
    "unsynced": unsynced,
}


def _numbers(order: dict[str, Any]) -> Iterator[int]:
    """For so many rounds, or for so long, or until somebody ends the process."""
    count, seconds = order.get("count", sys.maxsize), order.get("seconds", float("inf"))
    until = time.monotonic() + seconds
    return itertools.takewhile(lambda _: time.monotonic() < until, range(count))


def nursery() -> None:
    """Fork a writer for each order; report when one ends."""
    names: dict[int, str] = {}
    pending = b""
    open_input = True
    while open_input or names:
        ready, _, _ = select.select([0] if open_input else [], [], [], 0.005)
        if ready:
            data = os.read(0, 65536)
            open_input = bool(data)
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                order = json.loads(line)
                pid = os.fork()
                if pid == 0:
                    _write(order)
                names[pid] = order["name"]
                _say("started", order["name"], pid=pid)
        while names:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            _say("ended", names.pop(pid), status=os.waitstatus_to_exitcode(status))


def _write(order: dict[str, Any]) -> None:
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        repo = Repository.open(Path(order["repo"]))
        WORK[order["work"]](repo, order, lambda event, **more: _say(event, order["name"], **more))
        code = 0
    except ForgeError as e:
        _say("failed", order["name"], code=e.code, text=str(e))
    finally:
        if code and (error := sys.exc_info()[1]) is not None:
            _say("crashed", order["name"], text=repr(error))
        os._exit(code)


def _say(event: str, name: str, **more: object) -> None:
    line = json.dumps({"event": event, "name": name, "at": time.monotonic(), **more}) + "\n"
    os.write(1, line.encode())


if __name__ == "__main__":
    nursery()
