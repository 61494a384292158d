"""What every test shares: a home, a git identity and real repositories, none of them the developer's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

import pygit2
import pytest
from hypothesis import settings
from pygit2.enums import ConfigLevel

pytest_plugins = ["tests.distribution", "tests.requirements_report"]

# The same examples in every run, so that a failure is the change's own; HYPOTHESIS_PROFILE=explore looks for new ones.
# A failing example is printed as a blob to replay, so nothing needs to be kept on disk between runs.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, database=None)
settings.register_profile("explore", deadline=None, derandomize=False, print_blob=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# What pytest makes of a test's asserts is kept, also where Python is told to keep nothing: it takes as long as a minute
# of tests. Processes that tests start are told what this one was.
sys.dont_write_bytecode = False


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than five seconds")


GIT_CONFIG = """\
[user]
\tname = Ada Example
\temail = ada@example.org
[init]
\tdefaultBranch = main
[commit]
\tgpgSign = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""


class Git(Protocol):
    """Runs git in a directory and gives back what it printed, without the last line break."""

    def __call__(self, directory: Path, *args: str, stdin: str | None = None) -> str: ...


class MakeRepo(Protocol):
    """Creates a repository with one commit of `files` on main; no files, no commit."""

    def __call__(
        self,
        files: Mapping[str, str | bytes] = ...,
        *,
        name: str = "repo",
        executable: Collection[str] = (),
        symlinks: Mapping[str, str] = ...,
    ) -> Path: ...


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh home directory; git and libgit2 read their settings there and nowhere else."""
    return at_home(tmp_path_factory.mktemp("home"), monkeypatch)


def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (home / ".gitconfig").write_text(GIT_CONFIG)
    for variable in os.environ:
        if variable.startswith(("GIT_", "XDG_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(home))
    for kind in ("config", "data", "state", "cache"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(home / kind))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    # libgit2 looked up its search path when it was loaded, before this test had a home.
    pygit2.settings.search_path[ConfigLevel.GLOBAL] = str(home)
    for level in (ConfigLevel.XDG, ConfigLevel.SYSTEM, ConfigLevel.PROGRAMDATA):
        pygit2.settings.search_path[level] = ""
    return home


def run_git(directory: Path, *args: str, stdin: str | None = None) -> str:
    done = subprocess.run(
        ["git", *args], cwd=directory, input=stdin, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"git {' '.join(args)} gave {done.returncode} in {directory}:\n{done.stderr}")
    return done.stdout.removesuffix("\n")


@pytest.fixture
def git() -> Git:
    return run_git


@pytest.fixture
def make_repo(tmp_path: Path) -> MakeRepo:
    def make(
        files: Mapping[str, str | bytes] | None = None,
        *,
        name: str = "repo",
        executable: Collection[str] = (),
        symlinks: Mapping[str, str] | None = None,
    ) -> Path:
        directory = tmp_path / name
        run_git(tmp_path, "init", "--quiet", str(directory))
        write_files(directory, files or {}, executable=executable, symlinks=symlinks or {})
        if files or symlinks:
            run_git(directory, "add", "--all", "--force")
            run_git(directory, "commit", "--quiet", "--message", "first")
        return directory

    return make


def write_files(
    directory: Path,
    files: Mapping[str, str | bytes],
    *,
    executable: Collection[str],
    symlinks: Mapping[str, str],
) -> None:
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        target.chmod(0o755 if path in executable else 0o644)
    for path, destination in symlinks.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).symlink_to(destination)
