"""What must be true of a repository whatever happened to it."""

from __future__ import annotations

import fcntl
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forge.git import Repository
from forge.git.refs.holds import HELD
from forge.git.refs.operations.operation import Operation
from forge.git.values import ActorKind
from tests.support.soak.nursery import Landed


def git(repo: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=repo, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"git {' '.join(args)} gave {done.returncode}: {done.stderr}")
    return done.stdout


def assert_sound(repo: Path) -> None:
    """git finds nothing wrong; unreachable objects are nobody's loss."""
    with no_repack(repo):
        done = subprocess.run(
            ["git", "fsck", "--full", "--strict", "--no-dangling"],
            cwd=repo,
            capture_output=True,
            text=True,
            check=False,
        )
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("notice:")]
    assert (done.returncode, complaints) == (0, []), (done.returncode, complaints[:10])


@contextmanager
def no_repack(repo: Path) -> Iterator[None]:
    """Wait for a repack that Forge has started, and let none begin: fsck complains about packs that vanish."""
    folder = common_dir(repo) / "forge"
    if not folder.exists():
        yield
        return
    with (folder / "repack.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def common_dir(repo: Path) -> Path:
    return repo / ".git" if (repo / ".git").exists() else repo


def assert_nothing_lost(repo: Path, landed: Iterable[Landed], branch: str) -> int:
    """Every acknowledged commit is in the branch's one line of history, once. Returns its length."""
    rows = [row.split(" ", 2) for row in git(repo, "log", "--format=%H %P %s", branch).splitlines()]
    history = [row[0] for row in rows]
    subjects = Counter(row[-1] for row in rows)
    acknowledged = [one for one in landed if one.branch == branch]
    lost = [one for one in acknowledged if one.commit not in set(history)]
    assert not lost, f"{len(lost)} of {len(acknowledged)} acknowledged commits are gone: {lost[:3]}"
    doubled = [subject for subject, times in subjects.items() if times > 1]
    assert not doubled, f"made twice: {doubled[:3]}"
    merges = git(repo, "rev-list", "--merges", branch).split()
    assert not merges
    return len(history)


def assert_all_reachable(repo: Path, landed: Iterable[Landed]) -> None:
    """Every acknowledged commit can be reached from some ref, whatever became of its branch."""
    reachable = set(git(repo, "rev-list", "--all").split())
    lost = [one for one in landed if one.commit not in reachable]
    assert not lost, f"{len(lost)} acknowledged commits hang in the air: {lost[:3]}"


def assert_log_tells_all(repo: Path, *, outside: bool = False) -> list[Operation]:
    """Replaying the operation log from nothing gives exactly the refs there are."""
    opened = Repository.open(repo)
    operations = list(opened.operations())[::-1]
    refs: dict[str, str | None] = {}
    for operation in operations:
        assert outside or operation.actor.kind is not ActorKind.EXTERNAL, operation
        for move in operation.moves:
            known = refs.get(move.ref, move.before)
            assert known == move.before, f"{move.ref} was at {known}, not at {move.before}: {operation}"
            refs[move.ref] = move.after
    now: dict[str, str] = dict([*opened.refs.under("refs/heads/"), *opened.refs.under("refs/forge/")])
    wrong = {ref: (at, now.get(ref)) for ref, at in refs.items() if now.get(ref) != at}
    assert not wrong, f"the log says otherwise: {list(wrong.items())[:3]}"
    unknown = [ref for ref in now if ref not in refs and ref != "refs/heads/main" and not ref.startswith(HELD)]
    assert not unknown, f"not in the log: {unknown[:5]}"
    assert len({operation.id for operation in operations}) == len(operations)
    return operations


def assert_readable(repo: Path) -> None:
    """A new process reads every file at every tip."""
    opened = Repository.open(repo)
    for branch, _ in opened.refs.branches():
        files = opened.commit_vfs(branch)
        for path in files.list_files():
            files.read_bytes(path)


def leftovers(repo: Path) -> list[Path]:
    """Files that a finished piece of work leaves nowhere."""
    common = common_dir(repo)
    found = [*common.glob("objects/pack/*.keep"), *common.glob("objects/pack/tmp*"), *common.glob("forge/tmp/*")]
    found += [path for path in common.rglob("*.lock") if path.parent != common / "forge"]
    return found + list(common.glob("forge/.*")) + list(common.glob("forge/*.next"))
