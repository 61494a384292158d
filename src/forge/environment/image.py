"""Container images as the base of environments: found by podman or docker, which must be installed and have them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from forge.environment.errors import EnvironmentInvalid, ImageMissing

NONE = "none"
"""Said of a repository: the system of this machine is the base, whatever the settings name."""
_NAME = re.compile(r"[a-z0-9][\w./:@-]{0,254}", re.IGNORECASE | re.ASCII)
_ENGINES = ("podman", "docker")
_SECONDS = 30
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NOT_TAKEN = ("HOME", "USER", "TMPDIR", "TERM", "LD_PRELOAD", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image on this machine. Its `id` is the hash of its content."""

    name: str
    id: str
    engine: str
    path: str = _PATH
    """Where its programs are, as it says itself."""
    variables: Mapping[str, str]


@dataclass(frozen=True)
class ImageEngine:
    """podman or docker, whichever is installed. It is asked what is there; it is never asked to fetch anything."""

    environ: Mapping[str, str]

    @property
    def name(self) -> str:
        return next((name for name in _ENGINES if shutil.which(name, path=self.environ.get("PATH"))), "")

    def find(self, name: str) -> Image:
        """Raises `ImageMissing` with what to do."""
        if not _NAME.fullmatch(name):
            raise EnvironmentInvalid(f"{name[:80]!r} is no name of an image.", hint="Name it like `python:3.12-slim`.")
        engine = self.name
        if not engine:
            raise ImageMissing(
                f"The image {name} cannot be used: neither podman nor docker is installed.",
                hint="Install podman, or leave out `image`: the system of this machine is the base then.",
            )
        done = self._ask(engine, "image", "inspect", name)
        if done.returncode != 0:
            raise ImageMissing(
                f"{engine} has no image {name}: {_last_line(done.stderr)}",
                hint=f"Get it with `{engine} pull {name}`. Forge fetches no images.",
            )
        try:
            found = json.loads(done.stdout)[0]
            told = dict(each.partition("=")[::2] for each in (found.get("Config") or {}).get("Env") or ())
            id_ = str(found["Id"]).removeprefix("sha256:")
        except (ValueError, LookupError, TypeError, AttributeError) as e:
            raise ImageMissing(
                f"{engine} does not describe the image {name}.", hint=f"Run `{engine} image inspect`."
            ) from e
        if not re.fullmatch(r"[0-9a-f]{64}", id_):
            raise ImageMissing(f"{engine} gives no id for the image {name}.", hint=f"Run `{engine} image inspect`.")
        path = told.pop("PATH", "") or _PATH
        variables = {key: value for key, value in told.items() if key not in _NOT_TAKEN and "\0" not in value}
        return Image(name=name, id=id_, engine=engine, path=path, variables=variables)

    @contextmanager
    def exported(self, image: Image) -> Iterator[IO[bytes]]:
        """The files of an image as one tar stream. Nothing of the image runs."""
        made = self._ask(image.engine, "create", image.id, "/bin/true")
        container = made.stdout.decode("utf-8", "replace").strip()
        if made.returncode != 0 or not container:
            raise ImageMissing(
                f"{image.engine} could not open the image {image.name}: {_last_line(made.stderr)}",
                hint=f"Try `{image.engine} create {image.name}`.",
            )
        try:
            with self._started(image.engine, "export", container) as export:
                assert export.stdout is not None
                try:
                    yield export.stdout
                finally:
                    export.kill()  # podman waits for ever where nobody reads what it exports
        finally:
            self._ask(image.engine, "rm", "--force", container)

    def _ask(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                words,
                capture_output=True,
                env=dict(self.environ),
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as e:
            raise ImageMissing(f"{words[0]} does not answer: {e}.", hint=f"Try `{words[0]} info`.") from e

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            env=dict(self.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


def checked_root(root: Path) -> None:
    """Refuse what no command could run in."""
    if not (root / "bin/sh").exists() and not (root / "usr/bin/sh").exists():
        raise ImageMissing(
            "The image has no shell (/bin/sh).", hint="Choose an image with a shell, such as a `-slim` one."
        )


def _last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("Error: ")[:300] if lines else "it gave no reason"
