"""Whatever is asked for, a use case answers or refuses: no word that a program may send breaks it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import product

import pytest

from forge.app import questions
from forge.app.access.identity import LOCAL
from forge.app.repositories import branches, catalog, edits, files, history, merges, operations
from forge.app.repositories.merges import MergeKind, MergeOrder
from forge.app.sessions import tools
from forge.errors import ForgeError
from forge.git import Query
from tests.app.facade import Place, place, shop

__all__ = ["place", "shop"]

ODD = [
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udc80",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    ".git/config",
    "-x",
    "--output=x",
    "@{u}",
    "main@{1}",
    ":/x",
    "HEAD^{tree}",
    "main:a.txt",
    "a" * 5000,
    "é" * 300,
    "*",
    "[",
    "\n",
    "a\nb",
    "refs/heads/main",
    "0" * 40,
    "f" * 40 + "+1",
    "\u202e",
]

Use = Callable[[Place, str], object]
USES: dict[str, Use] = {
    "repository": lambda p, w: catalog.repository(p.shop, LOCAL, w),
    "forget": lambda p, w: catalog.forget_repository(p.shop, LOCAL, w),
    "add": lambda p, w: catalog.add_repository(p.shop, LOCAL, w),
    "branches after": lambda p, w: branches.list_branches(p.shop, LOCAL, p.id, after=w, prefix=w),
    "branch": lambda p, w: branches.branch_entry(p.shop, LOCAL, p.id, w),
    "create": lambda p, w: branches.create_branch(p.shop, LOCAL, p.id, w, "main"),
    "create at": lambda p, w: branches.create_branch(p.shop, LOCAL, p.id, "new", w),
    "fork": lambda p, w: branches.fork_branch(p.shop, LOCAL, p.id, w, "fork"),
    "rename": lambda p, w: branches.rename_branch(p.shop, LOCAL, p.id, w, "renamed"),
    "rewind": lambda p, w: branches.rewind_branch(p.shop, LOCAL, p.id, "main", w),
    "delete": lambda p, w: branches.delete_branch(p.shop, LOCAL, p.id, w),
    "files after": lambda p, w: files.list_files(p.shop, LOCAL, p.id, after=w),
    "files below": lambda p, w: files.list_files(p.shop, LOCAL, p.id, prefix=w),
    "files of": lambda p, w: files.list_files(p.shop, LOCAL, p.id, branch=w),
    "files at": lambda p, w: files.list_files(p.shop, LOCAL, p.id, at=w),
    "folder": lambda p, w: files.list_folder(p.shop, LOCAL, p.id, w),
    "folder after": lambda p, w: files.list_folder(p.shop, LOCAL, p.id, after=w),
    "read": lambda p, w: files.read_file(p.shop, LOCAL, p.id, w),
    "save": lambda p, w: edits.save_file(p.shop, LOCAL, p.id, "main", w, b"x"),
    "save to": lambda p, w: edits.save_file(p.shop, LOCAL, p.id, w, "x", b"x"),
    "save expecting": lambda p, w: edits.save_file(p.shop, LOCAL, p.id, "main", "x", b"x", expected=w),
    "save saying": lambda p, w: edits.save_file(
        p.shop, LOCAL, p.id, "main", "x", w.encode("utf-8", "replace"), message=w
    ),
    "move": lambda p, w: edits.rename_file(p.shop, LOCAL, p.id, "main", "a.txt", w),
    "remove": lambda p, w: edits.delete_file(p.shop, LOCAL, p.id, "main", w),
    "search": lambda p, w: files.search(p.shop, LOCAL, p.id, Query(w, max_seconds=5)),
    "search by": lambda p, w: files.search(p.shop, LOCAL, p.id, Query(w, regex=True, max_seconds=5)),
    "search in": lambda p, w: files.search(p.shop, LOCAL, p.id, Query("a", include=(w,), max_seconds=5)),
    "log": lambda p, w: history.log(p.shop, LOCAL, p.id, w),
    "log after": lambda p, w: history.log(p.shop, LOCAL, p.id, after=w),
    "log of": lambda p, w: history.log(p.shop, LOCAL, p.id, paths=[w]),
    "log by": lambda p, w: history.log(p.shop, LOCAL, p.id, grep=w, author=w),
    "commit": lambda p, w: history.commit(p.shop, LOCAL, p.id, w),
    "diff": lambda p, w: history.diff(p.shop, LOCAL, p.id, "main", w),
    "diff of": lambda p, w: history.diff(p.shop, LOCAL, p.id, "main", paths=[w]),
    "patch": lambda p, w: history.patch(p.shop, LOCAL, p.id, w, "main"),
    "blame": lambda p, w: history.blame(p.shop, LOCAL, p.id, w),
    "graph": lambda p, w: history.graph(p.shop, LOCAL, p.id, after=w),
    "merge": lambda p, w: merges.preview_merge(p.shop, LOCAL, p.id, MergeOrder(MergeKind.MERGE, "main", (w,))),
    "merge into": lambda p, w: merges.preview_merge(p.shop, LOCAL, p.id, MergeOrder(MergeKind.MERGE, w, ("main",))),
    "pick": lambda p, w: merges.preview_merge(p.shop, LOCAL, p.id, MergeOrder(MergeKind.CHERRY_PICK, "main", (w,))),
    "rebase": lambda p, w: merges.preview_merge(p.shop, LOCAL, p.id, MergeOrder(MergeKind.REBASE, w, ("main",))),
    "indicators": lambda p, w: merges.indicators(p.shop, LOCAL, p.id, w),
    "indicators of": lambda p, w: merges.indicators(p.shop, LOCAL, p.id, "main", branches=[w], after=w),
    "operations": lambda p, w: operations.list_operations(p.shop, LOCAL, p.id, after=w),
    "undo": lambda p, w: operations.undo_operation(p.shop, LOCAL, p.id, w),
    "tools": lambda p, w: tools.list_tools(p.shop, LOCAL, p.id, w),
    "approve": lambda p, w: tools.approve_tool(p.shop, LOCAL, p.id, "main", w),
    "revoke": lambda p, w: tools.revoke_tool(p.shop, LOCAL, p.id, "main", w),
    "question": lambda p, w: questions.question(p.shop, LOCAL, w),
}


@pytest.mark.req("X-02")
@pytest.mark.parametrize("half", [0, 1])
def test_an_odd_word_is_answered_or_refused(place: Place, half: int) -> None:
    broken = {}
    for name, word in product(list(USES)[half::2], ODD):
        try:
            with suppress(ForgeError):
                USES[name](place, word)
        except Exception as e:  # noqa: BLE001 - which ones there are is what this finds out
            broken[name, word] = repr(e)
    assert broken == {}
