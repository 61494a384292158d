"""A repository as context is made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from forge.context.source import Source
from forge.context.summary_cache import SummaryCache
from forge.git import Repository
from forge.sessions.redaction import Redactor
from tests.conftest import MakeRepo

OpenRepo = Callable[..., Repository]


@pytest.fixture
def opened(make_repo: MakeRepo) -> OpenRepo:
    def make(files: Mapping[str, str | bytes], **options: object) -> Repository:
        return Repository.open(make_repo(files, **options))  # type: ignore[arg-type]

    return make


@pytest.fixture
def cache(tmp_path: Path) -> SummaryCache:
    return SummaryCache(tmp_path / "summaries")


def source_of(repository: Repository, folder: Path | None = None) -> Source:
    place = folder or repository.common_dir / "forge" / "summaries"
    return Source(repository.objects, SummaryCache(place), Redactor().text)
