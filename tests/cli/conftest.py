"""The `forge` command for tests: inside the test's process where that will do, as the installed program where not."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from forge.cli.main import main

PROGRAM = Path(sys.executable).with_name("forge")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The code of the error that a program was told, which people were told too."""
        (key,) = self.document
        assert key == "error"
        told = self.document["error"]
        assert set(told) == {"code", "message", "hint"}
        assert self.err.startswith("forge: ")
        return str(told["code"])


class Forge(Protocol):
    """Runs `forge ARGS` and gives back how it ended."""

    def __call__(self, *args: str, stdin: bytes | str = b"") -> Ran: ...


def run_here(*args: str, stdin: bytes | str = b"") -> Ran:
    """In this process: quick."""
    given, out, err = io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin), io.BytesIO(), io.BytesIO()
    streams = {"stdin": given, "stdout": out, "stderr": err}
    texts = {name: io.TextIOWrapper(stream, encoding="utf-8") for name, stream in streams.items()}
    with pytest.MonkeyPatch.context() as patch:
        for name, text in texts.items():
            patch.setattr(sys, name, text)
        with pytest.raises(SystemExit) as ended:
            main([*args])
        for text in texts.values():
            text.flush()
    shown = [stream.getvalue().decode("utf-8", "surrogateescape") for stream in (out, err)]
    return Ran(int(ended.value.code or 0), *shown)


@pytest.fixture
def forge() -> Forge:
    return run_here


class Installed(Protocol):
    """Runs the installed program; output is bytes decoded with surrogates."""

    def __call__(
        self, *args: str | bytes, stdin: bytes | str = b"", cwd: Path | None = None, env: Mapping[str, str] = ...
    ) -> Ran: ...


@pytest.fixture
def installed() -> Installed:
    def run(
        *args: str | bytes,
        stdin: bytes | str = b"",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        done = subprocess.run(
            [str(PROGRAM), *args],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            check=False,
            timeout=120,
        )
        out, err = (stream.decode("utf-8", "surrogateescape") for stream in (done.stdout, done.stderr))
        return Ran(done.returncode, out, err)

    return run


@pytest.fixture
def dated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits that git makes get the same ids in every run."""
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_DATE", "2020-01-01T00:00:00Z")


def masked(text: str, *places: Path) -> str:
    """Text with what differs from run to run left out: ids, and places on this machine."""
    for place in places:
        text = text.replace(str(place), f"<{place.name}>")
    return re.sub(r"\b[0-9a-f]{7,40}\b", "<id>", text)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace of projects of its own; plans are polished once."""
    (tmp_path / "config.yaml").write_text("polish: {max_iterations: 1}\n")
    for name, place in {"DATA_DIR": "data", "CONFIG": "config.yaml", "WORKSPACE": "workspace"}.items():
        monkeypatch.setenv(f"FORGE_{name}", str(tmp_path / place))
    return tmp_path / "workspace"
