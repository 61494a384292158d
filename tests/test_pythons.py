"""The wheel on other Pythons of this machine, each with the SQLite that it brings.

The newest besides the suite's own; with `script/test --pythons` each from 3.11 up. Their environments are kept in
`.forge-setup`, and made again when the locked packages change.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import GIT_CONFIG
from tests.support.api_turns import ended
from tests.support.installation import UV, Installed, build_wheel, done, install, lock_packages
from tests.support.machine import ROOT, Machine, copy_checkout

pytestmark = [pytest.mark.slow, pytest.mark.req("X-03")]

OLDEST = (3, 11)
_ASKED = "import os, sys; print(*sys.version_info[:2], os.path.realpath(sys.executable))"
_KEPT = ROOT / ".forge-setup" / "pythons"


def _found() -> dict[tuple[int, int], str]:
    """One interpreter for each version from the oldest up, on PATH or under pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    named = [path for minor in range(11, 30) if (path := shutil.which(f"python3.{minor}"))]
    pythons: dict[tuple[int, int], str] = {}
    for candidate in [sys.executable, *named, *map(str, pyenv.glob("versions/3.*/bin/python3"))]:
        told = subprocess.run([candidate, "-I", "-c", _ASKED], capture_output=True, text=True, check=False).stdout
        if told:
            major, minor, path = told.split(maxsplit=2)
            pythons.setdefault((int(major), int(minor)), path.strip())
    return {version: path for version, path in sorted(pythons.items()) if version >= OLDEST}


def _wanted() -> list[str]:
    pythons = _found()
    if os.environ.get("FORGE_TEST_PYTHONS") == "all":
        return list(pythons.values())
    others = [path for version, path in pythons.items() if version != sys.version_info[:2]]
    return others[-1:]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    if UV is None:
        pytest.skip("no uv on this machine")
    made = Machine(tmp_path_factory.mktemp("programs"), os.environ["PATH"])
    made.add_python()
    made.add("uv", f'exec "{UV}" "$@"')
    return made


@pytest.fixture(scope="module")
def wheel(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without the web interface, which is the same for every Python."""
    checkout = tmp_path_factory.mktemp("source") / "checkout"
    copy_checkout(checkout)
    shutil.rmtree(checkout / "web")
    return build_wheel(machine, checkout, checkout / "dist")


@pytest.fixture(scope="module", params=_wanted() or [pytest.param("", marks=pytest.mark.skip("no other Python here"))])
def installed(
    request: pytest.FixtureRequest, machine: Machine, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    python: str = request.param
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(GIT_CONFIG)
    environment = _KEPT / python.strip("/").replace("/", "-")
    environment.parent.mkdir(parents=True, exist_ok=True)
    with environment.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _bring_packages(machine, python, environment)
        install(machine, environment, "--reinstall-package", "forge-workspace", wheel, cwd=home)
        yield Installed({"PATH": os.environ["PATH"], "HOME": str(home)}, environment / "bin" / "forge", home)


def _bring_packages(machine: Machine, python: str, environment: Path) -> None:
    locked, wanted = environment / "locked.txt", environment.with_suffix(".txt")
    lock_packages(machine, ROOT, wanted)
    if locked.exists() and locked.read_text() == wanted.read_text():
        return
    done(machine, "uv", "venv", "--quiet", "--clear", "--python", python, environment, cwd=environment.parent)
    install(machine, environment, "--requirement", wanted, cwd=environment.parent)
    shutil.copy(wanted, locked)


def test_the_doctor_finds_nothing_that_is_too_old(installed: Installed) -> None:
    printed = installed.run("doctor")
    assert "✓ python" in printed
    assert "✓ sqlite" in printed


def test_the_demo_runs_to_its_end(installed: Installed) -> None:
    assert "Trip Split: done after 3 rounds" in installed.run("demo", "--dir", "demo")


@pytest.fixture
def repo(installed: Installed, tmp_path: Path) -> Path:
    path = tmp_path / "repo"
    for words in (("init", "-q", str(path)), ("-C", str(path), "commit", "-q", "--allow-empty", "-m", "begin")):
        subprocess.run(["git", *words], check=True, env=installed.environ)
    return path


def test_a_turn_on_the_command_line_is_recorded(installed: Installed, repo: Path) -> None:
    installed.run("chat", "--branch", "tried", "-m", "good morning", cwd=repo)
    assert "good morning" in installed.run("session", "show", "--branch", "tried", cwd=repo)


def test_the_server_runs_a_turn(installed: Installed, repo: Path) -> None:
    with installed.serving() as served, httpx.Client(trust_env=False, timeout=30) as client:
        client.base_url = client.headers["Origin"] = f"http://127.0.0.1:{served['port']}"
        assert client.post("/api/sign-in", json={"token": served["token"]}).is_success
        address = f"/api/repositories/{client.post('/api/repositories', json={'path': str(repo)}).json()['id']}"
        told = client.post(f"{address}/session/messages", params={"branch": "tried"}, json={"text": "good morning"})
        assert told.status_code == 202, told.text
        newest = ended(client, address, "tried")
        assert (newest["status"], newest["asked"]) == ("done", "good morning")
