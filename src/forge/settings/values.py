"""What can be set: one frozen model, whose defaults are the ones that `default.yaml` shows and explains."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator

from forge.settings import plugin_sections
from forge.settings.agents import Agents
from forge.settings.pipeline import (
    BrainDump,
    Concurrency,
    Contracts,
    Environments,
    Explore,
    Phase3Completeness,
    PluginPlace,
    Polish,
    PromptPlace,
    Records,
    Registries,
    Resource,
    Server,
)
from forge.settings.plugin_sections import Notifications, Sections
from forge.settings.secrets import logins
from forge.settings.section import Section

PROVIDERS = ("anthropic", "openai", "openrouter", "google", "ollama", "openai-compatible")
"""Providers that need no base URL of their own, except the last one, which has no place it could stand for."""
WORKSPACE = "~/Documents/forge-workspace"


class Models(Section):
    """Who answers, by role. A role without a name takes `default`; without that, the best that is there is found."""

    default: str | None = None
    chat: str | None = None
    explorer: str | None = None
    router: str | None = None
    planner: str | None = None
    writer: str | None = None
    builder: str | None = None
    fixer: str | None = None
    reviewer: str | None = None
    scout: str | None = None

    def named(self, role: str) -> str | None:
        """Only for roles that there are: a slip of the pen is no role without a name."""
        chosen: str | None = getattr(self, role)
        return chosen or self.default


MODEL_ROLES = tuple(name for name in Models.model_fields if name != "default")


class Provider(Section):
    base_url: str | None = None
    model: str | None = None
    """Taken when this provider is found by itself."""
    context_window: int | None = Field(default=None, ge=1_000)
    api: Literal["auto", "chat", "responses"] = "auto"
    """OpenAI only: `auto` speaks the Responses API with OpenAI itself and chat completions with everybody else."""
    key_variable: str | None = None

    @field_validator("base_url")
    @classmethod
    def _is_web_address(cls, value: str | None) -> str | None:
        if value is not None and not (value.startswith(("http://", "https://")) and urlsplit(value).hostname):
            raise ValueError("must be an address that starts with http:// or https://")
        return value.rstrip("/") if value else value


class CostLimits(Section):
    """US dollars and counts; null means no limit."""

    turn_usd: float | None = Field(default=5.0, ge=0)
    session_usd: float | None = Field(default=50.0, ge=0)
    day_usd: float | None = Field(default=100.0, ge=0)
    requests_per_turn: int | None = Field(default=200, ge=1)
    output_tokens: int | None = Field(default=None, ge=256)
    file_mb: int | None = Field(default=50, ge=1)
    """A larger file is saved only when a person says so."""


RetryKind = Literal["rate_limit", "overloaded", "server_error", "network", "timeout", "cut_off", "empty"]


class Retries(Section):
    """How often a request is made again, by what went wrong."""

    rate_limit: int = Field(default=6, ge=0, le=100)
    overloaded: int = Field(default=6, ge=0, le=100)
    server_error: int = Field(default=4, ge=0, le=100)
    network: int = Field(default=4, ge=0, le=100)
    timeout: int = Field(default=2, ge=0, le=100)
    cut_off: int = Field(default=3, ge=0, le=100)
    empty: int = Field(default=1, ge=0, le=100)

    def of(self, kind: RetryKind) -> int:
        most: int = getattr(self, kind)
        return most


class Network(Section):
    connect_seconds: float = Field(default=10.0, gt=0)
    idle_seconds: float = Field(default=120.0, gt=0)
    retry_seconds: float = Field(default=180.0, ge=0)
    retries: Retries = Retries()


class Context(Section):
    exclude: tuple[str, ...] = ()
    overview_tokens: int | None = Field(default=None, ge=0)
    file_tokens: int | None = Field(default=None, ge=0)
    """None: by the size of the model's window."""
    compact_at: float = Field(default=0.8, gt=0.1, le=0.95)


class Settings(Section):
    """Everything that was set, and where it came from."""

    models: Models = Models()
    providers: Mapping[str, Provider] = {}
    agents: Agents = Agents()
    limits: CostLimits = CostLimits()
    network: Network = Network()
    context: Context = Context()
    sessions: Literal["tree", "side-ref"] = "tree"
    merged_sessions: Literal["keep", "squash", "drop"] = "squash"
    database: SecretStr | None = None
    """None is a SQLite file in `data_dir`. Secret because such addresses carry passwords."""
    data_dir: Path = Field(default_factory=lambda: platformdirs.user_data_path("forge", appauthor=False))
    workspace: Path = Field(default_factory=lambda: Path(WORKSPACE).expanduser())
    """Holds `projects/`."""
    polish: Polish = Polish()
    concurrency: Concurrency = Concurrency()
    brain_dump: BrainDump = BrainDump()
    explore: Explore = Explore()
    resource: Resource = Resource()
    phase3_completeness: Phase3Completeness = Phase3Completeness()
    contracts: Contracts = Contracts()
    notifications: Notifications = Notifications()
    connectors: Sections = plugin_sections.sections(plugin_sections.CONNECTORS)
    boards: Sections = plugin_sections.sections(plugin_sections.BOARDS)
    plugins: PluginPlace = PluginPlace()
    prompts: PromptPlace = PromptPlace()
    registries: Registries = Registries()
    server: Server = Server()
    environments: Environments = Environments()
    records: Records = Records()
    keys: Mapping[str, SecretStr] = {}

    # Not in any file: what the loader found out.
    path: Path | None = None
    origins: Mapping[str, str] = Field(default={}, repr=False)
    warnings: tuple[str, ...] = ()

    def origin(self, name: str) -> str:
        """Where the value of a dotted name came from: `default`, or a file or variable by name."""
        return self.origins.get(name, "default")

    def provider(self, name: str) -> Provider:
        return self.providers.get(name, Provider())

    @property
    def plugins_directory(self) -> Path:
        return self._beside_the_file(self.plugins.directory)

    @property
    def prompts_directory(self) -> Path:
        return self._beside_the_file(self.prompts.directory)

    def secret_values(self) -> tuple[str, ...]:
        """Every secret that was set, for whoever has to take them out of a text."""
        groups = (self.notifications.channels, self.connectors, self.boards)
        held = [section.text(key) for group in groups for section in group.values() for key in section.secrets()]
        held += [key.get_secret_value() for key in self.keys.values()]
        if self.database is not None:
            held.append(urlsplit(self.database.get_secret_value()).password or "")
        held += [
            login for name in Settings.model_fields if name not in DERIVED for login in logins(getattr(self, name))
        ]
        return tuple(dict.fromkeys(value for value in held if value))

    def _beside_the_file(self, directory: Path) -> Path:
        base = self.path.parent if self.path is not None else platformdirs.user_config_path("forge", appauthor=False)
        return base / directory.expanduser()

    @field_validator("connectors", "boards", mode="before")
    @classmethod
    def _over_the_defaults(cls, given: object, info: ValidationInfo) -> object:
        return plugin_sections.over(
            plugin_sections.CONNECTORS if info.field_name == "connectors" else plugin_sections.BOARDS, given
        )

    @model_validator(mode="after")
    def _own_endpoints_have_an_address(self) -> Settings:
        for name, provider in self.providers.items():
            if name in {"builtin", "recorded"} or ":" in name or not name:
                raise ValueError(f"providers.{name}: this name is taken")
            if name not in PROVIDERS and provider.base_url is None:
                raise ValueError(f"providers.{name}: an endpoint of your own needs a base_url")
        return self


DERIVED = frozenset({"path", "origins", "warnings"})
