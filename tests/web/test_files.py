"""Explorer and editor: the tree, context marks, one commit for each save, conflicts, previews, differences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Desk, until

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f0005000"
    "1ff89993d1d0000000049454e44ae426082"
)


@pytest.fixture
def garden(desk: Desk) -> str:
    files = {
        "README.md": "# Garden\n\nSee [north](beds/north.md).\n",
        "beds/north.md": "tulips\nroses\n",
        "beds/south.md": "lilies\n",
        "src/app.py": "def water(bed):\n    return bed\n",
        "windows.txt": b"one\r\ntwo\r\n",
        "logo.png": PNG,
        "data.bin": b"\x00\x01\x02" * 1000,
    }
    repo = desk.repository(files)
    with desk.client() as client:
        made = client.post(f"/api/repositories/{repo}/branches", json={"name": "ai/first", "start": "main"})
    assert made.is_success, made.text
    return repo


def opened(page: Any, desk: Desk, repo: str, file: str | None = None, **search: str) -> None:
    query = {**({"file": file, "tab": "file"} if file else {}), **search}
    words = "&".join(f"{name}={value}" for name, value in query.items())
    page.goto(f"{desk.url}/r/{repo}/b/ai%2Ffirst?{words}")


def content(desk: Desk, repo: str, path: str) -> bytes:
    with desk.client() as client:
        return client.get(f"/api/repositories/{repo}/files/{path}", params={"branch": "ai/first"}).content


def subjects(desk: Desk, repo: str) -> list[str]:
    with desk.client() as client:
        found = client.get(f"/api/repositories/{repo}/commits", params={"rev": "ai/first"}).json()
    return [commit["subject"] for commit in found["items"]]


def saved_elsewhere(desk: Desk, repo: str, path: str, text: str) -> None:
    with desk.client() as client:
        answer = client.put(f"/api/repositories/{repo}/files/{path}", params={"branch": "ai/first"}, content=text)
    assert answer.is_success, answer.text


def editor(page: Any, path: str) -> Any:
    return page.get_by_role("textbox", name=f"Text of {path}")


def row(page: Any, name: str) -> Any:
    return page.get_by_role("tree", name="Files").get_by_role("treeitem", name=name)


@pytest.mark.req("G-15")
def test_the_tree_is_walked_and_files_are_opened_by_keyboard(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden)
    tree = page.get_by_role("tree", name="Files")
    tree.focus()
    page.keyboard.press("Home")
    expect(row(page, "beds")).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("ArrowRight")
    expect(row(page, "north.md")).to_be_visible()
    page.keyboard.type("sou")
    page.keyboard.press("Enter")
    expect(editor(page, "beds/south.md")).to_contain_text("lilies")
    expect(page.get_by_role("tab", name="beds/south.md")).to_have_attribute("aria-selected", "true")
    tree.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(row(page, "north.md")).to_have_count(0)


@pytest.mark.req("G-15")
def test_a_preview_tab_gives_way_and_a_kept_one_stays(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden)
    row(page, "README.md").click()
    row(page, "windows.txt").click()
    expect(page.get_by_role("tab", name="README.md")).to_have_count(0)
    row(page, "windows.txt").dblclick()
    row(page, "README.md").click()
    expect(page.get_by_role("tab", name="windows.txt")).to_be_visible()
    page.get_by_role("tab", name="README.md").press("Delete")
    expect(page.get_by_role("tab", name="README.md")).to_have_count(0)
    expect(page.get_by_role("tab", name="windows.txt")).to_have_attribute("aria-selected", "true")


@pytest.mark.req("G-15")
def test_the_context_mark_is_a_button_of_its_own(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden)
    page.get_by_role("button", name="README.md: not in context").click()
    expect(page.get_by_role("button", name="README.md: in context")).to_be_visible()
    expect(page.get_by_role("button", name="1 file in context")).to_contain_text("tokens")
    tree = page.get_by_role("tree", name="Files")
    tree.focus()
    page.keyboard.type("read")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="README.md: not in context")).to_be_visible()
    expect(page.get_by_role("tab", name="README.md")).to_have_count(0)


@pytest.mark.req("G-15")
def test_files_are_made_renamed_and_deleted_and_a_deletion_is_undone(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden)
    page.get_by_role("button", name="New file").click()
    field = page.get_by_role("textbox", name="Name of the new file")
    field.fill("notes/plan.md")
    field.press("Enter")
    expect(page.get_by_role("tab", name="notes/plan.md")).to_be_visible()
    expect(row(page, "plan.md, added")).to_be_visible()

    tree = page.get_by_role("tree", name="Files")
    tree.focus()
    page.keyboard.press("F2")
    naming = page.get_by_role("textbox", name="New name of plan.md")
    naming.fill("idea.md")
    naming.press("Enter")
    expect(page.get_by_role("tab", name="notes/idea.md")).to_be_visible()

    row(page, "README.md").click(button="right")
    page.get_by_role("menuitem", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete README.md?")
    expect(dialog).to_contain_text("can be undone")
    dialog.get_by_role("button", name="Delete the file").click()
    expect(row(page, "README.md, deleted")).to_be_visible()
    assert subjects(desk, garden)[0] == "delete: README.md"
    page.get_by_role("listitem").filter(has_text="Deleted README.md").get_by_role("button", name="Undo").click()
    expect(row(page, "README.md, deleted")).to_have_count(0)
    expect(row(page, "README.md")).to_be_visible()
    assert content(desk, garden, "README.md").startswith(b"# Garden")


@pytest.mark.req("G-15")
def test_a_folder_is_renamed_and_deleted_as_one_commit_and_what_is_open_in_it_goes_along(
    page: Any, desk: Desk, garden: str
) -> None:
    opened(page, desk, garden, "beds/north.md")
    editor(page, "beds/north.md").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("draft ")
    expect(page.get_by_role("tab", name="beds/north.md, unsaved")).to_be_visible()
    before = len(subjects(desk, garden))
    row(page, "beds").click(button="right")
    page.get_by_role("menuitem", name="Rename").click()
    naming = page.get_by_role("textbox", name="New name of beds")
    naming.fill("plots")
    naming.press("Enter")
    expect(page.get_by_role("tab", name="plots/north.md, unsaved")).to_be_visible()
    expect(editor(page, "plots/north.md")).to_contain_text("draft tulips")
    expect(row(page, "plots")).to_have_attribute("aria-expanded", "true")
    expect(row(page, "south.md")).to_be_visible()
    expect(row(page, "beds")).to_have_count(0)
    assert subjects(desk, garden)[0] == "rename: beds/ to plots/"
    page.get_by_role("listitem").filter(has_text="Renamed beds to plots").get_by_role("button", name="Dismiss").click()

    row(page, "plots").click()
    page.keyboard.press("Delete")
    dialog = page.get_by_role("dialog", name="Delete plots?")
    expect(dialog).to_contain_text("without the folder and everything in it")
    dialog.get_by_role("button", name="Delete the folder").click()
    expect(row(page, "plots")).to_have_count(0)
    expect(page.get_by_role("tab", name="plots/north.md")).to_have_count(0)
    assert subjects(desk, garden)[0] == "delete: plots/"
    assert len(subjects(desk, garden)) == before + 2
    page.get_by_role("listitem").filter(has_text="Deleted plots").get_by_role("button", name="Undo").click()
    expect(row(page, "plots")).to_be_visible()
    assert content(desk, garden, "plots/south.md") == b"lilies\n"


@pytest.mark.req("G-15")
def test_a_folder_that_cannot_be_renamed_stays_and_the_reason_is_told(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden)
    row(page, "beds").click()
    page.keyboard.press("F2")
    naming = page.get_by_role("textbox", name="New name of beds")
    naming.fill("src")
    naming.press("Enter")
    expect(page.get_by_role("listitem").filter(has_text="src is a directory")).to_be_visible()
    expect(row(page, "north.md")).to_be_visible()


@pytest.mark.req("G-05")
def test_saving_is_one_commit_and_the_status_line_says_so(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden, "beds/north.md")
    before = len(subjects(desk, garden))
    editor(page, "beds/north.md").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("peonies")
    expect(page.get_by_role("tab", name="beds/north.md, unsaved")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved →")).to_be_visible()
    expect(page.get_by_role("tab", name="beds/north.md", exact=True)).to_be_visible()
    assert content(desk, garden, "beds/north.md") == b"tulips\nroses\npeonies"
    assert subjects(desk, garden)[0] == "edit: north.md"
    assert len(subjects(desk, garden)) == before + 1


@pytest.mark.req("G-05")
def test_a_save_over_an_uncommitted_edit_says_what_is_left_to_do(page: Any, desk: Desk) -> None:
    repo = desk.repository({"README.md": "# Garden\n"})
    with desk.client() as client:
        place = Path(client.get(f"/api/repositories/{repo}").json()["path"])
    (place / "README.md").write_text("# My own edit\n")
    page.goto(f"{desk.url}/r/{repo}/b/main?file=README.md&tab=file")
    editor(page, "README.md").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("saved in the browser")
    page.keyboard.press("Control+s")
    said = page.get_by_text(f"README.md: your uncommitted edit in {place} is kept; it is based on the older text.")
    expect(said.first).to_be_visible()
    assert (place / "README.md").read_text() == "# My own edit\n"


def test_line_breaks_are_kept_as_they_are(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden, "windows.txt")
    editor(page, "windows.txt").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("zero\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved →")).to_be_visible()
    assert content(desk, garden, "windows.txt") == b"zero\r\none\r\ntwo\r\n"


@pytest.mark.req("G-10")
def test_unsaved_text_survives_a_reload_and_is_asked_about_when_its_tab_is_closed(
    page: Any, desk: Desk, garden: str
) -> None:
    opened(page, desk, garden, "beds/north.md")
    editor(page, "beds/north.md").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("draft ")
    expect(page.get_by_role("tab", name="beds/north.md, unsaved")).to_be_visible()
    page.reload()
    expect(editor(page, "beds/north.md")).to_contain_text("draft tulips")
    page.get_by_role("tab", name="beds/north.md, unsaved").press("Delete")
    dialog = page.get_by_role("dialog", name="Unsaved changes in beds/north.md")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("tab", name="beds/north.md, unsaved")).to_be_visible()
    page.get_by_role("tab", name="beds/north.md, unsaved").press("Delete")
    dialog.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("tab", name="beds/north.md")).to_have_count(0)
    assert content(desk, garden, "beds/north.md") == b"tulips\nroses\n"


@pytest.mark.req("G-10")
def test_before_a_turn_unsaved_text_is_saved_discarded_or_the_turn_is_not_sent(
    page: Any, desk: Desk, garden: str
) -> None:
    opened(page, desk, garden, "beds/north.md")
    editor(page, "beds/north.md").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("kept ")
    expect(page.get_by_role("tab", name="beds/north.md, unsaved")).to_be_visible()
    page.get_by_role("tab", name="Chat").click()
    message = page.get_by_role("textbox", name="Message")
    message.fill("task prose1: plan")
    message.press("Enter")
    dialog = page.get_by_role("dialog", name="Unsaved changes in beds/north.md")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert content(desk, garden, "beds/north.md") == b"tulips\nroses\n"
    expect(message).to_have_value("task prose1: plan")
    message.press("Enter")
    dialog.get_by_role("button", name="Save").click()
    until(lambda: content(desk, garden, "beds/north.md") == b"kept tulips\nroses\n")
    expect(page.get_by_role("heading", name="Plan")).to_be_visible()


@pytest.fixture
def other(page: Any) -> Iterator[Any]:
    """A second window of the same person."""
    made = page.context.new_page()
    made.set_default_timeout(15_000)
    yield made
    made.close()


@pytest.mark.req("G-05", "G-10")
def test_two_windows_on_one_branch_see_each_other_and_nothing_is_overwritten(
    page: Any, other: Any, desk: Desk, garden: str
) -> None:
    opened(page, desk, garden, "beds/north.md")
    opened(other, desk, garden, "beds/north.md")
    expect(editor(other, "beds/north.md")).to_contain_text("tulips")
    editor(page, "beds/north.md").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("first ")
    page.keyboard.press("Control+s")
    expect(editor(other, "beds/north.md")).to_contain_text("first tulips")
    expect(other.get_by_text("while it was open")).to_be_visible()
    other.get_by_role("button", name="Mark as seen").click()
    expect(other.locator(".cm-seen-changed")).to_have_count(0)

    editor(other, "beds/north.md").click()
    other.keyboard.press("Control+Home")
    other.keyboard.type("mine ")
    saved_elsewhere(desk, garden, "beds/north.md", "theirs\n")
    expect(other.get_by_text("This file changed on the branch while you have unsaved changes.")).to_be_visible()
    expect(editor(other, "beds/north.md")).to_contain_text("mine first tulips")
    other.keyboard.press("Control+s")
    dialog = other.get_by_role("dialog", name="beds/north.md changed on ai/first")
    expect(dialog).to_contain_text("theirs")
    expect(dialog).to_contain_text("mine first tulips")
    assert content(desk, garden, "beds/north.md") == b"theirs\n"
    dialog.get_by_role("button", name="Keep mine and save").click()
    expect(other.get_by_role("tab", name="beds/north.md", exact=True)).to_be_visible()
    until(lambda: content(desk, garden, "beds/north.md") == b"mine first tulips\nroses\n")


@pytest.mark.req("G-10")
def test_theirs_can_be_taken_instead(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden, "beds/north.md")
    editor(page, "beds/north.md").click()
    page.keyboard.type("mine ")
    saved_elsewhere(desk, garden, "beds/north.md", "theirs\n")
    page.get_by_role("button", name="Compare and decide").click()
    page.get_by_role("dialog").get_by_role("button", name="Take theirs").click()
    expect(editor(page, "beds/north.md")).to_have_text("theirs")
    expect(page.get_by_role("tab", name="beds/north.md", exact=True)).to_be_visible()


@pytest.mark.req("G-10")
def test_files_are_read_only_while_a_turn_works_and_what_it_changed_is_marked(
    page: Any, desk: Desk, garden: str
) -> None:
    opened(page, desk, garden, "beds/north.md")
    expect(editor(page, "beds/north.md")).to_contain_text("tulips")
    with desk.client() as client:
        where = {"branch": "ai/first"}
        sent = client.post(
            f"/api/repositories/{garden}/session/messages", params=where, json={"text": "task slow1: say much"}
        )
        assert sent.is_success, sent.text
        expect(page.get_by_text("An agent works on this branch")).to_be_visible()
        expect(page.get_by_role("tab", name="beds/north.md, an agent works", exact=True)).to_be_visible()
        editor(page, "beds/north.md").click()
        page.keyboard.type("x")
        expect(editor(page, "beds/north.md")).to_have_text("tulipsroses")
        expect(page.get_by_role("link", name="Watch")).to_be_visible()
        client.post(f"/api/repositories/{garden}/session/cancel", params=where)
    expect(page.get_by_text("An agent works on this branch")).to_have_count(0)
    expect(page.get_by_role("tab", name="beds/north.md", exact=True)).to_be_visible()
    saved_elsewhere(desk, garden, "beds/north.md", "tulips\nvioletts\nroses\n")
    expect(page.locator(".cm-seen-changed")).to_have_count(1)
    page.reload()
    expect(page.locator(".cm-seen-changed")).to_have_count(1)
    saved_elsewhere(desk, garden, "beds/north.md", "tulips\nvioletts\nroses\npinks\n")
    expect(page.locator(".cm-seen-changed")).to_have_count(2)
    page.reload()
    expect(page.locator(".cm-seen-changed")).to_have_count(2)
    page.get_by_role("button", name="Mark as seen").click()
    expect(page.locator(".cm-seen-changed")).to_have_count(0)
    page.reload()
    expect(editor(page, "beds/north.md")).to_contain_text("pinks")
    expect(page.get_by_role("button", name="Mark as seen")).to_have_count(0)


@pytest.mark.req("G-15")
def test_pictures_and_bytes_and_large_files_are_shown_as_what_they_are(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden, "logo.png")
    expect(page.get_by_role("img", name="logo.png")).to_be_visible()
    expect(page.get_by_text("1 × 1")).to_be_visible()
    row(page, "data.bin").click()
    expect(page.get_by_role("link", name="Download data.bin")).to_be_visible()
    expect(page.get_by_text("3.0 kB")).to_be_visible()
    saved_elsewhere(desk, garden, "huge.txt", "word " * 500_000)
    row(page, "huge.txt, added").click()
    expect(page.get_by_text("are read-only here")).to_be_visible()


def test_markdown_is_previewed_beside_its_text_and_its_links_lead_to_files(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden, "README.md")
    page.get_by_role("button", name="Text and preview").click()
    preview = page.get_by_role("region", name="Preview of README.md")
    expect(preview.get_by_role("heading", name="Garden")).to_be_visible()
    editor(page, "README.md").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("**more**")
    expect(preview.locator("strong")).to_have_text("more")
    preview.get_by_role("link", name="north").click()
    expect(page.get_by_role("tab", name="beds/north.md")).to_have_attribute("aria-selected", "true")


@pytest.mark.req("G-08")
def test_a_file_is_compared_with_any_of_its_commits(page: Any, desk: Desk, garden: str) -> None:
    saved_elsewhere(desk, garden, "src/app.py", "def water(bed):\n    return bed * 2\n")
    saved_elsewhere(desk, garden, "src/app.py", "def water(bed):\n    return bed * 3\n")
    opened(page, desk, garden, "src/app.py")
    page.get_by_role("button", name="History and differences").click()
    history = page.get_by_role("complementary", name="History of the file")
    expect(history.get_by_role("listitem")).to_have_count(3)
    compared = page.get_by_role("region", name="src/app.py compared")
    expect(compared).to_contain_text("return bed * 2")
    history.get_by_role("button", name="First").click()
    expect(compared.locator(".cm-deletedChunk")).to_contain_text("return bed")
    compared.get_by_role("button", name="Side by side").click()
    expect(compared.locator(".cm-mergeView .cm-editor")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(editor(page, "src/app.py")).to_be_visible()


@pytest.mark.req("G-15")
def test_a_tree_of_many_files_scrolls_with_short_tasks(page: Any, desk: Desk) -> None:
    """10,000 rows: only what is on screen is in the page, and scrolling through it keeps the page free."""
    folders = [f"part{n:02}" for n in range(40)]
    repo = desk.repository({f"{folder}/file{n:03}.txt": "" for folder in folders for n in range(250)})
    page.evaluate(
        "([key, open]) => localStorage.setItem(key, JSON.stringify(open))", [f"forge:open-folders:{repo}:main", folders]
    )
    page.goto(f"{desk.url}/r/{repo}/b/main")
    expect(row(page, "file000.txt").first).to_be_visible()
    page.wait_for_function(
        "() => document.querySelector('[role=tree] > div').offsetHeight === 24 * 10040", timeout=30_000
    )
    tree = page.get_by_role("tree", name="Files")
    tree.focus()
    page.keyboard.press("End")
    expect(row(page, "file249.txt")).to_be_visible()
    # Time of the page's own thread, so that whatever else the machine does is not counted.
    cdp = page.context.new_cdp_session(page)
    cdp.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = {each["name"]: each["value"] for each in cdp.send("Performance.getMetrics")["metrics"]}
        return float(found["TaskDuration"])

    steps, before = 40, spent()
    for _ in range(steps):
        tree.evaluate("tree => { tree.scrollTop -= 2500 }")
        page.evaluate("() => new Promise(requestAnimationFrame)")
    assert page.get_by_role("treeitem").count() < 80
    each = (spent() - before) / steps
    assert each < 0.05, each
