"""The person's own world: whatever agents do on other branches, not one byte of it changes."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.git import Mode, Repository
from tests.git import worlds
from tests.git.worlds import AGENT, BUILD

SOAK = bool(os.environ.get("FORGE_SOAK"))
AT_LEAST, UP_TO, SECONDS = (1000, 1000, 0.0) if SOAK else (200, 1000, 9.0)

OWN = ("HEAD", "ORIG_HEAD", "index", "config", "description", "info/exclude", "MERGE_HEAD", "MERGE_MSG", "logs/HEAD")
OWN_FOLDERS = ("refs/heads", "refs/stash", "refs/tags", "refs/remotes", "logs/refs/heads", "logs/refs/stash", "hooks")
AGENTS_REF = re.compile(r" refs/(heads/ai|forge)/")


@pytest.fixture(params=["loose", "packed", "in the middle of a merge"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Staged, unstaged, untracked and ignored files, an empty folder, a stash, and a linked worktree."""
    versions = [{f"src/f{n}.py": f"{v}\n" * 5 for n in range(6)} | {"run": "#!/bin/sh\n"} for v in range(3)]
    place = worlds.template(tmp_path, *versions)
    worlds.git(place, "branch", "theirs", "main~1")
    worlds.git(place, "tag", "v1", "main~1")
    (place / "src/f0.py").write_text("for later\n")
    worlds.git(place, "stash", "-q")
    worlds.git(place, "worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"))
    if request.param == "in the middle of a merge":
        other = worlds.commit(
            place,
            worlds.tree(place, [(b"100644", b"run", worlds.blob(place, b"theirs\n"))]),
            worlds.text(place, "rev-parse", "main~1"),
            branch="clash",
        )
        (place / "run").write_text("mine\n")
        worlds.git(place, "commit", "-qam", "mine")
        worlds.git(place, "merge", "-q", other, ok=(1,))
    if request.param == "packed":
        worlds.git(place, "pack-refs", "--all")
        worlds.git(place, "gc", "-q")
    (place / ".gitignore").write_text("*.log\n/build/\n")
    (place / "src/f1.py").write_text("staged\n")
    worlds.git(place, "add", "src/f1.py")
    (place / "src/f1.py").write_text("staged, then changed again\n")
    (place / "src/f2.py").write_text("not staged\n")
    (place / "src/f3.py").unlink()
    (place / "run").chmod(0o755)
    (place / "untracked.txt").write_text("mine\n")
    (place / "noise.log").write_text("ignored\n")
    (place / "empty").mkdir()
    (place / "dangling").symlink_to("nowhere")
    worlds.git(place, "config", "alias.own", "status")
    worlds.git(place, "status")
    return place


def tree_of(root: Path, *, skip: Path | None = None) -> dict[str, object]:
    """Everything below `root`: kind, permissions, time of change and content."""
    found: dict[str, object] = {}
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        if skip is not None and here == skip:
            folders.clear()
            continue
        for name in [*folders, *files]:
            path = here / name
            info = path.lstat()
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            when = None if path.is_dir() and not path.is_symlink() else info.st_mtime_ns
            if path != skip:
                found[str(path.relative_to(root))] = (info.st_mode, when, content)
    return found


def world_of(place: Path) -> dict[str, object]:
    """What is the person's: both work trees, and in the git directory all but objects and Forge's own."""
    git_dir = place / ".git"
    world: dict[str, object] = {"work tree": tree_of(place, skip=git_dir), "beside": tree_of(place.parent / "beside")}
    for name in OWN:
        world[name] = (git_dir / name).read_bytes() if (git_dir / name).exists() else None
    for name in OWN_FOLDERS:
        path = git_dir / name
        everything = tree_of(path) if path.is_dir() else path.read_bytes() if path.exists() else None
        if isinstance(everything, dict):
            everything = {n: e for n, e in everything.items() if not n.startswith("ai") and (path / n).is_file()}
        world[name] = everything
    # One file for all refs: the person's lines in it are the person's.
    packed = (git_dir / "packed-refs").read_text().splitlines() if (git_dir / "packed-refs").exists() else []
    world["packed-refs"] = [ref for ref in packed if ref[:1] != "#" and not AGENTS_REF.search(ref)]
    world["worktrees"] = tree_of(git_dir / "worktrees")
    return world


class Agent:
    """Does one random thing after the other on branches below ai/, and now and then tries what it may not."""

    def __init__(self, repo: Repository, seed: str) -> None:
        self.repo = repo
        self.random = random.Random(seed)
        self.actor = self.random.choice([AGENT, BUILD])
        self.tried = self.refused = 0

    def branches(self) -> list[str]:
        return [b.name for b in self.repo.branches() if b.name.startswith("ai/")]

    def sequence(self) -> None:
        for _ in range(self.random.randint(2, 5)):
            if len(self.branches()) < 2:
                self.new_branch()
            self.tried += 1
            action = self.random.choice(self.actions())
            if worlds.refusal(action) is not None:
                self.refused += 1

    def actions(self) -> list[Callable[[], object]]:
        often = [self.save] * 3
        branches = [self.new_branch, self.rename, self.delete, self.rewind, self.undo]
        return [*often, *branches, self.merge, self.rebase, self.pick, self.trespass, self.look, self.abandon]

    def some(self) -> str:
        return self.random.choice(self.branches())

    def name(self) -> str:
        return f"ai/{self.random.choice('abcdef')}{self.random.randint(0, 9)}"

    def change(self, branch: str) -> None:
        self.space = self.repo.workspace(branch, actor=self.actor)
        for _ in range(self.random.randint(1, 3)):
            there = self.space.list_files()
            match self.random.randrange(5):
                case 0 if there:
                    self.space.delete_file(self.random.choice(there))
                case 1 if there:
                    self.space.rename_file(self.random.choice(there), f"moved/{self.random.randint(0, 50)}")
                case 2:
                    self.space.write_bytes(f"link{self.random.randint(0, 5)}", b"../../../etc", mode=Mode.SYMLINK)
                case 3 if there:
                    self.space.set_mode(self.random.choice(there), Mode.EXECUTABLE)
                case _:
                    self.space.write_file(f"src/f{self.random.randint(0, 8)}.py", f"{self.random.random()}\n")

    def save(self) -> None:
        self.change(self.some())
        self.space.commit("by an agent")

    def abandon(self) -> None:
        self.change(self.random.choice([*self.branches(), "main", "theirs", "beside"]))

    def look(self) -> None:
        vfs = self.repo.commit_vfs(self.random.choice([*self.branches(), "main", "HEAD", "v1", "stash@{0}"]))
        for path in vfs.list_files()[:3]:
            vfs.read_bytes(path)
        list(self.repo.operations())

    def new_branch(self) -> None:
        start = self.random.choice([*self.branches(), "main", "main~1", "v1", "HEAD", "theirs"])
        self.repo.create_branch(self.name(), start, actor=self.actor)

    def rename(self) -> None:
        self.repo.rename_branch(self.some(), self.name(), actor=self.actor)

    def delete(self) -> None:
        self.repo.delete_branch(self.some(), actor=self.actor)

    def rewind(self) -> None:
        self.repo.rewind_branch(
            self.some(), self.random.choice(["main", "main~1", "v1", self.some()]), actor=self.actor
        )

    def undo(self) -> None:
        self.repo.undo(actor=self.actor)

    def merge(self) -> None:
        preview = self.repo.preview_merge(self.random.choice([self.some(), "main", "theirs"]), self.some())
        self.repo.perform(preview, actor=self.actor)

    def rebase(self) -> None:
        preview = self.repo.preview_rebase(self.some(), self.random.choice(["main", self.some()]))
        self.repo.perform(preview, actor=self.actor)

    def pick(self) -> None:
        preview = self.repo.preview_cherry_pick(self.random.choice([self.some(), "main"]), self.some())
        self.repo.perform(preview, actor=self.actor)

    def trespass(self) -> None:
        attempts: list[Callable[[], object]] = [
            lambda: self.repo.rewind_branch("main", "main~1", actor=self.actor),
            lambda: self.repo.delete_branch("main", actor=self.actor),
            lambda: self.repo.rename_branch("main", "ai/taken", actor=self.actor),
            lambda: self.repo.perform(self.repo.preview_merge(self.some(), "main"), actor=self.actor),
            lambda: self.repo.perform(self.repo.preview_rebase("main", self.some()), actor=self.actor),
            lambda: self.repo.create_branch("master", "main~1", actor=self.actor),
        ]
        refused = worlds.refusal(self.random.choice(attempts))
        # Merging what is merged already is nothing to refuse, and nothing to do.
        assert refused is None or refused.code in ("protected_branch", "merge_conflicts")


@pytest.mark.req("G-01", "G-09", "C-14")
def test_agents_on_other_branches_leave_the_persons_world_byte_identical(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = world_of(place)
    status = worlds.git(place, "status", "--porcelain=v2", "-z", GIT_OPTIONAL_LOCKS="0")
    sequences = done = refused = 0
    repo = Repository.open(place)
    end = time.monotonic() + SECONDS / 3
    while sequences < AT_LEAST / 3 or (sequences < UP_TO / 3 and time.monotonic() < end):
        repo = repo if sequences % 20 else Repository.open(place)
        agent = Agent(repo, seed=f"{place.parent.name} {sequences}")
        agent.sequence()
        sequences, done, refused = sequences + 1, done + agent.tried, refused + agent.refused
        if sequences % 25 == 0:
            assert world_of(place) == before
    after = world_of(place)
    assert after.keys() == before.keys()
    for part, content in before.items():
        assert after[part] == content, part
    assert worlds.git(place, "status", "--porcelain=v2", "-z", GIT_OPTIONAL_LOCKS="0") == status
    assert worlds.text(place, "stash", "show", "-p").endswith("+for later")
    assert done - refused > sequences
    worlds.assert_fsck_clean(place)
    with capsys.disabled():
        print(f"\n{sequences} sequences, {done} operations, {refused} of them refused")
