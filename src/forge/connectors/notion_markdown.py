"""Notion's blocks and database rows as Markdown. Knows nothing of how they were got."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from forge.json_value import Json

_INDENT = " " * 4
_HEADINGS = {"heading_1": "#", "heading_2": "##", "heading_3": "###", "heading_4": "####"}
_LISTS = ("bulleted_list_item", "numbered_list_item", "to_do")
_CONTAINERS = ("column_list", "column", "synced_block", "tab", "template")
_FILES = ("image", "video", "audio", "file", "pdf")
_LINKS = ("bookmark", "embed", "link_preview")
_SILENT = ("table_of_contents", "breadcrumb")


@dataclass(frozen=True, slots=True)
class Block:
    id: str
    kind: str
    content: Json
    children: tuple[Block, ...] = ()


def rich_text(parts: object) -> str:
    """Runs of styled text as one line of Markdown."""
    return "".join(_run(part) for part in parts if isinstance(part, dict)) if isinstance(parts, list) else ""


def plain_text(parts: object) -> str:
    if not isinstance(parts, list):
        return ""
    return "".join(str(part.get("plain_text", "")) for part in parts if isinstance(part, dict))


def markdown(blocks: Sequence[Block]) -> str:
    """Blocks one after the other; items of one list without a gap."""
    parts: list[str] = []
    number = 0
    before = ""
    for block in blocks:
        number = number + 1 if block.kind == "numbered_list_item" else 0
        text = _block(block, number)
        if text:
            together = block.kind == before and block.kind in _LISTS
            parts.append(("\n" if together else "\n\n") + text if parts else text)
            before = block.kind
    return "".join(parts)


def table(rows: Sequence[Sequence[str]]) -> str:
    """The first row is the head."""
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = ["| " + " | ".join([_cell(cell) for cell in row] + [""] * (width - len(row))) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def page_link(title: str, page_id: str) -> str:
    return f"[{title or 'Untitled'}](https://www.notion.so/{page_id.replace('-', '')})"


def value(found: object) -> str:
    """A property of a database row in a few words; empty where it has no short form."""
    if not isinstance(found, dict):
        return ""
    inner = found.get(str(found.get("type")))
    match inner:
        case bool():
            return "yes" if inner else "no"
        case str() | int() | float():
            return str(inner)
        case {"name": str(name)}:
            return name
        case {"start": str(start), **rest}:
            return f"{start} – {rest['end']}" if rest.get("end") else start
        case {"type": str()}:
            return value(inner)
        case list():
            names = [str(each.get("name") or each.get("plain_text") or "") for each in inner if isinstance(each, dict)]
            return ("" if found.get("type") in ("title", "rich_text") else ", ").join(filter(None, names))
    return ""


def _run(part: Json) -> str:
    text = str(part.get("plain_text", ""))
    style = _of(part, "annotations")
    if part.get("type") == "equation":
        return f"${text}$"
    bare = text.strip()
    if not bare:
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if style.get("code"):
        fence = "``" if "`" in bare else "`"
        bare = f"{fence} {bare} {fence}" if "`" in bare else f"`{bare}`"
    for name, mark in (("bold", "**"), ("italic", "*"), ("strikethrough", "~~")):
        if style.get(name):
            bare = f"{mark}{bare}{mark}"
    address = part.get("href")
    return f"{before}[{bare}]({address}){after}" if isinstance(address, str) else f"{before}{bare}{after}"


def _block(block: Block, number: int) -> str:
    text = rich_text(block.content.get("rich_text"))
    if block.kind in _HEADINGS:
        return _with_children(f"{_HEADINGS[block.kind]} {text}".replace("\n", " "), block)
    if block.kind in _LISTS:
        return _item(_list_mark(block, number), text, block)
    if block.kind in _CONTAINERS:
        return markdown(block.children)
    if block.kind in _SILENT:
        return ""
    if block.kind in _FILES:
        return _file(block)
    if block.kind in _LINKS:
        address = str(block.content.get("url", ""))
        return f"[{rich_text(block.content.get('caption')) or address}]({address})"
    return _OTHERS.get(block.kind, _unknown)(block, text)


def _list_mark(block: Block, number: int) -> str:
    if block.kind == "numbered_list_item":
        return f"{number}."
    if block.kind == "to_do":
        return "- [x]" if block.content.get("checked") else "- [ ]"
    return "-"


def _item(mark: str, text: str, block: Block) -> str:
    line = f"{mark} {text}".rstrip()
    inner = markdown(block.children)
    gap = "\n" if block.children and block.children[0].kind in _LISTS else "\n\n"
    return _indented(line, first=False) + (gap + _indented(inner) if inner else "")


def _with_children(text: str, block: Block) -> str:
    return "\n\n".join(filter(None, [text, markdown(block.children)]))


def _quote(block: Block, text: str) -> str:
    icon = _of(block.content, "icon").get("emoji")
    said = f"{icon} {text}" if isinstance(icon, str) else text
    return "\n".join(f"> {line}".rstrip() for line in _with_children(said, block).split("\n"))


def _code(block: Block, _: str) -> str:
    text = plain_text(block.content.get("rich_text"))
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = str(block.content.get("language") or "")
    name = "" if language == "plain text" else re.sub(r"[^\w+#.-]", "-", language)
    return f"{fence}{name}\n{text}\n{fence}"


def _table(block: Block, _: str) -> str:
    rows = [row.content.get("cells") for row in block.children if row.kind == "table_row"]
    return table([[rich_text(cell) for cell in row] for row in rows if isinstance(row, list)])


def _file(block: Block) -> str:
    held = _of(block.content, str(block.content.get("type")))
    address = str(held.get("url", ""))
    if block.content.get("type") == "file":
        address = urlunsplit(urlsplit(address)._replace(query="", fragment=""))  # the query is a key to the file
    caption = rich_text(block.content.get("caption")) or str(block.content.get("name") or "") or block.kind
    return f"{'!' if block.kind == 'image' else ''}[{caption}]({address})"


def _child(block: Block, _: str) -> str:
    return page_link(str(block.content.get("title") or ""), block.id)


def _link_to_page(block: Block, _: str) -> str:
    target = block.content.get(str(block.content.get("type")))
    return page_link("Linked page", target) if isinstance(target, str) else ""


def _equation(block: Block, _: str) -> str:
    return f"$$\n{block.content.get('expression', '')}\n$$"


def _unknown(block: Block, _: str) -> str:
    return f"<!-- Not shown: a block of the kind {re.sub(r'[^a-z0-9_]', '', block.kind.lower())} -->"


_OTHERS: dict[str, Callable[[Block, str], str]] = {
    "paragraph": lambda block, text: _with_children(text, block),
    "toggle": lambda block, text: _item("-", text, block),
    "quote": _quote,
    "callout": _quote,
    "code": _code,
    "equation": _equation,
    "divider": lambda *_: "---",
    "table": _table,
    "child_page": _child,
    "child_database": _child,
    "link_to_page": _link_to_page,
}


def _cell(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text).replace("|", "\\|")


def _indented(text: str, *, first: bool = True) -> str:
    lines = [_INDENT + line if line else line for line in text.split("\n")]
    return "\n".join(lines) if first else "\n".join(lines)[len(_INDENT) :]


def _of(found: Json, key: str) -> Json:
    inner = found.get(key)
    return inner if isinstance(inner, dict) else {}
