"""Asks git itself which files contain one of some strings, while nothing is cached yet."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Sequence
from contextlib import closing

from forge.git.command import arguments, environment
from forge.git.errors import GitFailed
from forge.git.objects import Objects
from forge.git.search.literals import Literals
from forge.git.values import ObjectId

SHORTEST = 3
"""Nearly every file contains a shorter string; then it is better to read each file once."""
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
    if not strings or min(map(len, strings)) < SHORTEST or any(b"\0" in string for string in strings):
        return ()
    return sorted(strings)


def paths_with(
    objects: Objects, tree: ObjectId, strings: Sequence[bytes], *, folded: bool
) -> Generator[str, None, None]:
    """Paths of the files that contain one of `strings`, in git's order, while git is still looking."""
    options = list(_PLAIN)
    if folded:
        options.append("--ignore-case")
    for string in strings:
        options += ["-e", string.decode("utf-8", "surrogateescape")]
    with closing(_names(objects, [*options, tree, "--"])) as names:
        for name in names:
            # git puts the tree it was asked about before each path.
            yield name[len(tree) + 1 :].decode("utf-8", "surrogateescape")


def _names(objects: Objects, command: list[str]) -> Generator[bytes, None, None]:
    try:
        process = subprocess.Popen(
            arguments(objects.git_dir, command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(_BYTEWISE),
            cwd=objects.git_dir,
            bufsize=0,
        )
    except OSError as e:
        raise GitFailed(f"git could not be started: {e}", hint="Install git and put it on PATH.") from e
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        try:
            rest = b""
            while piece := process.stdout.read(1 << 16):
                *names, rest = (rest + piece).split(b"\0")
                yield from names
        except BaseException:
            process.kill()
            raise
        complaint = process.stderr.read()
        if process.wait() not in (0, 1):
            said = complaint.decode("utf-8", "replace").strip()
            raise GitFailed(f"git grep failed: {said}", hint="Run `git fsck` on the repository.")
