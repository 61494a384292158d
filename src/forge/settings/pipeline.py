"""Settings of the way from a brain dump to a deliverable: thresholds, guards, limits and the places of its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from forge.settings.section import Section


class Polish(Section):
    """When polishing ends, and what its guards take for a sign that it goes wrong."""

    critical_max: int = Field(default=0, ge=0)
    medium_max: int = Field(default=3, ge=0)
    minor_max: int = Field(default=5, ge=0)
    max_iterations: int = Field(default=50, ge=1)
    stagnation_limit: int = Field(default=3, ge=2)
    retry_malformed_output: int = Field(default=2, ge=0)
    hallucination_rise: float = Field(default=0.2, ge=0)
    hallucination_falling: int = Field(default=2, ge=1)
    fabrication_rise: float = Field(default=0.5, ge=0)
    fabrication_least: int = Field(default=2, ge=1)
    fabrication_window: int = Field(default=3, ge=1)
    near_factor: float = Field(default=2, ge=1)
    rotation_share: float = Field(default=0.7, ge=0, le=1)
    similarity: float = Field(default=0.8, ge=0, le=1)


class Concurrency(Section):
    max_parallel_runs: int = Field(default=3, ge=1)


class Resource(Section):
    max_file_size_mb: int = Field(default=50, ge=1)


class BrainDump(Section):
    min_word_count: int = Field(default=10, ge=0)


class Explore(Section):
    """The explorer: helps to find out what the problem is before a brain dump is distilled."""

    risk_line: float = Field(default=1.5, gt=0, le=6)
    answer_chat: bool = True


class Phase3Completeness(Section):
    plan_min_chars: int = Field(default=100, ge=0)
    code_require_tests: bool = True


class Contracts(Section):
    """How long an agent may write at one contract."""

    max_turns: int = Field(default=12, ge=1, le=100)
    turns: Mapping[str, Annotated[int, Field(ge=1, le=100)]] = {}
    """By the name of a contract, where it differs."""
    output_tokens: int = Field(default=16_384, ge=1_024)


class PluginPlace(Section):
    directory: Path = Path("plugins")


class PromptPlace(Section):
    directory: Path = Path("prompts")


class Registries(Section):
    """Where figures about open-source components are asked for. Empty: pip's and npm's own settings, else nowhere."""

    python: str = ""
    npm: str = ""
    python_downloads: str = ""
    npm_downloads: str = ""
    code_host: str = ""
    code_host_api: str = ""


class Records(Section):
    keep_days: float | None = Field(default=90.0, gt=0, le=36_500)


class Environments(Section):
    disk_gb: int = Field(default=20, ge=1, le=10_000)
    setup_minutes: float = Field(default=15.0, gt=0, le=600)
    image: str = ""


class Server(Section):
    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=3000, ge=0, le=65535)
    allowed_hosts: tuple[str, ...] = ()
    max_connections: int = Field(default=1000, ge=16, le=100_000)
    max_connections_per_address: int = Field(default=64, ge=8, le=100_000)
    max_header_kb: int = Field(default=64, ge=8, le=1024)
    max_headers: int = Field(default=100, ge=32, le=1000)
    header_seconds: float = Field(default=10.0, ge=0.1, le=300)
