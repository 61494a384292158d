"""The commands of the README and of the first ten minutes do what they say, in the order in which they stand."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import httpx
import pytest

from tests.conftest import Git
from tests.support.documents import DOCS, ROOT, Block, blocks
from tests.support.package_server import package_server
from tests.support.postgres import Server, postgres  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow
by_a_newcomer = pytest.mark.req("X-01", "X-03")

PATIENCE = 60
SERVES = "serves"
IN_REPOSITORY = "in a repository"
# A project that waits for its person is no failure, though programs are told so by the exit code.
FORGE = 'forge() { command forge "$@" || [[ $? == 4 && ( $1 == project || $1 == run ) ]]; }\n'


@pytest.fixture
def newcomer(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's machine: a home, no key, `forge` at hand, and a port for each server."""
    for variable in list(os.environ):
        if variable.startswith("FORGE_") or variable.endswith(("_API_KEY", "_BASE_URL", "_OAUTH_TOKEN")):
            monkeypatch.delenv(variable)
    bin_directory = tmp_path / "bin"
    bin_directory.mkdir()
    (bin_directory / "forge").symlink_to(Path(sys.executable).parent / "forge")
    monkeypatch.setenv("PATH", f"{bin_directory}:/usr/local/bin:/usr/bin:/bin")
    # Whatever else listens on this machine is not asked.
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(variable, raising=False)
    settings = home / "config" / "forge" / "config.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"server: {{port: 0}}\nworkspace: {home / 'workspace'}\n")
    return home


def commands(document: Path) -> Iterator[tuple[str, list[Block]]]:
    """What is run, in order: blocks that belong together, by their mark."""
    found = [each for each in blocks(document) if each.language == "sh" and not each.mark.startswith("not run")]
    for mark, together in groupby(found, key=lambda block: block.mark):
        yield mark, list(together)


def run(script: str, directory: Path) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", FORGE + script],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE * 3,
        check=False,
    )
    assert done.returncode == 0, f"{script}\n→ {done.returncode}\n{done.stdout}"
    return done.stdout


@contextmanager
def serving(script: str, directory: Path) -> Iterator[str]:
    """What it says until it has said where it is. It is told to stop afterwards, and does so in good order."""
    with subprocess.Popen(
        ["bash", "-c", f"exec {script.strip()}"],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as server:
        assert server.stdout is not None
        said = ""
        try:
            for line in server.stdout:
                said += line
                if "http://127.0.0.1:" in line:
                    break
            yield said
            server.send_signal(signal.SIGTERM)
            assert server.wait(PATIENCE) == 0, said
        finally:
            server.kill()


def walk(document: Path, start: Path, repository: Path) -> str:
    """Everything that the document runs; gives what was printed."""
    said = ""
    for mark, together in commands(document):
        script = "".join(block.text for block in together)
        if mark == SERVES:
            with serving(script, repository) as told:
                said += told
        else:
            said += run(script, repository if mark == IN_REPOSITORY else start)
    return said


@by_a_newcomer
def test_the_first_ten_minutes_go_as_they_are_written(newcomer: Path) -> None:
    said = walk(DOCS / "getting-started.md", newcomer, newcomer / "hello")
    assert "Saved → " in said
    assert "Took back: merge ai/greeting into main" in said
    assert "Summer Party" in said
    assert "Forge is at http://127.0.0.1:" in said
    assert sorted(path.name for path in (newcomer / "hello").iterdir()) == [".git", "README.md", "app.py"]
    assert (newcomer / "workspace/projects/reading-club/docs/outline.md").is_file()


@by_a_newcomer
def test_the_commands_of_the_readme_work(newcomer: Path, repository: Path) -> None:
    said = walk(ROOT / "README.md", newcomer, repository)
    assert "\nhello\n" in said
    assert "Took back: merge ai/greeting into main" in said
    assert "fk_" in said
    assert "Forge is at http://127.0.0.1:" in said


@by_a_newcomer
def test_the_first_commands_of_the_reference_print_what_is_written(newcomer: Path, repository: Path) -> None:
    example = next(blocks(DOCS / "cli.md")).text
    steps = [step.partition("\n") for step in re.split(r"^\$ ", example, flags=re.M)[1:]]
    assert len(steps) > 3
    for command, _, written in steps:
        said = run(command, repository)
        assert [_without_ids(line) for line in said.splitlines()] == [
            _without_ids(line) for line in written.strip().splitlines()
        ], command


INICONFIG = """\
import configparser

class IniConfig:
    def __init__(self, path, data):
        self._parser = configparser.ConfigParser()
        self._parser.read_string(data)

    def __getitem__(self, section):
        return self._parser[section]
"""


@pytest.mark.req("B-02")
def test_the_example_of_an_environment_goes_as_it_is_written(newcomer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an index on loopback, which has a package of that name."""
    found = [block.text for block in blocks(DOCS / "environments.md") if block.mark == "example"]
    assert len(found) == 3
    with package_server() as index:
        index.add_wheel("iniconfig", "2.0.0", {"iniconfig/__init__.py": INICONFIG})
        for name, value in index.environ.items():
            monkeypatch.setenv(name, value)
        said = run("".join(found), newcomer)
    first, _, then = said.partition("exit code ")
    assert "Cannot run: the Python module `iniconfig`" in first
    assert "→ The environment of main is not approved: forge env show, then forge env setup" in first
    assert f"may reach: {index.host}" in then
    assert "Ready: layer " in then
    assert "Passed: 1 test passed" in then
    assert said.endswith("ready on topic\n")


def _without_ids(line: str) -> str:
    return re.sub(r"\b[0-9a-f]{7}\b", "ID", line)


@pytest.fixture
def repository(tmp_path: Path, git: Git) -> Path:
    directory = tmp_path / "own"
    git(tmp_path, "init", "--quiet", str(directory))
    (directory / "README.md").write_text("# Own\n")
    git(directory, "add", ".")
    git(directory, "commit", "--quiet", "--message", "first")
    return directory


def test_python_of_the_readme_that_is_meant_to_run_runs(newcomer: Path, repository: Path, git: Git) -> None:
    found = [block for block in blocks(ROOT / "README.md") if block.language == "python" and block.mark == "run"]
    assert len(found) == 1
    subprocess.run([sys.executable, "-c", found[0].text], cwd=repository, check=True, timeout=PATIENCE)
    assert git(repository, "show", "ai/notes:docs/notes.md") == "# Notes"


@pytest.mark.req("X-06")
def test_a_team_server_comes_up_as_it_is_written(
    newcomer: Path,
    monkeypatch: pytest.MonkeyPatch,
    postgres: Server,  # noqa: F811
) -> None:
    found = list(blocks(DOCS / "team-server.md"))
    settings = next(block.text for block in found if block.language == "yaml")
    people = next(block.text for block in found if "forge user add" in block.text)
    database = postgres.new_database().replace("secret-word", "${FORGE_DATABASE_PASSWORD}")
    settings = re.sub(r"postgresql://[^\"]+", lambda _: database, settings).replace("port: 3000", "port: 0")
    (newcomer / "config/forge/config.yaml").write_text(settings)
    monkeypatch.setenv("FORGE_DATABASE_PASSWORD", "secret-word")
    ana, ci, ben = re.findall(r"^fk_\S+$", run(people, newcomer), re.M)
    with serving("forge serve", newcomer) as said:
        address = re.findall(r"http://127\.0\.0\.1:\d+", said)[0]

        def who(key: str, host: str) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}", "Host": host}
            return httpx.get(f"{address}/api/sign-in", headers=headers, trust_env=False)

        scopes = {key: who(key, "forge.example.org").json()["scopes"] for key in (ana, ci, ben)}
        assert {"read", "write", "run"} == set(scopes[ana])
        assert scopes[ci] == ["read"]
        assert "admin" in scopes[ben]
        assert who(ana, "elsewhere.example.org").status_code == 421
