"""What a tool of the repository gets of the environment of its branch: an interpreter and its packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from forge.git import WorkInProgressVFS
from forge.sandbox import Mount


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLayer:
    python: str = ""
    """The interpreter of the layer; Forge's own without one."""
    packages: tuple[str, ...] = ()
    """Folders that the tool may import packages from."""
    mounts: tuple[Mount, ...] = ()
    root: Path | None = None
    """An unpacked image, where its system takes the place of this machine's."""
    variables: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Why there is no layer."""


NO_LAYER = ToolLayer()

FindLayer = Callable[[WorkInProgressVFS], AbstractContextManager[ToolLayer]]
"""The layer for the files of a branch; nobody removes it while the block runs."""


def no_layer(vfs: WorkInProgressVFS) -> AbstractContextManager[ToolLayer]:
    del vfs
    return nullcontext(NO_LAYER)
