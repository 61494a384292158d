"""Repositories to measure on: source-like files in nested folders, and long histories, made by git fast-import."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}
MORE_SIZES = {"20k": 20_000}
"""For figures that ask for them by name."""
_WORDS = [
    "account address balance branch buffer cache client commit config context cursor customer delta digest driver",
    "engine entry event field filter format frame gateway graph handle header index invoice journal ledger limit",
    "listener loader locale manifest message method metric module object order packet parser payload payment policy",
    "price product profile queue range record region report request response result route sample schema scope",
    "session shard signal source stage stream symbol table target ticket token topic trace vector version window",
]
_VOCABULARY = " ".join(_WORDS).split()
RARE = "quicksilver_ratchet"
"""A word that stands in three files of every world."""


class World:
    """One generated repository with `count` files on main."""

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.count = (SIZES | MORE_SIZES)[name]
        made = root / f"made-{name}"
        if not (made / "whole").exists():
            shutil.rmtree(made, ignore_errors=True)
            _make(made, self.count)
        self.path = root / f"files-{name}"
        self.scratch = root / f"scratch-{name}"
        for place in (self.path, self.scratch):
            shutil.rmtree(place, ignore_errors=True)
        # A fresh copy for each benchmark; packs never change and can be shared.
        shutil.copytree(made, self.path, copy_function=os.link)
        for file in (self.path / ".git").iterdir():
            _unshare(file)
        self.scratch.mkdir(parents=True)

    def git(self, *args: str, cwd: Path | None = None, stdin: bytes | None = None) -> bytes:
        done = subprocess.run(["git", *args], cwd=cwd or self.path, input=stdin, capture_output=True, check=True)
        return done.stdout

    def worktree(self, name: str, branch: str = "main") -> Path:
        place = self.scratch / name
        self.git("worktree", "add", "-q", "-f", "-b", f"worktree/{name}", str(place), branch)
        return place


def _unshare(file: Path) -> None:
    """git rewrites a few files in place; those must not be links to the original."""
    if file.is_file():
        data = file.read_bytes()
        file.unlink()
        file.write_bytes(data)


def path_of(n: int, count: int) -> str:
    """Folders of about 40 files, two or three levels down."""
    folder = n // 40
    return f"src/area{folder % 25:02d}/part{folder // 25:03d}/{_VOCABULARY[n % len(_VOCABULARY)]}_{n % count:06d}.py"


def _make(path: Path, count: int) -> None:
    path.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    for key, value in {"user.name": "Bench", "user.email": "bench@localhost", "gc.auto": "0"}.items():
        subprocess.run(["git", "-C", str(path), "config", key, value], check=True)
    _import(path, _files(count))
    subprocess.run(["git", "-C", str(path), "repack", "-adq"], check=True)
    (path / "whole").touch()


def _import(path: Path, stream: Iterator[bytes]) -> None:
    with subprocess.Popen(["git", "-C", str(path), "fast-import", "--quiet"], stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.writelines(stream)
        process.stdin.close()
        if process.wait():
            raise RuntimeError("git fast-import failed")


def _files(count: int) -> Iterator[bytes]:
    chance = random.Random(count)
    yield b"commit refs/heads/main\ncommitter Bench <bench@localhost> 1700000000 +0000\ndata 5\nfiles\n"
    for n in range(count):
        data = _source(chance, n, rare=n % (count // 3) == 7).encode()
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (path_of(n, count).encode(), len(data), data)


def _source(chance: random.Random, n: int, *, rare: bool) -> str:
    word = chance.choice
    lines = [f'"""Module {n}: the {word(_VOCABULARY)} of the {word(_VOCABULARY)}."""', ""]
    for _ in range(chance.randint(5, 14)):
        name = f"{word(_VOCABULARY)}_{word(_VOCABULARY)}"
        lines += [
            f"def {name}({word(_VOCABULARY)}: int, {word(_VOCABULARY)}_{n % 97}: str) -> str:",
            f'    """Give the {word(_VOCABULARY)} {word(_VOCABULARY)} of each {word(_VOCABULARY)}."""',
            f"    {word(_VOCABULARY)} = {chance.randint(0, 9999)} + len({word(_VOCABULARY)!r})",
            f"    return f'{{{word(_VOCABULARY)}}}:{word(_VOCABULARY)}'",
            "",
        ]
    if rare:
        lines.append(f"{RARE} = True")
    return "\n".join(lines) + "\n"


def long_history(root: Path, commits: int = 140_000) -> Path:
    """A repository with one file, `commits` commits and a merge every few of them."""
    path = root / f"history-{commits}"
    if not (path / "made").exists():
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
        _import(path, _history(commits))
        subprocess.run(["git", "-C", str(path), "repack", "-adq"], check=True)
        (path / "made").touch()
    return path


def _history(commits: int) -> Iterator[bytes]:
    tips = {b"main": 0}
    chance = random.Random(7)
    for mark in range(1, commits + 1):
        branch = b"main" if mark % 3 else b"side%d" % (mark % 60)
        who = b"Bench <bench@localhost> %d +0000" % (1_500_000_000 + mark * 60)
        text = b"Change %d" % mark
        yield b"commit refs/heads/%s\nmark :%d\ncommitter %s\ndata %d\n%s\n" % (branch, mark, who, len(text), text)
        parent = tips.get(branch) or tips[b"main"]
        if parent:
            yield b"from :%d\n" % parent
        if branch == b"main" and chance.random() < 0.2:
            side = chance.choice([t for t in tips if t != b"main"] or [b"main"])
            if side != b"main" and tips[side] != parent:
                yield b"merge :%d\n" % tips[side]
        data = b"%d\n" % mark
        yield b"M 100644 inline file.txt\ndata %d\n%s\n" % (len(data), data)
        tips[branch] = mark
