"""A command whose system is not that of this machine."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from forge.sandbox import OWN_PYTHON, run
from tests.support.tiny_image import MARK, make_system

pytestmark = pytest.mark.req("B-02")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_system(tmp_path / "root")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_a_command_sees_the_system_of_the_image_and_nothing_of_this_machine(root: Path, place: Path) -> None:
    script = (
        "cat /etc/made-of; ls /; ls /usr/bin /opt /etc/ssl 2>/dev/null; touch /etc/x /bin/x || echo read-only; touch y"
    )
    done = run(["sh", "-c", script], place, root=root, at="/source")
    words = done.stdout_text.split()
    assert done.stdout_text.startswith(MARK), done.stderr_text
    assert "read-only" in words
    assert "python3" not in words
    assert not {"home", "opt", "srv"} & set(words)
    assert (place / "y").exists()
    assert not (root / "etc/x").exists()


def test_forges_own_python_runs_beside_the_system_of_the_image(root: Path, place: Path) -> None:
    code = "import json, pty, socket; print(json.dumps(open('/etc/made-of').read()))"
    command = [*OWN_PYTHON, "-I", "-S", "-c", code]
    done = run(command, place, root=root, at="/source", needs_own_python=True)
    assert done.stdout_text == f'"{MARK}\\n"\n', done.stderr_text


def test_a_socket_of_the_caller_is_reached_from_an_image(root: Path, place: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"hello")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        code = "import socket; print(socket.create_connection(('127.0.0.1', 4572), 5).recv(9))"
        command = [*OWN_PYTHON, "-I", "-S", "-c", code]
        done = run(command, place, root=root, at="/source", sockets={4572: path}, needs_own_python=True)
        thread.join(5)
    assert done.stdout_text == "b'hello'\n", done.stderr_text
