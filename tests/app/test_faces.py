"""Every use case that moves a ref, through every face: the same events, the same audit rows, the same refusals.

A new face is one entry of FACES; a new use case is one entry of USE_CASES.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.repositories import branch_tests, branches, edits, export, merges, operation_feed, operations
from forge.app.repositories.export import ExportOrder
from forge.app.repositories.merges import MergeKind, MergeOrder
from forge.app.sessions import session_access, tools
from tests.app import faces
from tests.app.facade import made_shop
from tests.app.faces import Face, Target, UseCase
from tests.support.api_server import House, opened

pytestmark = pytest.mark.req("X-02", "X-04")
YOU = "you"


def order(kind: MergeKind, target: str, source: str) -> Callable[[Target], object]:
    wanted = MergeOrder(kind, target, (source,))
    return lambda t: merges.perform_merge(t.shop, LOCAL, t.id, wanted)


def moved(*branches: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((branch, "moved", YOU) for branch in branches)


def deed(action: str, detail: str) -> tuple[tuple[str, str, str], ...]:
    return (("local", action, detail),)


USE_CASES = (
    UseCase(
        "save a file",
        lambda t: edits.save_file(t.shop, LOCAL, t.id, "main", "a.txt", b"new\n"),
        ("file", "save", "a.txt", "--branch", "main"),
        ("PUT", "/files/a.txt?branch=main", b"new\n"),
        stdin=b"new\n",
        told=moved("main"),
        deeds=deed("file.save", "main: a.txt"),
    ),
    UseCase(
        "save what is there already",
        lambda t: edits.save_file(t.shop, LOCAL, t.id, "main", "a.txt", b"one\n"),
        ("file", "save", "a.txt", "--branch", "main"),
        ("PUT", "/files/a.txt?branch=main", b"one\n"),
        stdin=b"one\n",
    ),
    UseCase(
        "delete a file",
        lambda t: edits.delete_file(t.shop, LOCAL, t.id, "main", "a.txt"),
        ("file", "delete", "a.txt", "--branch", "main"),
        ("DELETE", "/files/a.txt?branch=main", None),
        told=moved("main"),
        deeds=deed("file.delete", "main: a.txt"),
    ),
    UseCase(
        "rename a file",
        lambda t: edits.rename_file(t.shop, LOCAL, t.id, "main", "a.txt", "z.txt"),
        ("file", "rename", "a.txt", "z.txt", "--branch", "main"),
        ("POST", "/renames", {"path": "a.txt", "to": "z.txt", "branch": "main"}),
        told=moved("main"),
        deeds=deed("file.rename", "main: a.txt to z.txt"),
    ),
    UseCase(
        "delete a folder",
        lambda t: edits.delete_folder(t.shop, LOCAL, t.id, "main", "b"),
        None,
        ("DELETE", "/folders?path=b&branch=main", None),
        told=moved("main"),
        deeds=deed("folder.delete", "main: b"),
    ),
    UseCase(
        "rename a folder",
        lambda t: edits.rename_folder(t.shop, LOCAL, t.id, "main", "b", "e"),
        None,
        ("POST", "/folder-renames", {"path": "b", "to": "e", "branch": "main"}),
        told=moved("main"),
        deeds=deed("folder.rename", "main: b to e"),
    ),
    UseCase(
        "make a branch",
        lambda t: branches.create_branch(t.shop, LOCAL, t.id, "new", "main"),
        ("branch", "new", "new", "--from", "main"),
        ("POST", "/branches", {"name": "new", "start": "main"}),
        told=moved("new"),
        deeds=deed("branch.create", "new branch new at #"),
    ),
    UseCase(
        "fork a branch",
        lambda t: branches.fork_branch(t.shop, LOCAL, t.id, "ai/talk", "new"),
        ("branch", "fork", "ai/talk", "new"),
        ("POST", "/branches", {"name": "new", "start": "ai/talk", "conversation": True}),
        told=moved("new"),
        deeds=deed("branch.create", "new branch new at #"),
    ),
    UseCase(
        "rename a branch",
        lambda t: branches.rename_branch(t.shop, LOCAL, t.id, "old", "new"),
        ("branch", "rename", "old", "new"),
        ("PATCH", "/branches/old", {"name": "new"}),
        told=(("new", "moved", YOU), ("old", "gone", YOU)),
        deeds=deed("branch.rename", "rename old to new"),
    ),
    UseCase(
        "rewind a branch",
        lambda t: branches.rewind_branch(t.shop, LOCAL, t.id, "side", "old"),
        ("branch", "rewind", "side", "old"),
        ("PATCH", "/branches/side", {"rewind_to": "old"}),
        told=moved("side"),
        deeds=deed("branch.rewind", "rewind side to #"),
    ),
    UseCase(
        "delete a branch",
        lambda t: branches.delete_branch(t.shop, LOCAL, t.id, "old"),
        ("branch", "delete", "old"),
        ("DELETE", "/branches/old", None),
        told=(("old", "gone", YOU),),
        deeds=deed("branch.delete", "delete old"),
    ),
    UseCase(
        "merge",
        order(MergeKind.MERGE, "main", "side"),
        ("merge", "side", "--into", "main"),
        ("POST", "/merges", {"target": "main", "sources": ["side"]}),
        told=moved("main"),
        deeds=deed("merge.merge", "merge side into main"),
    ),
    UseCase(
        "rebase",
        order(MergeKind.REBASE, "side", "main"),
        ("rebase", "side", "--onto", "main"),
        ("POST", "/merges", {"kind": "rebase", "target": "side", "sources": ["main"]}),
        told=moved("side"),
        deeds=deed("merge.rebase", "rebase side onto main"),
    ),
    UseCase(
        "cherry-pick",
        order(MergeKind.CHERRY_PICK, "main", "side"),
        ("cherry-pick", "side", "--onto", "main"),
        ("POST", "/merges", {"kind": "cherry-pick", "target": "main", "sources": ["side"]}),
        told=moved("main"),
        deeds=deed("merge.cherry-pick", "cherry-pick # onto main"),
    ),
    UseCase(
        "undo",
        lambda t: operations.undo_operation(t.shop, LOCAL, t.id),
        ("undo",),
        ("POST", "/operations/undo", None),
        told=moved("ai/talk"),
        deeds=deed("operation.undo", "undo: chat: Please."),
    ),
    UseCase(
        "save what a command changed",
        None,
        ("exec", "--save", "--branch", "side", "--", "sh", "-c", "echo x > made.txt"),
        None,
        told=moved("side"),
        deeds=deed("command.save", "side: sh -c 'echo x > made.txt'"),
    ),
    UseCase(
        "export without sessions",
        lambda t: export.export_branch(t.shop, LOCAL, t.id, ExportOrder("ai/talk", "shown", "drop")),
        ("export", "--without-sessions", "--branch", "ai/talk", "--to", "shown"),
        ("POST", "/exports", {"source": "ai/talk", "name": "shown", "conversation": "drop"}),
        told=moved("shown"),
        deeds=deed("branch.export", "export ai/talk without sessions"),
    ),
    UseCase(
        "approve a tool",
        lambda t: tools.approve_tool(t.shop, LOCAL, t.id, "main", "greet"),
        ("tools", "approve", "greet", "--branch", "main"),
        ("POST", "/tools/greet/approve?branch=main", None),
        told=moved("main"),
        deeds=deed("tool.approve", "main: greet #"),
    ),
    UseCase(
        "fork a conversation",
        lambda t: session_access.fork(t.shop, LOCAL, t.id, "ai/talk", "1", name="ai/other"),
        ("session", "fork", "1", "ai/other", "--branch", "ai/talk"),
        ("POST", "/session/fork?branch=ai/talk", {"turn": "1", "name": "ai/other"}),
        told=moved("ai/other"),
        deeds=deed("session.fork", "ai/talk at 1 as ai/other"),
    ),
    UseCase(
        "rewind a conversation",
        lambda t: session_access.rewind(t.shop, LOCAL, t.id, "ai/talk", "1"),
        ("session", "rewind", "1", "--branch", "ai/talk"),
        ("POST", "/session/rewind?branch=ai/talk", {"turn": "1"}),
        told=moved("ai/talk"),
        deeds=deed("session.rewind", "ai/talk to 1"),
    ),
    UseCase(
        "mark a file for the context",
        lambda t: session_access.change_context(t.shop, LOCAL, t.id, "side", add=[("a.txt", ())], remove=()),
        ("context", "add", "a.txt", "--branch", "side"),
        ("PATCH", "/session/context?branch=side", {"add": [{"path": "a.txt"}]}),
        told=moved("side"),
        deeds=deed("context.change", "side"),
        moves_a_ref=False,
    ),
    # -- refused
    UseCase(
        "delete a file that is not there",
        lambda t: edits.delete_file(t.shop, LOCAL, t.id, "main", "none.txt"),
        ("file", "delete", "none.txt", "--branch", "main"),
        ("DELETE", "/files/none.txt?branch=main", None),
        refused="file_missing",
    ),
    UseCase(
        "save on a branch that is not there",
        lambda t: edits.save_file(t.shop, LOCAL, t.id, "none", "a.txt", b"x\n"),
        ("file", "save", "a.txt", "--branch", "none"),
        ("PUT", "/files/a.txt?branch=none", b"x\n"),
        stdin=b"x\n",
        refused="branch_missing",
    ),
    UseCase(
        "make a branch that exists",
        lambda t: branches.create_branch(t.shop, LOCAL, t.id, "old", "main"),
        ("branch", "new", "old", "--from", "main"),
        ("POST", "/branches", {"name": "old", "start": "main"}),
        refused="branch_exists",
    ),
    UseCase(
        "delete a branch that is not there",
        lambda t: branches.delete_branch(t.shop, LOCAL, t.id, "none"),
        ("branch", "delete", "none"),
        ("DELETE", "/branches/none", None),
        refused="branch_missing",
    ),
    UseCase(
        "write one of Forge's own records",
        lambda t: edits.save_file(t.shop, LOCAL, t.id, "main", ".forge/session.json", b"{}"),
        ("file", "save", ".forge/session.json", "--branch", "main"),
        ("PUT", "/files/.forge/session.json?branch=main", b"{}"),
        stdin=b"{}",
        refused="record_protected",
    ),
    UseCase(
        "set the test command",
        lambda t: branch_tests.set_test_command(t.shop, LOCAL, t.id, "make check"),
        ("tests", "--set", "make check", "--branch", "main"),
        ("PUT", "/tests", {"command": "make check"}),
        deeds=deed("repository.set_test_command", "make check"),
    ),
    UseCase(
        "approve a tool that is not there",
        lambda t: tools.approve_tool(t.shop, LOCAL, t.id, "main", "none"),
        ("tools", "approve", "none", "--branch", "main"),
        ("POST", "/tools/none/approve?branch=main", None),
        refused="user_tool_missing",
    ),
)


@dataclass(frozen=True, slots=True)
class Faces:
    house: House
    alone: Workshop
    template: Path
    folder: Path
    numbers: Iterator[int]

    def target(self, shop: Workshop) -> Target:
        return faces.copy_of(self.template, self.folder / f"repository-{next(self.numbers)}", shop)


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    folder = tmp_path_factory.mktemp("faces")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operation_feed, "_POLL", 0.02)
        (folder / "house").mkdir()
        with opened(folder / "house") as house, made_shop(folder / "alone") as alone:
            yield Faces(house, alone, faces.template(folder / "template"), folder, count())


def _function(around: Faces, case: UseCase) -> tuple[Target, str | None]:
    target = around.target(around.house.shop)
    return target, faces.by_function(case, target)


def _command_alone(around: Faces, case: UseCase) -> tuple[Target, str | None]:
    target = around.target(around.alone)
    code = faces.by_command(case, target)
    alone = case.told and case.moves_a_ref
    assert not alone or faces.deeds(target) == [], "a command that moves a ref alone opens no database"
    faces.caught_up(target)
    return target, code


def _command_beside(around: Faces, case: UseCase) -> tuple[Target, str | None]:
    target = around.target(around.house.shop)
    code = faces.by_command(case, target)
    faces.waited_for(case, target)
    return target, code


def _request(around: Faces, case: UseCase) -> tuple[Target, str | None]:
    target = around.target(around.house.shop)
    ask: Face = faces.by_request(around.house)
    return target, ask(case, target)


FACES = {
    "function": (_function, "function"),
    "command alone": (_command_alone, "cli"),
    "command beside a server": (_command_beside, "cli"),
    "API": (_request, "api"),
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("case", USE_CASES, ids=lambda case: case.name)
def test_each_face_tells_audits_and_refuses_alike(around: Faces, face: str, case: UseCase) -> None:
    done, offered_as = FACES[face]
    if getattr(case, offered_as) is None:
        pytest.skip(f"{face} does not offer it")
    target, refused = done(around, case)
    assert refused == case.refused
    assert faces.told(case, target) == list(case.told)
    assert faces.deeds(target) == list(case.deeds)


def test_every_use_case_is_offered_by_a_command_or_the_api() -> None:
    assert all(case.cli or case.api for case in USE_CASES)
    assert len({case.name for case in USE_CASES}) == len(USE_CASES)
