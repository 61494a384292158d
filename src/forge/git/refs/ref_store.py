"""The one place that moves refs: by compare-and-swap, never the default branch for agents, always recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pygit2

from forge.errors import ForgeError
from forge.git.checkout import checkouts
from forge.git.errors import (
    BranchCheckedOut,
    BranchIsAlias,
    HistoryPruned,
    ProtectedBranch,
    RepositoryUnreadable,
)
from forge.git.objects import trees
from forge.git.process import disk, liveness
from forge.git.process.maintenance import Upkeep
from forge.git.refs import locks
from forge.git.refs.branch_names import branch_ref
from forge.git.refs.compare_and_swap import Locks, Unproven, make_durable, reserve, swap
from forge.git.refs.damage import torn_branches
from forge.git.refs.holds import Held
from forge.git.refs.operations.log import OperationLog
from forge.git.refs.operations.operation import Operation, RefMove, moved
from forge.git.refs.reachability import Reachability
from forge.git.refs.ref_files import BESIDE, HEADS, KEPT, direct_branches, direct_target, found, log_note
from forge.git.refs.reservations import busy, reservation
from forge.git.refs.side_refs import kept_as
from forge.git.values import Actor, ActorKind, CommitId, ObjectId
from forge.git.workspace import paths

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.objects.raw_object import NewObjects, RawObject

_NOTHING_NEW: Mapping[ObjectId, RawObject] = {}


class Refs:
    def __init__(self, objects: Objects, *, default_branch: str | None = None) -> None:
        self._objects = objects
        self._configured = default_branch
        self._forge_dir = objects.common_dir / "forge"
        self.held = Held(objects)
        self._reachability = Reachability(objects, self.held, self._read)
        self.log = OperationLog(self._forge_dir, self._read, self._was_at)
        self._upkeep = Upkeep(objects, self.log)

    def target(self, ref: str) -> CommitId | None:
        """The commit that `ref` leads to, through symbolic refs."""
        at = self._read(ref)
        if at is not None:
            self._reachability.saw(ref, at)
        return at

    def _read(self, ref: str) -> CommitId | None:
        now = found(self._objects, ref)
        if now is None or isinstance(now.raw_target, pygit2.Oid):
            return CommitId(str(now.raw_target)) if now else None
        return direct_target(self._objects, self._final(ref))

    def tip(self, branch: str) -> CommitId | None:
        return self.target(branch_ref(branch))

    def hold(self, owner: str, commits: Iterable[CommitId]) -> None:
        """Keep all that `commits` need from every gc until `held.let_go(owner)`, over crashes; raise if it is gone."""
        before = self.held.commits(owner)
        fresh = self.held.keep(owner, commits)
        try:
            loose = self._reachability.copied(fresh)
        except HistoryPruned:
            # git stumbles over a ref to what is gone.
            self.held.let_go(owner)
            self.held.keep(owner, before)
            raise
        if not loose:
            self.held.prove(owner, fresh)

    def branches(self, *, damaged: bool = False) -> list[tuple[str, CommitId]]:
        """By name; with `damaged` also those whose file names no commit, without a tip."""
        found = [(ref.removeprefix(HEADS), tip) for ref, tip in self.under(HEADS)]
        torn = torn_branches(self._objects.common_dir) if damaged else ()
        return sorted([*found, *((name, CommitId("")) for name in torn)]) if damaged else found

    def kept(self) -> list[tuple[str, CommitId]]:
        """Tips that no branch shows any more, by the name `<branch>@<id>`."""
        return [(ref.removeprefix(KEPT), tip) for ref, tip in self.under(KEPT)]

    def under(self, prefix: str) -> list[tuple[str, CommitId]]:
        """Refs below `prefix` with their commits. A broken one is left out: it must not hide the others."""
        tips: list[tuple[str, CommitId]] = []
        for ref in sorted(ref for ref in self._objects.handle.references if ref.startswith(prefix)):
            with suppress(RepositoryUnreadable):
                if (tip := self._read(ref)) is not None:
                    tips.append((ref, tip))
        return tips

    def notice(self) -> bool:
        """Record what others did to branches; whether there are few enough of them to do so."""
        return self.log.notice_branches(lambda: direct_branches(self._objects))

    def default_branch(self) -> str | None:
        """Configured, else what origin calls its HEAD, else main or master, else what HEAD names."""
        usual = [name for name in ("main", "master") if self.target(HEADS + name)]
        return next((name for name in (*self._named_default(), *usual, self._main_head_branch()) if name), None)

    def head_branch(self) -> str | None:
        head = self._symbolic("HEAD") or ""
        return head.removeprefix(HEADS) if head.startswith(HEADS) else None

    def protected(self, branch: str) -> bool:
        """Whether agents and builds are refused here, under any spelling that a file system may take for it."""
        return paths.folded(branch) in self.protected_names()

    def protected_names(self) -> frozenset[str]:
        """Folded names of all protected branches, for whoever asks about many at once."""
        named = (*self._named_default(), self.default_branch(), self._config("init.defaultBranch"))
        return frozenset(paths.folded(name) for name in ("main", "master", *named) if name)

    def _named_default(self) -> list[str]:
        origin = (self._symbolic("refs/remotes/origin/HEAD") or "").removeprefix("refs/remotes/origin/")
        names = (self._configured, self._config("forge.defaultBranch"), origin)
        return [plain for name in names if name and (plain := name.strip().removeprefix(HEADS))]

    def _main_head_branch(self) -> str | None:
        """What HEAD names in the main checkout; that of a linked worktree says nothing about the default."""
        if self._objects.git_dir == self._objects.common_dir:
            return self.head_branch()
        with suppress(OSError):
            head = (self._objects.common_dir / "HEAD").read_text("utf-8", "surrogateescape").strip()
            return head.removeprefix(f"ref: {HEADS}") if head.startswith(f"ref: {HEADS}") else None
        return None

    def land(
        self,
        branch: str,
        commit: CommitId,
        new: NewObjects,
        *,
        before: CommitId | None,
        actor: Actor,
        reason: str,
        forward: bool = True,
        place: Callable[[], None] | None = None,
    ) -> Operation:
        """Make `new` durable and move `branch` from `before` to `commit`. Not forward: the old tip is kept.

        `place` puts the files into the work tree of this repository once `new` is durable; only its index follows then.
        """
        move = RefMove(branch_ref(branch), before, commit)
        self.refuse_unless_allowed([move], actor)
        if self.target(move.ref) != before:
            raise moved(move)
        with self._objects.writing(new):
            if place is not None:
                place()
            placed = place is not None
            operation = self.move([move], actor=actor, reason=reason, forward=forward, written=new, placed=placed)
        self._upkeep.after_landing()
        return operation

    def land_together(self, moves: Sequence[RefMove], new: NewObjects, *, actor: Actor, reason: str) -> Operation:
        """Make `new` durable and move several refs forward, all or none."""
        with self._objects.writing(new):
            operation = self.move(moves, actor=actor, reason=reason, forward=True, written=new)
        self._upkeep.after_landing()
        return operation

    def move(
        self,
        moves: Sequence[RefMove],
        *,
        actor: Actor,
        reason: str,
        forward: bool = False,
        undoes: str | None = None,
        written: Mapping[ObjectId, RawObject] = _NOTHING_NEW,
        placed: bool = False,
    ) -> Operation:
        """All of `moves` or none. Every ref of Forge's making goes through here.

        Forward: no tip is lost. `written` are objects that the caller holds safe; others have to be there. Placed:
        the caller has put the files into the work tree of this repository, so only its index follows.
        """
        with suppress(Unproven):
            return self._moved(moves, actor, reason, written, forward=forward, undoes=undoes, placed=placed)
        return self._moved(moves, actor, reason, written, forward=forward, undoes=undoes, placed=placed, trusting=False)

    def _moved(
        self,
        moves: Sequence[RefMove],
        actor: Actor,
        reason: str,
        written: Mapping[ObjectId, RawObject],
        *,
        forward: bool,
        undoes: str | None,
        placed: bool,
        trusting: bool = True,
    ) -> Operation:
        wanted = [replace(m, ref=self._final(m.ref)) for m in moves]
        self._refuse_unless_allowed(wanted, actor)
        _refuse_removing_target(moves, wanted)
        if not forward:
            wanted = [*self._keeping(wanted), *wanted]
        self._refuse_checked_out(wanted)
        done: list[RefMove] = []
        followers: list[tuple[checkouts.Worktree, checkouts.CheckoutUpdate]] = []
        with ExitStack() as stack:
            still = stack.enter_context(self._reachability.secured(wanted, written, trusting=trusting))
            operation = self.log.begin(actor, reason, wanted, undoes=undoes)
            held = stack.enter_context(Locks(self._objects))
            try:
                self._follow_in_checkouts(wanted, stack, followers, placed=placed)
                reserve(self._objects, self.log, wanted, held)
                noted = self._note_conversations(wanted)  # before: a crash must not leave one that nobody noted
                for move in wanted:
                    swap(self._objects, self.log, move, reason, held, written=written, still=still)
                    done.append(move)
                    make_durable(self._objects, move)
            except (ForgeError, Unproven):
                self._take_back(done, reason, held)
                for follower, update in followers:
                    checkouts.step_back(self._objects, follower, update)
                self.log.end(operation, done)
                raise
        self.log.end(operation, done)
        self._note_conversations(move for move in done if move not in noted)
        return replace(operation, checkouts=tuple(update for _, update in followers))

    def _note_conversations(self, moves: Iterable[RefMove]) -> list[RefMove]:
        """Tell the reflog of each branch that is there which conversation is beside it: git drops both together."""
        noted: list[RefMove] = []
        for move in moves:
            if move.after is None or not move.ref.startswith(BESIDE):
                continue
            ref = branch_ref(move.ref.removeprefix(BESIDE))
            if (tip := self.target(ref)) is not None:
                with disk.reporting():
                    log_note(self._objects, ref, tip, f"conversation {move.after}")
                noted.append(move)
        return noted

    def refuse_unless_allowed(self, moves: Iterable[RefMove], actor: Actor) -> None:
        self._refuse_unless_allowed([replace(m, ref=self._final(m.ref)) for m in moves], actor)

    def _refuse_unless_allowed(self, moves: Iterable[RefMove], actor: Actor) -> None:
        for ref in [move.ref for move in moves]:
            if not ref.startswith((HEADS, "refs/forge/")) or not pygit2.reference_is_valid_name(ref):
                raise ProtectedBranch(f"Forge does not move {ref}.", hint="Work on a branch.")
            branch = ref.removeprefix(HEADS)
            if ref.startswith(HEADS) and actor.kind is not ActorKind.PERSON and self.protected(branch):
                raise ProtectedBranch(
                    f"{branch} is a default branch; {actor.kind} {actor.name} may not change it.",
                    hint="Let the agent work on its own branch and merge it yourself.",
                )
            held = reservation(self._objects.common_dir, branch) if ref.startswith(HEADS) else None
            if held is not None and held.holder != actor.turn:
                raise busy(held)

    def _keeping(self, moves: Iterable[RefMove]) -> list[RefMove]:
        """What must be remembered so that no tip is lost by `moves`."""
        wanted = list(moves)
        lost = [m for m in wanted if m.ref.startswith(HEADS) and m.before is not None]
        kept = [RefMove(f"{KEPT}{m.ref.removeprefix(HEADS)}@{str(m.before)[:12]}", None, m.before) for m in lost]
        there = {m.after for m in wanted}
        said = [(m.ref.removeprefix(BESIDE), m.before) for m in wanted if m.ref.startswith(BESIDE)]
        kept += [kept_as(name, before) for name, before in said if before and before not in there]
        return [m for m in kept if self.target(m.ref) is None]

    def _refuse_checked_out(self, moves: Iterable[RefMove]) -> None:
        for move in moves:
            if move.after is None and move.ref.startswith(HEADS):
                worktrees = checkouts.worktrees_on(self._objects, move.ref.removeprefix(HEADS))
                if worktrees:
                    raise _checked_out(move.ref, worktrees[0])

    def _follow_in_checkouts(
        self,
        moves: Sequence[RefMove],
        stack: ExitStack,
        followers: list[tuple[checkouts.Worktree, checkouts.CheckoutUpdate]],
        *,
        placed: bool,
    ) -> None:
        """Bring the person's files along first: a crash then leaves the new content staged, not reverted."""
        for move in moves:
            if not move.ref.startswith(HEADS) or move.after is None:
                continue
            worktrees = checkouts.worktrees_on(self._objects, move.ref.removeprefix(HEADS))
            if worktrees and not followers:
                with disk.reporting():
                    stack.enter_context(disk.locked(self._forge_dir / "checkout.lock"))
            if worktrees and self.target(move.ref) != move.before:
                raise moved(move)
            for worktree in worktrees:
                claims = self.log.claims(move.ref)
                locks.index_lock_removed(worktree.git_dir / "index.lock", claims)
                died = [c.after for c in claims if c.after and liveness.died(c.mark) and self._objects.has(c.after)]
                own = placed and worktree.git_dir == self._objects.git_dir
                update = checkouts.bring_up_to_date(
                    self._objects, worktree, move.before, move.after, left_over=died, placed=own
                )
                followers.append((worktree, update))

    def _take_back(self, done: list[RefMove], reason: str, held: Locks) -> None:
        """Undo the first of several moves after a later one failed; `done` keeps what could not be undone."""
        for move in reversed(done.copy()):
            with suppress(ForgeError):
                back = RefMove(move.ref, move.after, move.before)
                swap(self._objects, self.log, back, f"taken back: {reason}", held)
                done.remove(move)
                make_durable(self._objects, back)

    def _was_at(self, ref: str, commit: CommitId) -> bool:
        """Whether the reflog tells of a move of `ref` away from `commit`."""
        now = self._objects.handle.references.get(ref)
        return now is not None and any(str(entry.oid_old) == commit != str(entry.oid_new) for entry in now.log())

    def _final(self, ref: str) -> str:
        """The direct ref at the end of a chain of symbolic ones."""
        for _ in range(5):
            further = self._symbolic(ref)
            if further is None:
                return ref
            ref = further
        raise RepositoryUnreadable(f"{ref} leads in a circle.", hint="Repair it with `git symbolic-ref`.")

    def _symbolic(self, ref: str) -> str | None:
        """Where a symbolic ref points, whether or not that exists."""
        try:
            target = self._objects.handle.lookup_reference(ref).raw_target
        except (KeyError, ValueError, pygit2.GitError):
            return None
        return trees.decode(target) if isinstance(target, bytes) else None

    def _config(self, key: str) -> str | None:
        config = self._objects.config
        with suppress(UnicodeDecodeError):  # no branch of ours has a name that is not Unicode
            return str(config[key]) if key in config else None
        return None


def _refuse_removing_target(asked: Iterable[RefMove], wanted: Iterable[RefMove]) -> None:
    for move, final in zip(asked, wanted, strict=True):
        if move.after is None and move.ref != final.ref:
            raise BranchIsAlias(
                f"{move.ref.removeprefix(HEADS)} only stands for {final.ref.removeprefix(HEADS)}.",
                hint=f"Remove the alias with `git symbolic-ref -d {move.ref}`, or name the branch itself.",
            )


def _checked_out(ref: str, place: checkouts.Worktree) -> BranchCheckedOut:
    return BranchCheckedOut(
        f"{ref.removeprefix(HEADS)} is checked out in {place.path} and cannot go: HEAD would point nowhere.",
        hint="Switch that checkout to another branch first.",
    )
