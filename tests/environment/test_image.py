"""Container images as the base of an environment. What needs podman is skipped where it is not installed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forge.app.repositories.commands import CommandRun, run_on_branch
from forge.app.repositories.environments import Environments, EnvironmentStatus
from forge.app.repositories.terminals import own_terminal
from forge.app.sessions.sandbox_commands import TurnCommands
from forge.environment.errors import EnvironmentInvalid, ImageMissing, SetupFailed
from forge.environment.image_store import ImageStore
from forge.environment.layer_store import Layer
from forge.git import Repository
from forge.sandbox import Limits
from forge.settings import Settings
from forge.tools.user_tools import approve, approved_tools
from tests.conftest import MakeRepo
from tests.support.tiny_image import MARK, make_system

pytestmark = pytest.mark.req("B-02")

needs_podman = pytest.mark.skipif(shutil.which("podman") is None, reason="podman is not installed")
TOOL = """\
def get_schema():
    return {"name": "tell", "description": "Tell.", "parameters": {"type": "object", "properties": {}}}

def execute(vfs, args):
    return open("/etc/made-of").read() + vfs.read_file("a")
"""
MakeImage = Callable[..., str]


@pytest.fixture
def environments(tmp_path: Path) -> Environments:
    """Of whoever runs the tests: podman keeps its images in their home."""
    environ = {"PATH": os.environ["PATH"], "HOME": os.path.expanduser("~root" if os.getuid() == 0 else "~")}
    return Environments(Settings(), environ, tmp_path / "environments")


@pytest.fixture
def make_image(tmp_path: Path) -> Iterator[MakeImage]:
    made = []

    def make(name: str = "", *, mark: str = MARK, shell: bool = True) -> str:
        name = name or f"localhost/forge-test-{uuid.uuid4().hex[:12]}:1"
        root = make_system(tmp_path / f"image-{len(made)}", mark=mark)
        if not shell:
            (root / "bin/sh").unlink()
        archive = tmp_path / f"image-{len(made)}.tar"
        subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
        change = ["--change", "ENV WORD=from-the-image", "--change", "ENV PATH=/bin:/usr/bin"]
        subprocess.run(["podman", "import", *change, archive, name], check=True, capture_output=True)
        made.append(name)
        return name

    yield make
    for name in dict.fromkeys(made):
        subprocess.run(["podman", "rmi", "--force", name], check=True, capture_output=True)


def ready(environments: Environments, repo: Repository) -> Layer:
    environments.approve(repo, "main", by="Ada", expected=None)
    return environments.set_up(repo, "main")


def shell(environments: Environments, repo: Repository, script: str) -> CommandRun:
    command = ["sh", "-c", script]
    return run_on_branch(repo, repo.workspace("main"), command, limits=Limits(seconds=60), environments=environments)


def on(image: str, more: str = "") -> dict[str, str]:
    return {
        "a": "file\n",
        ".forge/environment.yaml": f"image: {image}\nsetup: ['cat /etc/made-of > /env/said']\n{more}",
    }


@needs_podman
def test_commands_run_on_the_system_of_the_image(
    environments: Environments, make_repo: MakeRepo, make_image: MakeImage
) -> None:
    name = make_image()
    repo = Repository.open(make_repo(on(name)))
    assert environments.state(repo, "main").proposal.image is not None
    layer = ready(environments, repo)
    assert (layer.root / "said").read_text() == f"{MARK}\n"
    done = shell(environments, repo, "cat /env/said a; echo $WORD; id -u; ls /usr/bin | grep python; echo b > b")
    assert done.result.stdout_text.splitlines() == [MARK, "file", "from-the-image", "1000"], done.result.stderr_text
    assert [change.path for change in done.changes] == ["b"]


@needs_podman
def test_programs_of_an_image_keep_no_rights_of_root_on_this_machine(
    environments: Environments, make_repo: MakeRepo, make_image: MakeImage
) -> None:
    repo = Repository.open(make_repo(on(make_image())))
    layer = ready(environments, repo)
    root = ImageStore(environments.store.root).root(layer.image)
    assert root is not None
    assert not (root / "bin/as-root").stat().st_mode & (stat.S_ISUID | stat.S_ISGID)
    assert not list((root / "dev").iterdir())


@needs_podman
def test_another_image_of_that_name_must_be_approved_again(
    environments: Environments, make_repo: MakeRepo, make_image: MakeImage
) -> None:
    name = make_image()
    repo = Repository.open(make_repo(on(name)))
    before = ready(environments, repo)
    make_image(name, mark="another one")
    state = environments.state(repo, "main")
    assert state.state is EnvironmentStatus.CHANGED
    assert '"image"' in state.difference
    done = shell(environments, repo, "true")
    assert any("not approved" in note for note in done.notes)
    layer = ready(environments, repo)
    assert layer.key != before.key
    assert (layer.root / "said").read_text() == "another one\n"


@needs_podman
def test_an_image_is_removed_with_its_last_layer_and_never_while_a_command_runs_on_it(
    environments: Environments, make_repo: MakeRepo, make_image: MakeImage
) -> None:
    repo = Repository.open(make_repo(on(make_image())))
    layer = ready(environments, repo)
    images = ImageStore(environments.store.root)
    assert images.size() > 0
    with images.in_use(layer.image):
        environments.clear(repo, "main")
        assert images.root(layer.image) is not None
    environments.clear(repo, "main")
    assert images.root(layer.image) is None
    assert images.size() == 0


@needs_podman
def test_tools_and_terminals_run_on_the_image(
    environments: Environments, make_repo: MakeRepo, make_image: MakeImage
) -> None:
    repo = Repository.open(make_repo({**on(make_image()), "tools/tell.py": TOOL}))
    vfs = repo.workspace("main")
    approved = approve(vfs, ["tell"], "Ada")
    vfs.commit("approve tell")
    approved.record(repo.common_dir)
    ready(environments, repo)
    vfs = repo.workspace("main")
    (found,), _ = approved_tools(vfs, {}, find_layer=TurnCommands(repo, environments=environments).tool_layer)
    assert found.execute(vfs, {}) == f"{MARK}\nfile\n"

    terminal = own_terminal(repo, "main", environments)
    shown: list[bytes] = []
    thread = threading.Thread(target=lambda: terminal.run(shown.append))
    thread.start()
    terminal.type(b"cat /etc/made-of; exit\n")
    thread.join(30)
    assert f"{MARK}\r\n".encode() in b"".join(shown)


@needs_podman
def test_a_setting_names_the_image_and_a_repository_may_do_without(
    environments: Environments, make_repo: MakeRepo, make_image: MakeImage, tmp_path: Path
) -> None:
    name = make_image()
    settings = Settings.model_validate({"environments": {"image": name}})
    theirs = Environments(settings, environments._environ, tmp_path / "environments")
    repo = Repository.open(make_repo({"a": "file\n"}))
    found = theirs.state(repo, "main").proposal
    assert found.image is not None
    assert found.image.name == name
    repo = Repository.open(make_repo({".forge/environment.yaml": "image: none\nsetup: ['true']\n"}))
    assert theirs.state(repo, "main").proposal.image is None


@needs_podman
def test_what_cannot_be_the_base_is_told_with_what_to_do(
    environments: Environments, make_repo: MakeRepo, make_image: MakeImage
) -> None:
    repo = Repository.open(make_repo(on("localhost/no-such-image:1")))
    with pytest.raises(ImageMissing, match="has no image localhost/no-such-image:1") as missing:
        environments.state(repo, "main")
    assert "podman pull localhost/no-such-image:1" in missing.value.hint
    done = shell(environments, repo, "echo ran")
    assert done.result.stdout_text == "ran\n"
    assert any("no-such-image" in note for note in done.notes)

    repo = Repository.open(make_repo(on(make_image(shell=False))))
    with pytest.raises(SetupFailed, match="no shell"):
        ready(environments, repo)
    assert environments.state(repo, "main").state is EnvironmentStatus.FAILED
    assert ImageStore(environments.store.root).size() == 0

    repo = Repository.open(make_repo(on(make_image(), "services: [redis]\n")))
    ready(environments, repo)
    assert any("redis is not installed in the image" in note for note in shell(environments, repo, "true").notes)


def test_without_podman_and_docker_the_person_is_told(tmp_path: Path, make_repo: MakeRepo) -> None:
    environments = Environments(Settings(), {"PATH": str(tmp_path), "HOME": str(tmp_path)}, tmp_path / "environments")
    repo = Repository.open(make_repo(on("python:3.12-slim")))
    with pytest.raises(ImageMissing, match="neither podman nor docker is installed") as missing:
        environments.state(repo, "main")
    assert "podman" in missing.value.hint


@pytest.mark.parametrize("name", ["--privileged", "-v/:/host", "a b", "docker://x y", "../x"])
def test_a_name_that_is_no_image_is_refused(environments: Environments, make_repo: MakeRepo, name: str) -> None:
    repo = Repository.open(make_repo(on(f"'{name}'")))
    with pytest.raises(EnvironmentInvalid, match="no name of an image"):
        environments.state(repo, "main")
