"""Asks git itself which files contain one of some strings, while nothing is cached yet."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from forge.git.errors import GitFailed
from forge.git.process import children
from forge.git.process.git_command import arguments, environment, not_runnable
from forge.git.search.literals import SHORTEST, Literals

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import ObjectId

# Bytes are bytes here: in another locale git would read the strings as text and miss them in files that are not.
_BYTEWISE = {"LC_ALL": "C"}
_PLAIN = (
    "grep",
    "--files-with-matches",
    "--null",
    "--text",  # attributes must not hide a file that is text by content
    "--fixed-strings",
    "--no-textconv",
    "--no-recurse-submodules",
    "--no-color",
    "--full-name",
)


def strings_for_git(literals: Literals) -> Sequence[bytes]:
    """Strings of which each matching file contains one and that git can be asked for; else none."""
    strings = literals.best()
    if not literals.selective or min(map(len, strings)) < SHORTEST or any(b"\0" in string for string in strings):
        return ()
    return sorted(strings)


@contextmanager
def looking(objects: Objects, tree: ObjectId, strings: Sequence[bytes], *, folded: bool) -> Iterator[Iterator[str]]:
    """Paths of the files that contain one of `strings`, in git's order. git looks from the start of the block on."""
    options = list(_PLAIN)
    if folded:
        options.append("--ignore-case")
    for string in strings:
        options += ["-e", string.decode("utf-8", "surrogateescape")]
    try:
        process = subprocess.Popen(
            arguments(objects.git_dir, [*options, tree, "--"]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(_BYTEWISE),
            cwd=objects.git_dir,
            bufsize=0,
        )
    except OSError as e:
        raise not_runnable(e) from e
    try:
        # git puts the tree it was asked about before each path.
        yield (name[len(tree) + 1 :].decode("utf-8", "surrogateescape") for name in _names(process))
    finally:
        children.end(process)


def _names(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    assert process.stderr is not None
    rest = b""
    while piece := process.stdout.read(1 << 16):
        *names, rest = (rest + piece).split(b"\0")
        yield from names
    complaint = process.stderr.read()
    if process.wait() not in (0, 1):
        said = complaint.decode("utf-8", "replace").strip()
        raise GitFailed(f"git grep failed: {said}", hint="Run `git fsck` on the repository.")
