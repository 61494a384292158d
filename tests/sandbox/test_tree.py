"""The whole process tree ends with the run: at a limit, at the command's own end, when the caller fails or dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.sandbox import CommandResult, Limits, run

Python = Callable[..., CommandResult]
LASTING = "sh -c 'trap \"\" TERM HUP INT QUIT; while :; do echo beat >> beats; sleep 0.02; done'"

ESCAPES = {
    "background": f"{LASTING} &",
    "nohup": f"nohup {LASTING} >/dev/null 2>&1 &",
    "setsid": f"setsid {LASTING} &",
    "setsid and fork": f"setsid --fork {LASTING}",
    "double fork": f"( ( setsid {LASTING} & ) & )",
    "closed streams": f"setsid {LASTING} <&- >&- 2>&- &",
    "stopped parent": f"( {LASTING} & kill -STOP $(sh -c 'echo $PPID') ) &",
    "deep": f'sh -c "sh -c \\"sh -c \'exec {LASTING.replace(chr(39), "").replace(chr(34), "")}\' &\\" &" &',
    "own group": f"set -m; {LASTING} & disown 2>/dev/null",
}


def _heart_stands_still(box: Path) -> bool:
    beats = box / "beats"
    before = beats.stat().st_size if beats.exists() else 0
    time.sleep(0.15)
    return before == (beats.stat().st_size if beats.exists() else 0)


@pytest.mark.req("X-04", "X-06")
@pytest.mark.parametrize("way", ESCAPES)
def test_nothing_outlives_the_time_limit(box: Path, trace: Any, way: str) -> None:
    result = run(["sh", "-c", f"{ESCAPES[way]}\nsleep 60"], box, Limits(seconds=0.5), env=trace.env)

    assert result.timed_out
    assert trace.processes() == []
    assert _heart_stands_still(box)


@pytest.mark.req("X-04", "X-06")
@pytest.mark.parametrize("way", ESCAPES)
def test_nothing_outlives_the_command_itself(box: Path, trace: Any, way: str) -> None:
    result = run(["sh", "-c", f"{ESCAPES[way]}\nsleep 0.3; exit 7"], box, Limits(seconds=30), env=trace.env)

    assert (result.exit_code, result.limited) == (7, ())
    assert result.duration < 15
    assert trace.processes() == []
    assert _heart_stands_still(box)


@pytest.mark.req("X-04")
def test_signals_cannot_be_used_against_the_end(python: Python, trace: Any) -> None:
    source = """
import os, signal, time
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True: time.sleep(1)
"""
    result = python(source, Limits(seconds=1), env=trace.env)
    assert result.limited == ("time",)


@pytest.mark.req("X-04")
@pytest.mark.parametrize("victim", ["1", "-1", "0", "$PPID", "-- -1"])
def test_killing_everything_in_sight_ends_only_the_command(box: Path, trace: Any, victim: str) -> None:
    result = run(["sh", "-c", f"sleep 30 & kill -KILL {victim}; sleep 30"], box, Limits(seconds=0.5), env=trace.env)
    assert result.exit_code == 137


@pytest.mark.req("X-04")
def test_a_command_that_halts_the_namespaces_first_process_is_ended_in_time(python: Python, trace: Any) -> None:
    source = "import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))"  # attach to process 1 and leave
    result = python(source, Limits(seconds=1), env=trace.env)
    assert result.duration < 10


# The signal may arrive between opening a file of /proc and entering its `with`: Python then closes it with a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.req("X-04")
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
def test_the_tree_ends_when_the_caller_is_interrupted(box: Path, trace: Any, error: type[BaseException]) -> None:
    def interrupt(*_: object) -> None:
        raise error

    def when_running() -> None:
        trace.appears(2)
        os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    threading.Thread(target=when_running).start()
    try:
        with pytest.raises(error):
            run(["sh", "-c", f"setsid {LASTING} & sleep 60"], box, env=trace.env)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert trace.processes() == []


@pytest.mark.req("X-04")
@pytest.mark.parametrize("plain", [False, True])
def test_the_tree_ends_when_the_caller_is_killed(box: Path, tmp_path: Path, trace: Any, plain: bool) -> None:
    script = textwrap.dedent(
        f"""
        import os
        from pathlib import Path
        from forge.sandbox import run
        if {plain}: os.environ["PATH"] = "/nowhere"
        run(["sh", "-c", {f"setsid {LASTING} & sleep 60"!r}], Path({str(box)!r}), env={trace.env!r}, plain=True)
        """
    )
    caller = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "TMPDIR": str(tmp_path)})
    try:
        assert trace.appears(2), "the command did not start"
    finally:
        caller.kill()
        caller.wait()
    assert trace.vanishes(within=10)


@pytest.mark.req("X-04")
def test_a_caller_killed_while_the_sandbox_starts_leaves_no_command(box: Path, trace: Any) -> None:
    script = textwrap.dedent(
        f"""
        from pathlib import Path
        from forge.sandbox import available, run
        available()
        print(flush=True)
        run({trace.command(LASTING)!r}, Path({str(box)!r}), env={trace.env!r})
        """
    )
    for number in range(12):
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as caller:
            assert caller.stdout is not None
            caller.stdout.readline()
            time.sleep(number * 0.003)
            caller.kill()
        time.sleep(0.05)
        assert trace.vanishes(within=10), f"killed after {number * 3} ms"
    assert _heart_stands_still(box)
    # bubblewrap itself, killed between two steps of its setup, can leave a process that waits and does nothing.
    for pid in trace.around():
        os.kill(pid, signal.SIGKILL)


@pytest.mark.req("X-04")
def test_a_limit_reached_while_the_sandbox_starts_leaves_nothing(box: Path, trace: Any) -> None:
    for milliseconds in (0.001, 1, 2, 4, 6, 8, 10, 12, 15, 20, 30):
        result = run(trace.command(LASTING), box, Limits(seconds=milliseconds / 1000), env=trace.env)
        assert result.limited == ("time",)
        assert trace.around() == [], f"limited to {milliseconds} ms"


@pytest.mark.req("X-04")
def test_no_zombie_is_left_to_a_caller_that_inherits_orphans(box: Path) -> None:
    """A container's first process inherits every orphan; a subreaper is the same without a container."""
    script = textwrap.dedent(
        f"""
        import ctypes, os
        from pathlib import Path
        from forge.sandbox import Limits, run
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
        for command in ("true", "sleep 5 & exit 3", "exec sleep 5"):
            print(run(["sh", "-c", command], Path({str(box)!r}), Limits(seconds=1)).exit_code)
        print(repr(Path(f"/proc/self/task/{{os.getpid()}}/children").read_text()))
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["0", "3", "137", "''"], done.stderr


def test_output_of_a_process_left_behind_does_not_delay_the_result(box: Path, trace: Any) -> None:
    result = run(["sh", "-c", "sleep 60 & echo early"], box, env=trace.env)
    assert result.stdout == b"early\n"
    assert result.duration < 10
