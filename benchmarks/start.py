"""How long the command line takes to answer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure, Row, compare


def starting() -> Iterator[Row | Figure]:
    forge = Path(sys.executable).with_name("forge")

    def ours(_: int) -> None:
        subprocess.run([forge, "--help"], capture_output=True, check=True)

    def theirs(_: int) -> None:
        subprocess.run(["git", "--help"], capture_output=True, check=True)

    row = compare("forge --help", "`git --help`", "", ours, theirs, rounds=9)
    yield row
    yield Figure("forge --help", "", row.ours * 1000, "ms", 200)
