"""A real PostgreSQL server for the tests that need one: unprivileged, in a directory of its own, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest


@dataclass(frozen=True, slots=True)
class Server:
    port: int

    def new_database(self) -> str:
        """The URL of an empty database."""
        name = f"forge_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def url(self, database: str) -> str:
        return f"postgresql://forge:secret-word@127.0.0.1:{self.port}/{database}"


def binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    programs = binaries()
    if programs is None:
        reason = "PostgreSQL is not installed (apt-get install postgresql)"
        if os.environ.get("FORGE_TEST_INSTALL") == "no":
            pytest.skip(reason)
        pytest.fail(reason)
    # Not below pytest's own directory, which other users may not enter.
    directory = Path(tempfile.mkdtemp(prefix="forge-postgres-"))
    user = _unprivileged()
    try:
        if user is not None:
            os.chown(directory, user.pw_uid, user.pw_gid)
        yield from _serve(programs, directory, user)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _unprivileged() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _serve(programs: Path, directory: Path, user: pwd.struct_passwd | None) -> Iterator[Server]:
    as_user = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    data = directory / "data"
    password = directory / "password"
    password.write_text("secret-word")
    password.chmod(0o644)
    subprocess.run(
        [programs / "initdb", "--no-sync", "-U", "forge", "-A", "scram-sha-256", f"--pwfile={password}", "-D", data],
        check=True,
        capture_output=True,
        cwd=directory,
        **as_user,
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={directory}", "-c", "fsync=off"]
    with (directory / "log").open("wb") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, "-p", str(port), *settings],
            stdout=log,
            stderr=log,
            cwd=directory,
            **as_user,
        )
    try:
        _await(Server(port), directory / "log")
        yield Server(port)
    finally:
        # Nothing in it is worth an orderly end.
        server.send_signal(signal.SIGQUIT)
        server.wait(timeout=30)


def _await(server: Server, log: Path) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(server.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise AssertionError(log.read_text()) from None
            time.sleep(0.05)
        else:
            return
