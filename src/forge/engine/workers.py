"""Which processes are alive: this one counts its heartbeats, and finds those that have stopped counting theirs."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from forge.errors import Upstream
from forge.store.leases import Lease, Leases

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_PATIENCE_WITH_THE_LIVING = 3
"""A process of this machine that is seen to be alive gets so much longer: it may only be slow."""


def elapsed() -> float:
    """Seconds that no clock setting changes, and that pass while the machine sleeps."""
    return time.clock_gettime(_CLOCK)


class Worker:
    """This process, to the others. Beats in a thread of its own, so that a busy loop does not look dead."""

    def __init__(
        self,
        leases: Leases,
        *,
        beat: float,
        dead_after: float,
        on_lost: Callable[[str], None],
        name: str | None = None,
        serves: bool = False,
        offers: Callable[[], Collection[str]] | None = None,
    ) -> None:
        """`offers` names what this process has that a run may need. It may be slow."""
        self._leases = leases
        self._beat = beat
        self._dead_after = dead_after
        self._on_lost = on_lost
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: dict[str, tuple[int, float]] = {}
        self._last = 0.0
        self._offers = offers
        self._serves = serves
        self.serving: tuple[str, ...] = ()
        """Those who serve besides this process, as of the last beat."""
        self.offers: Mapping[str, frozenset[str]] = {}
        """What each of those has."""
        self.id = name or _new_name()

    def take_lease(self) -> None:
        self._leases.take(_this_process(self.id, serves=self._serves))
        self._last = elapsed()

    def renew(self) -> str:
        """A lease that was lost stays lost, for others act on it. Gives the new name."""
        self.id = _new_name()
        self.take_lease()
        self.publish_offers()
        return self.id

    def start(self, look: Callable[[], None]) -> None:
        """Beat, and after each beat check the others."""
        self._thread = threading.Thread(target=self._work, args=(look,), name="forge-heartbeat", daemon=True)
        self._thread.start()
        self.publish_offers()

    def publish_offers(self) -> None:
        """In a thread of its own: a keyring may take longer than a heartbeat may."""
        if self._serves and self._offers is not None:
            threading.Thread(target=self._publish_offers, name="forge-offers", daemon=True).start()

    def _publish_offers(self) -> None:
        assert self._offers is not None
        names = self._offers()
        with suppress(Upstream):  # the database is away: until the next time, others know what they knew
            self._leases.offer(self.id, names)

    def _work(self, look: Callable[[], None]) -> None:
        while not self._stop.is_set():
            try:
                if self.still_holds():
                    look()
            except Upstream:
                # The database is away. Whether the lease outlived that is asked before the next step begins.
                pass
            self._stop.wait(self._beat)

    def still_holds(self) -> bool:
        """Beat once. Tells the owner when the lease is lost."""
        name = self.id
        before = elapsed()
        if self._leases.beat(name):
            self._last = before
            return True
        self._on_lost(name)
        return False

    async def wait_until_sure(self) -> bool:
        """Whether this process may begin a step: nobody can have declared it dead meanwhile."""
        while elapsed() - self._last > self._dead_after * 0.8:
            try:
                return await asyncio.to_thread(self.still_holds)
            except Upstream:
                await asyncio.sleep(self._beat)
        return True

    def find_dead(self) -> tuple[str, ...]:
        """Those whose lease has ended, whoever found it first."""
        leases = self._leases.list()
        gone = [
            lease for lease in leases if not lease.alive or (self._is_dead(lease) and self._leases.declare_dead(lease))
        ]
        self._seen = {id_: seen for id_, seen in self._seen.items() if any(id_ == lease.id for lease in leases)}
        serving = [lease for lease in leases if lease.serves and lease not in gone and lease.id != self.id]
        self.offers = {lease.id: lease.offers for lease in serving}
        self.serving = tuple(self.offers)
        return tuple(lease.id for lease in gone if lease.id != self.id)

    def forget(self, ids: Iterable[str]) -> None:
        for id_ in ids:
            self._leases.drop(id_)

    def without_lease(self, holders: Collection[str]) -> tuple[str, ...]:
        """Ask for the holders first: who was one then and has no lease now will never have one again."""
        alive = {lease.id for lease in self._leases.list() if lease.alive}
        return tuple(sorted(set(holders) - alive - {self.id}))

    def _is_dead(self, lease: Lease) -> bool:
        if lease.id == self.id:
            return False
        here = lease.machine == _machine()
        alive = here and _process_started(lease.pid) == lease.process_started
        if here and not alive:
            return True
        beats, since = self._seen.get(lease.id, (-1, 0.0))
        if beats != lease.beats:
            self._seen[lease.id] = (lease.beats, elapsed())
            return False
        return elapsed() - since > self._dead_after * (_PATIENCE_WITH_THE_LIVING if alive else 1)

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def leave(self) -> None:
        """From now on anybody may take over."""
        self._leases.drop(self.id)


def _new_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def _this_process(id_: str, *, serves: bool) -> Lease:
    pid = os.getpid()
    return Lease(id_, socket.gethostname(), _machine(), pid, _process_started(pid) or "", 0, True, serves)


def _machine() -> str:
    """Where process ids mean the same: one boot of one machine, one container. Without that, nowhere else."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return f"unknown/{uuid.getnode()}/{os.getpid()}"


def _process_started(pid: int) -> str | None:
    """When the process began, in the kernel's count; a process id alone may have been given again."""
    try:
        # A program may be called anything, and the kernel cuts long names wherever they are too long.
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]
