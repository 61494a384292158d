"""Real projects, from the source packages of this machine's package index to green tests on a branch.

They need the network and minutes: `script/test --projects` runs them, and nothing else does.
"""

from __future__ import annotations

import io
import json
import os
import pwd
import subprocess
import tarfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

import pytest
from packaging.version import InvalidVersion, Version

from forge.app.repositories.commands import CommandRun, run_on_branch
from forge.app.repositories.environments import Environments, EnvironmentStatus
from forge.environment.layer_store import tree_size
from forge.environment.machine import Machine
from forge.environment.proposal import Proposal
from forge.git import Repository
from forge.sandbox import Limits
from forge.settings import Settings
from tests.conftest import Git, MakeRepo

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.req("B-02", "G-04"),
    pytest.mark.slow,
    pytest.mark.skipif(os.environ.get("FORGE_TEST_PROJECTS") != "1", reason="script/test --projects runs them"),
]

PROJECTS = ("click", "flask", "markupsafe", "attrs", "requests", "itsdangerous", "iniconfig", "jinja2", "fastapi")
NODE = {
    "package.json": json.dumps(
        {
            "name": "app",
            "private": True,
            "dependencies": {"left-pad": "1.3.0"},
            "devDependencies": {"mocha": "10.8.2"},
            "scripts": {"test": "mocha"},
        }
    ),
    "test/pad.js": "it('pads', () => require('assert').equal(require('left-pad')('a', 3), '  a'));\n",
    ".gitignore": "node_modules\n",
}


@pytest.fixture
def environments(tmp_path: Path) -> Environments:
    """Of whoever runs the tests: with their package index."""
    theirs = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environ = {**theirs, "HOME": pwd.getpwuid(os.getuid()).pw_dir}
    return Environments(Settings(), environ, tmp_path / "environments")


def source(environments: Environments, name: str, cache: Path) -> dict[str, bytes]:
    """The newest source package of the index, as files."""
    machine = Machine(dict(os.environ), Path(pwd.getpwuid(os.getuid()).pw_dir), cache)
    index = machine.python_index
    base = index.variables.get("PIP_INDEX_URL") or f"https://{index.hosts[0]}/simple"
    page = f"{base.rstrip('/')}/{name}/"
    request = urllib.request.Request(page, headers={"Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.1"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read().decode()
    links = [part.split('"')[0] for part in text.split('href="')[1:]] or [
        each["url"] for each in json.loads(text)["files"]
    ]
    packed = [link for link in links if link.partition("#")[0].endswith(".tar.gz")]
    newest = max(packed, key=_version)
    with urllib.request.urlopen(urljoin(page, newest), timeout=60) as answer:
        data = io.BytesIO(answer.read())
    files = {}
    with tarfile.open(fileobj=data) as archive:
        for entry in archive.getmembers():
            opened = archive.extractfile(entry) if entry.isfile() else None
            if opened is not None:
                files[entry.name.partition("/")[2]] = opened.read()
    return files


def _version(link: str) -> Version:
    name = link.partition("#")[0].rpartition("/")[2].removesuffix(".tar.gz")
    try:
        found = Version(name.rpartition("-")[2])
    except InvalidVersion:
        return Version("0")
    return Version("0") if found.is_prerelease else found


def shell(environments: Environments, repo: Repository, branch: str, script: str) -> CommandRun:
    limits = Limits(seconds=600, output_bytes=8 << 20)
    command = ["sh", "-c", script]
    return run_on_branch(repo, repo.workspace(branch), command, limits=limits, environments=environments)


def set_up(environments: Environments, repo: Repository) -> None:
    environments.approve(repo, "main", by="Ada", expected=None)
    environments.set_up(repo, "main")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of a whole suite, test by test."""

    passed: int
    failed: frozenset[str]


def outcome(report: str) -> Outcome:
    cases = list(ET.fromstring(report).iter("testcase"))
    bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    names = frozenset(f"{case.get('classname')}::{case.get('name')}" for case in bad)
    return Outcome(len(cases) - len(bad) - len(skipped), names)


def plain_outcome(files: dict[str, bytes], proposal: Proposal, place: Path) -> Outcome:
    """What the same commands and tests come to in a plain checkout with a virtual environment, without network."""
    source, env = place / "source", place / "env"
    for path, content in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(content)
    env.mkdir()
    environ = {**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir, "PIP_NO_CACHE_DIR": "1"}
    environ |= {name: value.replace("/env/", f"{env}/") for name, value in proposal.setup_variables.items()}
    for command in proposal.commands:
        line = command.replace("/env/", f"{env}/")
        subprocess.run(["sh", "-c", line], cwd=source, env=environ, check=True, capture_output=True)
    alone = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--chdir", str(source), "--"]
    words = [f"{env}/venv/bin/python", "-m", "pytest", "-q", f"--junitxml={place}/report.xml"]
    environ["PATH"] = f"{env}/venv/bin:{environ['PATH']}"
    done = subprocess.run([*alone, *words], env=environ, check=False, capture_output=True, text=True, timeout=900)
    assert (place / "report.xml").exists(), (done.stdout + done.stderr)[-3000:]
    return outcome((place / "report.xml").read_text())


@pytest.mark.parametrize("name", PROJECTS)
def test_tests_of_a_source_package_end_on_a_branch_as_in_a_plain_checkout(
    environments: Environments, make_repo: MakeRepo, git: Git, tmp_path: Path, name: str
) -> None:
    """A test that needs the network fails in both; no other fails."""
    files = source(environments, name, tmp_path / "asked")
    place = make_repo(files)
    repo = Repository.open(place)
    set_up(environments, repo)
    script = (
        "python -m pytest -q --junitxml=/tmp/report.xml > /tmp/said 2>&1; cat /tmp/report.xml || tail -n 50 /tmp/said"
    )
    done = shell(environments, repo, "main", script)
    assert done.result.stdout_text.startswith("<?xml"), done.result.stdout_text[-3000:]
    found = outcome(done.result.stdout_text)
    plain = plain_outcome(files, environments.state(repo, "main").proposal, tmp_path / "plain")
    print(f"{name}: {found.passed} passed, {sorted(found.failed)} failed; plain {plain.passed}, {sorted(plain.failed)}")
    assert found == plain
    assert found.passed > 0
    assert git(place, "status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["markupsafe"])
def test_the_compiled_part_of_a_package_is_used(
    environments: Environments, make_repo: MakeRepo, tmp_path: Path, name: str
) -> None:
    repo = Repository.open(make_repo(source(environments, name, tmp_path / "asked")))
    set_up(environments, repo)
    done = shell(environments, repo, "main", "python -c 'import markupsafe._speedups as c; print(c.__file__)'")
    assert done.result.stdout_text.strip().endswith(".so"), done.result.stderr_text


def test_an_npm_project_has_green_tests_on_a_branch(environments: Environments, make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo(NODE))
    set_up(environments, repo)
    done = shell(environments, repo, "main", "npm test")
    assert "1 passing" in done.result.stdout_text, done.result.stderr_text
    assert done.changes == ()


def test_ten_branches_share_one_layer_and_start_at_once(
    environments: Environments, make_repo: MakeRepo, tmp_path: Path, home: Path
) -> None:
    repo = Repository.open(make_repo(source(environments, "flask", tmp_path / "asked")))
    set_up(environments, repo)
    layer = environments.state(repo, "main").layer
    assert layer is not None
    shell(environments, repo, "main", "true")
    for number in range(10):
        repo.create_branch(f"b{number}")
        started = time.monotonic()
        assert environments.state(repo, f"b{number}").state is EnvironmentStatus.READY
        assert time.monotonic() - started <= 1.0
        shell(environments, repo, f"b{number}", "true")
    files = repo.workspace("b0")
    files.write_file("README.md", "changed\n")
    started = time.time()
    done = run_on_branch(repo, files, ["date", "+%s.%N"], limits=Limits(seconds=60), environments=environments)
    assert float(done.result.stdout_text) - started <= 0.5
    used = tree_size(tmp_path / "environments/layers") + tree_size(home / "cache/forge/directories")
    assert used <= 1.2 * layer.size
