"""A small system of its own: a shell and a few programs of this machine with their libraries, in one folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

PROGRAMS = ("sh", "cat", "ls", "id", "env", "mkdir", "rm", "touch", "sleep", "seq")
MARK = "made for a test"


def make_system(root: Path, *, mark: str = MARK) -> Path:
    """The root of a file system that knows `PROGRAMS` and nothing else."""
    for folder in ("bin", "etc", "root", "var/lib", "var/tmp", "dev", "proc", "tmp"):
        (root / folder).mkdir(parents=True)
    for name in PROGRAMS:
        program = Path(os.path.realpath(shutil.which(name) or f"/bin/{name}"))
        shutil.copy(program, root / "bin" / name)
        told = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"(/\S+)", told):
            place = root / library.lstrip("/")
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, place)
    (root / "etc/made-of").write_text(f"{mark}\n")
    (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/:/bin/sh\n")
    (root / "bin/as-root").write_text("#!/bin/sh\nid -u\n")
    (root / "bin/as-root").chmod(0o4755)
    return root
