"""The shell around everything: repositories, branch tabs and dialogs, the palette, the status bar, links to places."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.browser import Desk, until

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)
pytestmark = pytest.mark.req("G-15")


def branches(desk: Desk, repo: str) -> set[str]:
    with desk.client() as client:
        return {each["name"] for each in client.get(f"/api/repositories/{repo}/branches").json()["items"]}


def at_branch(page: Any, name: str) -> None:
    expect(page).to_have_url(re.compile(f"/b/{re.escape(name.replace('/', '%2F'))}(\\?|$)"))


def command(page: Any, words: str) -> None:
    """By the palette, as a person types it."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Commands")).to_be_focused()
    page.keyboard.type(words)
    expect(page.get_by_role("option").first).to_contain_text(words)
    page.keyboard.press("Enter")


def test_a_branch_is_made_forked_renamed_and_deleted_by_keyboard_and_the_deletion_is_undone(
    page: Any, desk: Desk
) -> None:
    repo = desk.repository()
    page.goto(desk.address(f"/r/{repo}/b/main"))
    page.get_by_role("tree", name="Files").wait_for()
    page.evaluate("() => document.activeElement.blur()")

    page.keyboard.press("n")
    dialog = page.get_by_role("dialog", name="New branch")
    name = dialog.get_by_role("textbox", name="Name")
    expect(name).to_be_focused()
    name.fill("two words")
    expect(dialog).to_contain_text("A name has no spaces")
    expect(dialog.get_by_role("button", name="Create branch")).to_be_disabled()
    name.fill("ai/roses")
    name.press("Enter")
    at_branch(page, "ai/roses")
    tabs = page.get_by_role("navigation", name="Open branches")
    expect(tabs.get_by_role("link", name="ai/roses")).to_have_attribute("aria-current", "page")
    expect(tabs.get_by_role("img", name="AI branch").or_(tabs.get_by_label("AI branch")).first).to_be_visible()

    command(page, "Fork this branch")
    dialog = page.get_by_role("dialog", name="Fork with its conversation")
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("ai/roses-fork")
    dialog.get_by_role("button", name="Fork").click()
    at_branch(page, "ai/roses-fork")

    command(page, "Rename this branch")
    field = page.get_by_role("dialog", name="Rename ai/roses-fork").get_by_role("textbox", name="Name")
    field.fill("ai/tulips")
    field.press("Enter")
    at_branch(page, "ai/tulips")
    assert branches(desk, repo) == {"main", "ai/roses", "ai/tulips"}

    command(page, "Delete this branch")
    page.get_by_role("button", name="Delete ai/tulips").click()
    until(lambda: branches(desk, repo) == {"main", "ai/roses"})
    expect(tabs.get_by_role("link", name="ai/tulips")).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).last.click()
    until(lambda: branches(desk, repo) == {"main", "ai/roses", "ai/tulips"})


def test_a_name_that_is_taken_is_refused_and_nothing_is_lost(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    page.goto(desk.address(f"/r/{repo}/b/main"))
    page.get_by_role("navigation", name="Open branches").get_by_role("button", name="New branch").click()
    dialog = page.get_by_role("dialog", name="New branch")
    dialog.get_by_role("textbox", name="Name").fill("main")
    dialog.get_by_role("button", name="Create branch").click()
    expect(dialog.get_by_role("alert")).to_contain_text("main")
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("main")


def test_the_menu_of_a_branch_offers_what_can_be_done_with_it(page: Any, desk: Desk) -> None:
    repo = desk.repository(name="orchard")
    with desk.client() as client:
        client.post(f"/api/repositories/{repo}/branches", json={"name": "plain"}).raise_for_status()
    page.goto(desk.address(f"/r/{repo}/b/main"))
    listed = page.get_by_role("list", name="Branches of orchard")
    listed.get_by_role("link", name=re.compile("^main")).click(button="right")
    for refused in ("Rename", "Delete"):
        expect(page.get_by_role("menuitem", name=refused)).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Escape")
    listed.get_by_role("link", name=re.compile("^plain")).click(button="right")
    page.get_by_role("menuitem", name="New branch from here").click()
    dialog = page.get_by_role("dialog", name="New branch")
    expect(dialog).to_contain_text("It begins at plain.")
    dialog.get_by_role("textbox", name="Name").fill("plainer")
    dialog.get_by_role("button", name="Create branch").click()
    at_branch(page, "plainer")


def test_tabs_of_branches_are_kept_over_a_reload_and_closed(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    with desk.client() as client:
        for name in ("ai/one", "two"):
            client.post(f"/api/repositories/{repo}/branches", json={"name": name}).raise_for_status()
    for name in ("ai%2Fone", "two"):
        page.goto(desk.address(f"/r/{repo}/b/{name}"))
        page.get_by_role("tree", name="Files").wait_for()
    page.reload()
    tabs = page.get_by_role("navigation", name="Open branches")
    expect(tabs.get_by_role("link", name="ai/one")).to_be_visible()
    tabs.get_by_role("button", name="Close two").click()
    expect(tabs.get_by_role("link", name=re.compile("^two|two$"))).to_have_count(0)
    expect(tabs.get_by_role("link", name="ai/one")).to_be_visible()


def test_a_repository_is_added_by_its_path_and_a_wrong_one_is_explained(page: Any, desk: Desk) -> None:
    page.get_by_role("button", name="Add a repository").first.click()
    dialog = page.get_by_role("dialog", name="Add a repository")
    path = dialog.get_by_role("textbox", name="Path of a repository on this machine")
    path.fill(str(desk.place / "nowhere"))
    path.press("Enter")
    expect(dialog.get_by_role("alert")).to_be_visible()
    there = desk.place / "meadow"
    desk.git(desk.place, "init", "--quiet", "--initial-branch=main", str(there))
    desk.git(there, "commit", "--quiet", "--allow-empty", "--message", "First")
    path.fill(str(there))
    path.press("Enter")
    expect(page).to_have_url(re.compile("/r/[0-9a-f]+$"))
    expect(
        page.get_by_role("list", name="Branches of meadow").get_by_role("link", name=re.compile("main"))
    ).to_be_visible()


def test_the_palette_finds_every_kind_of_action_and_goes_to_places(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    page.goto(desk.address(f"/r/{repo}/b/main"))
    page.get_by_role("tree", name="Files").wait_for()
    page.keyboard.press("Control+k")
    offered = page.get_by_role("dialog").get_by_role("option")
    expect(offered.first).to_be_visible()
    found = set(offered.evaluate_all("all => all.map(each => each.textContent)"))
    for title in ("New branch", "Search in files", "New file", "Travel in time", "Go to the board", "Dark appearance"):
        assert any(title in each for each in found), title
    page.keyboard.type("Go to the board")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/board$"))
    command(page, "Dark appearance")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_status_bar_tells_branch_connection_and_the_turn_at_work(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    with desk.client() as client:
        client.post(f"/api/repositories/{repo}/branches", json={"name": "ai/slow"}).raise_for_status()
    page.goto(desk.address(f"/r/{repo}/b/ai%2Fslow?tab=chat"))
    status = page.get_by_role("contentinfo", name="Status")
    expect(status).to_contain_text("ai/slow")
    expect(status).to_contain_text("connected")
    page.get_by_role("textbox", name="Message").fill("task slow1: tell me")
    page.get_by_role("textbox", name="Message").press("Enter")
    expect(status).to_contain_text(re.compile("turn running [0-9]:[0-9]"), timeout=40_000)
    page.get_by_role("textbox", name="Message").press("Escape")
    expect(status).not_to_contain_text("turn running")


def test_a_person_need_not_wait_for_the_next_attempt_to_reconnect(page: Any, desk: Desk) -> None:
    page.goto(desk.url)
    expect(page.get_by_text("connected", exact=True)).to_be_visible()
    desk.kill()
    bar = page.get_by_role("contentinfo")
    expect(bar).to_contain_text(re.compile(r"reconnecting … \((8|16) s\)"), timeout=30_000)
    desk.start()
    button = bar.get_by_role("button", name="Try now")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("connected", exact=True)).to_be_visible(timeout=4_000)


def test_places_that_are_not_there_say_so_and_show_a_way_on(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    page.goto(desk.address(f"/r/{repo}/b/never"))
    expect(page.get_by_text("There is no branch never")).to_be_visible()
    page.get_by_role("button", name="Show the graph").click()
    expect(page.get_by_role("listbox", name="Commits, newest first")).to_be_visible()
    page.goto(desk.address("/projects/20200101-none"))
    expect(page.get_by_text("No such project")).to_be_visible()


@pytest.mark.parametrize("place", ["/r/never", "/r/never/b/ai%2Ftry", "/r/never/c/0123456"])
def test_an_unknown_repository_is_one_error_with_a_way_on_and_nothing_to_type_into(
    page: Any, desk: Desk, place: str
) -> None:
    page.goto(desk.address(place))
    main = page.get_by_role("main")
    expect(main.get_by_role("heading", name="No such repository")).to_be_visible()
    expect(page.get_by_text("There is no repository")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("textbox")).to_have_count(0)
    expect(page.get_by_role("navigation", name="Open branches")).to_have_count(0)
    main.get_by_role("link", name="All repositories").click()
    expect(page).to_have_url(f"{desk.url}/")


@pytest.mark.req("B-14")
def test_on_a_phone_the_chat_has_the_width_and_the_files_fold_away(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    with desk.client() as client:
        client.post(f"/api/repositories/{repo}/branches", json={"name": "ai/phone", "start": "main"}).raise_for_status()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(desk.address(f"/r/{repo}/b/ai%2Fphone"))
    field = page.get_by_label("Message", exact=True)
    expect(field).to_be_visible()
    expect(page.get_by_role("tree")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = field.bounding_box()
    assert box["width"] >= 250
    assert box["x"] + box["width"] <= 390
    field.fill("rose phone: write it")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("log")).to_contain_text("rose phone", timeout=30_000)
    page.get_by_role("button", name="Show files").click()
    tree = page.get_by_role("tree")
    expect(tree).to_be_visible()
    tree.get_by_text("README.md").click()
    expect(page.get_by_role("tabpanel", name="README.md")).to_be_visible()
    expect(tree).to_have_count(0)
    page.get_by_role("tab", name="Chat").click()
    expect(field).to_be_visible()


def test_the_settings_open_without_the_name_of_a_section(page: Any, desk: Desk) -> None:
    page.goto(desk.address("/settings"))
    expect(page.get_by_role("heading", name="Models and keys")).to_be_visible()
    expect(page).to_have_url(re.compile("/settings/models$"))


def test_the_start_page_shows_the_projects_that_changed_last(page: Any, desk: Desk) -> None:
    with desk.client() as client:
        for n in range(9):
            client.post("/api/projects", json={"name": f"Plan {n}"}).raise_for_status()
    page.goto(desk.address("/"))
    names = page.get_by_role("main").get_by_role("link", name=re.compile("Plan [0-9]"))
    expect(names).to_have_count(8)
    expect(names.first).to_contain_text("Plan 8")


def test_the_tabs_of_a_project_need_no_scrollbar(page: Any, desk: Desk) -> None:
    with desk.client() as client:
        project = client.post("/api/projects", json={"name": "Tabs"}).json()["id"]
    page.goto(desk.address(f"/projects/{project}"))
    tabs = page.get_by_role("tablist").filter(has=page.get_by_role("tab", name="Artifacts"))
    expect(tabs).to_be_visible()
    assert tabs.evaluate("list => list.scrollHeight <= list.clientHeight && list.scrollWidth <= list.clientWidth")
