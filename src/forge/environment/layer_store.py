"""Layers on disk: one directory for each key, made aside, renamed into place, shared by all branches that need it."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from forge.environment.errors import SetupUnderWay
from forge.git.process import disk

_SCHEMA_VERSION = 1
_RECORD, _LOG, _LOCK = "layer.json", "setup.log", "lock"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What a setup made. `made` are paths of the branch that it created, with their place in the layer."""

    key: str
    path: Path
    created_at: str
    seconds: float
    size: int
    commands: tuple[str, ...]
    variables: Mapping[str, str]
    search_path: tuple[str, ...]
    runtimes: tuple[str, ...]
    """Directories of the machine that commands see: those of interpreters."""
    services: tuple[str, ...] = ()
    image: str = ""
    """The id of the image that it stands on."""
    system_path: str = ""
    """The part of PATH that is the image's own."""
    made: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    """Hosts that the setup asked for in vain."""

    @property
    def root(self) -> Path:
        return self.path / "env"

    @property
    def log(self) -> Path:
        return self.path / _LOG


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A setup that failed: what to tell, and until when it is not tried again by itself."""

    key: str
    at: str
    command: str
    reason: str
    hint: str
    lines: tuple[str, ...]
    refused: tuple[str, ...] = ()


class LayerStore:
    """Every layer of this machine and person, below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._layers = root / "layers"
        self._failures = root / "failures"

    def find(self, key: str) -> Layer | None:
        return _read(self._layers / key)

    def layers(self) -> tuple[Layer, ...]:
        """Those used latest first."""
        if not self._layers.is_dir():
            return ()
        found = [layer for path in self._layers.iterdir() if not path.name.startswith(".") and (layer := _read(path))]
        return tuple(sorted(found, key=self.last_used, reverse=True))

    def last_used(self, layer: Layer) -> float:
        with suppress(OSError):
            return (layer.path / _LOCK).stat().st_mtime
        return 0.0

    @contextmanager
    def in_use(self, layer: Layer) -> Iterator[None]:
        """While a command runs on it, nobody removes it."""
        with disk.reporting():
            descriptor = os.open(layer.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            os.utime(descriptor)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def making(self, key: str, *, wait: bool = False) -> Iterator[Path]:
        """An empty directory for the layer, while nobody else makes the same. What is left in it is removed."""
        self._layers.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._layers / f".{key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError as e:
                raise SetupUnderWay(
                    "This environment is being set up already.", hint="`forge env show` tells when it is ready."
                ) from e
            place = self._layers / f".{key}.making"
            remove(place)
            place.mkdir()
            try:
                yield place
            finally:
                remove(place)
        finally:
            os.close(descriptor)

    def is_making(self, key: str) -> bool:
        try:
            descriptor = os.open(self._layers / f".{key}.lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            return False
        finally:
            os.close(descriptor)

    def making_log(self, key: str) -> Path:
        """What the setup under way, or the last failed one, has printed."""
        return self._failures / f"{key}.log"

    def keep(self, place: Path, layer: Layer) -> Layer:
        """Put a finished layer in its place: there whole, or not at all."""
        data = {name: value for name, value in asdict(layer).items() if name != "path"}
        with disk.reporting():
            (place / _LOCK).touch()
            disk.write_synced(place / _RECORD, _json({"schema_version": _SCHEMA_VERSION, **data}))
            with suppress(FileNotFoundError):
                shutil.move(self.making_log(layer.key), place / _LOG)
            target = self._layers / layer.key
            remove(target)
            place.rename(target)
            disk.sync_directory(self._layers)
            (self._failures / f"{layer.key}.json").unlink(missing_ok=True)
        found = _read(target)
        assert found is not None
        return found

    def fail(self, failure: Failure) -> None:
        with disk.reporting():
            self._failures.mkdir(parents=True, exist_ok=True)
            disk.replace_synced(self._failures / f"{failure.key}.json", _json(asdict(failure)))

    def failure(self, key: str) -> Failure | None:
        try:
            data = json.loads((self._failures / f"{key}.json").read_bytes())
            return Failure(**{**data, "lines": tuple(data["lines"]), "refused": tuple(data["refused"])})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as e:
            _log.warning("The record of a failed setup cannot be read: %s", e)
            return None

    def forget_failure(self, key: str) -> None:
        with disk.reporting():
            for name in (f"{key}.json", f"{key}.log"):
                (self._failures / name).unlink(missing_ok=True)

    def open_log(self, key: str) -> Path:
        with disk.reporting():
            self._failures.mkdir(parents=True, exist_ok=True)
            self.making_log(key).write_bytes(b"")
        return self.making_log(key)

    def clear(self, keys: Sequence[str]) -> tuple[Layer, ...]:
        """Remove layers; one in use stays."""
        return tuple(layer for key in keys if (layer := self.find(key)) is not None and self._removed(layer))

    def evict(self, most_bytes: int, *, keep: str) -> tuple[Layer, ...]:
        """Remove the layers used least lately until the rest fits. `keep` and those in use stay."""
        used, gone = 0, []
        for layer in self.layers():
            if layer.key != keep and used + layer.size > most_bytes and self._removed(layer):
                gone.append(layer)
            else:
                used += layer.size
        return tuple(gone)

    def _removed(self, layer: Layer) -> bool:
        descriptor = os.open(layer.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        else:
            aside = layer.path.with_name(f".{layer.key}.{time.time_ns()}.gone")
            layer.path.rename(aside)
            remove(aside)
            return True
        finally:
            os.close(descriptor)


def remove(path: Path) -> None:
    """Also what a setup made unwritable."""
    if path.is_symlink():
        path.unlink()
        return
    if not path.exists():
        return

    def writable(function: Any, name: str, _: BaseException) -> None:
        with suppress(OSError):
            os.chmod(os.path.dirname(name), 0o700)
            if not os.path.islink(name):
                os.chmod(name, 0o700)
        with suppress(OSError):
            function(name)

    def failed(function: Any, name: str, info: Any) -> None:
        writable(function, name, info[1])

    shutil.rmtree(path, onerror=failed)


def tree_size(path: Path) -> int:
    """Bytes on disk; a file with several names counts once."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for folder, _, names in os.walk(path):
        for name in (".", *names):
            with suppress(OSError):
                stat = os.lstat(os.path.join(folder, name))
                if (stat.st_dev, stat.st_ino) not in seen:
                    seen.add((stat.st_dev, stat.st_ino))
                    total += stat.st_blocks * 512
    return total


def _read(path: Path) -> Layer | None:
    try:
        data = json.loads((path / _RECORD).read_bytes())
        if data.pop("schema_version") != _SCHEMA_VERSION:
            return None
        lists = ("commands", "search_path", "runtimes", "services", "refused")
        return Layer(**{**data, **{name: tuple(data[name]) for name in lists}}, path=path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as e:
        _log.warning("The layer in %s cannot be read and is not used: %s", path, e)
        return None


def _json(data: Mapping[str, object]) -> bytes:
    return json.dumps(data, indent=1).encode() + b"\n"
