"""The proposal: what a setup would run, which hosts it may reach, and the two hashes that follow from it.

The *hash* covers everything that a person approves: commands, hosts, variables, services, and the files of the branch
that the commands execute. The *key* covers what the result depends on: lock files, the commands, the system.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from forge.environment.image import Image

FORMAT = 1
"""Of layers. Another number makes every layer anew."""
SOURCE = "/source"
"""Where commands see the files of the branch."""
PLACE = "/env"
"""Where commands see the layer."""
VENV = f"{PLACE}/venv"
SCRATCH = f"{PLACE}/scratch"
"""On disk, for setups only: gone when the layer is done."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """An interpreter of this machine."""

    name: str
    version: str
    executable: Path
    prefix: Path
    """What of the machine it needs; visible to commands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one package manager is to set up."""

    manager: str
    because: tuple[str, ...]
    """Files of the branch that show it."""
    commands: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Digests of what the result depends on, by name."""
    executed: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files of the branch that the commands run, by path."""
    runtime: Runtime | None = None
    path: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """For the setup and for later commands."""
    setup_variables: Mapping[str, str] = field(default_factory=dict)
    """For the setup alone, such as the address of a package index."""
    untried: bool = False
    """Forge reads such projects, but nobody has tried it."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the environment of a branch would be made of."""

    origin: str
    """`files`, `.forge/environment.yaml`, `person` or `none`."""
    needs: tuple[Need, ...] = ()
    commands: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    caches: tuple[str, ...] = ()
    test_command: str = ""
    system: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    image: Image | None = None
    """What the system of commands is, where it is not that of this machine."""

    @property
    def is_empty(self) -> bool:
        return not self.commands and not self.services and not self.variables and self.image is None

    @property
    def hash(self) -> str:
        return digest(self.approved_content)

    @property
    def key(self) -> str:
        """Equal keys share one layer."""
        content = {
            "format": FORMAT,
            "commands": self.commands,
            "variables": dict(self.variables),
            "setup_variables": self.setup_variables,
            "inputs": {**self.inputs, **{name: each for need in self.needs for name, each in need.inputs.items()}},
            "runtimes": [
                [need.runtime.name, need.runtime.version, str(need.runtime.prefix)]
                for need in self.needs
                if need.runtime
            ],
            "executed": self.executed,
            "system": self.system,
            **({"image": self.image.id} if self.image else {}),
        }
        return sha256(canonical(content)).hexdigest()[:24]

    @property
    def approved_content(self) -> dict[str, object]:
        return {
            "commands": self.commands,
            "hosts": self.hosts,
            "services": self.services,
            "variables": dict(self.variables),
            "setup_variables": self.setup_variables,
            "caches": self.caches,
            "test_command": self.test_command,
            "executed": self.executed,
            **({"image": [self.image.name, self.image.id]} if self.image else {}),
        }

    @property
    def executed(self) -> dict[str, str]:
        return {path: each for need in self.needs for path, each in need.executed.items()}

    @property
    def setup_variables(self) -> dict[str, str]:
        return {name: value for need in self.needs for name, value in need.setup_variables.items()}

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each for need in self.needs for each in need.path))

    @property
    def runtimes(self) -> tuple[Runtime, ...]:
        return tuple(dict.fromkeys(need.runtime for need in self.needs if need.runtime))

    @property
    def untried(self) -> tuple[str, ...]:
        return tuple(need.manager for need in self.needs if need.untried)


def canonical(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, default=list).encode("utf-8", "surrogatepass")


def digest(content: object) -> str:
    data = content if isinstance(content, bytes) else canonical(content)
    return f"sha256:{sha256(data).hexdigest()}"
