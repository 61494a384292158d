"""The settings in force for a repository: the person's own file and environment, and what the repository may set."""

from __future__ import annotations

from collections.abc import Mapping

from forge.errors import ForgeError
from forge.git import Repository
from forge.settings import Settings, load

_FILE = ".forge/config.yaml"


def load_settings(repo: Repository | None, environ: Mapping[str, str]) -> Settings:
    """Without a repository, or with an empty one, only what the person has set."""
    return load(environ, repository=_repository_text(repo) if repo is not None else None)


def _repository_text(repo: Repository) -> str | None:
    try:
        files = repo.commit_vfs("HEAD")
        return files.read_file(_FILE) if files.file_exists(_FILE) else None
    except ForgeError:  # no commit yet, or a file that is no text: nothing that could be taken from it
        return None
