"""Where figures about open-source components are asked for: base addresses, handed in as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Ecosystem = Literal["python", "npm"]
_PIP, _NPM = ("PIP_INDEX_URL",), ("npm_config_registry", "NPM_CONFIG_REGISTRY")


@dataclass(frozen=True, slots=True)
class Registries:
    """An empty address is never asked; what only it could tell is unknown then. Addresses may hold credentials, so
    they are never shown.
    """

    python: str = field(default="", repr=False)
    """Answers `<base>/pypi/<name>/json`."""
    npm: str = field(default="", repr=False)
    """Answers `<base>/<name>`."""
    python_downloads: str = field(default="", repr=False)
    """Answers `<base>/packages/<name>/recent`."""
    npm_downloads: str = field(default="", repr=False)
    """Answers `<base>/downloads/point/last-week/<name>`."""
    code_host: str = field(default="", repr=False)
    """As projects link to it: `<base>/<owner>/<name>`."""
    code_host_api: str = field(default="", repr=False)
    """Answers `<base>/repos/<owner>/<name>`."""

    def or_environment(self, environ: Mapping[str, str]) -> Registries:
        """What is not set, from the person's own configuration of pip and npm."""
        return replace(
            self,
            python=self.python or _base_of_index(_first(environ, _PIP)),
            npm=self.npm or _first(environ, _NPM),
        )

    @property
    def addresses(self) -> tuple[str, ...]:
        """Those that are asked."""
        asked = (self.python, self.npm, self.python_downloads, self.npm_downloads, self.code_host_api)
        return tuple(filter(None, asked))

    @property
    def any(self) -> bool:
        return bool(self.python or self.npm)


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := environ.get(name, "").strip())), "")


def _base_of_index(address: str) -> str:
    """An index names its list of packages; documents about single packages stand beside it."""
    return address.rstrip("/").removesuffix("/simple").removesuffix("/+simple")
