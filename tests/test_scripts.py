"""`script/forge` and `script/setup`, run for real in copies of the checkout on machines that offer little."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.installation import UV
from tests.support.machine import BASIC_PROGRAMS, Machine, copy_checkout, copy_interface, write_program

INSTALLING = "installing the locked environment"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Has Python, uv where this machine has it (one that eats the stdin it is given), and the system's programs."""
    programs = tmp_path / "programs"
    programs.mkdir()
    machine = Machine(programs, "/usr/bin:/bin")
    machine.add_python()
    if UV:
        machine.add("uv", f'cat >/dev/null; exec "{UV}" "$@"')
    return machine


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    copy = tmp_path / "a checkout"
    copy_checkout(copy)
    return copy


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    directory = tmp_path / "some where"
    directory.mkdir()
    return directory


def test_the_first_start_sets_everything_up_and_the_second_says_nothing_but_the_answer(
    machine: Machine, checkout: Path, elsewhere: Path
) -> None:
    forge = checkout / "script" / "forge"
    first = machine.run(forge, "--version", cwd=elsewhere)
    assert first.returncode == 0, first.stderr
    assert INSTALLING in first.stderr
    assert "0.1.0" in first.stdout

    second = machine.run(forge, "--version", cwd=elsewhere)
    assert (second.returncode, second.stdout, second.stderr) == (0, first.stdout, "")


def test_a_later_start_costs_little_more_than_the_command_itself(
    machine: Machine, checkout: Path, elsewhere: Path
) -> None:
    copy_interface(checkout)
    machine.run(checkout / "script" / "setup", "run", cwd=elsewhere)
    command = checkout / ".venv" / "bin" / "forge"
    write_program(command, "exit 0")

    def fastest(program: Path) -> float:
        durations = []
        for _ in range(7):
            began = time.perf_counter()
            assert machine.run(program, cwd=elsewhere).returncode == 0
            durations.append(time.perf_counter() - began)
        return min(durations)

    assert fastest(checkout / "script" / "forge") - fastest(command) < 0.1


def test_the_command_gets_the_callers_directory_arguments_and_stdin_even_when_setting_up(
    machine: Machine, checkout: Path, elsewhere: Path
) -> None:
    cli = checkout / "src" / "forge" / "cli"
    cli.mkdir(exist_ok=True)
    (cli / "main.py").write_text(
        "import os, sys\ndef main() -> None:\n    print(os.getcwd(), sys.argv[1:], sys.stdin.read())\n"
    )
    link = elsewhere / "forge"
    link.symlink_to(checkout / "script" / "forge")

    done = machine.run(link, "save", "a b", "", cwd=elsewhere, stdin="text for the command")

    assert INSTALLING in done.stderr
    assert done.stdout == f"{elsewhere} ['save', 'a b', ''] text for the command\n"


def test_two_starts_at_once_install_once_and_both_work(machine: Machine, checkout: Path, elsewhere: Path) -> None:
    started = [
        subprocess.Popen(
            [checkout / "script" / "setup", "run"],
            cwd=elsewhere,
            env=machine.env(),
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    spoken = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], spoken
    assert sum(INSTALLING in text for text in spoken) == 1


def test_a_killed_setup_is_repaired_by_the_next_start(machine: Machine, checkout: Path, elsewhere: Path) -> None:
    half_written = checkout / ".venv" / "half-written"
    stuck = Machine.with_only(elsewhere / "stuck", *BASIC_PROGRAMS, "sleep")
    stuck.add_python()
    stuck.add("uv", '[ "$1" = sync ] || { echo "uv 9.0"; exit; }; mkdir .venv; : >.venv/half-written; exec sleep 60')
    setup = subprocess.Popen(
        [checkout / "script" / "setup", "run"],
        env=stuck.env(),
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until_exists(half_written)
    os.killpg(setup.pid, signal.SIGKILL)
    setup.wait()

    repaired = machine.run(checkout / "script" / "setup", "run", cwd=elsewhere)

    assert repaired.returncode == 0, repaired.stderr
    assert not half_written.exists()
    assert imports(checkout, "pygit2")


def test_a_moved_checkout_is_set_up_for_its_new_place(machine: Machine, checkout: Path, elsewhere: Path) -> None:
    machine.run(checkout / "script" / "setup", "run", cwd=elsewhere)
    moved = checkout.rename(checkout.with_name("moved"))

    again = machine.run(moved / "script" / "setup", "run", cwd=elsewhere)

    assert INSTALLING in again.stderr
    assert imports(moved, "forge")
    assert [p.name for p in (moved / ".venv" / "bin").iterdir() if str(checkout).encode() in p.read_bytes()] == []


def test_starting_forge_keeps_the_tools_of_a_developer(machine: Machine, checkout: Path, elsewhere: Path) -> None:
    machine.run(checkout / "script" / "setup", cwd=elsewhere)
    with (checkout / "pyproject.toml").open("a") as project:
        project.write("\n# changed\n")

    again = machine.run(checkout / "script" / "setup", "run", cwd=elsewhere)

    assert INSTALLING in again.stderr
    assert imports(checkout, "pytest")


@pytest.mark.slow
def test_a_machine_whose_uv_does_not_work_gets_a_private_one(machine: Machine, checkout: Path, elsewhere: Path) -> None:
    machine.add("uv", "echo 'uv: command not found' >&2; exit 127")

    done = machine.run(checkout / "script" / "setup", "run", cwd=elsewhere)

    assert done.returncode == 0, done.stderr
    assert (checkout / ".forge-setup" / "venv" / "bin" / "uv").exists()
    assert imports(checkout, "forge")
    assert machine.run(checkout / "script" / "setup", "run", cwd=elsewhere).stderr == ""


@pytest.mark.slow
def test_where_only_pip_can_download_pip_installs_the_locked_environment(
    machine: Machine, checkout: Path, elsewhere: Path
) -> None:
    cut_off = {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(elsewhere / "empty cache")}
    quick = {"PIP_NO_COMPILE": "1"}

    done = machine.run(checkout / "script" / "setup", "run", cwd=elsewhere, **cut_off, **quick)

    assert done.returncode == 0, done.stderr
    assert "trying pip" in done.stderr
    assert imports(checkout, "forge, pygit2")


@pytest.mark.parametrize(
    ("absent", "complaint", "advice"),
    [
        ("python3", "no Python 3.11 or newer", "apt-get install python3"),
        ("git", "git is missing", "apt-get install git"),
    ],
)
def test_a_missing_program_is_named_with_what_to_do_next(
    checkout: Path, elsewhere: Path, absent: str, complaint: str, advice: str
) -> None:
    machine = Machine.with_only(elsewhere / "programs", *BASIC_PROGRAMS)
    machine.add_python()
    (machine.programs / absent).unlink()

    done = machine.run(checkout / "script" / "forge", "--version", cwd=elsewhere, HOME=str(elsewhere))

    assert (done.returncode, done.stdout) == (1, "")
    assert complaint in done.stderr
    assert advice in done.stderr


def imports(checkout: Path, modules: str) -> bool:
    python = checkout / ".venv" / "bin" / "python"
    return subprocess.run([python, "-I", "-c", f"import {modules}"], check=False).returncode == 0


def wait_until_exists(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")
