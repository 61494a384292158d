"""Random work on files and branches, done twice: through Forge, and by git in a checkout.

Person and moment are the same on both sides, so not only the trees must be equal but the commits themselves.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from forge.errors import ForgeError
from forge.git import PERSON, Actor, BranchExists, MergeConflicts, MergePreview, Mode, Repository, Signature
from forge.git.errors import InvalidPath, NothingToCommit, NothingToUndo, PathClash
from forge.git.workspace.paths import folded
from tests.git import worlds
from tests.git.worlds import AGENT

SOAK = bool(os.environ.get("FORGE_SOAK"))

File = tuple[int, bytes]
Files = dict[str, File]
Edit = tuple[str, str, str]
"""What to do, a new path, a new text."""

NAMES = st.sampled_from(["a", "b", "c", "A", "lib", "lib.c", "lib-x", "x y", "\u00e9", "e\u0301", "z.txt"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
LINES = st.lists(st.sampled_from(["one\n", "two\n", "three\n", "four\r\n", "\n"]), max_size=8).map("".join)
BYTES = st.sampled_from([b"", b"\0\1\2", b"\xff\xfe", b"no end", b"\r\n", b"caf\xe9\n"])
PLAIN_MODES = [Mode.FILE, Mode.EXECUTABLE]
NEW_BRANCHES = st.sampled_from(["one", "two", "three", "d", "d/one", "d/one/x"])
KINDS = ["write", "edit", "append", "edit", "append", "delete", "move"]
EDITS = st.lists(st.tuples(st.sampled_from(KINDS), PATHS, LINES), min_size=1, max_size=3)

WORK = st.lists(EDITS, max_size=2)

START: dict[str, str | bytes] = {
    "readme": "".join(f"line {n}\n" for n in range(12)),
    "lib/b/c": "deep\n",
    "z.txt": b"\0binary",
    **{f"src/{name}.py": "".join(f"{name}{n} = {n}\n" for n in range(10)) for name in "klmnop"},
}


class Checkout:
    """git at work in a real directory, its HEAD always detached so that branches can be moved freely."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.shown: str | None = None
        """The commit whose files are there and nothing else; None when that is not known."""
        self.clock = 1_700_000_000

    def run(self, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        dates = {f"GIT_{role}_DATE": f"{self.clock} +0000" for role in ("AUTHOR", "COMMITTER")}
        out = worlds.git(self.place, *args, ok=ok, **worlds.ISOLATED, **dates)
        return out.decode("utf-8", "surrogateescape")

    def succeeds(self, *args: str) -> bool:
        try:
            self.run(*args)
        except AssertionError:
            return False
        return True

    def show(self, commit: str) -> None:
        if self.shown != commit:
            self.run("checkout", "-q", "--force", "--detach", commit)
            if self.shown is None:
                self.run("clean", "-fdqx")
            self.shown = commit

    def branches(self) -> dict[str, str]:
        rows = self.run("for-each-ref", "--format=%(refname:strip=2) %(objectname)", "refs/heads")
        return dict(row.rsplit(" ", 1) for row in rows.splitlines())

    def commit(self) -> str | None:
        self.run("add", "--all", "--force")
        self.shown = None
        if self.succeeds("commit", "-q", "-m", "work"):
            self.shown = self.head()
        return self.shown

    def head(self) -> str:
        return self.run("rev-parse", "HEAD").strip()

    def put_branches(self, wanted: dict[str, str | None]) -> None:
        gone = [name for name, commit in wanted.items() if commit is None]
        for name in gone:
            self.run("update-ref", "-d", f"refs/heads/{name}")
        for name, commit in wanted.items():
            if commit is not None:
                self.run("update-ref", f"refs/heads/{name}", commit)

    # -- files, by the operating system alone

    def write(self, path: str, mode: int, data: bytes) -> None:
        self.shown, file = None, self.place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if mode == Mode.SYMLINK or file.is_symlink():
            file.unlink(missing_ok=True)
        if mode == Mode.SYMLINK:
            file.symlink_to(os.fsdecode(data))
        else:
            file.write_bytes(data)
            file.chmod(0o755 if mode == Mode.EXECUTABLE else 0o644)

    def delete(self, path: str) -> None:
        self.shown = None
        (self.place / path).unlink()
        self._prune(self.place / path)

    def rename(self, old: str, new: str) -> None:
        self.shown, aside = None, self.place.parent / "aside"
        (self.place / old).rename(aside)
        self._prune(self.place / old)
        (self.place / new).parent.mkdir(parents=True, exist_ok=True)
        aside.rename(self.place / new)

    def _prune(self, gone: Path) -> None:
        for folder in gone.parents:
            if folder == self.place or any(folder.iterdir()):
                return
            folder.rmdir()


def folders_of(files: Files) -> set[str]:
    return {"/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)}


def in_the_way(files: Files, path: str) -> bool:
    """Whether a new file at `path` clashes with a file, a folder or a twin of another spelling."""
    folders = folders_of(files)
    if path in files or path in folders:
        return True
    parts = path.split("/")
    for depth in range(len(parts)):
        here, above = "/".join(parts[: depth + 1]), "/".join(parts[:depth])
        if here in files:
            return True
        if here not in folders:
            beside = {p for p in (*files, *folders) if p.rpartition("/")[0] == above}
            if any(folded(twin.rpartition("/")[2]) == folded(parts[depth]) for twin in beside):
                return True
    return False


class Machine(RuleBasedStateMachine):
    """`files` is what the workspace shows; `done` is what undo has to take back, as git's own commit ids."""

    template: ClassVar[Path]

    @initialize()
    def begin(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="forge-twins-"))
        self.git = Checkout(worlds.copied(self.template / "checkout", self.home / "git"))
        self.repo = Repository.open(worlds.copied(self.template / "forge.git", self.home / "forge.git"))
        self.repo.signature = self.signature  # type: ignore[method-assign]
        self.done: list[dict[str, str | None]] = []
        self.moved = True
        self.open("main")

    def signature(self) -> Signature:
        """The same person and moment as git has, so that equal work gives equal commits."""
        return Signature("Ada Example", "ada@example.org", self.git.clock, 0)

    def teardown(self) -> None:
        if hasattr(self, "home"):
            worlds.assert_fsck_clean(self.repo.git_dir)
            shutil.rmtree(self.home)

    # -- files

    @rule(
        path=PATHS, text=LINES.map(str.encode) | BYTES, mode=st.none() | st.sampled_from([*PLAIN_MODES, Mode.SYMLINK])
    )
    def put(self, path: str, text: bytes, mode: int | None) -> None:
        link = text.replace(b"\0", b"") or b"elsewhere"
        self.write(path, link if mode == Mode.SYMLINK else text, mode)

    @precondition(lambda self: self.files)
    @rule(data=st.data(), kind=st.sampled_from(["edit", "delete", "move", "mode"]), to=PATHS, text=LINES)
    def alter(self, data: st.DataObject, kind: str, to: str, text: str) -> None:
        path = data.draw(st.sampled_from(sorted(self.files)))
        match kind:
            case "edit":
                self.edit(path, len(to), text)
            case "delete":
                self.remove(path)
            case "move":
                self.move(path, to)
            case _:
                self.chmod(path, data.draw(st.sampled_from(PLAIN_MODES)))

    def write(self, path: str, content: bytes, mode: int | None) -> None:
        old = self.files.get(path)
        refused = in_the_way(self.files, path) if old is None else old[0] == Mode.SYMLINK and mode is None
        if self.agree(lambda: self.space.write_bytes(path, content, mode=mode), refused=refused):
            mode = mode or (old[0] if old else Mode.FILE)
            self.files[path] = (mode, content)
            self.git.write(path, mode, content)

    def remove(self, path: str) -> None:
        self.space.delete_file(path)
        del self.files[path]
        self.git.delete(path)

    def move(self, old: str, new: str) -> None:
        left = {path: file for path, file in self.files.items() if path != old}
        refused = old != new and in_the_way(left, new)
        if self.agree(lambda: self.space.rename_file(old, new), refused=refused) and old != new:
            self.files = left | {new: self.files[old]}
            self.git.rename(old, new)

    def chmod(self, path: str, mode: int) -> None:
        old, content = self.files[path]
        if self.agree(lambda: self.space.set_mode(path, mode), refused=old == Mode.SYMLINK):
            self.files[path] = (mode, content)
            self.git.write(path, mode, content)

    def agree(self, action: Callable[[], object], *, refused: bool) -> bool:
        """Do it through Forge; whether it is refused is known beforehand."""
        pending = dict(self.space.pending)
        if not refused:
            action()
            return True
        with pytest.raises((PathClash, InvalidPath)):
            action()
        assert self.space.pending == pending
        return False

    @rule()
    def commit(self) -> None:
        made = self.git.commit()
        if made is None:
            with pytest.raises(NothingToCommit):
                self.space.commit("work")
            return
        self.space.commit("work")
        self.did({self.branch: self.tips[self.branch]})
        self.git.put_branches({self.branch: made})
        assert self.space.pending_changes() == {}

    @rule(data=st.data(), edits=EDITS)
    def work(self, data: st.DataObject, edits: list[Edit]) -> None:
        self.worked_on(data, [edits])

    def worked_on(self, data: st.DataObject, rounds: list[list[Edit]]) -> str:
        """One of the branches, after some commits of changes there: without them there would be little to merge."""
        branch = self.some_branch(data)
        for edits in rounds:
            self.open(branch)
            for edit in edits:
                self.apply(data, *edit)
            self.commit()
        if self.moved:
            self.every_branch_is_where_git_has_it()
        return branch

    def apply(self, data: st.DataObject, kind: str, path: str, text: str) -> None:
        there = sorted(self.files)
        if kind == "write" or not there:
            self.write(path, text.encode(), None)
            return
        one = data.draw(st.sampled_from(there))
        match kind:
            case "delete":
                self.remove(one)
            case "move":
                self.move(one, path)
            case "append":
                self.write(one, self.files[one][1] + text.encode(), None)
            case _:
                self.edit(one, len(path), text)

    def edit(self, path: str, line: int, text: str) -> None:
        lines = self.files[path][1].splitlines(keepends=True)
        lines[line : line + 1] = [text.encode()]
        self.write(path, b"".join(lines), None)

    # -- branches

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        """Pending changes are discarded, also where the branch is the same."""
        self.space.discard()
        self.open(self.some_branch(data))

    @rule(name=NEW_BRANCHES, back=st.integers(0, 2), fork=st.booleans())
    def create(self, name: str, back: int, *, fork: bool) -> None:
        start = self.branch if fork else f"{self.branch}~{back}"
        commit = self.commit_at(start)
        if commit and self.refused_unless(self.is_free(name), lambda: self.make(name, start, fork=fork)):
            self.moves({name: commit})

    def make(self, name: str, start: str, *, fork: bool) -> None:
        if fork:
            self.repo.fork_branch(start, name, actor=AGENT)
        else:
            self.repo.create_branch(name, start, actor=AGENT)

    @precondition(lambda self: len(self.tips) > 1)
    @rule(
        data=st.data(), kind=st.sampled_from(["rename", "delete", "rewind"]), new=NEW_BRANCHES, back=st.integers(1, 3)
    )
    def change_branch(self, data: st.DataObject, kind: str, new: str, back: int) -> None:
        name = self.some_branch(data, main=False)
        match kind:
            case "rename":
                free = name != new and self.is_free(new, without=name)
                if self.refused_unless(free, lambda: self.repo.rename_branch(name, new, actor=AGENT)):
                    self.moves({name: None, new: self.tips[name]})
            case "delete":
                self.repo.delete_branch(name, actor=AGENT)
                self.moves({name: None})
            case _:
                commit = self.commit_at(f"{name}~{back}")
                if commit is not None:
                    self.repo.rewind_branch(name, f"{name}~{back}", actor=AGENT)
                    self.moves({name: commit})

    def refused_unless(self, free: bool, action: Callable[[], object]) -> bool:
        if free:
            action()
        else:
            with pytest.raises(BranchExists):
                action()
        return free

    @rule()
    def undo(self) -> None:
        if not self.done:
            with pytest.raises(NothingToUndo):
                self.repo.undo()
            return
        self.repo.undo()
        self.git.put_branches(self.done.pop())
        self.git.clock += 1
        self.moved = True
        self.open(self.branch)

    # -- merge, rebase, cherry-pick

    @rule(data=st.data(), before=WORK)
    def merge(self, data: st.DataObject, before: list[list[Edit]]) -> None:
        into, source = self.worked_on(data, before[:1]), self.worked_on(data, before[1:])
        preview = partial(self.repo.preview_merge, source, into, message="join")
        self.joins(into, preview, "merge", "-qm", "join", source)

    @rule(data=st.data(), before=WORK)
    def rebase(self, data: st.DataObject, before: list[list[Edit]]) -> None:
        branch, onto = self.worked_on(data, before[:1]), self.worked_on(data, before[1:])
        self.joins(branch, partial(self.repo.preview_rebase, branch, onto), "rebase", "-q", onto)

    @rule(data=st.data(), before=WORK, back=st.integers(0, 2))
    def cherry_pick(self, data: st.DataObject, before: list[list[Edit]], back: int) -> None:
        into, rev = self.worked_on(data, before[:1]), f"{self.worked_on(data, before[1:])}~{back}"
        if self.commit_at(f"{rev}^") is not None and self.commit_at(f"{rev}^2") is None:
            self.joins(into, partial(self.repo.preview_cherry_pick, rev, into), "cherry-pick", rev)

    def joins(self, target: str, preview: Callable[[], MergePreview], *command: str) -> None:
        """Forge conflicts where git does, and otherwise leaves the branch where git leaves it."""
        self.git.show(self.tips[target])
        self.git.shown = None
        clean = self.git.succeeds(*command)
        # A commit whose change is there already stops `git cherry-pick` without a conflict.
        conflict = not clean and bool(self.git.run("ls-files", "--unmerged"))
        if not clean:
            self.git.run(command[0], "--abort", ok=(0, 128))
            self.git.run("reset", "-q", "--hard", target)
        try:
            self.repo.perform(preview(), actor=self.actor(target))
        except MergeConflicts:
            assert conflict
            event(f"{command[0]} conflict")
        else:
            assert not conflict
            after = self.git.head()
            if after != self.tips[target]:
                event(command[0])
                self.did({target: self.tips[target]})
                self.git.run("update-ref", f"refs/heads/{target}", after)
        self.moved = True
        self.open(self.branch)

    # -- both sides kept alike

    def open(self, branch: str) -> None:
        """Forget pending changes and look at `branch`, or at main where that is gone."""
        if self.moved:
            self.tips = self.git.branches()
        self.branch = branch if branch in self.tips else "main"
        self.git.show(self.tips[self.branch])
        self.space = self.repo.workspace(self.branch, actor=self.actor(self.branch))
        self.files = {path: (self.space.mode(path), self.space.read_bytes(path)) for path in self.space.list_files()}

    def moves(self, wanted: dict[str, str | None]) -> None:
        self.did({name: self.tips.get(name) for name in wanted})
        self.git.put_branches(wanted)
        self.open(self.branch)

    def did(self, before: dict[str, str | None]) -> None:
        self.done.append(before)
        self.git.clock += 1
        self.moved = True
        event("moved")

    def some_branch(self, data: st.DataObject, *, main: bool = True) -> str:
        return data.draw(st.sampled_from(sorted(self.tips if main else {*self.tips} - {"main"})))

    def actor(self, branch: str) -> Actor:
        return PERSON if branch == "main" else AGENT

    def commit_at(self, rev: str) -> str | None:
        found = self.git.run("rev-parse", "--verify", "-q", f"{rev}^{{commit}}", ok=(0, 1, 128)).strip()
        try:
            self.repo.resolve(rev)
        except ForgeError:
            assert not found
        return found or None

    def is_free(self, name: str, without: str = "") -> bool:
        others = [branch for branch in self.tips if branch != without]
        return not any(name == o or name.startswith(f"{o}/") or o.startswith(f"{name}/") for o in others)

    @invariant()
    def the_workspace_shows_the_files(self) -> None:
        if hasattr(self, "space"):
            assert self.space.list_files() == sorted(self.files, key=lambda p: p.encode())
            for folder in ("", *folders_of(self.files)):
                above = f"{folder}/" if folder else ""
                names = {p.removeprefix(above).split("/")[0] for p in self.files if p.startswith(above)}
                assert {entry.name for entry in self.space.list_dir(folder)} == names
            for path, (mode, data) in self.files.items():
                assert (self.space.mode(path), self.space.read_bytes(path)) == (mode, data)

    @precondition(lambda self: getattr(self, "moved", False))
    @invariant()
    def every_branch_is_where_git_has_it(self) -> None:
        self.tips = self.git.branches()
        assert {branch.name: branch.tip for branch in self.repo.branches()} == self.tips
        self.moved = False


@pytest.mark.slow
@pytest.mark.req("G-01", "G-02", "G-03", "G-08", "G-09", "G-16")
def test_random_work_gives_the_commits_that_git_makes(tmp_path: Path) -> None:
    checkout = worlds.template(tmp_path, START, {"readme": f"title\n{START['readme']}"})
    worlds.git(checkout, "checkout", "-q", "-b", "one", "main~1")
    (checkout / "src/k.py").write_text("k = 0\n")
    worlds.git(checkout, "mv", "lib/b/c", "moved")
    worlds.git(checkout, "commit", "-qam", "on one")
    worlds.git(checkout, "branch", "two", "main")
    worlds.git(tmp_path, "clone", "-q", "--bare", "--no-hardlinks", "checkout", "forge.git")
    Machine.template = tmp_path
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=600 if SOAK else 25,
            stateful_step_count=60 if SOAK else 30,
            suppress_health_check=list(HealthCheck),
        ),
    )
