"""The conversation that goes along with a branch, in the browser: told by each preview, kept, shortened or left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browser import Desk, until

pytestmark = pytest.mark.req("G-06", "G-07", "G-16")
KEPT = "+ conversation of 2 turns, 3 files in .forge/"
SHORT = "+ summary of a conversation, 1 file in .forge/"


def talked(desk: Desk) -> tuple[str, Path]:
    repo = desk.repository()
    path = desk.place / f"garden-{desk.made}"
    for text in ("what can you do?", "create note.txt with hello"):
        desk.run("-C", str(path), "chat", "--branch", "ai/talk", "--agent", "builtin", "-m", text)
    return repo, path


def files(desk: Desk, path: Path, branch: str) -> int:
    return len(desk.git(path, "ls-tree", "-r", "--name-only", branch, "--", ".forge").splitlines())


def asked(page: Any, desk: Desk, repo: str, name: str) -> None:
    """What the menu of the branch has under this name."""
    page.goto(f"{desk.url}/r/{repo}/b/{quote('ai/talk', safe='')}?tab=chat")
    here = page.get_by_role("list", name=f"Branches of garden-{desk.made}", exact=True)
    here.get_by_role("link", name="ai/talk").hover()
    here.get_by_role("button", name="Actions for ai/talk").click()
    page.get_by_role("menuitem", name=name).click()


def test_a_merge_tells_what_goes_along_and_leaves_it_out(page: Any, desk: Desk) -> None:
    repo, path = talked(desk)
    asked(page, desk, repo, "Merge into main")
    dialog = page.get_by_role("dialog", name="Merge ai/talk into main")
    dialog.get_by_text(SHORT).wait_for()
    chosen = dialog.get_by_role("group", name="What comes along")
    assert chosen.get_by_role("button", name="Summary only", pressed=True).is_visible()
    chosen.get_by_role("button", name="Keep").click()
    dialog.get_by_text(KEPT).wait_for()
    chosen.get_by_role("button", name="Leave out").click()
    dialog.get_by_text("Nothing of it comes along.").wait_for()
    dialog.get_by_role("button", name="Merge ai/talk into main").click()
    dialog.wait_for(state="hidden")
    assert desk.git(path, "show", "main:note.txt") == "hello"
    assert files(desk, path, "main") == 0


def test_commits_are_copied_without_it(page: Any, desk: Desk) -> None:
    repo, path = talked(desk)
    asked(page, desk, repo, "Merge into main")
    page.get_by_role("dialog").get_by_role("button", name="Cherry-pick", exact=True).click()
    dialog = page.get_by_role("dialog", name="Cherry-pick ai/talk onto main")
    dialog.get_by_role("button", name="Leave out").click()
    dialog.get_by_role("button", name="Cherry-pick ai/talk onto main").click()
    dialog.wait_for(state="hidden")
    assert desk.git(path, "show", "main:note.txt") == "hello"
    assert files(desk, path, "main") == 0


def test_a_commit_tells_what_it_brought(page: Any, desk: Desk) -> None:
    repo, path = talked(desk)
    desk.run("-C", str(path), "merge", "ai/talk", "--into", "main", "--conversation", "keep", "--no-ff")
    page.goto(f"{desk.url}/r/{repo}/c/{desk.git(path, 'rev-parse', 'main')}")
    page.get_by_role("list", name="Changed files").get_by_text("note.txt").wait_for()
    page.get_by_text(KEPT).wait_for()


def test_a_copy_is_exported_without_it(page: Any, desk: Desk) -> None:
    repo, path = talked(desk)
    asked(page, desk, repo, "Export a copy")
    dialog = page.get_by_role("dialog", name="Export a copy of ai/talk")
    dialog.get_by_text(SHORT).wait_for()
    dialog.get_by_role("button", name="Leave out").click()
    dialog.get_by_text("1 commit rewritten, 1 left out that held only conversation.").wait_for()
    dialog.get_by_role("button", name="Export", exact=True).click()
    until(lambda: "ai/talk-export" in desk.git(path, "branch", "--format=%(refname:short)").splitlines())
    assert desk.git(path, "show", "ai/talk-export:note.txt") == "hello"
    assert files(desk, path, "ai/talk-export") == 0


def test_a_branch_is_pushed_without_it(page: Any, desk: Desk, tmp_path: Path) -> None:
    repo, path = talked(desk)
    desk.git(tmp_path, "init", "-q", "--bare", "over.git")
    desk.git(path, "remote", "add", "origin", str(tmp_path / "over.git"))
    asked(page, desk, repo, "Push")
    dialog = page.get_by_role("dialog", name="Push ai/talk")
    dialog.get_by_text(KEPT).wait_for()
    dialog.get_by_role("textbox", name="Branch on the remote").fill("shown")
    dialog.get_by_role("button", name="Leave out").click()
    dialog.get_by_text("1 commit rewritten for the remote.").wait_for()
    dialog.get_by_role("button", name="Push", exact=True).click()
    page.get_by_text("Created origin/shown").wait_for()
    over = tmp_path / "over.git"
    assert desk.git(over, "for-each-ref", "--format=%(refname)") == "refs/heads/shown"
    assert desk.git(over, "show", "shown:note.txt") == "hello"
    assert files(desk, over, "shown") == 0


def test_without_a_remote_the_dialog_says_how_to_add_one(page: Any, desk: Desk) -> None:
    repo, _ = talked(desk)
    asked(page, desk, repo, "Push")
    page.get_by_role("dialog", name="Push ai/talk").get_by_text("This repository has no remote.").wait_for()
