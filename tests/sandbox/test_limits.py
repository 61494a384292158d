"""Time, memory, processes, output and disk: what a command may not use up, and that the result says so.

Every script here is bounded by itself as well, so that a sandbox that fails its test harms no machine.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.sandbox import CommandResult, Limits, run
from forge.sandbox.streams import Tail

Python = Callable[..., CommandResult]
MB = 1_000_000

HOGS = {
    "one block": """
import time
x = b'x' * 600_000_000
time.sleep(20)
""",
    "many blocks": """
import time
x = [bytearray(5_000_000) for _ in range(120)]
time.sleep(20)
""",
    "shared mapping": """
import mmap, time
m = mmap.mmap(-1, 600_000_000)
for _ in range(60): m.write(b'x' * 10_000_000)
time.sleep(20)
""",
    "memory files": """
import os, time
for _ in range(60): os.write(os.memfd_create('x'), b'x' * 10_000_000)
time.sleep(20)
""",
    "many processes": """
import os, time
for _ in range(6):
    if os.fork() == 0:
        x = bytearray(b'x' * 50_000_000)
        time.sleep(20)
        os._exit(0)
time.sleep(20)
""",
    "files in /tmp": """
import time
for n in range(60): open(f'/tmp/{n}', 'wb').write(b'x' * 10_000_000)
time.sleep(20)
""",
    "files in /dev/shm": """
import time
for n in range(60): open(f'/dev/shm/{n}', 'wb').write(b'x' * 10_000_000)
time.sleep(20)
""",
    "half in memory, half in /tmp": """
import time
x = b'x' * 90_000_000
for n in range(9): open(f'/tmp/{n}', 'wb').write(b'x' * 10_000_000)
time.sleep(20)
""",
    "empty files in /tmp": """
import time
for n in range(400_000): open(f'/tmp/{n}', 'wb').close()
time.sleep(20)
""",
    "many threads": """
import threading, time
kept = []
for _ in range(60):
    threading.Thread(target=lambda: (kept.append(b'x' * 10_000_000), time.sleep(20))).start()
""",
}

BOMBS = {
    "doubling": """
import os, time
for _ in range(10): os.fork()
time.sleep(20)
""",
    "doubling in new sessions": """
import os, time
for _ in range(9):
    if os.fork() == 0: os.setsid()
time.sleep(20)
""",
    "running away": """
import os, time
if os.fork(): time.sleep(20)
for _ in range(400):
    if os.fork(): os._exit(0)
    if os.fork() == 0: time.sleep(20)
time.sleep(20)
""",
    "threads": """
import threading, time
for _ in range(3000): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
time.sleep(20)
""",
    "programs": """
import subprocess, time
for _ in range(200): subprocess.Popen(['sleep', '20'])
time.sleep(20)
""",
}


@pytest.mark.req("X-06", "G-04")
def test_a_command_over_its_time_is_ended(box: Path, trace: Any) -> None:
    result = run(["sleep", "60"], box, Limits(seconds=0.4), env=trace.env)

    assert (result.timed_out, result.limited, result.exit_code) == (True, ("time",), 137)
    assert 0.4 <= result.duration < 5


def test_output_before_the_end_is_kept(box: Path) -> None:
    result = run(["sh", "-c", "echo before; echo problem >&2; sleep 60"], box, Limits(seconds=0.5))

    assert (result.stdout, result.stderr) == (b"before\n", b"problem\n")


@pytest.mark.req("X-06")
@pytest.mark.parametrize("way", HOGS)
def test_a_memory_hog_is_ended(python: Python, trace: Any, way: str) -> None:
    result = python(HOGS[way], Limits(memory_bytes=150 * MB, seconds=60), env=trace.env)

    assert result.limited == ("memory",), result.stderr_text
    assert result.exit_code == 137
    assert result.duration < 20


def test_pages_shared_by_forked_processes_count_once(python: Python) -> None:
    source = """
import os, time
x = b'x' * 60_000_000
for _ in range(5): os.fork() or (time.sleep(0.5), os._exit(0))
time.sleep(0.5)
print("fine")
"""
    result = python(source, Limits(memory_bytes=150 * MB))
    assert (result.stdout_text, result.limited) == ("fine\n", ())


def test_memory_that_is_only_reserved_does_not_count(python: Python) -> None:
    """Garbage-collected runtimes reserve gigabytes of addresses that they never touch."""
    result = python("import mmap; m = mmap.mmap(-1, 8 << 30); print('fine')", Limits(memory_bytes=150 * MB))
    assert (result.stdout_text, result.limited) == ("fine\n", ())


@pytest.mark.req("X-06")
def test_scratch_that_fits_the_memory_limit_is_fine_and_is_never_larger(python: Python) -> None:
    source = """
import mmap, os, time
for n in range(5): open(f'/tmp/{n}', 'wb').write(b'x' * 10_000_000)
with open('/dev/shm/mapped', 'wb+') as file:
    file.truncate(60_000_000)
    m = mmap.mmap(file.fileno(), 60_000_000)
    for _ in range(6): m.write(b'x' * 10_000_000)
    time.sleep(0.6)
size = lambda place: os.statvfs(place).f_blocks * os.statvfs(place).f_frsize
print(size('/tmp') < 230_000_000, size('/dev/shm') < 230_000_000)
"""
    result = python(source, Limits(memory_bytes=150 * MB, seconds=60))
    assert (result.stdout_text, result.limited) == ("True True\n", ()), "a mapped file counts once"


@pytest.mark.req("X-06")
@pytest.mark.parametrize("way", BOMBS)
def test_a_fork_bomb_is_ended(python: Python, trace: Any, way: str) -> None:
    result = python(BOMBS[way], Limits(processes=40, seconds=60), env=trace.env)

    assert result.limited == ("processes",), result.stderr_text
    assert result.duration < 20


def test_a_build_with_many_processes_within_its_limit_is_left_alone(box: Path) -> None:
    result = run(["sh", "-c", "for i in $(seq 60); do sleep 0.3 & done; wait; echo fine"], box, Limits(processes=100))
    assert (result.stdout_text, result.limited) == ("fine\n", ())


@pytest.mark.req("X-06", "G-04")
def test_of_long_output_the_end_is_kept_and_the_rest_is_counted(box: Path) -> None:
    script = "seq 100000; echo last; seq 5 >&2"
    whole = len("".join(f"{n}\n" for n in range(1, 100001))) + len("last\n")

    result = run(["sh", "-c", script], box, Limits(output_bytes=1000))

    marker, _, kept = result.stdout.partition(b"\n")
    assert marker == b"[%d bytes dropped]" % (whole - 1000)
    assert len(kept) == 1000
    assert kept.endswith(b"100000\nlast\n")
    assert result.stderr == b"1\n2\n3\n4\n5\n"
    assert result.limited == ("output",)


@pytest.mark.req("X-06")
def test_a_flood_of_output_costs_bounded_memory(box: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = run(["sh", "-c", "yes >&2 & yes"], box, Limits(seconds=1, output_bytes=10_000))

    assert result.limited == ("time", "output")
    assert int(result.stdout.split()[0][1:]) > 20 * MB
    assert len(result.stdout) < 11_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


def test_output_of_exactly_the_limit_is_not_cut(box: Path) -> None:
    result = run(["printf", "12345"], box, Limits(output_bytes=5))
    assert (result.stdout, result.limited) == (b"12345", ())


def test_a_tail_in_any_portions_is_the_end_of_the_whole() -> None:
    data = bytes(range(256)) * 10
    for size in (1, 7, 100, 2559, 2560, 9999):
        for portion in (1, 3, 64, 5000):
            tail = Tail(size)
            for start in range(0, len(data), portion):
                tail.add(data[start : start + portion])
            kept = tail.value().partition(b"dropped]\n")[2] if tail.cut else tail.value()
            assert kept == data[-size:]


@pytest.mark.req("X-06")
def test_a_file_over_the_limit_is_not_written(box: Path, python: Python) -> None:
    limits = Limits(file_bytes=1 << 20)
    result = run(["dd", "if=/dev/zero", "of=big", "bs=64k", "count=100"], box, limits)
    assert (result.limited, result.exit_code) == (("file size",), 153)
    assert (box / "big").stat().st_size == 1 << 20

    result = python("open('sparse', 'wb').truncate(1 << 21)", limits)
    assert "too large" in result.stderr_text
    assert (box / "sparse").stat().st_size == 0


@pytest.mark.req("X-06")
def test_a_flood_of_files_is_ended(box: Path) -> None:
    script = "for i in $(seq 300); do head -c 1000000 /dev/zero > file$i; sleep 0.01; done; sleep 20"
    result = run(["sh", "-c", script], box, Limits(disk_bytes=20 * MB, seconds=60))

    assert result.limited == ("disk",)
    assert result.duration < 20


@pytest.mark.req("X-06")
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/var/tmp", "$HOME"])
def test_private_directories_in_memory_are_bounded(box: Path, place: str) -> None:
    result = run(["sh", "-c", f"head -c 50000000 /dev/zero > {place}/x"], box, Limits(scratch_bytes=5 * MB))

    assert result.exit_code != 0
    assert "No space left" in result.stderr_text


def test_a_quick_command_is_not_held_up_by_the_watch(box: Path) -> None:
    run(["true"], box)
    started = time.monotonic()
    for _ in range(5):
        run(["true"], box)
    assert time.monotonic() - started < 5
