"""Repositories and raw objects that the tests of the git core share, however odd, made without Forge."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pygit2
from pygit2.enums import ObjectType

from forge.errors import ForgeError
from forge.git import Actor, ActorKind, CommitId, ObjectId, Repository
from tests.conftest import write_files

AGENT = Actor(ActorKind.AGENT, "scribe")
BUILD = Actor(ActorKind.BUILD, "build-7")

WHO = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "Ada Example"), ("EMAIL", "ada@example.org"), ("DATE", "1700000000 +0000"))
}

ADA = "Ada Example <ada@example.org> 1700000000 +0000"

# For what is made before a test has its own home.
ISOLATED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

RawTree = Iterable[tuple[bytes, bytes, str]]
"""Mode digits, name, id: exactly what is put into the tree, however wrong."""


def git(directory: Path, *args: str | bytes, stdin: bytes = b"", ok: tuple[int, ...] = (0,), **env: str) -> bytes:
    done = subprocess.run(
        ["git", *args],
        cwd=directory,
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **WHO, **env},
    )
    if done.returncode not in ok:
        raise AssertionError(f"git {args!r} gave {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def text(directory: Path, *args: str, **options: str) -> str:
    return git(directory, *args, **options).decode("utf-8", "surrogateescape").removesuffix("\n")


def literal(directory: Path, kind: ObjectType, data: bytes) -> ObjectId:
    """Any object at all: nobody looks at what is in it."""
    return ObjectId(str(pygit2.Repository(str(directory)).odb.write(kind, data)))


def blob(directory: Path, data: bytes) -> ObjectId:
    return literal(directory, ObjectType.BLOB, data)


def raw_tree(entries: RawTree) -> bytes:
    return b"".join(mode + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)


def tree(directory: Path, entries: RawTree) -> ObjectId:
    return literal(directory, ObjectType.TREE, raw_tree(entries))


def commit(directory: Path, tree_id: str, *parents: str, branch: str | None = None, message: str = "made") -> CommitId:
    """A commit of `tree_id`, on `branch` if one is named."""
    head = [f"tree {tree_id}", *(f"parent {parent}" for parent in parents), f"author {ADA}", f"committer {ADA}"]
    made = literal(directory, ObjectType.COMMIT, "\n".join([*head, "", message, ""]).encode())
    if branch is not None:
        pygit2.Repository(str(directory)).references.create(f"refs/heads/{branch}", made, force=True)
    return CommitId(made)


def stored(directory: Path, oid: str) -> bytes:
    """The bytes of an object."""
    return pygit2.Repository(str(directory)).odb.read(oid)[1]


def ls_tree(directory: Path, rev: str) -> dict[bytes, bytes]:
    """Mode, kind and id of every file of `rev` by path, as git lists them."""
    rows = git(directory, "ls-tree", "-r", "-z", rev).split(b"\0")
    return {path: head for head, _, path in (row.partition(b"\t") for row in rows if row)}


def refs(directory: Path) -> dict[str, str]:
    lines = text(directory, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.rsplit(" ", 1) for line in lines)


def branches(directory: Path) -> dict[str, str]:
    heads = "refs/heads/"
    return {ref.removeprefix(heads): oid for ref, oid in refs(directory).items() if ref.startswith(heads)}


def assert_fsck_clean(directory: Path) -> None:
    done = subprocess.run(
        ["git", "fsck", "--full", "--strict", "--no-dangling"], cwd=directory, capture_output=True, check=False
    )
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith(b"notice:")]
    assert done.returncode == 0, complaints
    assert not complaints


def template(folder: Path, *versions: Mapping[str, str | bytes]) -> Path:
    """A checkout whose main branch has one commit per version, to be copied for each test: that is faster."""
    git(folder, "init", "-q", "-b", "main", "--template=", "checkout", **ISOLATED)
    checkout = folder / "checkout"
    for number, files in enumerate(versions, start=1):
        write_files(checkout, files, executable=(), symlinks={})
        git(checkout, "add", "--all", "--force", **ISOLATED)
        git(checkout, "commit", "-qm", f"commit {number}", **ISOLATED)
    return checkout


def copied(source: Path, to: Path) -> Path:
    shutil.copytree(source, to, symlinks=True)
    return to


def refusal(action: Callable[[], object]) -> ForgeError | None:
    """The error that Forge refused `action` with, if it did. Any other error is a defect and goes on."""
    try:
        action()
    except ForgeError as refused:
        return refused
    return None


def filled(path: Path, files: Mapping[str, str | bytes], *, bare: bool = True) -> Repository:
    """A repository whose main branch has one commit of `files`, written through Forge."""
    repo = Repository.init(path, bare=bare)
    space = repo.workspace("main")
    for name, data in files.items():
        space.write_bytes(name, data.encode() if isinstance(data, str) else data)
    space.commit("first")
    return repo


def files_in(repo: Path) -> dict[str, tuple[int, bytes]]:
    found: dict[str, tuple[int, bytes]] = {}
    for folder, folders, names in os.walk(repo):
        if Path(folder) == repo:
            folders[:] = [name for name in folders if name != ".git"]
        for name in [*names, *(f for f in folders if (Path(folder) / f).is_symlink())]:
            place = Path(folder) / name
            data = os.readlink(place).encode() if place.is_symlink() else place.read_bytes()
            found[str(place.relative_to(repo))] = (place.lstat().st_mode, data)
    return found
