"""What a newcomer runs into: each time a sentence on what is wrong, and the next step; told by real processes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM
from tests.conftest import GIT_CONFIG
from tests.support.machine import BASIC_PROGRAMS, ROOT, Machine, write_program

pytestmark = pytest.mark.req("X-01", "X-03")
# Root may write everywhere, unless it gives that up.
_AS_ANYBODY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
AS_ANYBODY = _AS_ANYBODY if os.geteuid() == 0 else []


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Somebody with a home of their own, and nothing set up."""

    home: Path

    def forge(self, *words: str, stdin: str = "", **variables: str) -> tuple[int, list[str]]:
        """The exit code, and the lines that were said about it."""
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "FORGE_DATA_DIR": str(self.home / "data"),
            "FORGE_WORKSPACE": str(self.home / "workspace"),
            **variables,
        }
        command = [*AS_ANYBODY, str(PROGRAM), *words]
        if AS_ANYBODY:
            command[0] = shutil.which(command[0]) or command[0]
        ran = subprocess.run(
            command, env=environ, cwd=self.home, input=stdin, capture_output=True, text=True, check=False, timeout=120
        )
        assert "Traceback" not in ran.stderr, ran.stderr
        self.printed.write_text(ran.stdout)
        return ran.returncode, ran.stderr.splitlines()

    @property
    def printed(self) -> Path:
        """What the last command had to say besides."""
        return self.home / "printed"

    def git(self, *words: str) -> None:
        environ = {**os.environ, "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig")}
        subprocess.run(["git", *words], cwd=self.home, env=environ, check=True, capture_output=True)

    def repository(self, name: str = "garden") -> Path:
        place = self.home / name
        self.git("init", "--quiet", "--initial-branch=main", str(place))
        (place / "README.md").write_text("# Garden\n")
        self.git("-C", str(place), "add", "--all")
        self.git("-C", str(place), "commit", "--quiet", "--message", "First")
        return place


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_CONFIG)
    return Newcomer(home)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A directory that nobody may write."""
    place = tmp_path / "locked"
    place.mkdir(mode=0o555)
    yield place
    place.chmod(0o755)


# Before anything is installed


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of one as the first start reads."""
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT / "script", copy / "script")
    for name in ("uv.lock", "pyproject.toml"):
        shutil.copy2(ROOT / name, copy)
    return copy


@pytest.fixture
def bare_machine(tmp_path: Path) -> Machine:
    return Machine.with_only(tmp_path / "programs", *BASIC_PROGRAMS)


def started(machine: Machine, checkout: Path, **more: str) -> list[str]:
    command = [*([shutil.which("setpriv") or "setpriv", *AS_ANYBODY[1:]] if AS_ANYBODY else [])]
    done = machine.run(*command, checkout / "script" / "forge", "demo", cwd=checkout, HOME=str(checkout), **more)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr.splitlines()


def test_a_python_that_is_too_old_is_named(bare_machine: Machine, checkout: Path) -> None:
    bare_machine.add("python3", 'case "$1" in -c) echo " (python3 is 3.9)" ;; *) exit 1 ;; esac')
    assert started(bare_machine, checkout) == [
        "setup: no Python 3.11 or newer was found on PATH or under pyenv (python3 is 3.9)",
        "  next: install one (Debian, Ubuntu: sudo apt-get install python3.11 python3.11-venv), then start again",
    ]


def test_a_machine_without_git_is_told_to_get_it(bare_machine: Machine, checkout: Path) -> None:
    bare_machine.add_python()
    (bare_machine.programs / "git").unlink()
    assert started(bare_machine, checkout) == [
        "setup: git is missing",
        "  next: install it (Debian, Ubuntu: sudo apt-get install git), then start again",
    ]


def test_a_checkout_that_may_not_be_written_is_named(bare_machine: Machine, checkout: Path) -> None:
    bare_machine.add_python()
    checkout.chmod(0o555)
    try:
        said = started(bare_machine, checkout)
    finally:
        checkout.chmod(0o755)
    assert said == [
        f"setup: {checkout} may not be written",
        "  next: check who owns it, or clone it again to a place of your own, then start again",
    ]


def test_without_a_network_the_first_start_asks_for_it(bare_machine: Machine, checkout: Path) -> None:
    bare_machine.add_python()
    # Both are there, and reach nothing.
    bare_machine.add("uv", 'case "$1" in --version) echo "uv 9.0" ;; *) echo "error: no route" >&2; exit 2 ;; esac')
    private = checkout / ".forge-setup" / "venv" / "bin" / "python"
    private.parent.mkdir(parents=True)
    write_program(private, 'case "$*" in "-m pip --version") ;; *) echo "error: no index" >&2; exit 1 ;; esac')
    said = started(bare_machine, checkout)
    assert said[-2:] == [
        "setup: the environment could not be installed, the reason is above: is this machine connected?",
        "  next: check the network and the index settings (uv's and pip's variables and files), then start again",
    ]
    assert "error: no route" in said
    assert not (checkout / ".venv" / ".forge-setup").exists(), "the next start tries again"


# In a repository, or where there is none


def test_where_there_is_no_repository_git_init_is_the_next_step(newcomer: Newcomer) -> None:
    assert newcomer.forge("log") == (
        1,
        [
            f"forge: {newcomer.home} is not inside a git repository.",
            "  → Run `git init` there, or pass -C DIR to choose another.",
        ],
    )


def test_without_a_branch_checked_out_one_must_be_named(newcomer: Newcomer) -> None:
    place = newcomer.repository()
    newcomer.git("-C", str(place), "checkout", "--quiet", "--detach")
    hint = "  → Make one here with `git switch -c NAME`, or name one with --branch."
    said = ["forge: HEAD is not on a branch.", hint]
    assert newcomer.forge("-C", str(place), "file", "save", "a.txt", stdin="a\n") == (1, said)
    assert newcomer.forge("-C", str(place), "file", "save", "-b", "main", "a.txt", stdin="a\n")[0] == 0


@pytest.mark.parametrize("kind", [(), ("--bare",)])
def test_an_empty_or_bare_repository_is_fine_and_says_how_to_begin(newcomer: Newcomer, kind: tuple[str, ...]) -> None:
    newcomer.git("init", "--quiet", "--initial-branch=main", *kind, "new")
    begins = "There is no commit yet: the first `forge file save` makes one."
    assert newcomer.forge("-C", "new", "log") == (0, [begins])
    assert newcomer.forge("-C", "new", "file", "save", "a.txt", stdin="a\n")[0] == 0
    assert newcomer.forge("-C", "new", "log") == (0, [])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_repository_of_somebody_else_is_opened_once_it_is_trusted(newcomer: Newcomer) -> None:
    place = newcomer.repository("their garden")
    (place / "beds").mkdir()
    for each in (place, *place.rglob("*")):
        os.chown(each, 4321, 4321)
    code, said = newcomer.forge("-C", str(place / "beds"), "log")
    trusting = f"git config --global --add safe.directory '{place}'"
    assert (code, said) == (1, [f"forge: {place} belongs to another user.", f"  → If you trust it: {trusting}"])
    newcomer.git("config", "--global", "--add", "safe.directory", str(place))
    assert newcomer.forge("-C", str(place / "beds"), "log") == (0, [])


def test_a_repository_that_may_not_be_written_is_named(newcomer: Newcomer) -> None:
    place = newcomer.repository()
    for each in (place, *place.rglob("*")):
        each.chmod(0o555 if each.is_dir() else 0o444)
    try:
        code, said = newcomer.forge("-C", str(place), "file", "save", "a.txt", stdin="a\n")
    finally:
        for each in (place, *place.rglob("*")):
            each.chmod(0o755)
    assert code == 1
    assert said[0].startswith(f"forge: {place}/.git/")
    assert said[0].endswith(" may not be written; nothing was changed.")
    assert said[1] == "  → Check who owns it and the folder that it is in."


# In Forge itself


@pytest.mark.parametrize("words", [("branch", "list"), ("memory", "show"), ("config", "check"), ("serve", "--open")])
def test_a_place_that_may_not_be_looked_at_is_named(newcomer: Newcomer, locked: Path, words: tuple[str, ...]) -> None:
    locked.chmod(0)
    code, said = newcomer.forge("-C", str(locked / "in"), *words)
    assert (code, said[0]) == (1, f"forge: {locked / 'in'} cannot be looked at: Permission denied.")


def test_a_repository_and_an_idea_that_may_not_be_read_are_named(newcomer: Newcomer, locked: Path) -> None:
    locked.chmod(0)
    code, said = newcomer.forge("project", "new", "Party", "--repo", str(locked / "in"))
    assert (code, said[0]) == (1, f"forge: {locked / 'in'} cannot be looked at: Permission denied.")
    code, said = newcomer.forge("run", str(locked / "idea.txt"))
    assert (code, said[0]) == (1, f"forge: {locked / 'idea.txt'} cannot be read: Permission denied.")


def test_without_git_commands_say_so(newcomer: Newcomer, tmp_path: Path) -> None:
    said = ["forge: There is no git on PATH.", "  → Install git 2.38 or newer, then try again."]
    assert newcomer.forge("demo", PATH=str(tmp_path)) == (1, said)


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("demo",), ("board",)])
def test_a_data_directory_that_may_not_be_written_is_named_with_how_to_choose_another(
    newcomer: Newcomer, locked: Path, command: tuple[str, ...]
) -> None:
    code, said = newcomer.forge(*command, FORGE_DATA_DIR=str(locked / "data"))
    assert code == 1
    assert str(locked / "data") in said[0]
    assert "set another FORGE_DATA_DIR" in said[1]


def test_a_workspace_that_may_not_be_written_is_named(newcomer: Newcomer, locked: Path) -> None:
    code, said = newcomer.forge("demo", FORGE_WORKSPACE=str(locked / "workspace"))
    assert (code, said[0]) == (1, f"forge: {locked / 'workspace'} may not be written; nothing was changed.")
    assert said[1].startswith("  → Check who owns it")


def test_a_port_that_is_taken_is_named_with_a_way_around_it(newcomer: Newcomer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert newcomer.forge("serve", "--port", str(port)) == (
            1,
            [
                f"forge: Another program has port {port} on 127.0.0.1.",
                "  → `forge serve --port 0` takes any that is free; `server.port` sets another for good.",
            ],
        )


def test_a_model_without_a_key_says_which_key(newcomer: Newcomer) -> None:
    place = newcomer.repository()
    code, said = newcomer.forge("-C", str(place), "chat", "-b", "ai/x", "--model", "anthropic:claude-x", "-m", "Hello")
    assert (code, said[0]) == (5, "forge: There is no key for anthropic.")
    assert said[1].startswith("  → Set ANTHROPIC_API_KEY=… in the environment")


def test_with_no_model_at_all_the_builtin_engine_answers_and_says_how_to_get_more(newcomer: Newcomer) -> None:
    place = newcomer.repository()
    code, said = newcomer.forge("-C", str(place), "chat", "-b", "ai/x", "-m", "Write me a poem")
    assert (code, [line for line in said if line.startswith("forge:")]) == (0, [])
    assert "for real work set a key, such as ANTHROPIC_API_KEY=…" in newcomer.printed.read_text()
