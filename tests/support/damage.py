"""A repository with a branch for each kind of damage among good ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

DAMAGED = ("commit-gone", "tree-gone", "blob-gone", "torn")
GOOD = ("good", "main", "zebra")


def damage(place: Path) -> None:
    """`place` has `a.txt` on main. Each branch that follows lost one object of its own, or its file."""
    _git(place, "branch", "good")
    _git(place, "branch", "zebra")
    for name in DAMAGED[:3]:
        _git(place, "switch", "--quiet", "-c", name, "main")
        (place / "sub").mkdir(exist_ok=True)
        (place / "sub" / f"{name}.txt").write_text(f"hello from {name}\n")
        _git(place, "add", "-A")
        _git(place, "commit", "--quiet", "-m", f"hello {name}")
    lost = {"commit-gone": "commit-gone", "tree-gone": "tree-gone^{tree}", "blob-gone": "blob-gone:sub/blob-gone.txt"}
    ids = [_git(place, "rev-parse", rev) for rev in lost.values()]
    _git(place, "switch", "--quiet", "--force", "main")
    for oid in ids:
        (place / ".git/objects" / oid[:2] / oid[2:]).unlink()
    (place / ".git/refs/heads/torn").write_text("")


def _git(place: Path, *words: str) -> str:
    who = ["-c", "user.name=Ada Example", "-c", "user.email=ada@example.org"]
    return subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True, text=True).stdout.strip()
