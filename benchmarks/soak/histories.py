"""Random histories of agent branches, made by plain git, against a model of what each branch's conversation must be."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from forge.git import Repository, Signature
from forge.sessions.conversation import conversation, read_head, write_turn
from forge.sessions.messages import AssistantMessage, UserMessage
from forge.sessions.turns import Turn, turn_id

MAIN = "main"


class Differs(AssertionError):
    """A branch whose conversation is not what the model says, or a conflict in Forge's own files."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the model knows of one branch."""

    turns: tuple[str, ...] = ()
    own: bool = False
    """Whether a turn was made under this name."""
    settled: bool = False
    """Whether its last turn's commit is in its place: made there, and not replayed since."""
    mixed: bool = False
    """Whether only the name tells its conversation: replayed onto another one, or with another replayed onto it."""
    merged: bool = False
    """Whether merge commits are on the branch: a rebase makes them one line."""


@dataclass(slots=True)
class Histories:
    """What the runs came to."""

    histories: int = 0
    branches: int = 0
    turns: int = 0
    operations: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        done = ", ".join(f"{name} {count}" for name, count in sorted(self.operations.items()))
        return f"{self.histories} histories, {self.branches} branches, {self.turns} turns; {done}"


def random_histories(folder: Path, count: int, *, seed: int = 0, steps: int = 30) -> Histories:
    """`count` histories of 2 to 8 agent branches each; raises `Differs` at the first that is not as it must be."""
    found = Histories()
    for number in range(count):
        world = _World(folder / str(number), random.Random(f"{seed}/{number}"), found.operations)
        try:
            world.live(steps)
            world.check()
        except Differs as e:
            raise Differs(f"seed {seed}, history {number}: {e}\n" + "\n".join(world.told)) from e
        found.histories += 1
        found.branches += len(world.said)
        found.turns += len(world.made_on)
    return found


class _World:
    def __init__(self, place: Path, rng: random.Random, count: Counter[str]) -> None:
        self.place = place
        self.rng = rng
        self.count = count
        self.told: list[str] = []
        self.said: dict[str, Said] = {MAIN: Said()}
        self.past: dict[str, list[tuple[str, Said]]] = {}
        """Where a branch was, and what it said there."""
        self.chains: dict[str, tuple[str, ...]] = {}
        """Each turn with those before it, when it was made."""
        self.commits: dict[str, str] = {}
        self.made_on: dict[str, str] = {}
        """The name of its branch then; in the order in which the turns were made."""
        place.mkdir(parents=True)
        self._git("init", "-q", "-b", MAIN)
        (place / "README.md").write_text("A repository.\n")
        self._git("add", ".")
        self._git("commit", "-q", "-m", "begin")
        self.repo = Repository.open(place)

    def live(self, steps: int) -> None:
        for _ in range(self.rng.randint(2, 8)):
            self._new_branch(MAIN)
        usual: list[Callable[[], None]] = [self.talk] * 6 + [self.edit] * 2 + [self.merge] * 4 + [self.squash] * 2
        usual += [self.rebase] * 3 + [self.cherry_pick] * 3 + [self.fork] * 2 + [self.revert, self.amend, self.reset]
        usual += [self.rename, self.octopus, self.delete, self.interactive, self.into_main, self.into_main]
        for _ in range(steps):
            self.rng.choice(usual)()

    # -- what is done, and what it must come to

    def talk(self) -> None:
        branch = self._agent()
        vfs = self.repo.workspace(branch)
        head = read_head(vfs)
        mark = f"{self.rng.getrandbits(48):012x}"
        # Short and long ones, much alike and not: git takes like files for moved ones.
        words = "again and again " * self.rng.randint(1, 40)
        items = (UserMessage(words, "A <a@example.org>", 1.0), AssistantMessage(words, model="scripted"))
        number = head.turns + 1
        turn = Turn(turn_id(number, mark), head.last, float(len(self.made_on)), "scripted", items)
        write_turn(vfs, turn)
        if self.rng.random() < 0.8:
            vfs.write_file(f"src/{turn.id}.txt", f"{turn.id}\n" * 3)
        author = Signature("Forge (scripted)", "agent@forge.invalid", 1_700_000_000 + len(self.made_on))
        self.commits[turn.id] = vfs.commit(f"chat: {turn.id}", author, {"Forge-Turn": turn.id})
        before = self.said[branch]
        self.made_on[turn.id] = branch
        self.chains[turn.id] = (*(self.chains[before.turns[-1]] if before.turns else ()), turn.id)
        self._now("talk", branch, replace(before, turns=(*before.turns, turn.id), own=True, settled=True))

    def edit(self) -> None:
        branch = self._any()
        self._on(branch)
        self._write(f"notes/{self.rng.getrandbits(40):x}.txt")
        self._now("edit", branch, self.said[branch])

    def fork(self) -> None:
        source = self._any()
        if self.said[source].settled or not self.said[source].mixed:
            self._new_branch(source)

    def merge(self) -> None:
        into, source = self._two(self._agent())
        self._merge(into, source)

    def into_main(self) -> None:
        """As a server's merge button does it, or squashed, or rebased."""
        source = self._agent()
        way = self.rng.choice(("merge", "squash", "rebase"))
        if way == "squash":
            self._squash(MAIN, source)
        elif way == "merge" or self.said[source].merged:
            self._merge(MAIN, source, "--no-ff")
        else:
            self._on(source, detached=True)
            if self._tried("rebase", "-q", MAIN):
                tip = self._git("rev-parse", "HEAD")
                before = self._turns(MAIN)
                self._on(MAIN)
                self._git("merge", "-q", "--ff-only", tip)
                self._now(f"rebase-merge of {source}", MAIN, self._brought(MAIN, before))

    def octopus(self) -> None:
        into = self._any()
        sources = [b for b in self.rng.sample(sorted(self.said), min(3, len(self.said))) if b != into]
        # git leaves out what the others contain.
        apart = self._git("merge-base", "--independent", into, *sources).splitlines()
        sources = [b for b in sources if self._tip(b) in apart and self._tip(b) != self._tip(into)]
        self._on(into)
        before = self._turns(into)
        if any(self._only_named(into, source) for source in sources):
            return
        if len({self._tip(b) for b in sources}) == len(sources) > 1 and self._tried(
            "merge", "-q", "--no-ff", "-m", "octopus", *sources
        ):
            said = self._brought(into, before, *sources)
            self._now(f"octopus of {' '.join(sources)}", into, replace(said, merged=True))

    def squash(self) -> None:
        self._squash(*self._two(self._agent()))

    def rebase(self) -> None:
        branch, onto = self._two(self._agent())
        if self._only_named(branch, onto):
            return
        said = self.said[branch]
        if (said.merged and not said.own) or self._is_unclear(branch):
            return  # which of the replayed turns comes last depends on git's order of the commits
        if not said.own and any(self.made_on[turn] == branch for turn in self._turns(onto)):
            return  # the branch was set back before its own turns, and gets them again from elsewhere
        if any(t not in self._turns(onto) and self._commit_of(onto, t) for t in said.turns):
            return  # reverted there: git takes the branch's own commit of that turn for applied
        self._on(branch)
        before, was = self._turns(branch), self._tip(branch)
        if self._tried("rebase", "-q", onto):
            if self._tip(branch) == self._tip(onto):
                said = self._forwarded(branch, before, onto)
            elif self._tip(branch) != was:
                said = self._replayed(said, self.said[onto])
                # What the other line keeps, though a merge took it out of the tree, is on this line now.
                # Of a branch with merges, reverts on what was merged are replayed onto it too.
                mine = self._turns(branch) if said.merged else set(said.turns)
                there = mine | set(self.said[onto].turns)
                last = said.turns[-1:]
                said = replace(said, turns=tuple(t for each in last for t in self.chains[each] if t in there))
            self._now(f"rebase onto {onto}", branch, replace(said, merged=self.said[onto].merged))

    def cherry_pick(self) -> None:
        if not self.commits:
            return
        turn = self.rng.choice(sorted(self.commits))
        branch = self._agent()
        there = self._turns(branch)
        if turn in there or self._is_unclear(branch):
            return
        self._on(branch)
        if self._tried("cherry-pick", self.commits[turn]):
            said = self._brought(branch, there)
            self._now(f"cherry-pick {turn}", branch, replace(said, mixed=said.mixed or turn not in said.turns))

    def revert(self) -> None:
        branch = self._agent()
        mine = [t for t in self.said[branch].turns if t in self._turns(branch)]
        if not mine:
            return
        turn = self.rng.choice(mine[-2:])
        commit = self._commit_of(branch, turn)
        if commit is None:
            return
        self._on(branch)
        if self._tried("revert", "--no-edit", commit):
            left = tuple(t for t in self.said[branch].turns if t != turn)
            self._now(f"revert {turn}", branch, replace(self.said[branch], turns=left))

    def amend(self) -> None:
        branch = self._agent()
        if self._is_unclear(branch):
            return
        self._on(branch)
        self._git("commit", "-q", "--amend", "--no-edit", "--allow-empty", "--date=2020-01-01T00:00:00Z")
        said = self.said[branch]
        self._now("amend", branch, replace(said, settled=said.settled and self._turn_in(branch) not in said.turns[-1:]))

    def reset(self) -> None:
        branch = self._agent()
        tip, said = self.rng.choice(self.past[branch])
        self._on(branch)
        self._git("reset", "-q", "--hard", tip)
        self._now(f"reset to {tip[:7]}", branch, said)

    def rename(self) -> None:
        old = self._agent()
        if self.said[old].mixed and not self.said[old].settled:
            return
        new = f"{old}-{len(self.told)}"
        self._git("checkout", "-q", "--detach")
        self._git("branch", "-m", old, new)
        self.past[new] = [(tip, replace(said, own=False)) for tip, said in self.past.pop(old)]
        self._now(f"rename {old}", new, replace(self.said.pop(old), own=False))

    def delete(self) -> None:
        if len(self.said) > 3:
            branch = self._agent()
            self._git("checkout", "-q", "--detach")
            self._git("branch", "-D", branch)
            del self.said[branch]
            self.told.append(f"delete {branch}")

    def interactive(self) -> None:
        """The last commits of one line: put in another order, made one, or one of them left out."""
        branch = self._agent()
        recent = self._git("log", "-4", "--first-parent", "--format=%H %P", branch).splitlines()
        line = []
        for row in recent[:-1]:
            commit, *parents = row.split()
            if len(parents) != 1:
                break
            line.append(commit)
        turns = {commit: turn for commit in line if (turn := self._turn_in(commit)) is not None}
        if len(line) < 2 or not set(turns.values()) <= set(self.said[branch].turns) or not self.said[branch].own:
            return
        way = self.rng.choice(("squash", "order", "drop"))
        names = list(reversed(line))
        said = self.said[branch]
        if way == "order":
            self.rng.shuffle(names)
        todo = [f"{'fixup' if way == 'squash' and place else 'pick'} {name}" for place, name in enumerate(names)]
        if way == "drop":
            gone = self.rng.randrange(len(todo))
            todo[gone] = f"drop {names[gone]}"
            said = replace(said, turns=tuple(t for t in said.turns if t != turns.get(names[gone])))
        self._on(branch)
        plan = self.place / ".git" / "plan"
        plan.write_text("\n".join(todo) + "\n")
        if self._tried("rebase", "-q", "-i", f"{line[-1]}^", editor=f"cp {shlex.quote(str(plan))}"):
            self._now(f"interactive {way}", branch, replace(said, settled=False))

    # -- the parts of it

    def _only_named(self, into: str, source: str) -> bool:
        """Whether `into` would take over a conversation that only the name of `source` tells."""
        return not self.said[into].own and self.said[source].mixed and not self.said[source].settled

    def _merge(self, into: str, source: str, *options: str) -> None:
        if self._only_named(into, source):
            return
        self._on(into)
        before = self._turns(into)
        if self._tried("merge", "-q", "-m", f"merge {source}", *options, source):
            forwarded = self._tip(into) == self._tip(source)
            said = self._forwarded(into, before, source) if forwarded else self._brought(into, before, source)
            self._now(f"merge {source}", into, replace(said, merged=True))

    def _squash(self, into: str, source: str) -> None:
        if self._only_named(into, source):
            return
        self._on(into)
        before = self._turns(into)
        if self._tried("merge", "-q", "--squash", source) and self._git("status", "--porcelain"):
            self._git("commit", "-q", "-m", f"squash {source}")
            self._now(f"squash {source}", into, self._brought(into, before, squash=True))

    def _forwarded(self, into: str, before: set[str], source: str) -> Said:
        """The branch is where another one is: the same conversation, unless it has one of its own."""
        said, theirs = self.said[into], self.said[source]
        kept = self._brought(into, before, source) if said.own else replace(theirs, own=False)
        return replace(kept, settled=theirs.settled, mixed=theirs.mixed or kept.turns != theirs.turns)

    def _brought(self, into: str, before: set[str], *sources: str, squash: bool = False) -> Said:
        """What a branch says once turns came to it, by a merge of `sources` or without one.

        What goes on from its conversation is taken over, what is unrelated stays beside it. Where nobody ever talked
        under its name, a turn that was replayed takes over from others that were.
        """
        said, now = self.said[into], self._turns(into)
        if not sources:  # what a revert took away on the other branch, a squash takes away here
            said = replace(said, turns=tuple(t for t in said.turns if t in now or t not in before))
        new = now - before
        new -= {parent for turn in new for parent in self.chains[turn][:-1]}
        back = [turn for turn in self.made_on if turn in new and self.made_on[turn] == into]
        if sources and not said.turns and back:  # its own turns, which it had reverted, come back
            return replace(said, turns=(back[-1],), settled=False)
        if sources and not said.turns:
            theirs: tuple[str, ...] = ()
            for other in (self.said[source].turns for source in sources):
                theirs = other if other[: len(theirs)] == theirs else theirs
            return replace(said, turns=theirs, settled=False)
        mine = {t for t in new if self.made_on[t] == into}
        further = {t for t in new if self._goes_on(t, said.turns, now)}
        is_mine = bool(said.turns) and self.made_on[said.turns[-1]] == into
        if mine and (not sources or not is_mine):
            chosen = mine & further or {t for t in mine if self._linked(t, now)}
        elif further or sources or said.own or said.settled or squash:
            chosen = further
        else:
            chosen = {t for t in new if self._linked(t, now)}
        if not chosen:
            return said
        for source in sources:
            chosen = chosen & self._turns(source) or chosen
        last = max(chosen, key=list(self.made_on).index)
        return replace(
            said,
            turns=tuple(t for t in self.chains[last] if t in now),
            own=said.own or bool(mine),
            settled=said.settled and bool(said.turns),
        )

    def _goes_on(self, turn: str, said: tuple[str, ...], now: set[str]) -> bool:
        before = [t for t in self.chains[turn][:-1] if t in now]
        return not said or said[-1] in before

    def _linked(self, turn: str, now: set[str]) -> bool:
        before = self.chains[turn][:-1]
        return not before or before[-1] in now

    def _is_unclear(self, branch: str) -> bool:
        """Whether its conversation hangs on one commit's being in its place."""
        return self.said[branch].mixed and not self.said[branch].own

    def _replayed(self, said: Said, onto: Said) -> Said:
        """A branch goes on with its own turns wherever it is put; without any, not over those that were made there."""
        if not said.turns and not said.own:
            return replace(onto, own=False)
        if said.turns and onto.turns[: len(said.turns)] == said.turns:
            return replace(onto, own=said.own, settled=False)
        related = not onto.turns or not said.turns or onto.turns[0] == said.turns[0]
        if said.own or related or not onto.settled:
            return replace(said, settled=False, mixed=said.mixed or onto.mixed or (onto.settled and not related))
        return replace(onto, own=False)

    def _new_branch(self, source: str) -> None:
        name = f"ai/{'abcdefgh'[self.rng.randrange(8)]}{len(self.told)}"
        self._git("branch", name, source)
        self.past[name] = []
        self._now(f"branch from {source}", name, replace(self.said[source], own=False))

    def _now(self, what: str, branch: str, said: Said) -> None:
        self.count[what.split(maxsplit=1)[0]] += 1
        if said.turns:
            # Turns that were left out may come back from elsewhere.
            there = {*self._turns(branch), *said.turns}
            said = replace(said, turns=tuple(turn for turn in self.chains[said.turns[-1]] if turn in there))
        self.said[branch] = said
        self.past.setdefault(branch, []).append((self._tip(branch), said))
        self.told.append(f"{branch}: {what} -> {' '.join(self.said[branch].turns)}")

    def check(self) -> None:
        self._git("checkout", "-q", "--detach")
        fresh = Repository.open(self.place)
        for branch, said in self.said.items():
            found = tuple(turn.id for turn in conversation(fresh.commit_vfs(branch)))
            if found != said.turns:
                raise Differs(f"{branch} has {' '.join(found) or 'nothing'}, not {' '.join(said.turns) or 'nothing'}")

    def _turns(self, rev: str) -> set[str]:
        paths = self._git("ls-tree", "-r", "--name-only", rev, "--", ".forge/session").splitlines()
        return {path.split("/")[-2] for path in paths}

    def _commit_of(self, branch: str, turn: str) -> str | None:
        rows = self._git("log", "--format=%H", f"--grep=Forge-Turn: {turn}", "--no-merges", branch).splitlines()
        return next((row for row in rows if self._turn_in(row) == turn), None)

    def _turn_in(self, commit: str) -> str | None:
        added = self._git("show", "--format=", "--name-only", "--diff-filter=A", "--no-renames", commit, "--", ".forge")
        turns = {path.split("/")[-2] for path in added.splitlines() if path.endswith("/turn.json")}
        return turns.pop() if len(turns) == 1 else None

    def _any(self) -> str:
        return self.rng.choice(sorted(self.said))

    def _agent(self) -> str:
        return self.rng.choice(sorted(set(self.said) - {MAIN}))

    def _two(self, first: str) -> tuple[str, str]:
        return first, self.rng.choice(sorted(set(self.said) - {first}))

    def _tip(self, branch: str) -> str:
        return self._git("rev-parse", f"refs/heads/{branch}")

    def _on(self, branch: str, *, detached: bool = False) -> None:
        self._git("checkout", "-q", *(["--detach"] if detached else []), branch)

    def _write(self, path: str) -> None:
        place = self.place / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{path}\n")
        self._git("add", path)
        self._git("commit", "-q", "-m", f"edit {path}")

    def _tried(self, *args: str, editor: str = "true") -> bool:
        """Whether git did it. It may refuse for reasons of the person's files, never for a file of Forge's."""
        done = self._run(args, editor=editor)
        if done.returncode == 0:
            return True
        conflicts = self._git("diff", "--name-only", "--diff-filter=U").splitlines()
        named = "CONFLICT" in done.stdout and ".forge" in done.stdout
        if named or any(path.startswith(".forge") for path in conflicts):
            raise Differs(f"git {' '.join(args)}: conflict in {' '.join(conflicts)}\n{done.stdout}")
        verb = args[0]
        self._run((verb, "--abort"))
        self._git("reset", "-q", "--hard")
        self.told.append(f"refused: {' '.join(args)}")
        return False

    def _git(self, *args: str) -> str:
        done = self._run(args)
        if done.returncode:
            raise RuntimeError(f"git {' '.join(args)}: {done.stdout}{done.stderr}\n" + "\n".join(self.told))
        return done.stdout.strip()

    def _run(self, args: tuple[str, ...], *, editor: str = "true") -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": editor}
        return subprocess.run(["git", *args], cwd=self.place, env=env, capture_output=True, text=True, check=False)
