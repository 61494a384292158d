"""The web interface in a real browser: what the first load weighs, when it can be used, and what holds up the page."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks import pages
from benchmarks.timing import Figure
from tests.support.provider import Asked
from tests.support.sample_repositories import World, long_history, path_of
from tests.support.stand_in import Reply

_LONG_TASK = 50.0
_TOKENS = 2_000
_LOADS = 5
_FOLDERS = 100
_USABLE = """
(() => {
  const look = () => {
    const drawn = document.querySelector("main h1, main h2") && document.querySelector("nav[aria-label=Places] a");
    if (drawn && window.usable === undefined) requestAnimationFrame(() => (window.usable ??= performance.now()));
    if (!drawn) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""
_WEIGHT = """
() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((entry) => !entry.name.includes("/api/"))
  .reduce((sum, entry) => sum + entry.encodedBodySize, 0)
"""
_SCROLL = """
async ([selector, pixels, steps]) => {
  const box = document.querySelector(selector);
  for (let step = 0; step < steps; step++) {
    box.scrollTop += pixels;
    await new Promise((done) => requestAnimationFrame(done));
  }
  if (box.scrollTop < (pixels * steps) / 2) throw new Error(`it scrolled only to ${box.scrollTop}`);
}
"""
_TREE = '[role="tree"][aria-label="Files"]'
_LAST_WORD = "() => Math.max(...[...document.body.innerText.matchAll(/word(\\d+)/g)].map((found) => Number(found[1])))"


def interface(root: Path) -> Iterator[Figure]:
    """Nothing where there is no browser."""
    if not pages.possible():
        print("  ui: left out, there is no Chromium or no playwright", file=sys.stderr)
        return
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix="ui-") as place, pages.room(Path(place), _stream) as room:
        yield from _loading(room)
        yield from _typing_and_streaming(room)
        yield from _tree(room, root)
        yield from _graph(room, root)


def _stream(_: Asked) -> Reply:
    return Reply(tuple(f"word{n} " if n % 12 else f"\n\n- **word{n}** " for n in range(_TOKENS)), pause=0.005)


def _loading(room: pages.Room) -> Iterator[Figure]:
    times, weight = [], 0.0
    for _ in range(_LOADS):
        context = room.context()
        context.add_init_script(_USABLE)
        page = context.new_page()
        page.goto(room.desk.address("/"))
        page.wait_for_function("() => window.usable !== undefined")
        times.append(page.evaluate("() => window.usable") / 1000)
        weight = page.evaluate(_WEIGHT) / 1000
        context.close()
    yield Figure("first load of the shell, packed", "", weight, "kB", at_most=350)
    yield Figure("until the first screen can be used", "median of 5", statistics.median(times), "s", at_most=1.5)


def _typing_and_streaming(room: pages.Room) -> Iterator[Figure]:
    source = "\n".join(f"def step_{n}(value: int) -> int:\n    return value + {n}\n" for n in range(400))
    repo = room.desk.repository({"README.md": "# Garden\n", "steps.py": source})
    with room.page(f"/r/{repo}/b/main?file=steps.py&tab=file") as page:
        page.locator(".cm-content").click()
        yield from _held_up(page, "typing 200 characters in the editor", "", lambda: _typed(page))
    large = source * (1_000_000 // len(source) + 1)
    repo = room.desk.repository({"README.md": "# Garden\n", "large.py": large})
    with room.page(f"/r/{repo}/b/main?file=large.py&tab=file") as page:
        page.locator(".cm-content").click()
        page.wait_for_timeout(2_000)
        yield from _held_up(page, "typing 200 characters in the editor", "1 MB", lambda: _typed(page))
    with room.page(f"/r/{repo}/b/main?tab=chat") as page:
        field = page.locator("main textarea").first
        field.fill("task flow1: stream")
        field.press("Enter")
        page.get_by_text("word24", exact=False).first.wait_for()
        before = page.evaluate(_LAST_WORD)
        yield from _held_up(page, "an answer streams in", "8 s", lambda: page.wait_for_timeout(8_000))
        shown = (page.evaluate(_LAST_WORD) - before) / 8.2
        yield Figure("tokens of it shown a second, of 200 sent", "8 s", shown, "a second")


def _typed(page: Any) -> None:
    page.keyboard.type("value = other + 1  # " * 10, delay=15)


def _tree(room: pages.Room, root: Path) -> Iterator[Figure]:
    world = World(root, "100k")
    repo = _added(room, world.path)
    folders = sorted({str(Path(path_of(n, world.count)).parent) for n in range(0, world.count, 40)})
    areas = sorted({str(Path(folder).parent) for folder in folders})
    with room.page(f"/r/{repo}/b/main") as page:
        page.get_by_role("tree", name="Files").wait_for()
        _open(page, repo, ["src", *areas, *folders[:_FOLDERS]])
        page.get_by_role("treeitem").nth(20).wait_for()
        page.wait_for_timeout(3_000)
        yield from _held_up(
            page,
            "scrolling the tree of files",
            f"100k files, {1 + len(areas) + len(folders) + 40 * _FOLDERS:,} rows open",
            lambda: page.evaluate(_SCROLL, [_TREE, 400, 300]),
        )
        yield from _held_up(page, "opening all folders", "100k files", lambda: _open_all(page, world.count))
        scroll = [_TREE, 4_000, 300]
        yield from _held_up(page, "scrolling all of it", "100k rows open", lambda: page.evaluate(_SCROLL, scroll))


def _open_all(page: Any, rows: int) -> None:
    page.get_by_role("button", name="Open all folders").click()
    page.wait_for_function(
        "([box, height]) => document.querySelector(box).scrollHeight > height", arg=[_TREE, 24 * rows]
    )


def _open(page: Any, repo: str, folders: list[str]) -> None:
    """As if a person had opened them before."""
    page.evaluate(
        "([key, value]) => localStorage.setItem(key, JSON.stringify(value))",
        [f"forge:open-folders:{repo}:main", folders],
    )
    page.reload()
    page.get_by_role("tree", name="Files").wait_for()


def _graph(room: pages.Room, root: Path) -> Iterator[Figure]:
    repo = _added(room, long_history(root, 50_000))
    box = '[role="listbox"][aria-label="Commits, newest first"]'
    with room.page(f"/r/{quote(repo)}") as page:
        page.locator(box).wait_for()
        page.get_by_role("option").nth(5).wait_for()
        page.wait_for_timeout(3_000)
        scroll = [box, 600, 300]
        yield from _held_up(page, "scrolling the graph", "50k commits", lambda: page.evaluate(_SCROLL, scroll))
        page.locator(box).hover()
        yield from _held_up(page, "zooming the graph", "50k commits", lambda: _zoomed(page))


def _zoomed(page: Any) -> None:
    """All the way out and in again, by the wheel."""
    for turned in (120, 120, 120, -120, -120, -120) * 2:
        page.keyboard.down("Control")
        page.mouse.wheel(0, turned)
        page.keyboard.up("Control")
        page.wait_for_timeout(150)


def _added(room: pages.Room, path: Path) -> str:
    with room.desk.client() as client:
        added = client.post("/api/repositories", json={"path": str(path)}, timeout=120)
    added.raise_for_status()
    return str(added.json()["id"])


def _held_up(page: Any, what: str, size: str, action: Any) -> Iterator[Figure]:
    """The longest task during an action; 0 where none took over 50 ms, the least that browsers report."""
    page.evaluate("() => { window.longTasks.length = 0 }")
    action()
    page.wait_for_timeout(200)
    tasks = page.evaluate("() => window.longTasks")
    yield Figure(f"longest task while {what}", size, max(tasks, default=0.0), "ms", at_most=_LONG_TASK)
