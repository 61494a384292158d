"""Reads many objects by a git process beside this one: it inflates while we work."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Generator, Sequence
from typing import IO, TYPE_CHECKING

from forge.git.objects.raw_object import RawObject
from forge.git.process import children
from forge.git.process.git_command import arguments, environment, not_runnable
from forge.git.values import ObjectId, ObjectKind

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_KINDS = {b"commit": ObjectKind.COMMIT, b"tree": ObjectKind.TREE, b"blob": ObjectKind.BLOB, b"tag": 4}


def read_many(objects: Objects, ids: Sequence[ObjectId]) -> Generator[RawObject, None, None]:
    """Each object, in the order given. For a few dozens `Objects.read` is quicker: git has to start.

    As git itself when it reads, this does not compare what is read with its id.
    """
    process = _started(objects, ids)
    assert process.stdout is not None
    try:
        for oid in ids:
            # Missing, or git gave up: reading it ourselves succeeds or says why.
            yield _next(process.stdout) or objects.read(oid)
    finally:
        children.end(process)


def _next(answers: IO[bytes]) -> RawObject | None:
    head = answers.readline().split()
    if len(head) == 3:
        size = int(head[2])
        data = answers.read(size + 1)
        if len(data) == size + 1:
            return RawObject(_KINDS[head[1]], data[:-1])
    return None


def _started(objects: Objects, ids: Sequence[ObjectId]) -> subprocess.Popen[bytes]:
    try:
        # From a file git takes the next question when it likes; with a pipe both could wait for each other.
        with tempfile.TemporaryFile() as questions:
            questions.write("".join([oid + "\n" for oid in ids]).encode())
            questions.seek(0)
            return subprocess.Popen(
                arguments(objects.git_dir, ["cat-file", "--batch", "--buffer"]),
                stdin=questions,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                cwd=objects.git_dir,
                bufsize=1 << 16,
            )
    except OSError as e:
        raise not_runnable(e) from e
