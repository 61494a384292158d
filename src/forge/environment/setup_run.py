"""A setup: approved commands in the sandbox, network to approved hosts alone, and a layer out of what they made."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from forge.environment.errors import SetupFailed
from forge.environment.layer_store import Failure, Layer, LayerStore, remove, tree_size
from forge.environment.proposal import PLACE, SCRATCH, SOURCE, Proposal
from forge.git import VFS, GitCommitVFS, MaterializedDirectory, WorkInProgressVFS
from forge.sandbox import Limits, Mount, Result, run
from forge.sandbox.host_proxy import HostProxy, serving
from forge.sandbox.view import shows

PORT = 4572
"""Of the sandbox's own loopback, which nobody else is on."""
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LAST_LINES = 40
_LOG_BYTES = 8 << 20
_CERTIFICATES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_NOT_KEPT = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".pdm-python", ".pdm-build", "build")
CACHES_INSIDE = (".cache", ".vite", ".vite-temp")
"""Folders of node_modules that test runners write to; each command gets empty ones."""
_STEP = "forge-step "
_SCRIPT = (
    """
step() { printf '\\n%s%s\\n$ %s\\n' '"""
    + _STEP
    + """' "$1" "$2"; }
"""
)

OnProgress = Callable[[int, int, str], None]
"""Which step of how many, and its command or newest line."""


class Materialise(Protocol):
    """`Repository.materialize`."""

    def __call__(
        self, view: GitCommitVFS | WorkInProgressVFS, *, root: Path | None = None, keep_ignored: bool = True
    ) -> AbstractContextManager[MaterializedDirectory]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupJob:
    proposal: Proposal
    view: GitCommitVFS | WorkInProgressVFS
    materialise: Materialise
    store: LayerStore
    environ: Mapping[str, str]
    """The person's; only their proxy is taken from it."""
    seconds: float = 900
    disk_bytes: int = 10 << 30
    caches: Path | None = None
    """Where caches that the proposal names are kept between setups of this repository."""
    cancel: threading.Event | None = None
    on_progress: OnProgress = field(default=lambda *_: None)


def set_up(job: SetupJob, *, wait: bool = False) -> Layer:
    """Make the layer, or give the one that is there. A failure is recorded and raised; nothing else stays of it."""
    if (found := job.store.find(job.proposal.key)) is not None:
        return found
    with job.store.making(job.proposal.key, wait=wait) as place:
        if (found := job.store.find(job.proposal.key)) is not None:
            return found
        job.store.forget_failure(job.proposal.key)
        return _Setup(job, place).run()


class _Setup:
    def __init__(self, job: SetupJob, place: Path) -> None:
        self._job = job
        self._proposal = job.proposal
        self._place = place
        self._root = place / "env"
        self._log = _SetupLog(job.store.open_log(job.proposal.key), job.proposal.commands, job.on_progress)

    def run(self) -> Layer:
        job, proposal = self._job, self._proposal
        started = time.monotonic()
        (self._root / "scratch").mkdir(parents=True)
        with (
            job.materialise(job.view, root=job.store.root / "sources", keep_ignored=False) as directory,
            serving(proposal.hosts, job.environ) as proxy,
        ):
            source = directory.path
            result = self._run(source, proxy)
            self._log.close()
            if not result.ok or result.timed_out or result.limited_by_run:
                raise self._failed(result.result, proxy.refused, proxy.unreachable)
            made = _taken(source, job.view, self._place / "made")
        remove(self._root / "scratch")
        layer = Layer(
            key=proposal.key,
            path=self._place,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - started, 2),
            size=tree_size(self._place),
            commands=proposal.commands,
            variables={**{n: v for need in proposal.needs for n, v in need.variables.items()}, **proposal.variables},
            search_path=proposal.path,
            runtimes=tuple(dict.fromkeys(str(each.prefix) for each in proposal.runtimes)),
            services=proposal.services,
            made=made,
            refused=proxy.refused,
        )
        return job.store.keep(self._place, layer)

    def _run(self, source: Path, proxy: HostProxy) -> _Ended:
        job, proposal = self._job, self._proposal
        lines = [f"step {number} {_quoted(command)}\n{command}" for number, command in enumerate(proposal.commands, 1)]
        script = "\n".join((_SCRIPT, "set -e", *lines))
        mounts = [
            Mount(PLACE, self._root, writable=True),
            *runtime_mounts(str(each.prefix) for each in proposal.runtimes),
        ]
        for name in proposal.caches if job.caches else ():
            assert job.caches is not None
            (job.caches / name).mkdir(parents=True, exist_ok=True)
            mounts.append(Mount(f"/caches/{name}", job.caches / name, writable=True))
        limits = Limits(seconds=job.seconds, disk_bytes=job.disk_bytes, output_bytes=_LOG_BYTES, processes=1024)
        result = run(
            ["sh", "-c", script],
            source,
            limits,
            env=self._environment(),
            sockets={PORT: proxy.socket},
            on_output=self._log.hear,
            cancel=job.cancel,
            at=SOURCE,
            mounts=mounts,
        )
        return _Ended(result)

    def _environment(self) -> dict[str, str]:
        proposal = self._proposal
        address = f"http://127.0.0.1:{PORT}"
        certificates = next((path for path in _CERTIFICATES if os.path.exists(path)), "")
        proxies = {name: address for word in ("http_proxy", "https_proxy") for name in (word, word.upper())}
        trust = dict.fromkeys(
            (
                "SSL_CERT_FILE",
                "PIP_CERT",
                "REQUESTS_CA_BUNDLE",
                "NODE_EXTRA_CA_CERTS",
                "CURL_CA_BUNDLE",
                "npm_config_cafile",
            ),
            certificates,
        )
        return {
            "TMPDIR": SCRATCH,
            **(trust if certificates else {}),
            **{name: value for need in proposal.needs for name, value in need.variables.items()},
            **proposal.setup_variables,
            **proposal.variables,
            **proxies,
            "PATH": ":".join((*proposal.path, *(f"{each.prefix}/bin" for each in proposal.runtimes), SYSTEM_PATH)),
        }

    def _failed(self, result: Result, refused: tuple[str, ...], unreachable: tuple[str, ...]) -> SetupFailed:
        command = self._log.command
        if result.cancelled:
            reason, hint = "The setup was cancelled.", "Start it again with `forge env setup`."
        elif result.timed_out:
            reason = f"The setup took longer than {self._job.seconds / 60:g} minutes."
            hint = "Raise `environments.setup_minutes` in the settings, or install less."
        elif result.limited and (limits := [each for each in result.limited if each not in ("output", "file size")]):
            reason, hint = f"The setup reached the limit of {', '.join(limits)}.", "Install less, or free space."
        elif refused:
            reason = f"`{command}` failed with exit code {result.exit_code}. It asked for {', '.join(refused[:5])}."
            hint = "To allow a host: `forge env setup --allow HOST`, then approve again."
        elif unreachable:
            reason = f"`{command}` failed: {', '.join(unreachable[:3])} could not be reached."
            hint = "Check the network and the configuration of your package manager, then run `forge env setup` again."
        else:
            reason = f"`{command}` failed with exit code {result.exit_code}."
            hint = "Read the last lines, mend the cause on the branch, and run `forge env setup` again."
        lines = tuple(self._log.tail())
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._job.store.fail(
            Failure(
                key=self._proposal.key, at=at, command=command, reason=reason, hint=hint, lines=lines, refused=refused
            )
        )
        return SetupFailed("\n".join((reason, *lines[-12:])), hint=hint)


@dataclass(frozen=True, slots=True)
class _Ended:
    result: Result

    @property
    def ok(self) -> bool:
        return self.result.ok and not self.result.cancelled

    @property
    def timed_out(self) -> bool:
        return self.result.timed_out

    @property
    def limited_by_run(self) -> bool:
        return any(each not in ("output", "file size") for each in self.result.limited)


class _SetupLog:
    """Keeps what the commands print, and tells each step."""

    def __init__(self, file: Path, commands: tuple[str, ...], on_progress: OnProgress) -> None:
        self._file = file.open("ab")
        self._commands = commands
        self._on_progress = on_progress
        self._left = _LOG_BYTES
        self._rest = b""
        self._lines: list[str] = []
        self._step = 0
        self._lock = threading.Lock()

    @property
    def command(self) -> str:
        return self._commands[self._step - 1] if self._step else "the setup"

    def hear(self, stream: str, data: bytes) -> None:
        del stream
        with self._lock:
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._take(line.decode("utf-8", "replace").rstrip("\r"))
            if len(self._rest) > 10_000:
                self._take(self._rest.decode("utf-8", "replace"))
                self._rest = b""
            self._file.flush()

    def _take(self, line: str) -> None:
        number = line.removeprefix(_STEP)
        if line.startswith(_STEP) and number.isdigit() and int(number) == self._step + 1 <= len(self._commands):
            self._step += 1
            self._on_progress(self._step, len(self._commands), self.command)
            return
        if not line and not self._lines:
            return
        if self._left > 0:
            self._left -= self._file.write(line.encode() + b"\n")
        if line.strip():
            self._lines = [*self._lines[1 - _LAST_LINES :], line]

    def tail(self) -> list[str]:
        return self._lines

    def close(self) -> None:
        with self._lock:
            if self._rest:
                self._take(self._rest.decode("utf-8", "replace"))
                self._rest = b""
            self._file.close()


def runtime_mounts(prefixes: Iterable[str]) -> list[Mount]:
    """Interpreters that are not in a part of the system that every command sees."""
    return [Mount(prefix, Path(prefix)) for prefix in dict.fromkeys(prefixes) if not shows(Path(prefix))]


def _taken(source: Path, vfs: VFS, into: Path) -> dict[str, str]:
    """Move what the setup created beside the files of the branch into the layer: path of the branch → place there."""
    tracked = set(vfs.list_files())
    folders = {parent for path in tracked for parent in _parents(path)}
    made: dict[str, str] = {}
    for path in _created(source, tracked, folders):
        number = str(len(made))
        into.mkdir(exist_ok=True)
        shutil.move(source / path, into / number)
        if path.rpartition("/")[2] == "node_modules":
            for name in CACHES_INSIDE:
                (into / number / name).mkdir(exist_ok=True)
        made[path] = number
    return made


def _created(source: Path, tracked: set[str], folders: set[str]) -> list[str]:
    found = []
    for place, names, files in os.walk(source):
        inside = os.path.relpath(place, source)
        prefix = "" if inside == "." else f"{inside}/"
        for name in [*names]:
            path = f"{prefix}{name}"
            if path in folders:
                continue
            names.remove(name)
            if name not in _NOT_KEPT and not name.endswith(".egg-info") and name != ".git":
                found.append(path)
        new = (name for name in files if f"{prefix}{name}" not in tracked and not os.path.islink(f"{place}/{name}"))
        found += [f"{prefix}{name}" for name in new]
    return sorted(found)


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: end + 1]) for end in range(len(parts))]


def _quoted(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
