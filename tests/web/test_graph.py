"""The graph of a repository: what it shows, how one moves in it, and that it stays smooth."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Desk, until
from tests.web.traces import TRACED, longest_task

pytestmark = pytest.mark.req("G-16")

LONGEST_TASK_MS = 50
MANY = 5_000


def grown(desk: Desk) -> tuple[str, Path]:
    """Main with two commits and a tag, and a branch with one more."""
    repo = desk.repository()
    path = desk.place / f"garden-{desk.made}"
    (path / "README.md").write_text("# Garden\n\nWith roses.\n")
    desk.git(path, "commit", "--quiet", "--all", "--message", "Plant roses")
    desk.git(path, "tag", "v1")
    desk.git(path, "switch", "--quiet", "--create", "south")
    (path / "beds" / "south.md").write_text("lilies\n")
    desk.git(path, "add", "--all")
    desk.git(path, "commit", "--quiet", "--message", "Plant lilies")
    desk.git(path, "switch", "--quiet", "main")
    return repo, path


def commits(page: Any) -> Any:
    return page.get_by_role("listbox", name="Commits, newest first")


def commit(page: Any, subject: str) -> Any:
    return commits(page).get_by_role("option", name=re.compile(f"^{subject}"))


def test_commits_are_listed_newest_first_with_branches_and_tags(page: Any, desk: Desk) -> None:
    repo, _ = grown(desk)
    page.goto(f"{desk.url}/r/{repo}")
    options = commits(page).get_by_role("option")
    options.nth(2).wait_for()
    names = [options.nth(n).get_attribute("aria-label") for n in range(options.count())]
    assert [name.split(",")[0] for name in names] == ["Plant lilies", "Plant roses", "First"]
    assert names[0].endswith("south")
    assert "main" in names[1]
    assert "v1" in names[1]


def test_a_commit_shows_its_files_lines_and_parents(page: Any, desk: Desk) -> None:
    repo, _ = grown(desk)
    page.goto(f"{desk.url}/r/{repo}")
    commit(page, "Plant roses").click()
    details = page.get_by_role("article")
    details.get_by_role("heading", name="Plant roses").wait_for()
    details.get_by_role("button", name=re.compile("README.md")).click()
    details.get_by_text("With roses.").wait_for()
    details.get_by_role("button", name=re.compile("^[0-9a-f]{7}$")).click()
    details.get_by_role("heading", name="First").wait_for()
    details.get_by_text("The first commit").wait_for()


def test_a_commit_has_an_address_of_its_own(page: Any, desk: Desk) -> None:
    repo, path = grown(desk)
    page.goto(f"{desk.url}/r/{repo}/c/{desk.git(path, 'rev-parse', 'south')}")
    page.get_by_role("heading", name="Plant lilies").wait_for()
    page.get_by_role("button", name="Open files here").click()
    page.wait_for_url(re.compile(r"/b/south\?at="))


def test_commits_of_agents_are_marked_and_have_their_conversation(page: Any, desk: Desk) -> None:
    repo, _ = grown(desk)
    with desk.client() as client:
        at = f"/api/repositories/{repo}"
        client.post(f"{at}/branches", json={"name": "ai/rose", "start": "main"}).raise_for_status()
        said = {"text": "task rose1: write the notes and run the command."}
        client.post(f"{at}/session/messages", params={"branch": "ai/rose"}, json=said).raise_for_status()
        until(lambda: client.get(f"{at}/session", params={"branch": "ai/rose"}).json()["turns"] == 1, seconds=60)
    page.goto(f"{desk.url}/r/{repo}")
    row = commit(page, "Write the notes of rose1")
    assert "by an agent" in row.get_attribute("aria-label")
    row.hover(position={"x": 400, "y": 10})
    page.locator("body > .floating").get_by_text("task rose1").wait_for()
    row.click()
    details = page.get_by_role("article")
    details.get_by_role("heading", name="Conversation").wait_for()
    details.get_by_text("task rose1: write the notes").wait_for()
    details.get_by_text("Done with rose1.").first.wait_for()


def test_the_list_is_narrowed_by_words_and_by_branch(page: Any, desk: Desk) -> None:
    repo, _ = grown(desk)
    page.goto(f"{desk.url}/r/{repo}")
    commit(page, "Plant lilies").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("roses")
    commit(page, "Plant lilies").wait_for(state="detached")
    assert commits(page).get_by_role("option").count() == 1
    page.get_by_role("button", name="Clear the filter").click()
    commit(page, "Plant lilies").wait_for()
    page.get_by_role("button", name="All branches").click()
    page.get_by_role("menuitemcheckbox", name="main").click()
    commit(page, "Plant lilies").wait_for(state="detached")
    assert commits(page).get_by_role("option").count() == 2


def test_the_keyboard_moves_through_the_commits_and_zooms(page: Any, desk: Desk) -> None:
    repo, _ = grown(desk)
    page.goto(f"{desk.url}/r/{repo}")
    commits(page).focus()
    page.keyboard.press("End")
    page.get_by_role("article").get_by_role("heading", name="First").wait_for()
    page.keyboard.press("ArrowUp")
    page.get_by_role("article").get_by_role("heading", name="Plant roses").wait_for()
    before = commit(page, "First").bounding_box()["height"]
    page.keyboard.press("-")
    page.wait_for_function(f"() => document.querySelector('[role=option]').getBoundingClientRect().height < {before}")
    page.keyboard.press("+")
    page.wait_for_function(f"() => document.querySelector('[role=option]').getBoundingClientRect().height === {before}")


def test_labels_are_seen_at_every_zoom(page: Any, desk: Desk) -> None:
    repo, _ = grown(desk)
    page.goto(f"{desk.url}/r/{repo}")
    commits(page).focus()
    for _ in range(2):
        page.keyboard.press("-")
    page.wait_for_function("() => document.querySelector('[role=option]').getBoundingClientRect().height < 10")
    for name in ("south", "main"):
        label = commits(page).locator(f"[data-take='{name}']")
        label.wait_for()
        box, around = label.bounding_box(), commits(page).bounding_box()
        assert box["height"] >= 16
        assert box["y"] >= around["y"]
    commits(page).get_by_title("tag v1").wait_for()


def chain_of(desk: Desk) -> tuple[str, Path]:
    """South with three commits of its own."""
    repo, path = grown(desk)
    desk.git(path, "switch", "--quiet", "south")
    for name in ("tulips", "asters"):
        (path / "beds" / f"{name}.md").write_text(f"{name}\n")
        desk.git(path, "add", "--all")
        desk.git(path, "commit", "--quiet", "--message", f"Plant {name}")
    desk.git(path, "switch", "--quiet", "--create", "north", "main~1")
    (path / "beds" / "oaks.md").write_text("oaks\n")
    desk.git(path, "add", "--all")
    desk.git(path, "commit", "--quiet", "--message", "Plant oaks")
    desk.git(path, "switch", "--quiet", "main")
    return repo, path


def test_a_part_of_a_chain_is_rebased_by_keyboard(page: Any, desk: Desk) -> None:
    repo, path = chain_of(desk)
    page.goto(f"{desk.url}/r/{repo}")
    commit(page, "Plant tulips").click()
    commits(page).focus()
    page.keyboard.press("r")
    picker = page.get_by_role("dialog", name=re.compile("Rebase south from [0-9a-f]+ onto"))
    picker.get_by_role("option", name="north").click()
    dialog = page.get_by_role("dialog", name=re.compile("Rebase south from [0-9a-f]+ onto north"))
    dialog.get_by_role("button", name=re.compile("^Rebase south from")).click()
    subjects = ["Plant asters", "Plant tulips", "Plant oaks", "First"]
    until(lambda: desk.git(path, "log", "--format=%s", "south").splitlines() == subjects)


def test_a_commit_that_no_branch_leads_to_says_why_it_cannot_be_rebased(page: Any, desk: Desk) -> None:
    repo, path = grown(desk)
    desk.git(path, "tag", "lone", desk.git(path, "commit-tree", "-m", "Lone", "HEAD^{tree}"))
    page.goto(f"{desk.url}/r/{repo}")
    commit(page, "Lone").click()
    commits(page).focus()
    page.keyboard.press("r")
    page.get_by_text("No branch shown here leads to this commit").first.wait_for()


def test_a_branch_begins_at_any_commit(page: Any, desk: Desk) -> None:
    repo, path = grown(desk)
    page.goto(f"{desk.url}/r/{repo}")
    commit(page, "First").click()
    commits(page).focus()
    page.keyboard.press("b")
    page.get_by_role("textbox", name="Name of the branch").fill("from/first")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/b/from%2Ffirst"))
    assert desk.git(path, "log", "-1", "--format=%s", "from/first") == "First"


def test_a_deleted_branch_is_among_the_abandoned_tips_and_comes_back(page: Any, desk: Desk) -> None:
    repo, path = grown(desk)
    page.goto(f"{desk.url}/r/{repo}")
    branches = page.get_by_role("navigation", name="Branches of the graph")
    branches.get_by_role("button", name=re.compile("south")).click(button="right")
    page.get_by_role("menuitem", name="Delete south").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete south").click()
    until(lambda: desk.git(path, "branch", "--list", "south") == "")
    commit(page, "Plant lilies").wait_for(state="detached")
    page.get_by_role("button", name="Show abandoned commits").click()
    assert "abandoned" in commit(page, "Plant lilies").get_attribute("aria-label")
    branches.get_by_role("button", name=re.compile("^Restore")).click()
    page.get_by_role("textbox", name="Name of the branch").fill("south-again")
    page.get_by_role("button", name="Make the branch").click()
    page.wait_for_url(re.compile("/b/south-again"))
    assert desk.git(path, "log", "-1", "--format=%s", "south-again") == "Plant lilies"


def many_commits(path: Path, count: int) -> None:
    """Main with a side branch that is merged every ten commits."""
    lines: list[str] = []
    for n in range(1, count + 1):
        branch = "side" if n % 10 in (3, 4, 5) else "main"
        text = f"Commit {n}"
        lines += [f"commit refs/heads/{branch}", f"mark :{n}"]
        lines += [f"committer Ada Example <ada@example.org> {1_700_000_000 + n * 60} +0000", f"data {len(text)}", text]
        if n == 1:
            lines.append("from refs/heads/main^0")
        elif n % 10 == 3:
            lines.append(f"from :{n - 1}")
        elif n % 10 == 6:
            lines.append(f"merge :{n - 1}")
        lines += [f"M 100644 inline beds/{n % 50}.md", f"data {len(text)}", text]
    given = "\n".join(lines) + "\n"
    subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=path, input=given, text=True, check=True)


def test_thousands_of_commits_scroll_without_long_tasks(page: Any, browser: Any, desk: Desk) -> None:
    repo = desk.repository()
    many_commits(desk.place / f"garden-{desk.made}", MANY)
    page.goto(f"{desk.url}/r/{repo}")
    commit(page, f"Commit {MANY},").wait_for()
    box = commits(page).bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    browser.start_tracing(page=page, categories=TRACED)
    for _ in range(60):
        page.mouse.wheel(0, 1200)
        page.wait_for_timeout(16)
    longest = longest_task(browser.stop_tracing())
    print(f"longest task: {longest:.1f} ms")
    assert longest <= LONGEST_TASK_MS
    commits(page).focus()
    for _ in range(60):
        page.keyboard.press("End")
        if commits(page).get_by_role("option", name=re.compile("^First")).count():
            break
        page.wait_for_timeout(100)
    commit(page, "First").wait_for()
    assert int(commit(page, "First").get_attribute("aria-setsize")) == MANY + 1
