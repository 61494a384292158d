"""Random histories of branches whose conversations are on side refs, against what each branch must say."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from forge.app.repositories import branches
from forge.git import PERSON, Repository, Signature
from forge.git.refs.ref_files import BESIDE
from forge.sessions.conversation import conversation, read_head, write_turn
from forge.sessions.messages import UserMessage
from forge.sessions.places import Sessions
from forge.sessions.turns import Turn, turn_id
from tests.support.soak.histories import Differs, Histories

MAIN = "main"


@dataclass(slots=True)
class _Branch:
    said: tuple[str, ...] = ()
    past: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Tips that it had, and what it had said when it left them."""


def random_side_histories(folder: Path, count: int, *, seed: int = 0, steps: int = 30) -> Histories:
    """`count` histories of 2 to 8 agent branches each; raises `Differs` at the first that is not as it must be."""
    found = Histories()
    for number in range(count):
        world = _World(folder / str(number), random.Random(f"{seed}/{number}"), found.operations)
        try:
            world.live(steps)
        except Differs as e:
            raise Differs(f"seed {seed}, history {number}: {e}\n" + "\n".join(world.told)) from e
        found.histories += 1
        found.branches += len(world.known)
        found.turns += len(world.commits)
    return found


class _World:
    def __init__(self, place: Path, rng: random.Random, count: Counter[str]) -> None:
        self.place = place
        self.rng = rng
        self.count = count
        self.told: list[str] = []
        self.known: dict[str, _Branch] = {}
        self.commits: dict[str, str | None] = {}
        """The commit of each turn on its branch; None for mere talk."""
        self.number = 0
        place.mkdir(parents=True)
        self._git("init", "-q", "-b", MAIN)
        self._commit("README.md")
        self.repo = Repository.open(place)

    def live(self, steps: int) -> None:
        for _ in range(self.rng.randint(2, 8)):
            self.new_branch()
        usual: list[Callable[[], None]] = [self.talk] * 6 + [self.edit, self.rebase, self.merge, self.into_main] * 2
        usual += [self.fork, self.git_fork, self.rename, self.git_rename, self.remake, self.git_remake, self.reset]
        usual += [self.new_branch, self.delete_and_undo, self.cherry_pick]
        for _ in range(steps):
            self.rng.choice(usual)()
            self._git("checkout", "-q", "--detach")
            self.check()

    # -- what is done, and what it must come to

    def new_branch(self) -> None:
        name = self._name()
        self._git("branch", name, MAIN)
        self.known[name] = _Branch(self._by_commits(MAIN))
        self._now(f"new {name}")

    def talk(self) -> None:
        name = self._any()
        sessions = Sessions(self.repo, beside=True)
        files = self.repo.workspace(name)
        head = read_head(sessions.files(name, sessions.at(name)))
        self.number += 1
        turn = Turn(
            turn_id(head.turns + 1, f"{self.number:08x}"), head.last, self.number, "m", (UserMessage("x", "A", 1.0),)
        )
        sessions.mount(files, sessions.at(name), sessions.marks(name))
        write_turn(files, turn)
        writes = self.rng.random() < 0.6
        if writes:
            files.write_file(f"{turn.id}.txt", f"{turn.id}\n")
        author = Signature("Forge", "agent@forge.invalid", 1_700_000_000 + self.number)
        self._left(name)
        made = sessions.commit(files, f"chat: {turn.id}", author, {"Forge-Turn": turn.id})
        self.commits[turn.id] = made if writes else None
        self.known[name].said += (turn.id,)
        self._now(f"talk {turn.id} on {name}")

    def edit(self) -> None:
        name = self._any()
        self._on(name)
        self._left(name)
        self._commit(f"notes/{self.rng.getrandbits(40):x}.txt")
        self._now(f"edit {name}")

    def rebase(self) -> None:
        name = self._any()
        if self._beside(name) not in self.known[name].said and not set(self._turns(name)) <= set(self.known[name].said):
            return  # a fork by plain git that several conversations were merged into: whichever git replays last
        self._on(name)
        self._left(name)
        if self._run("rebase", "-q", MAIN):
            self._now(f"rebase {name}")
        else:
            self._run("rebase", "--abort")

    def merge(self) -> None:
        """Its own conversation stays, whatever the other one said."""
        name, other = self._any(), self._any()
        self._on(name)
        self._left(name)
        if name != other and self.known[name].said:
            self._git("merge", "-q", "--no-ff", "-m", f"merge {other}", other)
            self._now(f"merge {other} into {name}")

    def into_main(self) -> None:
        other = self._any()
        self._on(MAIN)
        self._git("merge", "-q", *self.rng.choice((("--no-ff", "-m", f"merge {other}"), ("--squash",))), other)
        if self._git("status", "--porcelain"):
            self._git("commit", "-q", "-m", f"squash {other}")
        self._now(f"into-main {other}")

    def cherry_pick(self) -> None:
        name = self._any()
        was = {turn for _, said in self.known[name].past for turn in said}
        # One of its own that a reset took back would come back.
        made = sorted(commit for turn, commit in self.commits.items() if commit and turn not in was)
        # Without a conversation beside it, it says what its commits tell, the picked one too.
        if not made or self._beside(name) not in self.known[name].said:
            return
        self._on(name)
        self._left(name)
        picked = self.rng.choice(made)
        if not self._run("cherry-pick", picked):
            self._run("cherry-pick", "--abort")
        self._now(f"cherry-pick {picked[:7]} onto {name}")

    def fork(self) -> None:
        source, name = self._any(), self._name()
        branches.fork(self.repo, source, name)
        self.known[name] = _Branch(self.known[source].said)
        self._now(f"fork {source} as {name}")

    def git_fork(self) -> None:
        """git knows nothing of the ref beside: the turns whose commits are there come along."""
        source, name = self._any(), self._name()
        if any(self._turns(source)) and not self._by_commits(source):
            return  # a turn was picked whose branch is gone
        self._git("branch", name, source)
        self.known[name] = _Branch(self._by_commits(source))
        self._now(f"git branch {name} {source}")

    def rename(self) -> None:
        old, new = self._any(), self._name()
        branches.rename(self.repo, old, new)
        self.known[new] = self.known.pop(old)
        self._now(f"rename {old} {new}")

    def git_rename(self) -> None:
        old, new = self._any(), self._name()
        self._git("branch", "-m", old, new)
        self.known[new] = self.known.pop(old)
        self._now(f"git branch -m {old} {new}")

    def remake(self) -> None:
        name = self._any()
        branches.delete(self.repo, name)
        branches.create(self.repo, name, MAIN)
        self.known[name] = _Branch(self._by_commits(MAIN))
        self._now(f"remake {name}")

    def git_remake(self) -> None:
        name = self._any()
        self._git("branch", "-q", "-D", name)
        self._git("branch", name, MAIN)
        self.known[name] = _Branch(self._by_commits(MAIN))
        self._now(f"git remake {name}")

    def reset(self) -> None:
        name = self._any()
        if not self.known[name].past:
            return
        tip, said = self.rng.choice(self.known[name].past)
        # What was merely talked at that commit later is there again, and git tells nothing apart.
        if any(
            at == tip and what != said
            for at, what in [*self.known[name].past, (self._tip(name), self.known[name].said)]
        ):
            return
        self._left(name)
        self._git("branch", "-q", "-f", name, tip)
        self.known[name].said = said
        self._now(f"reset {name} to {tip[:7]}")

    def delete_and_undo(self) -> None:
        name = self._any()
        branches.delete(self.repo, name)
        self.repo.undo(actor=PERSON)
        self._now(f"delete and undo {name}")

    # -- the parts of it

    def check(self) -> None:
        fresh = Repository.open(self.place)
        sessions = Sessions(fresh, beside=True)
        for name, branch in self.known.items():
            found = tuple(turn.id for turn in conversation(sessions.files(name, sessions.at(name))))
            if found != branch.said:
                raise Differs(f"{name} says {' '.join(found) or 'nothing'}, not {' '.join(branch.said) or 'nothing'}")
        for name in (*self.known, MAIN):
            if self._git("ls-tree", name, ".forge"):
                raise Differs(f"{name} has .forge in its tree")

    def _by_commits(self, branch: str) -> tuple[str, ...]:
        """What was said up to the last turn whose commit is on the first-parent line."""
        line = self._turns(branch)
        chains = (b.said[: b.said.index(line[0]) + 1] for b in self.known.values() if line and line[0] in b.said)
        return next(chains, ())

    def _beside(self, branch: str) -> str | None:
        """The turn that the ref of this name ends with, which may be that of a branch that is gone."""
        ref = self._git("for-each-ref", "--format=%(trailers:key=Forge-Turn,valueonly)", f"{BESIDE}{branch}")
        return ref or None

    def _turns(self, branch: str) -> list[str]:
        """Whose commits are on its first-parent line, newest first."""
        told = self._git("log", "--first-parent", "--format=%(trailers:key=Forge-Turn,valueonly,separator=)", branch)
        return [turn for turn in told.splitlines() if turn]

    def _left(self, name: str) -> None:
        self.known[name].past.append((self._tip(name), self.known[name].said))

    def _now(self, what: str) -> None:
        self.count[" ".join(what.split()[: 2 if what.startswith("git") else 1])] += 1
        self.told.append(what)

    def _any(self) -> str:
        return self.rng.choice(sorted(self.known))

    def _name(self) -> str:
        self.number += 1
        return f"ai/{'abcdefgh'[self.rng.randrange(8)]}{self.number}"

    def _tip(self, branch: str) -> str:
        return self._git("rev-parse", f"refs/heads/{branch}")

    def _on(self, branch: str) -> None:
        self._git("checkout", "-q", branch)

    def _commit(self, path: str) -> None:
        place = self.place / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{path}\n")
        self._git("add", path)
        self._git("commit", "-q", "-m", f"edit {path}")

    def _run(self, *args: str) -> bool:
        return subprocess.run(["git", *args], cwd=self.place, capture_output=True, check=False).returncode == 0

    def _git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.place, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"git {' '.join(args)}: {done.stdout}{done.stderr}\n" + "\n".join(self.told))
        return done.stdout.strip()
