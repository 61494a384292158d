"""Random histories of agent branches, made by plain git, against a model of what each branch's conversation must be."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from forge.git import Repository, Signature, WorkInProgressVFS
from forge.sessions.conversation import conversation, read_head, write_turn
from forge.sessions.head import ActiveFile
from forge.sessions.layout import HEAD_PATH, MARKS, TurnRef, json_bytes
from forge.sessions.marks import mark
from forge.sessions.messages import AssistantMessage, UserMessage
from forge.sessions.places import Sessions
from forge.sessions.turns import Turn, item_json, turn_id
from tests.support.soak.conversation_model import Commit, Model

MAIN = "main"
_OLD = 0.3
"""Of so many histories, some branches begin in the first format."""


class Differs(AssertionError):
    """A branch whose conversation is not what the model says, or a conflict in Forge's own files."""


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
        found.turns += len(world.commits)
    return found


class _World:
    """One repository. Each operation says what it must come to; the model says it for every branch at the end."""

    def __init__(self, place: Path, rng: random.Random, count: Counter[str]) -> None:
        self.place = place
        self.rng = rng
        self.count = count
        self.told: list[str] = []
        self.model = Model()
        self.old = rng.random() < _OLD
        self.said: dict[str, tuple[str, ...]] = {MAIN: ()}
        self.past: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        """Where a branch was, and what it said there."""
        self.commits: dict[str, str] = {}
        """The commit of each turn, as it was first made."""
        self._tips: set[str] = set()
        place.mkdir(parents=True)
        self._git("init", "-q", "-b", MAIN)
        (place / "README.md").write_text("A repository.\n")
        self._git("add", ".")
        self._git("commit", "-q", "-m", "begin")
        self.repo = Repository.open(place)
        self._learn(MAIN)

    def live(self, steps: int) -> None:
        for _ in range(self.rng.randint(2, 8)):
            self._new_branch(MAIN)
        if self.old:
            for branch in self.rng.sample(sorted(set(self.said) - {MAIN}), self.rng.randint(1, 2)):
                for _ in range(self.rng.randint(1, 3)):
                    self._talk(branch, first_format=True)
        usual: list[Callable[[], None]] = [self.talk] * 6 + [self.edit] * 2 + [self.merge] * 4 + [self.squash] * 2
        usual += [self.rebase] * 3 + [self.cherry_pick] * 3 + [self.fork] * 2 + [self.revert] * 2 + [self.amend]
        usual += [self.rename, self.octopus, self.delete, self.interactive, self.into_main, self.into_main]
        usual += [self.reset, self.force, self.interactive, self.interactive, self.save_marks]
        for _ in range(steps):
            self.rng.choice(usual)()

    # -- what is done, and what it must come to

    def talk(self) -> None:
        self._talk(self._agent())

    def edit(self) -> None:
        branch = self._any()
        self._on(branch)
        self._write(f"notes/{self.rng.getrandbits(40):x}.txt")
        self._now("edit", branch, same=self.said[branch])

    def save_marks(self) -> None:
        """A save through Forge takes a mark in the context along; a branch of the first format takes the second."""
        branch = self._agent()
        path = f"notes/{self.rng.getrandbits(40):x}.txt"
        self._git("checkout", "-q", "--detach")
        mark(self.repo.common_dir, branch, add=[ActiveFile(path)])
        files = self.repo.workspace(branch)
        files.write_file(path, f"{path}\n")
        Sessions(self.repo).save(files, f"edit {path}")
        if path not in [file.path for file in read_head(self.repo.commit_vfs(branch)).active_files]:
            raise Differs(f"{branch} has {path} not in context")
        self._now("marks", branch, same=self.said[branch])

    def fork(self) -> None:
        self._new_branch(self._any())

    def merge(self) -> None:
        into, source = self._two(self._agent())
        self._merge(into, source)

    def into_main(self) -> None:
        """As a server's merge button does it, or squashed, or rebased."""
        source = self._agent()
        way = self.rng.choice(("merge", "squash", "rebase"))
        if way == "squash":
            self._squash(MAIN, source)
        elif way == "merge":
            self._merge(MAIN, source, "--no-ff")
        else:
            self._on(source, detached=True)
            if self._tried("rebase", "-q", MAIN):
                tip = self._git("rev-parse", "HEAD")
                self._on(MAIN)
                self._git("merge", "-q", "--ff-only", tip)
                self._now(f"rebase-merge of {source}", MAIN)

    def octopus(self) -> None:
        into = self._any()
        sources = [b for b in self.rng.sample(sorted(self.said), min(3, len(self.said))) if b != into]
        # git leaves out what the others contain.
        apart = self._git("merge-base", "--independent", into, *sources).splitlines()
        sources = [b for b in sources if self._tip(b) in apart and self._tip(b) != self._tip(into)]
        self._on(into)
        distinct = len({self._tip(b) for b in sources}) == len(sources) > 1
        if distinct and self._tried("merge", "-q", "--no-ff", "-m", "octopus", *sources):
            self._now(f"octopus of {' '.join(sources)}", into, within=self._kept(into, *sources))

    def squash(self) -> None:
        self._squash(*self._two(self._agent()))

    def rebase(self) -> None:
        branch, onto = self._two(self._agent())
        replayed = self._git("rev-list", "--no-merges", f"{onto}..{branch}").splitlines()
        # A revert that is on the other line already is left out, and then the turn that it removed comes back.
        is_sure = self._is_own(branch, onto) and not any(self._removes(commit) for commit in replayed)
        kept = self.said[branch] if is_sure else ()
        self._on(branch)
        if self._tried("rebase", "-q", onto):
            # What is reverted on the other line, git takes for applied and leaves out.
            self._now(f"rebase onto {onto}", branch, within=self._left(branch, kept))

    def cherry_pick(self) -> None:
        if not self.commits:
            return
        turn = self.rng.choice(sorted(self.commits))
        branch = self._agent()
        if turn in self._turns(branch) or self._loses_its_place(turn, branch):
            return
        said = self.said[branch]
        is_plain = self._is_own(branch) and self.model.names[turn] != branch
        self._on(branch)
        if self._tried("cherry-pick", self.commits[turn]):
            is_beside = is_plain and said[-1] not in self.model.chains[turn] and turn not in self.model.chains[said[-1]]
            self._now(f"cherry-pick {turn}", branch, same=said if is_beside else None)

    def revert(self) -> None:
        branch = self._agent()
        mine = [t for t in self.said[branch] if t in self._turns(branch)]
        if not mine:
            return
        turn = self.rng.choice(mine[-2:])
        commit = self._commit_of(branch, turn)
        if commit is None:
            return
        said = self.said[branch]
        self._on(branch)
        if self._tried("revert", "--no-edit", commit):
            self._now(f"revert {turn}", branch, same=tuple(t for t in said if t != turn))
            if self.rng.random() < 0.3 and self._tried("revert", "--no-edit", "HEAD"):
                self._now(f"revert of revert {turn}", branch, same=said)

    def amend(self) -> None:
        branch = self._agent()
        self._on(branch)
        self._git("commit", "-q", "--amend", "--no-edit", "--allow-empty", "--date=2020-01-01T00:00:00Z")
        self._now("amend", branch, same=self.said[branch])

    def reset(self) -> None:
        branch = self._agent()
        tip, said = self.rng.choice(self.past[branch])
        self._on(branch)
        self._git("reset", "-q", "--hard", tip)
        self._now(f"reset to {tip[:7]}", branch, same=said)

    def force(self) -> None:
        """`git branch -f`: the branch is where another one is; its own turns, if any are there, come first."""
        branch, other = self._two(self._agent())
        self._git("checkout", "-q", "--detach")
        self._git("branch", "-q", "-f", branch, other)
        is_own = self.model.is_own(self._turns(other), branch)
        self._now(f"force to {other}", branch, same=self._told_by_git(other) if not is_own else None)

    def rename(self) -> None:
        old = self._agent()
        new = f"{old}-{len(self.told)}"
        self._git("checkout", "-q", "--detach")
        told = self._told_by_git(old)
        self._git("branch", "-m", old, new)
        self.past[new] = [(tip, self._conversation(tip, new)) for tip, _ in self.past.pop(old)]
        del self.said[old]
        self._now(f"rename {old}", new, same=told)

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
        line = []
        for row in self._git("log", "-4", "--first-parent", "--format=%H %P", branch).splitlines():
            commit, *parents = row.split()
            if len(parents) != 1:
                break
            line.append(commit)
        turns = {commit: self.model.turn_of(commit) for commit in line}
        if len(line) < 2 or any(turn and not self.model.names[turn] for turn in turns.values()):
            return
        plain = self._is_own(branch) and not any(self._removes(commit) for commit in line)
        plain &= all(self._brought(commit) <= set(self.said[branch]) for commit in line)
        way = self.rng.choice(("squash", "order", "drop"))
        names = list(reversed(line))
        said = self.said[branch]
        if way == "order":
            self.rng.shuffle(names)
        todo = [f"{'fixup' if way == 'squash' and place else 'pick'} {name}" for place, name in enumerate(names)]
        if way == "drop":
            gone = self.rng.randrange(len(todo))
            todo[gone] = f"drop {names[gone]}"
            said = tuple(t for t in said if t not in self._brought(names[gone]))
        self._on(branch)
        plan = self.place / ".git" / "plan"
        plan.write_text("\n".join(todo) + "\n")
        if self._tried("rebase", "-q", "-i", f"{line[-1]}^", editor=f"cp {shlex.quote(str(plan))}"):
            self._now(f"interactive {way}", branch, same=said if plain else None)

    def _loses_its_place(self, turn: str, branch: str) -> bool:
        """A turn of the first format names one turn before it. Without that, nobody can tell what it goes on from."""
        before = self.model.chains[turn][:-1]
        return not self.model.names[turn] and bool(before) and before[-1] not in self._turns(branch)

    # -- the parts of it

    def _talk(self, branch: str, *, first_format: bool = False) -> None:
        vfs = self.repo.workspace(branch)
        head = read_head(vfs)
        before = self.said[branch][-1] if self.said[branch] else None
        if head.last != before:
            raise Differs(f"{branch} goes on from {head.last}, not {before}")
        # Short and long ones, much alike and not: git takes like files for moved ones.
        words = "again and again " * self.rng.randint(1, 40)
        items = (UserMessage(words, "A <a@example.org>", 1.0), AssistantMessage(words, model="scripted"))
        name = turn_id(head.turns + 1, f"{self.rng.getrandbits(48):012x}")
        turn = Turn(name, head.last, float(len(self.commits)), "scripted", items)
        if first_format:
            write_first_format(vfs, turn, head.messages + len(items))
        else:
            write_turn(vfs, turn)
        if self.rng.random() < 0.8:
            vfs.write_file(f"src/{turn.id}.txt", f"{turn.id}\n" * 3)
        author = Signature("Forge (scripted)", "agent@forge.invalid", 1_700_000_000 + len(self.commits))
        self.commits[turn.id] = vfs.commit(f"chat: {turn.id}", author, {"Forge-Turn": turn.id})
        self.model.talk(turn.id, before, "" if first_format else branch)
        self._now("talk" if not first_format else "old-talk", branch, same=(*self.said[branch], turn.id))

    def _merge(self, into: str, source: str, *options: str) -> None:
        self._on(into)
        if self._tried("merge", "-q", "-m", f"merge {source}", *options, source):
            self._now(f"merge {source}", into, within=self._kept(into, source))

    def _squash(self, into: str, source: str) -> None:
        self._on(into)
        if self._tried("merge", "-q", "--squash", source) and self._git("status", "--porcelain"):
            self._git("commit", "-q", "-m", f"squash {source}")
            # What a revert took away on the other branch, a squash takes away here.
            self._now(f"squash {source}", into, within=self._left(into, self._kept(into, source)))

    def _kept(self, into: str, *sources: str) -> tuple[str, ...]:
        """What a branch goes on to say, after a merge: its own."""
        is_other = any(self._tip(into) == self._tip(source) for source in sources)
        if self._is_own(into, *sources):
            return self._left(into, self.said[into]) if is_other else self.said[into]
        brings_own = any(self.model.is_own(self._turns(source), into) for source in sources)
        return () if is_other or brings_own else self.said[into]

    def _is_own(self, branch: str, *others: str) -> bool:
        """Whether the name tells its conversation: it talked there, and nothing else that it said is around."""
        said, chains = self.said[branch], self.model.chains
        around = {
            t for rev in (self.past[branch][-1][0] if branch in self.past else MAIN, *others) for t in self._turns(rev)
        }
        own = {turn for turn in around if self.model.names[turn] == branch}
        return bool(said) and self.model.is_own(said, branch) and own <= set(chains[said[-1]])

    def _left(self, branch: str, said: tuple[str, ...]) -> tuple[str, ...]:
        self._learn(branch)
        return tuple(turn for turn in said if turn in self.model.readable(self._tip(branch)))

    def _told_by_git(self, branch: str) -> tuple[str, ...] | None:
        """Its conversation, if no name is needed to tell it: it came first, and no other was replayed onto it."""
        said, line = self.said[branch], self._git("rev-list", "--reverse", "--first-parent", branch).splitlines()
        bringing = [c for c in line if self._brought(c)]
        replayed = {turn for c in line if (turn := self.model.turn_of(c)) is not None}
        return said if not bringing or (self._brought(bringing[0]) | replayed <= set(said)) else None

    def _brought(self, commit: str) -> set[str]:
        made = self.model.commits[commit]
        return set(made.turns - self.model.commits[made.parents[0]].turns) if made.parents else set()

    def _removes(self, commit: str) -> bool:
        made = self.model.commits[commit]
        return bool(made.parents) and not self.model.commits[made.parents[0]].turns <= made.turns

    def _new_branch(self, source: str) -> None:
        name = f"ai/{'abcdefgh'[self.rng.randrange(8)]}{len(self.told)}"
        self._git("branch", name, source)
        self.past[name] = []
        self._now(f"branch from {source}", name, same=self._told_by_git(source))

    def _now(
        self, what: str, branch: str, *, same: tuple[str, ...] | None = None, within: tuple[str, ...] = ()
    ) -> None:
        """The branch says what the model tells; that is the `same`, or has what was said `within` it, in its order."""
        self.count[what.split(maxsplit=1)[0]] += 1
        self._learn(branch)
        tip = self._tip(branch)
        said = self.said[branch] = self._conversation(tip, branch)
        self.past.setdefault(branch, []).append((tip, said))
        self.told.append(f"{branch}: {what} -> {tip[:7]} {' '.join(said)}")
        if same is not None and said != same:
            raise Differs(f"{branch} should say {' '.join(same) or 'nothing'}, says {' '.join(said) or 'nothing'}")
        if within != tuple(turn for turn in said if turn in within):
            raise Differs(f"{branch} should still say {' '.join(within)}, says {' '.join(said) or 'nothing'}")

    def check(self) -> None:
        self._git("checkout", "-q", "--detach")
        fresh = Repository.open(self.place)
        for branch, said in self.said.items():
            for repo in (self.repo, fresh):
                found = tuple(turn.id for turn in conversation(repo.commit_vfs(branch)))
                if found != said:
                    raise Differs(f"{branch} has {' '.join(found) or 'nothing'}, not {' '.join(said) or 'nothing'}")

    def _conversation(self, tip: str, branch: str) -> tuple[str, ...]:
        return self.model.conversation(tip, branch)

    def _learn(self, branch: str) -> None:
        known = [f"^{commit}" for commit in self._tips if commit in self.model.commits]
        rows = self._git("log", "--reverse", "--topo-order", "--format=%H\t%P\t%s", branch, *known).splitlines()
        for row in rows:
            commit, parents, subject = row.split("\t", 2)
            self.model.commits[commit] = Commit(tuple(parents.split()), frozenset(self._turns(commit)), subject)
        self._tips = {*self._tips, self._tip(branch)}

    def _turns(self, rev: str) -> set[str]:
        if rev in self.model.commits:
            return set(self.model.commits[rev].turns)
        found = self._git("ls-tree", "-r", "--name-only", rev, "--", ".forge/session").splitlines()
        paths = (path for path in found if not path.startswith(f"{MARKS}/"))
        return {path.split("/")[-2] if path.endswith("/turn.json") else Path(path).stem for path in paths}

    def _commit_of(self, branch: str, turn: str) -> str | None:
        rows = self._git("log", "--format=%H", f"--grep=Forge-Turn: {turn}", "--no-merges", branch).splitlines()
        return next((row for row in rows if self.model.turn_of(row) == turn), None)

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
        while done.returncode and self._settled_by_hand():
            if args[:2] == ("merge", "-q") and "--squash" in args:
                return True
            done = self._run((args[0], "--continue"))
        if done.returncode == 0:
            return True
        conflicts = self._git("diff", "--name-only", "--diff-filter=U").splitlines()
        ours = [path for path in conflicts if path.startswith(".forge") and not self._is_old(path)]
        named = "CONFLICT" in done.stdout and ".forge" in done.stdout and not self.old
        if named or ours:
            raise Differs(f"git {' '.join(args)}: conflict in {' '.join(conflicts)}\n{done.stdout}")
        self._run((args[0], "--abort"))
        self._git("reset", "-q", "--hard")
        self.told.append(f"refused: {' '.join(args)}")
        return False

    def _settled_by_hand(self) -> bool:
        """Two branches of the first format conflict in the one file that both have; the person takes either side."""
        conflicts = self._git("diff", "--name-only", "--diff-filter=U").splitlines()
        if not self.old or conflicts != [HEAD_PATH]:
            return False
        sides = ["--ours", "--theirs"]
        self.rng.shuffle(sides)
        if any(self._run(("checkout", side, "--", HEAD_PATH)).returncode == 0 for side in sides):
            self._git("add", HEAD_PATH)
        else:
            self._git("rm", "-q", HEAD_PATH)
        self.count["settled"] += 1
        return True

    def _is_old(self, path: str) -> bool:
        return self.old and (path == HEAD_PATH or not path.endswith("/turn.json"))

    def _git(self, *args: str) -> str:
        done = self._run(args)
        if done.returncode:
            raise RuntimeError(f"git {' '.join(args)}: {done.stdout}{done.stderr}\n" + "\n".join(self.told))
        return done.stdout.strip()

    def _run(self, args: tuple[str, ...], *, editor: str = "true") -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "GIT_EDITOR": "true", "GIT_SEQUENCE_EDITOR": editor}
        return subprocess.run(["git", *args], cwd=self.place, env=env, capture_output=True, text=True, check=False)


def write_first_format(vfs: WorkInProgressVFS, turn: Turn, messages: int) -> None:
    """A turn as Forge wrote it before each turn had a path that no other branch writes."""
    data = {
        "schema_version": 1,
        "id": turn.id,
        "parent": turn.parent,
        "started": turn.started,
        "model": turn.model,
        "status": turn.status.value,
        "reason": "",
        "opens": False,
        "files": [],
        "usage": {},
        "messages": list(map(item_json, turn.items)),
        "seen": {},
    }
    head = {
        "schema_version": 1,
        "active_files": [],
        "messages": {"folder": ".forge/session", "turns": turn.number, "count": messages, "last": turn.id},
        "usage": {},
    }
    vfs.write_record(TurnRef(turn.id).path, json_bytes(data))
    vfs.write_record(HEAD_PATH, json_bytes(head))
