"""A setup: approved commands in the sandbox, network to approved hosts alone, and a layer out of what they made."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from forge.environment.errors import ImageMissing, SetupFailed
from forge.environment.image import ImageEngine
from forge.environment.image_store import ImageStore
from forge.environment.layer_store import Failure, Layer, LayerStore, remove, tree_size
from forge.environment.made_files import taken
from forge.environment.proposal import PLACE, SCRATCH, SOURCE, Proposal
from forge.environment.runtimes import SYSTEM_PATH, runtime_mounts
from forge.environment.setup_log import LOG_BYTES, STEP, OnProgress, SetupLog
from forge.git import GitCommitVFS, MaterializedDirectory, WorkInProgressVFS
from forge.sandbox import CommandResult, Limits, Mount, run
from forge.sandbox.host_proxy import HostProxy, serving

PORT = 4572
"""Of the sandbox's own loopback, which nobody else is on."""
_CERTIFICATES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_IN_IMAGE = "/run/forge/certificates.crt"
"""Where commands in an image find the certificates that this machine trusts."""
_SCRIPT = (
    """
step() { printf '\\n%s%s\\n$ %s\\n' '"""
    + STEP
    + """' "$1" "$2"; }
"""
)


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
        setup = _Setup(job, place)
        try:
            return setup.run()
        finally:
            setup.close()


class _Setup:
    def __init__(self, job: SetupJob, place: Path) -> None:
        self._job = job
        self._proposal = job.proposal
        self._place = place
        self._root = place / "env"
        self._base: Path | None = None
        """The root of the image, once it is unpacked."""
        self._log = SetupLog(job.store.open_log(job.proposal.key), job.proposal.commands, job.on_progress)

    def run(self) -> Layer:
        job, proposal = self._job, self._proposal
        started = time.monotonic()
        (self._root / "scratch").mkdir(parents=True)
        images = ImageStore(job.store.root)
        with (
            images.in_use(proposal.image.id) if proposal.image else nullcontext(),
            job.materialise(job.view, root=job.store.root / "sources", keep_ignored=False) as directory,
            serving(proposal.hosts, job.environ) as proxy,
        ):
            source = directory.path
            if proposal.image is not None:
                job.on_progress(0, len(proposal.commands), f"unpack the image {proposal.image.name}")
                try:
                    self._base = images.unpack(proposal.image, ImageEngine(job.environ))
                except ImageMissing as e:
                    raise self._recorded(e.message, e.hint) from e
            result = self._run(source, proxy)
            self._log.take_rest()
            if not result.ok or result.timed_out or result.limited_by_run:
                raise self._failed(result.result, proxy.refused, proxy.unreachable)
            made = taken(source, job.view, self._place / "made")
        remove(self._root / "scratch")
        layer = Layer(
            key=proposal.key,
            path=self._place,
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(time.monotonic() - started, 2),
            size=tree_size(self._place),
            commands=proposal.commands,
            variables={
                **self._of_image,
                **{n: v for need in proposal.needs for n, v in need.variables.items()},
                **proposal.variables,
            },
            search_path=proposal.path,
            runtimes=tuple(dict.fromkeys(str(each.prefix) for each in proposal.runtimes)),
            services=proposal.services,
            image=proposal.image.id if proposal.image else "",
            system_path=proposal.image.path if proposal.image else "",
            made=made,
            refused=proxy.refused,
        )
        return job.store.keep(self._place, layer)

    def close(self) -> None:
        self._log.close()

    def _run(self, source: Path, proxy: HostProxy) -> _Ended:
        job, proposal = self._job, self._proposal
        lines = [f"step {number} {_quoted(command)}\n{command}" for number, command in enumerate(proposal.commands, 1)]
        script = "\n".join((_SCRIPT, "set -e", *lines))
        mounts = [
            Mount(PLACE, self._root, writable=True),
            *runtime_mounts(str(each.prefix) for each in proposal.runtimes),
        ]
        if self._base and (certificates := _certificates()):
            mounts.append(Mount(_IN_IMAGE, Path(os.path.realpath(certificates))))
        for name in proposal.caches if job.caches else ():
            assert job.caches is not None
            (job.caches / name).mkdir(parents=True, exist_ok=True)
            mounts.append(Mount(f"/caches/{name}", job.caches / name, writable=True))
        limits = Limits(seconds=job.seconds, disk_bytes=job.disk_bytes, output_bytes=LOG_BYTES, processes=1024)
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
            root=self._base,
        )
        return _Ended(result)

    def _environment(self) -> dict[str, str]:
        proposal = self._proposal
        address = f"http://127.0.0.1:{PORT}"
        certificates = _IN_IMAGE if self._base and _certificates() else _certificates()
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
            **self._of_image,
            "TMPDIR": SCRATCH,
            **(trust if certificates else {}),
            **{name: value for need in proposal.needs for name, value in need.variables.items()},
            **proposal.setup_variables,
            **proposal.variables,
            **proxies,
            "PATH": ":".join((*proposal.path, *self._system_path())),
        }

    @property
    def _of_image(self) -> Mapping[str, str]:
        """What the image sets for its programs."""
        return self._proposal.image.variables if self._proposal.image else {}

    def _system_path(self) -> tuple[str, ...]:
        if self._proposal.image is not None:
            return (self._proposal.image.path,)
        return (*(f"{each.prefix}/bin" for each in self._proposal.runtimes), SYSTEM_PATH)

    def _failed(self, result: CommandResult, refused: tuple[str, ...], unreachable: tuple[str, ...]) -> SetupFailed:
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
        return self._recorded(reason, hint, command=command, refused=refused)

    def _recorded(self, reason: str, hint: str, *, command: str = "", refused: tuple[str, ...] = ()) -> SetupFailed:
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
    result: CommandResult

    @property
    def ok(self) -> bool:
        return self.result.ok and not self.result.cancelled

    @property
    def timed_out(self) -> bool:
        return self.result.timed_out

    @property
    def limited_by_run(self) -> bool:
        return any(each not in ("output", "file size") for each in self.result.limited)


def _certificates() -> str:
    return next((path for path in _CERTIFICATES if os.path.exists(path)), "")


def _quoted(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
