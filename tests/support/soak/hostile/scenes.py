"""Pieces of work that plain git interferes with: each says what must be true afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.agents.program_turn import ProgramTurn
from forge.agents.programs import configured, find_program
from forge.agents.scripted import Say, ScriptedModel, call
from forge.app.repositories.commands import Limits, run_on_branch
from forge.errors import ForgeError
from forge.git import Actor, ActorKind, BranchMissing, Repository
from forge.sessions.conversation import conversation
from forge.sessions.places import Sessions
from forge.sessions.redaction import Redactor
from forge.sessions.turns import TurnStatus
from tests.support.soak.hostile.interference import RAW_WORDS, Moments, watched
from tests.support.soak.hostile.project_scene import run_project
from tests.support.turns import Ledger, MemorySteps, request, turn

BRANCH = "ai/x"
_FOLDERS = {BRANCH: "own", "beside": "theirs"}
"""What each branch has that no other has."""
_ASKED = "add b.txt, please"
_SAYS = (
    Say("I will add it.", (call("write_file", path="b.txt", content="new\n"),)),
    Say("", (call("run_command", command="mkdir -p made && echo made > made/c.txt && cat own/0.txt"),)),
    Say("", (call("ask_user", question="Which one?", choices=["this", "that"]),)),
    Say("", (call("read_file", path="own/1.txt"),)),
    Say("Added b.txt.\n\nCommit: Add b.txt"),
)


def world(folder: Path) -> Path:
    """main, a branch that Forge made with commits of its own, and a second one beside it."""
    repo = Repository.init(folder / "repo")
    main = repo.workspace("main")
    main.write_file("a.txt", "hello\n")
    main.write_file("shared/one.txt", "1\n2\n3\n")
    main.commit("first")
    for branch, own_folder in _FOLDERS.items():
        repo.create_branch(branch, "main")
        for number in range(2):
            own = repo.workspace(branch)
            own.write_file(f"{own_folder}/{number}.txt", f"{branch} {number}\n")
            own.commit(f"{branch} {number}")
    return folder / "repo"


@dataclass
class Stepping(MemorySteps):
    """Steps that pass a moment before they run, and when they are done but not yet on record."""

    moment: Moments | None = None

    async def step(self, name: str, function: Callable[[], Any]) -> Any:
        assert self.moment is not None
        moment = self.moment
        if name not in self.ledger.done:
            moment(f"before {name}")

        async def run() -> Any:
            done = await function()
            moment(f"ran {name}")
            return done

        return await super().step(name, run)


def run_turn(place: Path, moment: Moments, *, beside: bool = False, work: Any = None) -> None:
    """A turn ends with a commit that holds its files and its words, wherever its branch has gone."""
    repo = Repository.open(place)
    steps = Stepping(Ledger(), answers=("this",), moment=moment)
    try:
        with watched(moment):
            end = asyncio.run(turn(repo, ScriptedModel(_SAYS), request(_ASKED), steps, beside=beside, work=work))
    except BranchMissing:
        # Before it began there was nothing yet that could go on without its branch.
        assert len(moment.names) == 1, moment.names
        return
    assert end.status is TurnStatus.DONE, end.reason
    if end.commit in moment.tips:
        return
    branch = end.set_aside or BRANCH
    fresh = Repository.open(place)
    kept = Sessions(fresh, beside=beside)
    files = fresh.commit_vfs(branch)
    assert [each.asked for each in conversation(kept.files(branch, kept.at(branch)))] == [_ASKED]
    assert files.read_file("b.txt") == "new\n"
    if moment.at:  # a turn begins with what the branch holds then, so the first moment takes nothing from it
        assert files.read_file("own/0.txt") == f"{BRANCH} 0\n"


def run_turn_beside(place: Path, moment: Moments) -> None:
    run_turn(place, moment, beside=True)


def run_program_turn(place: Path, moment: Moments) -> None:
    """An agent program works in a real directory while the branch goes."""
    programs = place.parent / "bin"
    programs.mkdir(exist_ok=True)
    script = programs / "fake"
    script.write_text("#!/bin/sh\ncat own/0.txt > copied.txt\necho new > b.txt\necho done\n")
    script.chmod(0o755)
    found = find_program(configured("fake", {"command": ["fake"]}, {}), str(programs))
    work = ProgramTurn(found, "fake", "", {}, place.parent, Redactor(()), lambda _step, _answer: None)
    run_turn(place, moment, work=work)


def run_command(place: Path, moment: Moments) -> None:
    """`forge exec --save`: one commit, or an error that says that the branch moved."""
    repo = Repository.open(place)
    workspace = repo.workspace(BRANCH, actor=Actor(ActorKind.AGENT, "exec"))
    moment("opened")
    with watched(moment), _clear_error():
        done = run_on_branch(
            repo, workspace, ["sh", "-c", "cat own/0.txt > c.txt"], limits=Limits(seconds=20), save=True
        )
        assert done.result.ok
        assert done.commit is not None


def run_merge(place: Path, moment: Moments) -> None:
    repo = Repository.open(place)
    preview = repo.preview_merge("beside", BRANCH)
    moment("previewed")
    with watched(moment), _clear_error():
        repo.perform(preview, actor=Actor(ActorKind.AGENT, "merge"))


def run_merge_into_beside(place: Path, moment: Moments) -> None:
    """Here the source is what goes away."""
    repo = Repository.open(place)
    preview = repo.preview_merge(BRANCH, "beside")
    moment("previewed")
    with watched(moment), _clear_error():
        repo.perform(preview, actor=Actor(ActorKind.AGENT, "merge"))


def run_fast_forward(place: Path, moment: Moments) -> None:
    repo = Repository.open(place)
    repo.create_branch("behind", "main")
    preview = repo.preview_merge(BRANCH, "behind")
    moment("previewed")
    with watched(moment), _clear_error():
        repo.perform(preview)


def run_rebase(place: Path, moment: Moments) -> None:
    repo = Repository.open(place)
    preview = repo.preview_rebase("beside", BRANCH)
    moment("previewed")
    with watched(moment), _clear_error():
        repo.perform(preview)


def run_cherry_pick(place: Path, moment: Moments) -> None:
    repo = Repository.open(place)
    preview = repo.preview_cherry_pick([f"{BRANCH}~1", BRANCH], "beside")
    moment("previewed")
    with watched(moment), _clear_error():
        repo.perform(preview)


def run_rewind_and_undo(place: Path, moment: Moments) -> None:
    repo = Repository.open(place)
    with watched(moment), _clear_error():
        repo.rewind_branch(BRANCH, f"{BRANCH}~1")
        moment("rewound")
        repo.undo()


def run_new_branches(place: Path, moment: Moments) -> None:
    repo = Repository.open(place)
    start = repo.resolve(f"{BRANCH}~1")
    moment("resolved")
    with watched(moment), _clear_error():
        repo.create_branch("from-id", start)
        repo.fork_branch(BRANCH, "forked")
        repo.rename_branch("forked", "renamed")
        repo.delete_branch("renamed")
        repo.undo()


class _clear_error:  # noqa: N801 - reads as a block
    """A `ForgeError` is an answer, if its words are Forge's own."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, ForgeError):
            said = f"{error.message} {error.hint}"
            assert not any(raw in said for raw in RAW_WORDS), said
        return isinstance(error, ForgeError)


Scene = Callable[[Path, Moments], None]
SCENES: dict[str, Scene] = {
    "turn": run_turn,
    "turn with its conversation beside": run_turn_beside,
    "turn of an agent program": run_program_turn,
    "command": run_command,
    "merge": run_merge,
    "merge of a branch that goes": run_merge_into_beside,
    "fast-forward": run_fast_forward,
    "rebase": run_rebase,
    "cherry-pick": run_cherry_pick,
    "rewind and undo": run_rewind_and_undo,
    "new branches": run_new_branches,
    "project": run_project,
}
