"""The code repository of a project: made where there is none yet, and described for whoever plans work on it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from forge.context.instructions import instruction_files
from forge.context.overview import Asked, overview
from forge.context.summary_cache import SummaryCache
from forge.errors import ForgeError
from forge.git import VFS, NotText, Repository
from forge.json_value import Json
from forge.tools.suites.command import command_of

_IGNORED = "__pycache__/\n*.pyc\nnode_modules/\n.venv/\ndist/\nbuild/\n"
_OVERVIEW_TOKENS, _OVERVIEW_SECONDS = 3_000, 10.0
_LONGEST = 8_000
"""Characters of one file."""
_READMES = ("README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md")
_MANIFESTS = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "requirements.txt",
    "requirements-dev.txt",
    "tox.ini",
    "package.json",
    "tsconfig.json",
    "go.mod",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "Gemfile",
    "composer.json",
    "Makefile",
)


def new_code_repository(place: Path) -> Repository:
    """An empty repository with a first commit, for code that has no home yet. It appears whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=place.parent) as made:
        repo = Repository.init(Path(made) / "repository")
        files = repo.workspace("main")
        files.write_file(".gitignore", _IGNORED)
        files.commit("Begin")
        os.rename(Path(made) / "repository", place)
    return Repository.open(place)


def is_new(vfs: VFS) -> bool:
    """Whether Forge made the repository: nobody's code was there before the work began."""
    files = vfs.list_files()
    return [*files] == [".gitignore"] and vfs.read_file(".gitignore") == _IGNORED


def repository_facts(repo: Repository, rev: str, redact: Callable[[str], str], *, command: str = "") -> Json:
    """`repository`: overview, README, instructions and manifests as one text; `test_command`: how its tests run."""
    vfs = repo.commit_vfs(rev)
    parts = [_overview(repo, rev, redact)]
    names = (*_first(vfs, _READMES), *instruction_files(vfs), *(path for path in _MANIFESTS if vfs.file_exists(path)))
    for path in dict.fromkeys(names):
        with suppress(NotText):
            parts.append(f"=== {path}\n{_cut(redact(vfs.read_file(path)))}")
    suites = command_of(repo, vfs, project=command).suites
    tests = "\n".join(f"`{suite.command}` ({suite.because})" for suite in suites)
    return {"repository": "\n\n".join(filter(None, parts)), "test_command": tests or "none found"}


def _overview(repo: Repository, rev: str, redact: Callable[[str], str]) -> str:
    cache = SummaryCache(repo.common_dir / "forge" / "summaries")
    asked = Asked(_OVERVIEW_TOKENS)
    try:
        made = overview(repo.objects, repo.commit(rev).tree, asked, cache, redact, budget_seconds=_OVERVIEW_SECONDS)
    except ForgeError as e:
        return f"Its files cannot be listed: {e.message}"
    return made.text.strip()


def _first(vfs: VFS, names: tuple[str, ...]) -> Iterator[str]:
    found = next((name for name in names if vfs.file_exists(name)), None)
    if found is not None:
        yield found


def _cut(text: str) -> str:
    text = text.rstrip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… ({len(text) - _LONGEST:,} characters more)"
