"""Layers that a hostile setup leaves behind: what later commands and Forge itself do with them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from forge.app.repositories.commands import CommandRun, run_on_branch
from forge.app.repositories.environments import Environments, EnvironmentStatus
from forge.environment.errors import SetupFailed
from forge.environment.layer_store import Layer
from forge.git import Repository
from forge.sandbox import Limits
from tests.conftest import MakeRepo

pytestmark = pytest.mark.req("B-02", "X-06")

SECRET = "planted-6b2d90e1"


@pytest.fixture
def treasure(tmp_path: Path) -> Path:
    """A folder of the person with a secret."""
    place = tmp_path / "treasure"
    place.mkdir()
    (place / "secret").write_text(SECRET)
    return place


def poisoned(environments: Environments, make_repo: MakeRepo, *commands: str) -> tuple[Repository, Layer]:
    setup = json.dumps({"setup": list(commands)})
    repo = Repository.open(make_repo({"src/a.py": "1\n", ".forge/environment.yaml": setup}))
    environments.approve(repo, "main", by="Ada", expected=None)
    return repo, environments.set_up(repo, "main")


def shell(environments: Environments, repo: Repository, script: str) -> CommandRun:
    command = ["sh", "-c", script]
    return run_on_branch(repo, repo.workspace("main"), command, limits=Limits(seconds=60), environments=environments)


LINKS = {
    "a folder beside the sources": "ln -s {treasure} /source/node_modules",
    "a folder in the sources": "ln -s {treasure} /source/src/made",
    "a file beside the sources": "ln -s {treasure}/secret /source/made",
    "the layer": "ln -s {treasure} /env/venv; ln -s {treasure}/secret /env/said",
    "the place for scratch": "rm -rf /env/scratch; ln -s {treasure} /env/scratch",
    "a cache of node": "mkdir /source/node_modules; ln -s {treasure} /source/node_modules/.cache",
    "a cache of node that is nowhere": "mkdir /source/node_modules; ln -s {treasure}/new /source/node_modules/.vite",
    "inside a folder that is made": "mkdir /source/made; ln -s {treasure} /source/made/in",
}


@pytest.mark.parametrize("command", LINKS.values(), ids=LINKS)
def test_a_link_out_of_a_layer_leads_nowhere(
    environments: Environments, make_repo: MakeRepo, treasure: Path, command: str
) -> None:
    before = sorted(os.listdir(treasure)), treasure.stat().st_mode
    repo, _ = poisoned(environments, make_repo, command.replace("{treasure}", str(treasure)))
    done = shell(
        environments, repo, "find -L /source /env -type f | head -n 200 | xargs cat; cat /source/*/*; echo ended"
    )
    assert done.result.stdout_text.endswith("ended\n"), done.result.stderr_text
    assert SECRET not in done.result.stdout_text
    environments.clear(repo, "main")
    assert (sorted(os.listdir(treasure)), treasure.stat().st_mode) == before
    assert (treasure / "secret").read_text() == SECRET


def test_a_poisoned_program_has_no_more_than_any_command(
    environments: Environments, make_repo: MakeRepo, treasure: Path, home: Path
) -> None:
    attack = (
        f"#!/bin/sh\ncat {treasure}/secret; ls {home}; touch {home}/planted /usr/bin/planted /env/planted; "
        "/usr/bin/python3 -c 'import urllib.request as r; r.urlopen(\"http://127.0.0.1:4572\")' && echo net"
    )
    names = ("git", "python", "python3", "sh", "pytest", "env")
    write = "; ".join(
        f"printf '%s\\n' \"$ATTACK\" > /env/venv/bin/{name}; chmod +x /env/venv/bin/{name}" for name in names
    )
    setup = {"setup": [f"mkdir -p /env/venv/bin; {write}"], "variables": {"ATTACK": attack}}
    files = {
        "requirements.txt": "",
        "tests/test_a.py": "def test_a(): pass\n",
        ".forge/environment.yaml": json.dumps(setup),
    }
    repo = Repository.open(make_repo(files))
    environments.approve(repo, "main", by="Ada", expected=None)
    environments.set_up(repo, "main")
    done = run_on_branch(
        repo, repo.workspace("main"), ["git", "status"], limits=Limits(seconds=60), environments=environments
    )
    said = done.result.stdout_text + done.result.stderr_text
    assert "planted" in said  # it ran, and was refused
    assert SECRET not in said
    assert "net" not in done.result.stdout_text.split()
    assert not (home / "planted").exists()
    assert environments.state(repo, "main").state is EnvironmentStatus.READY


RIGHTS = {
    "setuid": "cp /bin/sh /env/sh; chmod u+s /env/sh; test -u /env/sh",
    "setgid": "cp /bin/sh /env/sh; chmod g+s /env/sh; test -g /env/sh",
    "setuid from the beginning": (
        "python3 -c \"import os; os.open('/env/x', os.O_CREAT | os.O_WRONLY, 0o4755)\"; test -u /env/x"
    ),
    "a device": "mknod /env/disk b 254 0",
    "a capability": "cp /bin/sh /env/sh; setcap cap_sys_admin+ep /env/sh",
    "a hard link to the system": "ln /bin/sh /env/linked",
    "another owner": "touch /env/x; chown 12345 /env/x",
}


@pytest.mark.parametrize("command", RIGHTS.values(), ids=RIGHTS)
def test_a_setup_leaves_no_rights_behind(environments: Environments, make_repo: MakeRepo, command: str) -> None:
    _, layer = poisoned(environments, make_repo, f"if ( {command} ); then echo reached; fi > /env/outcome 2>&1; true")
    assert "reached" not in (layer.root / "outcome").read_text()
    for path in layer.root.rglob("*"):
        stat = path.lstat()
        assert not stat.st_mode & 0o6000, path
        assert stat.st_uid == os.getuid(), path


def test_a_flood_of_output_is_cut_and_told_no_further(environments: Environments, make_repo: MakeRepo) -> None:
    _, layer = poisoned(environments, make_repo, "yes planted | head -c 60000000; head -c 3000000 /dev/zero; echo end")
    assert layer.log.stat().st_size <= 9 << 20


def test_a_setup_that_forks_without_end_is_ended_whole(environments: Environments, make_repo: MakeRepo) -> None:
    mark = f"{time.time_ns()}"
    with pytest.raises(SetupFailed, match="limit of processes"):
        poisoned(environments, make_repo, f"f() {{ sleep 3{mark[-6:]} & f | f & }}; f; wait")
    assert mark[-6:] not in "".join(_commands())
    assert environments.store.layers() == ()


def test_what_a_setup_leaves_running_ends_with_it(environments: Environments, make_repo: MakeRepo) -> None:
    mark = f"4{time.time_ns()}"[:8]
    poisoned(environments, make_repo, f"setsid nohup sleep {mark} > /dev/null 2>&1 & true")
    assert mark not in "".join(_commands())


def test_a_pipe_among_the_sources_holds_up_nothing(environments: Environments, make_repo: MakeRepo) -> None:
    repo, _ = poisoned(environments, make_repo, "mkfifo /source/pipe /source/src/pipe /env/pipe")
    assert shell(environments, repo, "echo ran").result.stdout_text == "ran\n"


def _commands() -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(place.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return found
