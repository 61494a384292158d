"""Everybody can use it: axe-core finds nothing serious on any screen in either theme; the keyboard is enough."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browser import Desk, until
from tests.web.gardens import aged, branch_in_list, commit, planted
from tests.web.projects import made

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@dataclass(frozen=True, slots=True)
class World:
    repo: str
    commit: str
    project: str


@dataclass(frozen=True, slots=True)
class Screen:
    name: str
    path: str
    """With `{repo}`, `{commit}` and `{project}`."""
    ready: str
    """CSS of what is there once it is drawn."""
    keys: tuple[str, ...] = ()
    """ActionResult then."""
    then: str = ""
    """CSS of what they open."""


def _branch(name: str, rest: str = "") -> str:
    return f"/r/{{repo}}/b/{quote(name, safe='')}{rest}"


SETTINGS = [
    *("models", "agents", "prompts", "notifications", "connectors", "limits"),
    *("appearance", "access", "memory", "advanced", "about"),
]
SCREENS = [
    Screen("home", "/", "main h1"),
    Screen("repository", "/r/{repo}", "main canvas"),
    Screen("commit", "/r/{repo}/c/{commit}", "main h1, main h2"),
    Screen("branch chat", _branch("ai/beds", "?tab=chat"), "main textarea"),
    Screen("branch file", _branch("main", "?file=README.md&tab=file"), ".cm-content"),
    Screen("branch code", _branch("main", "?file=water.py&tab=file"), ".cm-content"),
    Screen("branch then", _branch("main", "?at={commit}&tab=chat"), "main [role=tab]"),
    Screen("projects", "/projects", "main h1"),
    Screen("new project", "/projects/new", "main h1"),
    *(
        Screen(f"project {tab}", f"/projects/{{project}}?tab={tab}", "main h1")
        for tab in ("chat", "documents", "contracts", "polish", "artifacts", "log")
    ),
    Screen("board", "/board", "main h1"),
    *(Screen(f"settings {section}", f"/settings/{section}", "main h1") for section in SETTINGS),
    Screen("nowhere", "/no/such/place", "main"),
    Screen("palette", "/", "main h1", ("Control+k",), "[cmdk-list]"),
    Screen("shortcuts", "/", "main h1", ("?",), "[role=dialog]"),
    Screen("quick open", _branch("main"), "main textarea", ("Control+p",), "[cmdk-list], [role=dialog]"),
    Screen("search", _branch("main"), "main textarea", ("Control+Shift+F",), "aside[aria-label=Search]"),
]


@pytest.fixture(scope="module")
def world(desk: Desk) -> World:
    """Two branches, one of them with a conversation, and the demo's project with all its documents and rounds."""
    code = 'def water(bed: str) -> None:\n    """Twice a day."""\n    print(f"watering {bed}")\n'
    repo = desk.repository({"README.md": "# Garden\n\nTulips.\n", "water.py": code, "beds/north.md": "tulips\n"})
    desk.run("demo")
    with desk.client() as client:
        at = f"/api/repositories/{repo}"
        made = client.post(f"{at}/branches", json={"name": "ai/beds"})
        assert made.is_success, made.text
        sent = client.post(f"{at}/session/messages", params={"branch": "ai/beds"}, json={"text": "task rose1: plant"})
        assert sent.is_success, sent.text
        until(lambda: _at_rest(client, at), seconds=60)
        commit = client.get(f"{at}/branches/main").json()["commit"]
        project = client.get("/api/projects").json()["items"][0]["id"]
    return World(repo, commit, project)


def _at_rest(client: Any, at: str) -> bool:
    session = client.get(f"{at}/session", params={"branch": "ai/beds"}).json()
    return bool(session["turns"]) and not session["working"]


@pytest.fixture(scope="module")
def reader(browser: Any, desk: Desk) -> Iterator[Any]:
    """One signed-in page for all screens, without the policy that would keep axe out."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci in web/")
    context = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto(f"{desk.url}/?token={desk.token()}")
    page.get_by_role("navigation", name="Places").wait_for()
    yield page
    context.close()


def _findings(page: Any) -> list[str]:
    if not page.evaluate("() => 'axe' in window"):
        page.add_script_tag(path=str(AXE))
    found = page.evaluate(
        "(tags) => axe.run(document, {runOnly: tags, resultTypes: ['violations']}).then((all) => all.violations)", TAGS
    )
    return [
        f"{each['impact']} {each['id']}: {node['target']} {node['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"][:3]
    ]


@pytest.mark.req("G-15")
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.name)
def test_axe_finds_nothing_serious_in_either_theme(reader: Any, desk: Desk, world: World, screen: Screen) -> None:
    path = screen.path.format(repo=world.repo, commit=world.commit, project=world.project)
    _go(reader, desk, path)
    reader.locator(screen.ready).first.wait_for()
    for key in screen.keys:
        reader.keyboard.press(key)
    if screen.then:
        reader.locator(screen.then).first.wait_for()
    assert_accessible(reader)


def _go(reader: Any, desk: Desk, path: str) -> None:
    reader.goto(desk.address(path))
    # Colours change gradually, and on the way there is hardly any contrast.
    reader.add_style_tag(content="*, ::before, ::after { transition: none !important; animation: none !important }")


def assert_accessible(reader: Any) -> None:
    reader.wait_for_function("() => document.querySelector('[role=status][aria-label^=Loading]') === null")
    wrong: list[str] = []
    for theme in ("light", "dark"):
        reader.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        wrong += [f"{theme}: {each}" for each in _findings(reader)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.req("G-16")
def test_axe_finds_nothing_serious_on_the_way_through_a_merge(reader: Any, desk: Desk) -> None:
    repo, _ = planted(desk, conflict=True)
    _go(reader, desk, f"/r/{repo}")
    branch_in_list(reader, "south").click(button="right")
    merge = reader.get_by_role("menuitem", name="Merge south into…")
    merge.wait_for()
    assert_accessible(reader)
    merge.click()
    main = reader.get_by_role("option", name=re.compile("^main"))
    main.wait_for()
    assert_accessible(reader)
    main.click()
    dialog = reader.get_by_role("dialog", name="Merge south into main")
    resolve = dialog.get_by_role("button", name="Resolve 1 conflict")
    resolve.wait_for()
    assert_accessible(reader)
    resolve.click()
    dialog.get_by_role("button", name="Take both").wait_for()
    assert_accessible(reader)
    dialog.get_by_role("button", name="Edit the whole file").click()
    dialog.get_by_role("textbox", name="Text of beds/north.md").wait_for()
    assert_accessible(reader)


@pytest.mark.req("G-16")
def test_axe_finds_nothing_serious_in_commit_and_operations_beside_the_graph(reader: Any, desk: Desk) -> None:
    repo, _ = planted(desk)
    with desk.client() as client:
        order = {"kind": "merge", "target": "main", "sources": ["south"]}
        client.post(f"/api/repositories/{repo}/merges", json=order).raise_for_status()
    _go(reader, desk, f"/r/{repo}")
    commit(reader, "Plant lilies").click()
    reader.get_by_text("beds/south.md").first.wait_for()
    assert_accessible(reader)
    reader.get_by_role("button", name="Operations").click()
    reader.get_by_role("region", name="Operations").get_by_role("button", name=re.compile("^Undo")).first.wait_for()
    assert_accessible(reader)


@pytest.mark.req("G-08")
def test_axe_finds_nothing_serious_in_time_travel_and_comparisons(reader: Any, desk: Desk) -> None:
    repo, _ = aged(desk)
    _go(reader, desk, f"/r/{repo}/b/main?file=beds/north.md&tab=file")
    reader.get_by_role("button", name="History and differences").click()
    reader.get_by_role("region", name="beds/north.md compared").get_by_text("lilies").wait_for()
    assert_accessible(reader)
    reader.keyboard.press("Escape")
    reader.get_by_role("button", name="Travel in time").click()
    travel = reader.get_by_role("region", name="Time travel")
    travel.get_by_text("Plant lilies").wait_for()
    assert_accessible(reader)
    reader.get_by_role("slider", name="Commit of main").focus()
    reader.keyboard.press("ArrowLeft")
    travel.get_by_text("Plant roses").wait_for()
    travel.get_by_role("button", name="Branch from here").click()
    reader.get_by_role("textbox", name="Name of the branch").wait_for()
    assert_accessible(reader)


@pytest.mark.req("G-10")
def test_axe_finds_nothing_serious_where_something_is_asked(reader: Any, desk: Desk) -> None:
    """Questions of agents, unsaved text, deletions."""
    repo = desk.repository({"README.md": "# Garden\n"})
    with desk.client() as client:
        at = f"/api/repositories/{repo}"
        client.post(f"{at}/branches", json={"name": "ai/sign"}).raise_for_status()
        where, text = {"branch": "ai/sign"}, {"text": "task ask9: paint a sign"}
        client.post(f"{at}/session/messages", params=where, json=text).raise_for_status()
    _go(reader, desk, f"/r/{repo}/b/ai%2Fsign?tab=chat")
    reader.get_by_role("region", name="Question", exact=True).wait_for(timeout=60_000)
    assert_accessible(reader)
    _go(reader, desk, f"/r/{repo}/b/main?file=README.md&tab=file")
    reader.get_by_role("textbox", name="Text of README.md").click()
    reader.keyboard.type("Roses. ")
    reader.get_by_role("tab", name="README.md").press("Delete")
    reader.get_by_role("button", name="Discard").wait_for()
    assert_accessible(reader)
    reader.keyboard.press("Escape")
    reader.get_by_role("tree", name="Files").get_by_role("treeitem", name="README.md").click(button="right")
    reader.get_by_role("menuitem", name="Delete").click()
    reader.get_by_role("button", name="Delete the file").wait_for()
    assert_accessible(reader)


def _tab_to(page: Any, name: str, *, most: int = 80) -> None:
    """By Tab alone to what has this name."""
    for _ in range(most):
        page.keyboard.press("Tab")
        here = page.evaluate(
            "() => { const at = document.activeElement; return at.getAttribute('aria-label') || at.textContent || '' }"
        )
        if re.search(name, here):
            return
    raise AssertionError(f"Tab does not reach {name}")


@pytest.fixture
def expect() -> Any:
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect.set_options(timeout=15_000)
    return playwright.expect


@pytest.mark.req("G-15")
def test_a_branch_a_message_and_a_saved_file_without_a_mouse(page: Any, desk: Desk, world: World, expect: Any) -> None:
    page.get_by_role("navigation", name="Places").wait_for()
    expect(page.get_by_role("link", name="ai/beds").first).to_be_visible()
    _tab_to(page, "ai/beds")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/r/{world.repo}/b/ai(%2F|/)beds"))

    _tab_to(page, "[Mm]essage")
    page.keyboard.type("task rose2: water the beds")
    page.keyboard.press("Enter")
    expect(page.get_by_text("task rose2: water the beds").first).to_be_visible()
    with desk.client() as client:
        at = f"/api/repositories/{world.repo}"
        until(lambda: _turns(client, at) >= 2, seconds=60)
        before = client.get(f"{at}/branches/ai%2Fbeds").json()["commit"]

        page.keyboard.press("Control+p")
        expect(page.get_by_role("combobox", name="File to open")).to_be_focused()
        page.keyboard.type("water.py")
        expect(page.get_by_role("option", name="water.py", selected=True)).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.get_by_role("textbox", name=re.compile("water.py"))).to_be_visible()
        _tab_to(page, "^Text of .*water.py")
        page.keyboard.press("Control+Home")
        page.keyboard.type("# By keyboard alone\n")
        page.keyboard.press("Control+s")
        until(lambda: client.get(f"{at}/branches/ai%2Fbeds").json()["commit"] != before)
        text = client.get(f"{at}/files/water.py", params={"branch": "ai/beds"}).text
    assert "# By keyboard alone" in text


def _turns(client: Any, at: str) -> int:
    session = client.get(f"{at}/session", params={"branch": "ai/beds"}).json()
    return (
        0 if session["working"] else len(session["turns"]) if isinstance(session["turns"], list) else session["turns"]
    )


@pytest.mark.req("C-02", "G-15")
def test_axe_finds_nothing_serious_in_questions_and_pictures_of_contracts(reader: Any, desk: Desk) -> None:
    with desk.client() as client:
        project = made(client, "Contracts for axe")
        address = f"/api/projects/{project}/contracts"
        answers = {"answers": {"product": "A shared list of tasks.", "features": "Add tasks\nDelete tasks"}}
        client.put(f"{address}/questions", json=answers).raise_for_status()
        client.post(f"{address}/generation").raise_for_status()
        until(lambda: client.get(f"{address}/generation").json()["state"] == "done")
    _go(reader, desk, f"/projects/{project}?tab=contracts")
    cards = reader.get_by_role("list", name="Contract")
    for card, shown in (("Phases", "Timeline of phases"), ("Physics", "Endpoints"), ("Boundaries", "Layers")):
        cards.get_by_role("button", name=card).press("Enter")
        reader.get_by_label(shown).first.wait_for()
        assert_accessible(reader)
    reader.get_by_role("button", name="Questions").press("Enter")
    reader.get_by_label("What is built?").wait_for()
    assert_accessible(reader)


@pytest.mark.req("C-05", "G-15")
def test_axe_finds_nothing_serious_in_the_editor_of_contracts(reader: Any, desk: Desk) -> None:
    with desk.client() as client:
        project = made(client, "Contract editor for axe")
    _go(reader, desk, f"/projects/{project}?tab=contracts")
    reader.get_by_role("button", name="Boundaries Missing").press("Enter")
    reader.get_by_role("button", name="Write").press("Enter")
    area = reader.get_by_role("textbox", name="Text of boundaries")
    area.press("Control+a")
    reader.keyboard.insert_text('{"allowed": []}')
    reader.locator(".cm-lint-marker-error").wait_for()
    assert_accessible(reader)
    area.press("Control+Home")
    area.press("ArrowRight")
    area.press("Control+Space")
    reader.get_by_role("listbox", name="Completions").wait_for()
    assert_accessible(reader)
