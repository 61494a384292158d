"""What `script/test`, `script/lint` and `.ci/run` do around their tools, which are stand-ins here."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.machine import BASIC_PROGRAMS, ROOT, Machine, write_program

TOOLS = ("forge", "python", "pytest", "ruff", "mypy", "lint-imports")


@pytest.fixture
def checkout(tmp_path: Path, git: Callable[..., str]) -> Path:
    """A checkout whose environment is in place, with tools that tell how they were called."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "script", root / "script")
    shutil.copytree(ROOT / ".ci", root / ".ci")
    write_program(root / "script" / "web", "printf 'web' >&2; printf ' <%s>' \"$@\" >&2; echo >&2")
    stamp = root / ".venv" / ".forge-setup"
    stamp.mkdir(parents=True)
    (root / ".venv" / "bin").mkdir()
    for tool in TOOLS:
        write_program(root / ".venv" / "bin" / tool, f"printf '{tool}'; printf ' <%s>' \"$@\"; echo")
    for name in ("uv.lock", "pyproject.toml"):
        (root / name).write_text("")
        (stamp / name).write_text("")
    (stamp / "for").write_text(f"{root}\ndev\n")
    (root / "AGENTS.md").write_text("short\n")
    (root / ".gitignore").write_text(".venv/\n.forge-setup/\n")
    git(root, "init", "--quiet")
    return root


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Has every program the tests start, but no apt."""
    machine = Machine.with_only(tmp_path / "programs", *BASIC_PROGRAMS)
    for program in ("bwrap", "chromium", "zsh", "fish"):
        machine.add(program, "exit 0")
    return machine


@pytest.fixture
def apt_calls(tmp_path: Path, machine: Machine) -> Path:
    """The person is root and apt delivers, once its lists are fetched; its calls are written here."""
    calls = tmp_path / "apt calls"
    machine.add("id", "echo 0")
    machine.add(
        "apt-get",
        f"""
        echo "$@" >>"{calls}"
        case "$1" in
            update) : >"{calls}.lists" ;;
            install) [ -e "{calls}.lists" ] && cp "{machine.programs}/env" "{machine.programs}/bwrap" ;;
        esac""",
    )
    return calls


def test_arguments_reach_pytest_after_our_own(checkout: Path, machine: Machine, tmp_path: Path) -> None:
    done = machine.run(checkout / "script" / "test", "-k", "a b", "-n0", cwd=tmp_path, FORGE_TEST_WORKERS="3")
    assert done.stdout == "pytest <--inline-snapshot=disable> <-n> <3> <--dist> <loadgroup> <-k> <a b> <-n0>\n"


def test_without_bubblewrap_the_tests_stop_and_say_what_to_install(checkout: Path, machine: Machine) -> None:
    (machine.programs / "bwrap").unlink()
    done = machine.run(checkout / "script" / "test", cwd=checkout)
    assert (done.returncode, done.stdout) == (1, "")
    assert "next: sudo apt-get install bubblewrap" in done.stderr


def test_without_an_optional_program_the_tests_run_and_say_what_to_install(checkout: Path, machine: Machine) -> None:
    (machine.programs / "chromium").unlink()
    done = machine.run(checkout / "script" / "test", cwd=checkout)
    assert done.stdout.startswith("pytest")
    assert "next: sudo apt-get install chromium" in done.stderr


def test_as_root_missing_programs_are_installed_and_the_lists_fetched_only_when_needed(
    checkout: Path, machine: Machine, apt_calls: Path
) -> None:
    (machine.programs / "bwrap").unlink()

    done = machine.run(checkout / "script" / "test", cwd=checkout)

    assert done.stdout.startswith("pytest"), done.stderr
    verbs = [line.split()[0] for line in apt_calls.read_text().splitlines()]
    assert verbs == ["install", "update", "install"]
    assert "bubblewrap" in apt_calls.read_text()


def test_who_may_not_install_gets_bubblewrap_beside_the_checkout(
    checkout: Path, machine: Machine, apt_calls: Path
) -> None:
    """From lists of its own, where the machine has none."""
    (machine.programs / "bwrap").unlink()
    machine.add("id", "echo 1000")
    machine.add(
        "apt-get",
        f"""
        echo "$@" >>"{apt_calls}"
        case "$1" in
            update) : >"{apt_calls}.lists" ;;
            download) [ -e "{apt_calls}.lists" ] && : >bubblewrap_1_amd64.deb ;;
        esac""",
    )
    machine.add("dpkg-deb", 'mkdir -p usr/bin; printf "#!/bin/sh\n" >usr/bin/bwrap; chmod +x usr/bin/bwrap')

    for _ in range(2):
        done = machine.run(checkout / "script" / "test", cwd=checkout)
        assert done.stdout.startswith("pytest"), done.stderr

    verbs = [line.split()[0] for line in apt_calls.read_text().splitlines()]
    assert verbs == ["download", "update", "download"], "and the second time it is there"
    assert (checkout / ".forge-setup/programs/usr/bin/bwrap").is_file()


def test_apt_is_left_alone_when_asked_to(checkout: Path, machine: Machine, apt_calls: Path) -> None:
    (machine.programs / "bwrap").unlink()
    done = machine.run(checkout / "script" / "test", cwd=checkout, FORGE_TEST_INSTALL="no")
    assert done.returncode == 1
    assert not apt_calls.exists()


def test_optional_programs_that_cannot_be_had_are_not_asked_for_again(
    checkout: Path, machine: Machine, apt_calls: Path
) -> None:
    machine.add("apt-get", f'echo "$@" >>"{apt_calls}"; exit 100')
    (machine.programs / "chromium").unlink()

    first = machine.run(checkout / "script" / "test", cwd=checkout)
    asked = apt_calls.read_text()
    second = machine.run(checkout / "script" / "test", cwd=checkout)

    assert first.stdout.startswith("pytest")
    assert second.stdout.startswith("pytest")
    assert apt_calls.read_text() == asked


@pytest.mark.req("X-03")
def test_all_pythons_are_tried_when_asked_for(checkout: Path, machine: Machine) -> None:
    write_program(checkout / ".venv" / "bin" / "pytest", 'echo "$FORGE_TEST_PYTHONS" "$@"')
    done = machine.run(checkout / "script" / "test", "--pythons", "-x", cwd=checkout)
    assert done.stdout == "all --inline-snapshot=disable -n 3 --dist loadgroup tests/test_pythons.py -x\n", done.stderr


def test_lint_runs_every_check(checkout: Path, machine: Machine, tmp_path: Path) -> None:
    done = machine.run(checkout / "script" / "lint", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for call in ("ruff <check>", "ruff <format> <--check>", "mypy", "lint-imports"):
        assert call in done.stdout
    assert done.stderr == "web <--packages>\nweb <run> <types-hold>\nweb <run> <lint>\n"


def test_lint_shows_all_failures_not_only_the_first(checkout: Path, machine: Machine) -> None:
    write_program(checkout / ".venv" / "bin" / "ruff", "exit 1")
    write_program(checkout / ".venv" / "bin" / "mypy", "exit 2")
    done = machine.run(checkout / "script" / "lint", cwd=checkout)
    assert done.returncode == 1
    assert "failed: ruff check,ruff format,mypy\n" in done.stderr


def test_lint_refuses_what_no_tool_would_see(checkout: Path, machine: Machine) -> None:
    (checkout / "AGENTS.md").write_text("line\n" * 81)
    (checkout / "notes.md").write_text("see " + "/work" + "/secret/place\nand src/work/place, which is fine\n")
    (checkout / "script" / "broken").write_text("if then\n")

    done = machine.run(checkout / "script" / "lint", cwd=checkout)

    assert done.returncode == 1
    assert "AGENTS.md has 81 lines" in done.stdout
    assert "notes.md:1:" in done.stdout
    assert "notes.md:2:" not in done.stdout
    assert "failed: shell syntax,AGENTS.md is short,no machine paths\n" in done.stderr


@pytest.mark.parametrize("failing", ["lint", "test", None])
def test_ci_runs_everything_and_fails_when_a_part_fails(
    checkout: Path, machine: Machine, tmp_path: Path, failing: str | None
) -> None:
    for verb in ("lint", "test"):
        write_program(checkout / "script" / verb, f"cat; exit {int(verb == failing)}")

    done = machine.run(checkout / ".ci" / "run", cwd=tmp_path, stdin="not for the tools", CI="true")

    assert done.returncode == (1 if failing else 0)
    for verb in ("lint", "test"):
        outcome = "failed" if verb == failing else "passed"
        assert re.search(rf"^== script/{verb} {outcome} after \d+ s$", done.stdout, re.M)
    assert "not for the tools" not in done.stdout


@pytest.mark.parametrize(("web", "pytest_status", "status"), [(0, 0, 0), (1, 0, 1), (0, 2, 2)])
def test_without_arguments_the_web_interface_is_built_and_tested_too(
    checkout: Path, machine: Machine, web: int, pytest_status: int, status: int
) -> None:
    write_program(checkout / "script" / "web", f'echo "web $*" >&2; exit {web}')
    write_program(checkout / ".venv" / "bin" / "pytest", f"exit {pytest_status}")
    done = machine.run(checkout / "script" / "test", cwd=checkout)
    assert done.returncode == status
    assert done.stderr.startswith("web \n")
    assert ("web run test" in done.stderr) is (web == 0)


@pytest.mark.parametrize(
    ("first", "second", "again", "status", "flaky"),
    [
        ("ab", "", 0, 0, "2 flaky: tests/test_x.py::test_a tests/test_x.py::test_b[1 - 2]"),
        ("ab", "b", 1, 1, "1 flaky: tests/test_x.py::test_a"),
        ("ab", "ab", 1, 1, None),
        ("a", "", 2, 2, None),
        ("abcd", None, None, 1, None),
    ],
)
def test_a_few_failures_are_run_once_more_and_those_that_pass_are_counted_as_flaky(
    checkout: Path, machine: Machine, first: str, second: str | None, again: int | None, status: int, flaky: str | None
) -> None:
    def fails(tests: str) -> str:
        names = {letter: f"tests/test_x.py::test_{letter}{'[1 - 2]' * (letter == 'b')}" for letter in tests}
        noted = json.dumps(dict.fromkeys(names.values(), True))
        return f"mkdir -p .pytest_cache/v/cache; echo '{noted}' > .pytest_cache/v/cache/lastfailed"

    write_program(
        checkout / ".venv" / "bin" / "pytest",
        f"""case "$*" in
            *--last-failed*) echo "again: $*"; {fails(second or "")}; exit {again} ;;
            *) {fails(first)}; exit 1 ;;
        esac""",
    )
    write_program(checkout / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    done = machine.run(checkout / "script" / "test", cwd=checkout)
    assert (done.returncode, "again: " in done.stdout) == (status, again is not None), done.stdout + done.stderr
    assert ("tests/test_x.py::test_a" in done.stdout) is (again is not None)
    told = [line for line in done.stdout.splitlines() if "flaky" in line]
    assert told == ([flaky] if flaky else [])
    assert not told or done.stdout.splitlines()[-1] == flaky


@pytest.mark.parametrize(
    ("words", "builds"),
    [
        ("", True),
        ("serve --port 0", True),
        ("--json serve", True),
        ("-C . --direct serve", True),
        ("-C serve", True),
        ("demo --open", True),
        ("demo", False),
        ("serve --help", False),
        ("-C . serve -h", False),
        ("help serve", False),
        ("-C serve log", False),
        ("log", False),
        ("exec -- serve", False),
    ],
)
def test_the_web_interface_is_built_only_for_who_will_see_it(
    checkout: Path, machine: Machine, words: str, *, builds: bool
) -> None:
    done = machine.run(checkout / "script" / "forge", *words.split(), cwd=checkout)
    assert (done.returncode, done.stderr) == (0, "web <--once>\n" if builds else "")
    assert done.stdout == f"forge{''.join(f' <{word}>' for word in words.split()) or ' <>'}\n"
