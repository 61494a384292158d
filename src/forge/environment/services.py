"""Services of a branch: databases of this machine, started for one command on private sockets inside its sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from glob import escape, glob
from pathlib import Path

_FOLDER = "/tmp/forge-services"  # noqa: S108 - the sandbox's own, gone with the command
_WORK = f"mkdir -p {_FOLDER}"
_FAILED = "{ tail -n 5 %s >&2; echo 'forge: %s did not start' >&2; exit 1; }"


@dataclass(frozen=True, slots=True)
class _Service:
    name: str
    programs: tuple[str, ...]
    """Globs of what must be installed."""
    start: str
    stop: str
    variables: tuple[tuple[str, str], ...]


def _postgresql() -> _Service:
    log, data = f"{_FOLDER}/postgresql.log", f"{_FOLDER}/postgresql"
    options = f"-k {_FOLDER} -c listen_addresses= -c fsync=off -c full_page_writes=off"
    start = (
        'bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb /usr/bin/initdb 2>/dev/null | tail -n 1)"); '
        f'{{ "$bin/initdb" -D {data} -U forge -A trust --no-sync && '
        f'"$bin/pg_ctl" -D {data} -o "{options}" -l {log} -w start; }} > {log}.start 2>&1 || '
        + _FAILED
        % (f"{log}.start", "postgresql")
    )
    variables = (
        ("PGHOST", _FOLDER),
        ("PGUSER", "forge"),
        ("PGDATABASE", "postgres"),
        ("DATABASE_URL", f"postgresql://forge@/postgres?host={_FOLDER}"),
    )
    stop = f'"$bin/pg_ctl" -D {data} -m immediate stop > /dev/null 2>&1'
    return _Service("postgresql", ("/usr/lib/postgresql/*/bin/initdb", "/usr/bin/initdb"), start, stop, variables)


def _redis() -> _Service:
    socket, log = f"{_FOLDER}/redis.sock", f"{_FOLDER}/redis.log"
    start = (
        f"redis-server --port 0 --unixsocket {socket} --save '' --daemonize yes > {log} 2>&1 && "
        f"for _ in $(seq 50); do test -S {socket} && break; sleep 0.1; done; test -S {socket} || "
        + _FAILED
        % (log, "redis")
    )
    stop = f"redis-cli -s {socket} shutdown nosave > /dev/null 2>&1"
    programs = ("/usr/bin/redis-server", "/usr/local/bin/redis-server")
    return _Service("redis", programs, start, stop, (("REDIS_URL", f"unix://{socket}"),))


_KNOWN = {service.name: service for service in (_postgresql(), _redis())}
NAMES = tuple(_KNOWN)


def missing(names: Sequence[str], root: Path | None = None) -> tuple[str, ...]:
    """Those that are not installed on this machine, or in an image that is unpacked in `root`."""
    place = "" if root is None else escape(str(root))
    return tuple(name for name in names if not any(glob(f"{place}{each}") for each in _KNOWN[name].programs))


def variables(names: Sequence[str]) -> dict[str, str]:
    """How programs find the services."""
    return {name: value for each in names for name, value in _KNOWN[each].variables}


def served(names: Sequence[str], command: Sequence[str]) -> tuple[str, ...]:
    """The command with its services around it: they start before it and end after it."""
    if not names:
        return tuple(command)
    starts = [_KNOWN[name].start for name in names]
    stops = [_KNOWN[name].stop for name in names]
    script = "\n".join((_WORK, *starts, '"$@"', "code=$?", *stops, "exit $code"))
    return ("sh", "-c", script, "forge", *command)
