"""The tests of a branch, really run in the sandbox: results by test, reuse, flaky tests, limits and patterns."""

from __future__ import annotations

import threading
import time

import pytest

from forge.app.repositories.test_runs import NoTests, Wanted, last_run, run_branch_tests, shown_run
from forge.errors import InvalidInput
from forge.git import Repository
from forge.tools.suites.command import set_repository_command
from forge.tools.suites.discovery import suites
from forge.tools.suites.record import Records
from forge.tools.suites.recorded_run import RecordedRun, run_recorded
from forge.tools.suites.told import told
from tests.conftest import MakeRepo

pytestmark = pytest.mark.req("B-02")

CASES = """import unittest

class Cart(unittest.TestCase):
    def test_empty(self): pass

    def test_total(self):
        self.assertEqual(1 + 2, 4)
"""
# The directory of a branch is kept between commands, and so is a file that git ignores.
FLAKY = """import pathlib, unittest

class Net(unittest.TestCase):
    def test_steady(self): pass

    def test_answer(self):
        seen = pathlib.Path("seen.tmp")
        first = not seen.exists()
        seen.touch()
        self.assertFalse(first, "the connection was lost")
"""


def made(make_repo: MakeRepo, files: dict[str, str]) -> Repository:
    return Repository.open(make_repo(files))


def ran(repo: Repository, branch: str = "main", **wanted: object) -> RecordedRun:
    return run_branch_tests(repo, branch, Wanted(**wanted), redact=lambda text: text.replace("hush", "***"))


def test_each_test_has_its_result_and_a_failure_its_line(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"tests/test_cart.py": CASES})
    record = ran(repo).record
    assert (record.outcome, record.passed, record.failed) == ("failed", 1, 1)
    first, second = record.tests
    assert (first.name, first.result, first.file, first.line) == (
        "test_cart.Cart.test_total",
        "failed",
        "tests/test_cart.py",
        7,
    )
    assert (second.name, second.result) == ("test_cart.Cart.test_empty", "passed")
    assert "/forge/directories" not in record.suites[0].printed + first.message
    assert "AssertionError: 3 != 4" in first.message


def test_the_same_files_are_tested_once_and_changed_ones_again(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_cart.py": CASES})
    first = ran(repo)
    repo.create_branch("ai/one")
    vfs = repo.workspace("ai/one")
    vfs.write_record(".forge/session/1-a/1.json", b"{}")
    vfs.commit("talk")
    again = ran(repo, "ai/one")
    assert (again.reused, again.record.key) == (True, first.record.key)
    assert not ran(repo, "ai/one", fresh=True).reused
    assert not ran(repo, pattern="test_empty").reused
    vfs = repo.workspace("ai/one")
    vfs.write_file("test_cart.py", CASES.replace("4)", "3)"))
    vfs.commit("mend")
    mended = ran(repo, "ai/one")
    assert (mended.reused, mended.record.outcome) == (False, "passed")
    set_repository_command(repo, "python3 -m unittest -q test_cart")
    assert not ran(repo).reused


def test_the_last_run_of_a_branch_is_shown_and_is_old_once_files_change(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_cart.py": CASES})
    assert last_run(repo, "main") is None
    shown_run(repo, "main", ran(repo))
    seen = last_run(repo, "main")
    assert seen is not None
    assert (seen.current, seen.failed, seen.tests[0].line) == (True, 1, 7)
    vfs = repo.workspace("main")
    vfs.write_file("more.txt", "x\n")
    vfs.commit("more")
    stale = last_run(repo, "main")
    assert stale is not None
    assert not stale.current


def test_a_flaky_test_is_marked_and_stays_named(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_net.py": FLAKY, ".gitignore": "*.tmp\n"})
    record = ran(repo).record
    assert (record.outcome, record.passed, record.failed) == ("passed", 2, 0)
    assert record.flaky == ("test_net.Net.test_answer",)
    (flaky,) = (case for case in record.tests if case.flaky)
    assert "the connection was lost" in flaky.message
    assert "2 passed, 0 failed, 1 flaky" in told(record, reused=False)
    assert "Flaky, failed first and passed when run again: test_net.Net.test_answer" in told(record, reused=False)


def test_a_test_that_fails_twice_is_not_flaky(make_repo: MakeRepo) -> None:
    record = ran(made(make_repo, {"test_cart.py": CASES})).record
    assert (record.flaky, record.outcome) == ((), "failed")
    assert "the failed tests, run again" in record.suites[0].printed


def test_a_run_that_takes_too_long_is_stopped_and_never_reused(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_slow.py": CASES.replace("pass", "__import__('time').sleep(60)")})
    before = time.monotonic()
    record = ran(repo, seconds=1.0).record
    assert time.monotonic() - before < 15
    assert (record.outcome, record.stopped) == ("cannot run", "the tests took longer than 1 s")
    assert not ran(repo, seconds=1.0).reused


def test_a_cancelled_run_leaves_no_record(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_slow.py": CASES.replace("pass", "__import__('time').sleep(60)")})
    cancel = threading.Event()
    lines: list[str] = []
    timer = threading.Timer(1.0, cancel.set)
    timer.start()
    done = run_branch_tests(repo, "main", Wanted(), redact=str, on_line=lines.append, cancel=cancel)
    timer.cancel()
    assert done.record.stopped == "the run was cancelled"
    assert last_run(repo, "main") is None


def test_no_secret_is_put_on_record(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_cart.py": CASES.replace("1 + 2, 4)", "'hush', '')")})
    ran(repo)
    files = [*(repo.common_dir / "forge" / "test-runs").iterdir()]
    assert files
    assert not any("hush" in file.read_text() for file in files)


@pytest.mark.parametrize(
    ("files", "pattern", "error"),
    [
        ({"a.txt": ""}, "", NoTests),
        ({"test_cart.py": CASES}, "-rf", InvalidInput),
        ({"test_cart.py": CASES}, "a\nb", InvalidInput),
        ({"Makefile": "test:\n\ttrue\n"}, "name", InvalidInput),
    ],
)
def test_what_cannot_be_run_is_refused_with_what_to_do(
    make_repo: MakeRepo, files: dict[str, str], pattern: str, error: type[InvalidInput]
) -> None:
    repo = made(make_repo, files)
    with pytest.raises(error) as caught:
        ran(repo, pattern=pattern)
    assert caught.value.hint


def test_a_record_that_cannot_be_read_is_none(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_cart.py": CASES})
    ran(repo)
    for file in (repo.common_dir / "forge" / "test-runs").iterdir():
        file.write_text('{"form": 1, "suites": 3}')
    assert last_run(repo, "main") is None
    assert not ran(repo).reused


def test_a_run_in_another_environment_is_not_reused(make_repo: MakeRepo) -> None:
    vfs = made(make_repo, {"test_cart.py": CASES}).workspace("main")
    now = "layer one"
    records = Records(vfs.objects.common_dir, str, lambda _: now)
    found = suites(vfs)

    def run_line(line: str) -> tuple[int, str]:
        return 0, f"test_a (x.y.test_a) ... ok\n\nRan 1 test in 0.1s\n\nOK\n{line}"

    assert not run_recorded(found, vfs, run_line, records=records).reused
    assert run_recorded(found, vfs, run_line, records=records).reused
    now = "layer two"
    assert not run_recorded(found, vfs, run_line, records=records).reused
