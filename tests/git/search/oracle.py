"""The law of searching, spelled out slowly: what a search must find, and trees to look into."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from forge.git import Mode, ObjectId, Repository
from forge.git.objects.object_store import Objects
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.objects.trees import encode, rewrite
from forge.git.search import segments, texts
from forge.git.search.query import Query
from forge.git.search.results import SearchOutcome, search
from forge.git.values import EMPTY_TREE, Entry, ObjectKind

Lines = dict[str, list[int]]
"""Numbers of the matching lines by path."""


def new_objects(path: Path) -> Objects:
    return Repository.init(path, bare=True).objects


def tree_of(objects: Objects, files: Mapping[str, bytes], *, base: ObjectId = EMPTY_TREE) -> ObjectId:
    """A tree with `files`, whatever their names, on top of `base`."""
    new: NewObjects = {object_id(ObjectKind.BLOB, data): RawObject(ObjectKind.BLOB, data) for data in files.values()}
    changes = {path: Entry(Mode.FILE, object_id(ObjectKind.BLOB, data)) for path, data in files.items()}
    tree, made = rewrite(objects.raw_tree, base, changes)
    with objects.writing({**new, **made}):
        return tree


def lines_of(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    return [line.removesuffix(b"\r") for line in lines] + ([last] if last else [])


def matching_lines(files: Mapping[str, bytes], pattern: bytes, flags: int = 0) -> Lines:
    """Every line of every text file in which `re` finds the pattern, in git's order."""
    compiled = re.compile(pattern, flags)
    found: Lines = {}
    for path in sorted(files, key=encode):
        if b"\0" not in files[path][:8000]:
            numbers = [n for n, line in enumerate(lines_of(files[path]), 1) if compiled.search(line)]
            if numbers:
                found[path] = numbers
    return found


def numbers(found: SearchOutcome) -> Lines:
    paths = [file.path for file in found.files]
    assert len(set(paths)) == len(paths)
    assert paths == sorted(paths, key=encode)
    return {file.path: [match.line for match in file.matches] for file in found.files}


def found_in(objects: Objects, tree: ObjectId, query: Query) -> Lines:
    found = search(objects, tree, query).collected()
    assert found.truncated is None
    return numbers(found)


@contextmanager
def cold() -> Iterator[None]:
    """Searches inside the block ask git, whatever is cached."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts, "_FEW", -(10**9))
        yield


@contextmanager
def signed() -> Iterator[None]:
    """Inside the block signatures are written and asked, however few the files are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_SIGNED_FROM", 1)
        patch.setattr(texts, "_COMMON", 0)
        yield
