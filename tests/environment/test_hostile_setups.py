"""Setups that a person approved without reading: what they reach for, they do not get."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.app.repositories.environments import Environments
from forge.environment.errors import EnvironmentInvalid
from forge.git import Repository
from tests.conftest import MakeRepo
from tests.environment.conftest import MakeEnvironments
from tests.support.package_server import PackageServer

pytestmark = pytest.mark.req("B-02", "X-06")

SECRET = "planted-3f9a1c77"


def get(address: str, *, proxy: str = "") -> str:
    """Python that fetches an address; with `proxy`, as whoever ignores the variables would."""
    opener = f"r.build_opener(r.ProxyHandler({proxy}))" if proxy else "r.build_opener()"
    return f'python3 -c "import urllib.request as r; print({opener}.open({address!r}, timeout=5).read())"'


def connect(host: str, port: str) -> str:
    return f"python3 -c \"import socket; socket.create_connection(('{host}', {port}), 5); print('reached')\""


def ask_proxy(lines: str, then: str = "") -> str:
    """Python that speaks to the proxy itself and succeeds unless it is refused."""
    send = f"s.sendall({then}); d = s.recv(99); assert d, 'hung up'" if then else "pass"
    code = (
        "import os, socket, ssl; s = socket.create_connection(('127.0.0.1', 4572), 5); "
        f"s.sendall({lines!r}.encode()); d = s.recv(99); assert b' 200' in d.split(bytes([10]))[0], d; {send}"
    )
    return f'python3 -c "{code}"'


NETWORK = {
    "another host": get("http://packages.example/x"),
    "another host by TLS": get("https://packages.example/x"),
    "the server of the person": get("http://127.0.0.1:{port}/"),
    "the server of the person past the proxy": get("http://127.0.0.1:{port}/", proxy="dict()"),
    "the server of the person by name": get("http://localhost:{port}/"),
    "the server of the person by a number": get("http://2130706433:{port}/"),
    "the server of the person by IPv6": get("http://[::1]:{port}/"),
    "the server of the person by a socket": connect("127.0.0.1", "{port}"),
    "an approved host on another port": get("http://approved.example:8080/"),
    "a name that begins like an approved one": get("http://approved.example.evil.example/"),
    "a name that ends like an approved one": get("http://evilapproved.example/"),
    "a user name like an approved host": get("http://approved.example@packages.example/"),
    "the metadata service": get("http://169.254.169.254/latest/meta-data/"),
    "a name server": connect("10.255.255.53", "53"),
    "a tunnel to another host": ask_proxy("CONNECT packages.example:443 HTTP/1.1\r\n\r\n"),
    "a tunnel to the server of the person": ask_proxy("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"),
    "a tunnel to the mail port of an approved host": ask_proxy("CONNECT approved.example:25 HTTP/1.1\r\n\r\n"),
    "a tunnel without a port": ask_proxy("CONNECT approved.example HTTP/1.1\r\n\r\n"),
    "a request without a host": ask_proxy("GET / HTTP/1.1\r\nHost: packages.example\r\n\r\n"),
    "another scheme": ask_proxy("GET ftp://approved.example/ HTTP/1.1\r\n\r\n"),
    "a file of the machine by the proxy": ask_proxy("GET file:///etc/passwd HTTP/1.1\r\n\r\n"),
    "an abstract socket of the machine": (
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + 'forge-{port}')\""
    ),
}
FILES = {
    "the home of the person": "cat {home}/token",
    "the home by its variable": 'test "$HOME" = {home}',
    "keys of the person": "cat {home}/.ssh/id_ed25519",
    "the settings of pip with a login": "cat {home}/.config/pip/pip.conf",
    "passwords of the machine": "cat /etc/shadow",
    "the git directory": "ls {repo}/.git",
    "approvals": "cd {repo}/.git && mkdir -p forge/approvals && echo x > forge/approvals/x",
    "the checkout": "echo x > {repo}/planted",
    "another layer": "ls {root}/layers/{other}",
    "all layers": "ls {root}/layers",
    "the record of its own layer": "echo x > {root}/layers/x",
    "a cache that was not named": "ls {root}/caches",
    "variables of the person": "env | grep -q {secret}",
    "processes of the machine": "grep -l {secret} /proc/[0-9]*/environ",
    "a device": "dd if=/dev/vda of=/dev/null count=1",
    "the system": "touch /usr/bin/planted",
    "the interpreter": "touch $(python3 -c 'import sys; print(sys.prefix)')/planted",
    "a mount of its own": "mount -t tmpfs none /env",
    "a namespace of its own": "unshare -Ur true",
    "the socket of the proxy": "rm -f /run/forge/4572 && test ! -e /run/forge/4572",
}


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server of the person on loopback, which nothing may reach."""
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0forge-{server.getsockname()[1]}")
    abstract.listen()

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            heard.append(b"connected")
            connection.close()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield server.getsockname()[1], heard
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    abstract.close()
    thread.join()


def hostile(
    environments: Environments, repo: Repository, command: str, hosts: tuple[str, ...] = ("approved.example",)
) -> dict[str, str]:
    """Approve and set up the command; what it printed and whether it got what it wanted."""
    line = f"if ( {command} ) > /env/said 2>&1; then echo reached; else echo failed; fi > /env/outcome"
    files = repo.workspace("main")
    files.write_file(".forge/environment.yaml", json.dumps({"setup": [line], "hosts": hosts}))
    files.commit("hostile")
    environments.approve(repo, "main", by="Ada", expected=None)
    layer = environments.set_up(repo, "main")
    return {name: (layer.root / name).read_text() for name in ("outcome", "said")}


@pytest.mark.parametrize(
    "command",
    [get("http://127.0.0.1:{port}/simple/greeting/"), ask_proxy("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n")],
    ids=["request", "tunnel"],
)
def test_an_approved_host_is_reached_by_the_same_means(
    environments: Environments, make_repo: MakeRepo, index: PackageServer, command: str
) -> None:
    repo = Repository.open(make_repo({"a": ""}))
    filled = command.replace("{port}", str(index.port))
    ended = hostile(environments, repo, filled, hosts=("approved.example", index.host))
    assert ended["outcome"] == "reached\n", ended["said"]


@pytest.mark.parametrize("command", NETWORK.values(), ids=NETWORK)
def test_a_setup_reaches_no_host_that_was_not_approved(
    environments: Environments, make_repo: MakeRepo, listener: tuple[int, list[bytes]], command: str
) -> None:
    port, heard = listener
    repo = Repository.open(make_repo({"a": ""}))
    ended = hostile(environments, repo, command.replace("{port}", str(port)))
    assert ended["outcome"] == "failed\n", ended["said"]
    assert heard == []


@pytest.mark.parametrize("command", FILES.values(), ids=FILES)
def test_a_setup_sees_nothing_of_the_person_and_writes_nowhere_else(
    make_environments: MakeEnvironments, make_repo: MakeRepo, home: Path, tmp_path: Path, command: str
) -> None:
    for path in ("token", ".ssh/id_ed25519", ".config/pip/pip.conf"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(f"[global]\n# {SECRET}\n")
    environments = make_environments(MY_TOKEN=SECRET)
    place = make_repo({"a": ""})
    repo = Repository.open(place)
    root = tmp_path / "environments"
    other = root / "layers" / "other"
    (other / "env").mkdir(parents=True)
    (other / "env" / "secret").write_text(SECRET)
    before = {path: os.lstat(path).st_mtime_ns for path in _tree(place) | _tree(other) if ".git/" not in str(path)}
    filled = command.replace("{home}", str(home)).replace("{repo}", str(place)).replace("{root}", str(root))
    ended = hostile(environments, repo, filled.replace("{other}", "other").replace("{secret}", SECRET))
    assert ended["outcome"] == "failed\n", ended["said"]
    assert SECRET not in ended["said"]
    after = {path: os.lstat(path).st_mtime_ns for path in before if path.exists()}
    assert after == before
    assert not (place / "planted").exists()
    assert not (place / ".git/forge/approvals/x").exists()


def _tree(place: Path) -> set[Path]:
    return {path for path in place.rglob("*") if path.is_file()}


def test_there_are_forty_of_them() -> None:
    assert len(NETWORK) + len(FILES) >= 40


@pytest.mark.parametrize(
    "content",
    [
        "setup: {a: b}",
        "setup: [[x]]",
        "hosts: ['*']",
        "hosts: ['http://x/']",
        "hosts: ['a b']",
        "variables: {PATH: /evil}",
        "variables: {HTTPS_PROXY: 'http://evil.example'}",
        "variables: {LD_PRELOAD: ./x.so}",
        "variables: {'A=B': c}",
        "services: [ssh]",
        "caches: ['../../layers']",
        "secret: x",
        "- a",
        "setup: [unclosed",
        "!!python/object/apply:os.system ['true']",
    ],
)
def test_a_file_that_asks_for_more_is_refused_by_name(
    environments: Environments, make_repo: MakeRepo, content: str
) -> None:
    repo = Repository.open(make_repo({".forge/environment.yaml": f"{content}\n"}))
    with pytest.raises(EnvironmentInvalid) as refused:
        environments.state(repo, "main")
    assert ".forge/environment.yaml" in refused.value.message
    assert refused.value.hint


def test_a_tunnel_that_greets_another_host_is_cut(environments: Environments, make_repo: MakeRepo) -> None:
    """Behind one address there may be many hosts: the name in the greeting counts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        got: list[bytes] = []

        def accept() -> None:
            connection, _ = server.accept()
            with connection:
                got.append(connection.recv(4096))

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        code = (
            "import socket, ssl; s = socket.create_connection(('127.0.0.1', 4572), 5); "
            f"s.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n'); s.recv(99); "
            "ssl.create_default_context().wrap_socket(s, server_hostname='hidden.example')"
        )
        setup = {"setup": [f'python3 -c "{code}" || true'], "hosts": [f"127.0.0.1:{port}"]}
        repo = Repository.open(make_repo({".forge/environment.yaml": json.dumps(setup)}))
        environments.approve(repo, "main", by="Ada", expected=None)
        layer = environments.set_up(repo, "main")
        thread.join(5)
    assert layer.refused == (f"hidden.example:{port}",)
    assert got == [b""]
