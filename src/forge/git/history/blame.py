"""Who wrote each line of a file, and when."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.git.errors import FileMissing
from forge.git.history.patch import unquoted
from forge.git.history.revisions import commit_at
from forge.git.objects.trees import decode
from forge.git.process.git_command import Git
from forge.git.refs.near_names import did_you_mean
from forge.git.values import CommitId, Signature
from forge.git.workspace.paths import readable

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects


@dataclass(frozen=True, slots=True)
class BlameLine:
    number: int
    text: bytes
    """Without the line break."""
    commit: CommitId
    author: Signature
    summary: str
    original_path: str
    original_number: int


def blame(
    objects: Objects,
    commit_id: CommitId,
    path: str,
    *,
    lines: tuple[int, int] | None = None,
    ignore_whitespace: bool = False,
) -> Iterator[BlameLine]:
    """Each line of `path` as it is in the commit, or those from `lines[0]` to `lines[1]`, with its origin."""
    commit = objects.commit(commit_at(objects, commit_id))
    entry = objects.entry(commit.tree, readable(path))
    if entry is None or entry.is_tree or entry.is_submodule:
        near = did_you_mean(path, objects.paths(commit.tree))
        raise FileMissing(
            f"There is no file {path} in {commit_id[:7]}.", hint=f"{near}`forge file list` lists the files."
        )
    args = ["--porcelain", "--no-textconv"]
    args += ["-w"] if ignore_whitespace else []
    if lines:
        first, last = lines
        count = _line_count(objects.blob(entry.id))
        if not 1 <= first <= last or first > count:
            raise InvalidInput(f"{path} has the lines 1 to {count}.", hint="Ask for some of these.")
        args.append(f"-L{first},{min(last, count)}")
    return _lines(objects, ["blame", *args, commit.id, "--", path])


def _lines(objects: Objects, command: list[str]) -> Iterator[BlameLine]:
    """Runs git beside the repository: it needs only objects, and settings such as `blame.ignoreRevsFile`,
    which name files of a work tree, would make it fail."""
    with TemporaryDirectory(prefix="forge-blame-") as place:
        beside = Path(place)
        (beside / "refs").mkdir()
        (beside / "HEAD").write_text("ref: refs/heads/none\n")
        env = {
            "GIT_OBJECT_DIRECTORY": str(objects.objects_dir),
            "GIT_SHALLOW_FILE": str(objects.common_dir / "shallow"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        output = Git(beside).run(*command, env=env).stdout
    return _parsed(objects, BytesIO(output))


def _parsed(objects: Objects, output: BytesIO) -> Iterator[BlameLine]:
    """Porcelain form: a head line, facts about the commit when it comes first, then the text behind a tab."""
    paths: dict[CommitId, str] = {}
    while head := output.readline():
        oid, original, final = head.split()[:3]
        commit = objects.commit(CommitId(oid.decode()))
        while (line := output.readline()) and not line.startswith(b"\t"):
            if line.startswith(b"filename "):
                paths[commit.id] = decode(unquoted(line[len(b"filename ") : -1]))
        yield BlameLine(
            int(final),
            line[1:].removesuffix(b"\n"),
            commit.id,
            commit.author,
            commit.subject,
            paths[commit.id],
            int(original),
        )


def _line_count(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
