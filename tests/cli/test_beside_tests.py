"""`forge test` beside a server: the same words and exit codes, interrupts, `--direct`, and a server that dies."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.beside import Beside, beside, until
from tests.conftest import MakeRepo

pytestmark = [pytest.mark.slow, pytest.mark.req("X-02", "B-02")]
CASES = (
    "import unittest\n\nclass Cart(unittest.TestCase):\n    def test_empty(self): pass\n"
    "    def test_total(self):\n        self.assertEqual(3, 4)\n"
)
COMMANDS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("test",), 1),
    (("test",), 1),
    (("test", "test_empty"), 0),
    (("test", "--json"), 1),
    (("test", "--branch", "gone"), 1),
    (("test", "--", "-x"), 1),
    (("test", "--set", "no-such-runner"), 0),
    (("test",), 4),
    (("test", "--set", "sleep 60"), 0),
    (("test", "--timeout", "1"), 3),
)


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Beside]:
    with beside(tmp_path, {}) as made:
        yield made


def _plain(text: str) -> str:
    text = re.sub(r'"(seconds|started)": [\d.]+', r'"\1": 0', text)
    return re.sub(r"\b[0-9a-f]{7,64}\b", "#", re.sub(r"\d+(\.\d+)? ?s\b", "0 s", text))


def _said(there: Beside, repo: Path) -> list[tuple[str, ...]]:
    told = []
    for words, code in COMMANDS:
        done = there.run(*words, cwd=repo)
        assert done.code == code, (words, done.out, done.err)
        told.append((" ".join(words), _plain(done.out), _plain(done.err)))
    return told


def test_the_server_runs_the_tests_with_the_same_words_and_exit_codes(
    there: Beside, make_repo: MakeRepo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    repo = make_repo({"test_cart.py": CASES})
    other = tmp_path_factory.mktemp("other")
    same = Path(shutil.copytree(repo, other / "repo"))
    alone = _said(there, repo)
    with beside(other, {}) as served:
        server = served.serve()
        assert _said(served, same) == alone
        assert set(served.runs().values()) == {server.pid}


def _slow(there: Beside, repo: Path) -> None:
    assert there.run("test", "--set", "touch began; sleep 5; python3 -m unittest discover", cwd=repo).code == 0


def test_an_interrupt_ends_the_run_of_the_server(there: Beside, make_repo: MakeRepo) -> None:
    repo = make_repo({"test_cart.py": CASES})
    server = there.serve()
    _slow(there, repo)
    command = there.start("test", cwd=repo)
    until(there.begun_runs)
    command.signal(signal.SIGINT)
    assert command.ended().code == 130
    assert set(there.runs().values()) == {server.pid}
    there.run("test", "--set", "python3 -m unittest discover", cwd=repo)
    assert there.run("test", "test_empty", cwd=repo).code == 0, "nothing runs on the branch any more"


def test_direct_runs_the_tests_here_and_a_dead_server_leaves_them_to_the_command(
    there: Beside, make_repo: MakeRepo
) -> None:
    repo = make_repo({"test_cart.py": CASES})
    server = there.serve()
    assert there.run("test", "--direct", cwd=repo).code == 1
    assert there.runs() == {}
    _slow(there, repo)
    command = there.start("test", cwd=repo)
    until(there.begun_runs)
    server.signal(signal.SIGKILL)
    done = command.ended()
    assert f"the server (process {server.pid}) has ended; this command continues its work" in done.err
    assert (done.code, "test_total" in done.out) == (1, True), done.err
    assert set(there.runs().values()) == {command.pid}
