"""Plain execution, where bubblewrap is missing and somebody allowed it: unconfined, but bounded and said so."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.sandbox import DEFAULT_LIMITS, CommandResult, Limits, run

Plain = Callable[..., CommandResult]
MB = 1_000_000
LASTING = "sh -c 'trap \"\" TERM HUP INT QUIT; while :; do echo beat >> beats; sleep 0.02; done'"


@pytest.fixture
def plain(box: Path, monkeypatch: pytest.MonkeyPatch) -> Plain:
    monkeypatch.setenv("PATH", "/nowhere")

    def run_plainly(command: list[str], limits: Limits = DEFAULT_LIMITS, **options: Any) -> CommandResult:
        return run(command, box, limits, plain=True, **options)

    return run_plainly


@pytest.mark.req("X-06")
def test_every_plain_result_says_that_it_was_not_confined(box: Path, plain: Plain) -> None:
    for result in (plain(["sh", "-c", "echo x > made; exit 3"]), plain(["no-such-program"])):
        assert not result.sandboxed
        assert "not confined" in result.notes[0]
        assert "not on the PATH" in result.notes[0]
    assert (box / "made").read_text() == "x\n"


@pytest.mark.req("X-06")
def test_allowing_plain_execution_changes_nothing_where_bubblewrap_works(box: Path) -> None:
    result = run(["cat", "/etc/shadow"], box, plain=True)
    assert result.sandboxed
    assert "No such file" in result.stderr_text


def test_plain_commands_get_the_same_environment_with_private_directories(
    plain: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_SECRET", "hunter2")
    result = plain(["sh", "-c", 'env; touch "$HOME/a" "$TMPDIR/b"'], env={"COLOUR": "blue"})

    values = dict(line.split("=", 1) for line in result.stdout_text.splitlines())
    assert set(values) == {"COLOUR", "LANG", "PATH", "HOME", "TMPDIR", "TERM", "USER", "LOGNAME", "SHELL", "PWD"}
    assert result.exit_code == 0
    assert not Path(values["HOME"]).exists()
    assert not Path(values["TMPDIR"]).exists()


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (["sh", "-c", "exit 3"], 3, ""),
        (["no-such-program"], 127, "no-such-program: No such file"),
        (["/etc/passwd"], 126, "/etc/passwd: Permission denied"),
        (["sh", "-c", "kill -KILL $$"], 137, ""),
    ],
)
def test_plain_exit_codes_are_those_of_a_shell(plain: Plain, command: list[str], code: int, words: str) -> None:
    result = plain(command)
    assert result.exit_code == code
    assert words in result.stderr_text


def test_plain_commands_leave_the_processors_to_the_people_at_the_machine(plain: Plain) -> None:
    assert int(plain(["nice"]).stdout_text) == min(19, os.nice(0) + 5)


def test_plain_commands_are_fed_and_read(plain: Plain) -> None:
    data = os.urandom(300_000)
    assert plain(["cat"], stdin=data).stdout == data
    assert plain(["sh", "-c", "ls /proc/self/fd"]).stdout_text.split() == ["0", "1", "2", "3"]


@pytest.mark.req("X-04")
@pytest.mark.parametrize("end", ["sleep 60", "sleep 0.3; exit 7"], ids=["at the limit", "at the end"])
@pytest.mark.parametrize(
    "way", [f"{LASTING} &", f"setsid {LASTING} &", f"( ( setsid {LASTING} & ) & )", f"setsid --fork nohup {LASTING}"]
)
def test_nothing_outlives_a_plain_run(box: Path, plain: Plain, trace: Any, way: str, end: str) -> None:
    result = plain(["sh", "-c", f"{way}\n{end}"], Limits(seconds=1), env=trace.env)

    assert result.exit_code == (137 if result.timed_out else 7)
    assert result.timed_out == (end == "sleep 60")
    assert trace.processes() == []
    beats = (box / "beats").stat().st_size
    time.sleep(0.1)
    assert (box / "beats").stat().st_size == beats


@pytest.mark.req("X-04")
@pytest.mark.parametrize(
    ("limits", "script", "limit"),
    [
        (Limits(processes=20), "for i in $(seq 60); do sleep 30 & done; wait", "processes"),
        (Limits(processes=20), "for i in $(seq 60); do setsid sleep 30 & done; wait", "processes"),
        (Limits(memory_bytes=50 * MB), "x=$(head -c 90000000 /dev/zero | tr '\\0' x); sleep 30", "memory"),
        (Limits(file_bytes=MB), "exec dd if=/dev/zero of=big bs=64k count=100", "file size"),
        (Limits(output_bytes=100), "seq 1000", "output"),
        (Limits(seconds=0.5), "sleep 30", "time"),
    ],
    ids=["processes", "sessions", "memory", "file size", "output", "time"],
)
def test_limits_hold_for_plain_runs(plain: Plain, trace: Any, limits: Limits, script: str, limit: str) -> None:
    result = plain(["sh", "-c", script], limits, env=trace.env)

    assert result.limited == (limit,)
    assert result.duration < 20
