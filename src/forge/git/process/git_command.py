"""Runs git itself, for what it does better than libgit2. Callers pass lists, never shell lines."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from forge.git.errors import GitFailed

# Variables by which a surrounding git (a hook, an alias) would redirect ours to another repository.
_REDIRECTING = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_EXTERNAL_DIFF",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
)
# No helper program that the repository's configuration names may start on its own.
_QUIET = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.quotePath=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
)


_PREFIX = re.compile(r"^(?:fatal|error|warning|hint): ")
_OBJECT = re.compile(r"[0-9a-f]{40}")
_DAMAGE = re.compile(
    r"bad object|bad tree object|missing (?:blob|tree|commit|object)|unable to read|unable to unpack|corrupt|inflate"
    r"|could not (?:read|parse)|failed to traverse|object file .* is empty|not a valid object|hash mismatch"
    r"|revision walk",
    re.IGNORECASE,
)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which Forge runs git: in English, without prompts, bound to no other repository."""
    env = {key: value for key, value in os.environ.items() if key not in _REDIRECTING}
    env |= {
        "LC_ALL": "C.UTF-8",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_PAGER": "cat",
    }
    return env | dict(extra or {})


def arguments(git_dir: Path, args: Sequence[str], *, work_tree: Path | None = None) -> list[str]:
    """The whole command line for git on the repository at `git_dir`."""
    place = [f"--git-dir={git_dir}"]
    if work_tree is not None:
        place.append(f"--work-tree={work_tree}")
    return ["git", *place, *_QUIET, *args]


class Git:
    """git bound to one repository."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir

    def run(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: Sequence[int] = (0,),
        env: Mapping[str, str] | None = None,
        work_tree: Path | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run to the end; an exit code outside `ok` raises `GitFailed`."""
        command = arguments(self.git_dir, args, work_tree=work_tree)
        try:
            done = subprocess.run(
                command,
                input=stdin,
                capture_output=True,
                env=environment(env),
                cwd=work_tree or self.git_dir,
                check=False,
            )
        except OSError as e:
            raise not_runnable(e) from e
        if done.returncode not in ok:
            raise _failed(args, done.returncode, done.stderr)
        return done

    def text(self, *args: str, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> str:
        return self.run(*args, stdin=stdin, ok=ok).stdout.decode("utf-8", "surrogateescape")

    @contextmanager
    def stream(self, *args: str, ok: Sequence[int] = (0,)) -> Iterator[IO[bytes]]:
        """Standard output while git is still writing it. Leaving early ends git."""
        # Complaints go to a file: nobody reads them until git has ended, and it must never wait for that.
        with tempfile.TemporaryFile() as complaints, self._started(args, complaints) as process:
            assert process.stdout is not None
            try:
                yield process.stdout
                ended = process.stdout.read(1) == b""
            except BaseException:
                process.kill()
                raise
            if not ended:
                process.kill()
            elif process.wait() not in ok:
                complaints.seek(0)
                raise _failed(args, process.returncode, complaints.read())

    def _started(self, args: Sequence[str], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                arguments(self.git_dir, args),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=environment(),
                cwd=self.git_dir,
            )
        except OSError as e:
            raise not_runnable(e) from e


def _failed(args: Sequence[str], code: int, stderr: bytes) -> GitFailed:
    """Translate git's error output into one sentence about the repository."""
    lines = [_PREFIX.sub("", line) for line in stderr.decode("utf-8", "replace").strip().splitlines()]
    if any(_DAMAGE.search(line) for line in lines):
        lost = next((found[0] for line in lines if (found := _OBJECT.search(line))), "")
        what = f"object {lost} is missing or damaged" if lost else "an object is missing or damaged"
        hint = "`git fsck --full` tells what it was part of; fetch it from a remote or copy it from another clone."
        return GitFailed(f"The repository cannot be read in full: {what}.", hint=hint)
    said = " ".join(lines[-2:]) or f"exit code {code}"
    return GitFailed(f"git {args[0]} failed: {said}", hint="Run `forge doctor` to check the repository.")


def not_runnable(error: OSError) -> GitFailed:
    # Without its working directory a program is not found either.
    if isinstance(error, FileNotFoundError) and error.filename == "git":
        return GitFailed("There is no git on PATH.", hint="Install git 2.38 or newer, then try again.")
    return GitFailed(f"git could not be started: {error}", hint="Install git and make sure it is on PATH.")
