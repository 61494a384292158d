"""`script/screens [NAME …]`: a small picture of each screen in both themes, on data made for it, into docs/screens/."""

from __future__ import annotations

import base64
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks import pages, picture_world
from tests.support.provider import Asked
from tests.support.stand_in import Reply

PLACE = Path(__file__).parent.parent / "docs" / "screens"
_MOST_BYTES = 150_000
# Few colours are enough for a screen; the commonest 256 stay as they are, the others become the nearest of them.
_REDUCE = """
async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const drawing = canvas.getContext("2d");
  drawing.drawImage(image, 0, 0);
  const colors = new Uint32Array(drawing.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([color]) => color);
  const index = new Map(palette.map((color, i) => [color, i]));
  const nearest = (color) => {
    let [best, least] = [0, Infinity];
    palette.forEach((other, i) => {
      let far = 0;
      for (const shift of [0, 8, 16]) far += (((color >> shift) & 255) - ((other >> shift) & 255)) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    index.set(color, best);
    return best;
  };
  let text = "";
  const pixels = Uint8Array.from(colors, (color) => index.get(color) ?? nearest(color));
  for (let i = 0; i < pixels.length; i += 32768) text += String.fromCharCode(...pixels.subarray(i, i + 32768));
  return { width: image.width, height: image.height, palette, pixels: btoa(text) };
}
"""


@dataclass(frozen=True, slots=True)
class Shot:
    name: str
    path: str
    ready: str
    """CSS of what is there once it is drawn."""
    does: Callable[[Any], None] | None = None
    """What is done then, given the page."""


def shots(world: picture_world.PictureWorld) -> list[Shot]:
    at = f"/r/{world.repo}"
    ai = f"{at}/b/{quote(world.ai_branch, safe='')}"
    project = f"/projects/{world.project}"
    return [
        Shot("home", "/", "main h1"),
        Shot("graph", at, "main canvas"),
        Shot("commit", f"{at}/c/{world.commit}", "main article"),
        Shot("chat", f"{ai}?tab=chat", "main textarea"),
        Shot("editor", f"{ai}?file={quote(world.file)}&tab=file", ".cm-content"),
        Shot("differences", f"{at}/b/main?file={quote(world.changed)}&tab=file", ".cm-content", _compared),
        Shot("time-travel", f"{at}/b/main?file={quote(world.changed)}&tab=file", ".cm-content", _travelled),
        Shot("merge", at, "main canvas", _merging(world.clean)),
        Shot("conflicts", at, "main canvas", _resolving(world.clashing)),
        Shot("quick-open", ai, "main textarea", _pressed("Control+p", "fore")),
        Shot("search", ai, "main textarea", _pressed("Control+Shift+f", "forecast")),
        Shot("shortcuts", ai, "main textarea", _shortcuts),
        Shot("projects", "/projects", "main h1"),
        Shot("new-project", "/projects/new", "main h1"),
        Shot("project", f"{project}?tab=chat", "main h1"),
        Shot("documents", f"{project}?tab=documents", "main h1"),
        Shot("polish", f"{project}?tab=polish", "main h1"),
        Shot("artifacts", f"{project}?tab=artifacts", "main h1"),
        Shot("log", f"{project}?tab=log", "main h1"),
        Shot("board", "/board", "main h1"),
        Shot("settings", "/settings/models", "main h1"),
        Shot("prompts", "/settings/prompts", ".cm-content"),
        Shot("palette", ai, "main textarea", _pressed("Control+k", "")),
    ]


def _pressed(keys: str, text: str) -> Callable[[Any], None]:
    def do(page: Any) -> None:
        page.keyboard.press(keys)
        page.keyboard.type(text)

    return do


def _shortcuts(page: Any) -> None:
    page.get_by_role("tree", name="Files").focus()
    page.keyboard.press("?")


def _compared(page: Any) -> None:
    page.get_by_role("button", name="History and differences").click()
    page.locator(".cm-mergeView, .cm-deletedChunk, .cm-changedLine").first.wait_for()


def _travelled(page: Any) -> None:
    page.get_by_role("button", name="Travel in time").click()
    travel = page.get_by_role("region", name="Time travel")
    # Until its commits are there, the slider cannot be moved.
    travel.locator("code").first.wait_for()
    travel.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(lambda url: "at=" in url)


def _merging(branch: str) -> Callable[[Any], None]:
    def do(page: Any) -> None:
        listed = page.get_by_role("navigation", name="Branches of the graph")
        listed.get_by_role("button", name=branch).click(button="right")
        page.get_by_role("menuitem", name=f"Merge {branch} into…").click()
        page.get_by_role("option", name="main").first.click()
        page.get_by_role("list", name="Files that change").wait_for()

    return do


def _resolving(branch: str) -> Callable[[Any], None]:
    def do(page: Any) -> None:
        _merging(branch)(page)
        page.get_by_role("button", name="Resolve 1 conflict").click()
        page.get_by_role("button", name="Take both").wait_for()

    return do


def main() -> None:
    if not pages.possible():
        sys.exit("script/screens needs Chromium and playwright")
    wanted = set(sys.argv[1:])
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="forge-screens-") as scratch, pages.room(Path(scratch), _answers) as room:
        world = picture_world.made(room.desk)
        for theme in ("light", "dark"):
            for shot in shots(world):
                if not wanted or shot.name in wanted:
                    _take(room, shot, theme)


def _answers(asked: Asked) -> Reply:
    return picture_world.answers(asked)


def _take(room: pages.Room, shot: Shot, theme: str) -> None:
    with room.page(shot.path, color_scheme=theme, reduced_motion="reduce") as page:
        page.locator(shot.ready).first.wait_for()
        if shot.does is not None:
            shot.does(page)
        page.wait_for_function("() => document.querySelector('[role=status][aria-label^=Loading]') === null")
        page.wait_for_timeout(800)
        data = reduced(room.browser, page.screenshot())
    file = PLACE / f"{shot.name}-{theme}.png"
    file.write_bytes(data)
    print(f"{file.name} {len(data) // 1000} kB", file=sys.stderr)
    if len(data) > _MOST_BYTES:
        sys.exit(f"{file.name} is larger than {_MOST_BYTES // 1000} kB")


def reduced(browser: Any, png: bytes) -> bytes:
    """The same picture with 256 colours."""
    page = browser.new_page()
    made = page.evaluate(_REDUCE, base64.b64encode(png).decode())
    page.close()
    pixels, width = base64.b64decode(made["pixels"]), made["width"]
    rows = b"".join(b"\0" + pixels[start : start + width] for start in range(0, len(pixels), width))
    palette = b"".join(color.to_bytes(4, "little")[:3] for color in made["palette"])
    head = struct.pack(">IIBBBBB", width, made["height"], 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(kind, data) for kind, data in parts)


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    main()
