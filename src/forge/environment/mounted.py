"""A layer as commands get it: mounts, variables, and the place where they see the branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from forge.environment.image_store import ImageStore
from forge.environment.layer_store import Layer, LayerStore
from forge.environment.made_files import CACHES_INSIDE
from forge.environment.proposal import PLACE, SOURCE, VENV
from forge.environment.runtimes import SYSTEM_PATH, runtime_mounts
from forge.environment.services import missing, served
from forge.environment.services import variables as service_variables
from forge.git import VFS
from forge.sandbox import Mount
from forge.tools.layer import ToolLayer


@dataclass(frozen=True, slots=True)
class Mounted:
    """What is added to a command. Without a layer, nothing is, and `notes` say why."""

    at: str | None = None
    root: Path | None = None
    """An unpacked image, where its system takes the place of this machine's."""
    mounts: tuple[Mount, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    made_files: tuple[str, ...] = ()
    """Files of the layer that are mounted into the branch; the sandbox leaves empty ones behind."""
    key: str = ""
    search_path: tuple[str, ...] = ()
    """The layer's own part of PATH."""

    services: tuple[str, ...] = ()
    """Started around each command."""

    def command(self, words: Sequence[str]) -> tuple[str, ...]:
        return served(self.services, words)

    def for_tools(self) -> ToolLayer:
        """Tools reach the branch through the VFS alone: nothing is mounted there. Services are not started."""
        mounts = tuple(mount for mount in self.mounts if not mount.at.startswith(f"{SOURCE}/"))
        root = next((mount.source for mount in mounts if mount.at == PLACE), None)
        found = sorted((root / "venv").glob("lib/python*/site-packages")) if root else []
        packages = tuple(f"{VENV}/{each.relative_to(root / 'venv')}" for each in found) if root else ()
        python = f"{VENV}/bin/python" if packages else ""
        served = service_variables(self.services)
        variables = {name: value for name, value in self.variables.items() if name not in served}
        return ToolLayer(
            python=python, packages=packages, mounts=mounts, root=self.root, variables=variables, notes=self.notes
        )

    def tidy(self, directory: Path) -> None:
        """Remove what the mounts left in the directory of the branch, before its changes are collected."""
        for name in self.made_files:
            with suppress(OSError):
                if (directory / name).stat().st_size == 0:
                    (directory / name).unlink()


NOTHING = Mounted()


@contextmanager
def mounted(store: LayerStore, layer: Layer, vfs: VFS, *, notes: tuple[str, ...] = ()) -> Iterator[Mounted]:
    """The layer, until the block ends: nobody removes it meanwhile."""
    images = ImageStore(store.root)
    with store.in_use(layer), images.in_use(layer.image) if layer.image else nullcontext():
        root = images.root(layer.image) if layer.image else None
        if layer.image and root is None:
            yield Mounted(
                notes=("without its environment: its image is gone. Run `forge env clear`, then `forge env setup`",)
            )
            return
        mounts = [Mount(PLACE, layer.root), *runtime_mounts(layer.runtimes)]
        files = []
        for path, place in layer.made.items():
            made = layer.path / "made" / place
            if vfs.entry(path) is not None or made.is_symlink() or not made.exists():
                continue
            mounts.append(Mount(f"{SOURCE}/{path}", made))
            if made.is_file():
                files.append(path)
            elif path.rpartition("/")[2] == "node_modules":
                mounts += [Mount(f"{SOURCE}/{path}/{name}", None) for name in CACHES_INSIDE]
        variables = {**layer.variables, "PATH": ":".join((*layer.search_path, layer.system_path or SYSTEM_PATH))}
        absent = missing(layer.services, root)
        where = "in the image" if root else "on this machine"
        services = tuple(name for name in layer.services if name not in absent)
        yield Mounted(
            at=SOURCE,
            root=root,
            mounts=tuple(mounts),
            variables={**service_variables(services), **variables},
            notes=(*notes, *(f"{name} is not installed {where} and was not started" for name in absent)),
            made_files=tuple(files),
            key=layer.key,
            search_path=layer.search_path,
            services=services,
        )
