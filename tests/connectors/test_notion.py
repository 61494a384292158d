"""Pages of Notion become Markdown files, and what goes wrong becomes a reason."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from forge.connectors import ConnectorMisconfigured
from forge.connectors.notion import Notion, notion, page_id
from tests.support.connector_servers import TOKEN, Json, NotionServer, Said, notion_error

ID = "0123456789abcdef0123456789abcdef"
DASHED = "01234567-89ab-cdef-0123-456789abcdef"
OTHER = "f" * 32
URL = f"https://www.notion.so/team/Holiday-{ID}"


def text(content: str, href: str | None = None, **style: bool) -> Json:
    return {"type": "text", "plain_text": content, "href": href, "annotations": style}


def block(kind: str, *runs: Json | str, name: str = "", nested: bool = False, **content: Any) -> Json:
    parts = [text(run) if isinstance(run, str) else run for run in runs]
    return {
        "object": "block",
        "id": name or "00000000-0000-0000-0000-000000000000",
        "type": kind,
        "has_children": nested,
        kind: {**({"rich_text": parts} if parts else {}), **content},
    }


def page(title: str) -> Json:
    return {"object": "page", "properties": {"Name": {"type": "title", "title": [text(title)]}}}


def connector(server: NotionServer, **options: Any) -> Notion:
    return Notion(TOKEN, server.url, **options)


@pytest.fixture
def holiday(notion_server: NotionServer) -> NotionServer:
    notion_server.pages[ID] = page("Holiday")
    notion_server.children[ID] = [block("paragraph", "Somewhere warm.")]
    return notion_server


@pytest.mark.req("P-03")
@pytest.mark.asyncio
async def test_every_kind_of_block_becomes_markdown(notion_server: NotionServer, tmp_path: Path) -> None:
    notion_server.pages[ID] = page("Holiday")
    notion_server.children |= {
        ID: [
            block("heading_1", "Plan"),
            block(
                "paragraph",
                "Go ",
                text("far ", bold=True),
                text("away", italic=True, bold=True),
                ", see ",
                text("the map", "https://example.org/map"),
                " and run ",
                text("make", code=True),
                ".",
            ),
            block("bulleted_list_item", "Tent", name="tent", nested=True),
            block("bulleted_list_item", "Stove"),
            block("numbered_list_item", "Drive"),
            block("numbered_list_item", "Swim"),
            block("to_do", "Book", checked=True),
            block("to_do", "Pack", checked=False),
            block("code", "print('```')", language="python"),
            block("quote", "Less is more."),
            block("callout", "Mind the gap", icon={"type": "emoji", "emoji": "⚠️"}),
            block("toggle", "Details", name="toggle", nested=True),
            block("divider"),
            block("table", name="table", nested=True, table_width=2, has_column_header=True),
            block("image", type="external", external={"url": "https://example.org/a.png"}, caption=[text("A lake")]),
            block("image", type="file", file={"url": "https://files.example/b.png?X-Amz-Signature=geheim"}),
            block("child_page", name=OTHER, nested=True, title="Packing list"),
            block("bookmark", url="https://example.org"),
            block("unsupported-->", nested=False),
        ],
        "tent": [block("bulleted_list_item", "Pegs", name="pegs", nested=True)],
        "pegs": [block("paragraph", "Twelve of them.")],
        "toggle": [block("paragraph", "Hidden away.")],
        "table": [
            block("table_row", cells=[[text("Day")], [text("Place")]]),
            block("table_row", cells=[[text("1")], [text("a | b")]]),
        ],
    }

    pulled = await connector(notion_server).pull(URL, tmp_path)

    assert (pulled.saved, pulled.failed) == ((f"notion_{ID}.md",), ())
    assert (tmp_path / pulled.saved[0]).read_text(encoding="utf-8") == snapshot("""\
# Holiday

# Plan

Go **far** ***away***, see [the map](https://example.org/map) and run `make`.

- Tent
    - Pegs

        Twelve of them.
- Stove

1. Drive
2. Swim

- [x] Book
- [ ] Pack

````python
print('```')
````

> Less is more.

> ⚠️ Mind the gap

- Details

    Hidden away.

---

| Day | Place |
| --- | --- |
| 1 | a \\| b |

![A lake](https://example.org/a.png)

![image](https://files.example/b.png)

[Packing list](https://www.notion.so/ffffffffffffffffffffffffffffffff)

[https://example.org](https://example.org)

<!-- Not shown: a block of the kind unsupported -->
""")
    listed = [asked.query.get("start_cursor") for asked in notion_server.asked if asked.path.endswith(f"{ID}/children")]
    assert listed[:3] == [None, "at-2", "at-4"], "the list is asked for page by page"


@pytest.mark.req("P-03")
@pytest.mark.asyncio
async def test_a_database_becomes_a_table_of_its_rows(notion_server: NotionServer, tmp_path: Path) -> None:
    def row(number: int) -> Json:
        return {
            "object": "page",
            "id": f"r{number}",
            "properties": {
                "Name": {"type": "title", "title": [text(f"Task {number}")]},
                "State": {"type": "status", "status": {"name": "Open"}},
                "Due": {"type": "date", "date": {"start": "2026-03-01", "end": "2026-03-05"}},
                "Tags": {"type": "multi_select", "multi_select": [{"name": "a"}, {"name": "b"}]},
                "Done": {"type": "checkbox", "checkbox": False},
                "Cost": {"type": "number", "number": 1.5},
                "Sum": {"type": "formula", "formula": {"type": "number", "number": 3}},
                "Note": {"type": "rich_text", "rich_text": [text("two "), text("parts")]},
            },
        }

    sources = [{"id": "source", "name": "Tasks"}]
    notion_server.databases[ID] = {"object": "database", "title": [text("Work")], "data_sources": sources}
    notion_server.sources["source"] = [row(1), row(2), row(3)]

    pulled = await connector(notion_server).pull(f"https://notion.so/{ID}?v={OTHER}", tmp_path)

    assert pulled.saved == (f"notion_{ID}.md",)
    assert (tmp_path / f"notion_{ID}.md").read_text(encoding="utf-8") == snapshot("""\
# Work

## Tasks

| Title | State | Due | Tags | Done | Cost | Sum | Note |
| --- | --- | --- | --- | --- | --- | --- | --- |
| [Task 1](https://www.notion.so/r1) | Open | 2026-03-01 – 2026-03-05 | a, b | no | 1.5 | 3 | two parts |
| [Task 2](https://www.notion.so/r2) | Open | 2026-03-01 – 2026-03-05 | a, b | no | 1.5 | 3 | two parts |
| [Task 3](https://www.notion.so/r3) | Open | 2026-03-01 – 2026-03-05 | a, b | no | 1.5 | 3 | two parts |
""")


@pytest.mark.req("P-03")
@pytest.mark.parametrize(
    "target",
    [
        URL,
        f"notion.so/{ID}",
        f"https://www.notion.so/{DASHED}",
        f"https://team.notion.site/Some-Title-with-cafe-{ID}?pvs=4",
        f"https://www.notion.so/team/{OTHER}?v={'e' * 32}&p={ID}&pm=s",
        f"https://www.notion.so/Title-{ID}#{'a' * 32}",
        f"https://www.notion.so/Title-{ID.upper()}",
        f"https://www.notion.so/{ID}?v={OTHER}",
    ],
)
def test_page_ids_are_found_in_every_shape_of_address(target: str) -> None:
    assert connector(NotionServer()).takes(target)
    assert page_id(target) == ID


@pytest.mark.parametrize(
    "target",
    ["https://notion.so.evil.example/x", "https://example.org/notion.so/", "https://mynotion.so/x", "http://[", ""],
)
def test_other_addresses_are_left_to_others(target: str) -> None:
    assert not connector(NotionServer()).takes(target)


@pytest.mark.asyncio
async def test_an_address_without_an_id_is_a_failure(notion_server: NotionServer, tmp_path: Path) -> None:
    pulled = await connector(notion_server).pull("https://www.notion.so/product", tmp_path)
    assert pulled.failed == ("https://www.notion.so/product: the address has no page id in it",)
    assert notion_server.asked == []


@pytest.mark.req("P-03")
@pytest.mark.parametrize(
    ("failures", "reason"),
    [
        ([Said(401, {"object": "error", "code": "unauthorized", "message": f"no {TOKEN}"})], "does not accept the API"),
        ([notion_error(403, "restricted_resource", "no")], "the integration may not read it"),
        ([notion_error(404, "object_not_found", "no")] * 2, "it does not exist, or it is not shared"),
        ([Said(502, b"<html>")], "Notion answered with status 502"),
        ([Said(200, b"no JSON")], "not JSON"),
        ([Said(200, b"[]")], "something unexpected"),
    ],
)
@pytest.mark.asyncio
async def test_failures_are_told_with_their_reason(
    holiday: NotionServer, tmp_path: Path, failures: list[Said], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    holiday.failures += failures
    pulled = await connector(holiday).pull(URL, tmp_path)
    assert pulled.saved == ()
    assert len(pulled.failed) == 1
    assert pulled.failed[0].startswith(f"{URL}: ")
    assert reason in pulled.failed[0]
    assert TOKEN not in pulled.failed[0]
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr() == ("", ""), "the library prints nothing"


@pytest.mark.req("P-03")
@pytest.mark.asyncio
async def test_a_page_is_asked_for_again_when_notion_asks_to_wait(holiday: NotionServer, tmp_path: Path) -> None:
    holiday.failures += [notion_error(429, "rate_limited", "slow down", **{"Retry-After": "0"})] * 2
    pulled = await connector(holiday).pull(URL, tmp_path)
    assert pulled.saved == (f"notion_{ID}.md",)
    assert [asked.path for asked in holiday.asked].count(f"/v1/pages/{ID}") == 3


@pytest.mark.asyncio
async def test_waiting_has_an_end(holiday: NotionServer, tmp_path: Path) -> None:
    holiday.failures += [notion_error(429, "rate_limited", "slow down", **{"Retry-After": "0"})] * 100
    pulled = await connector(holiday).pull(URL, tmp_path)
    assert pulled.failed == (f"{URL}: Notion asks to slow down; try again later",)
    assert len(holiday.asked) == 4


@pytest.mark.req("P-03")
@pytest.mark.asyncio
async def test_a_silent_server_and_a_missing_one_are_failures(holiday: NotionServer, tmp_path: Path) -> None:
    silence = threading.Event()
    holiday.failures.append(Said(wait=silence))
    pulled = await connector(holiday, request_seconds=0.2).pull(URL, tmp_path)
    silence.set()
    assert pulled.failed == (f"{URL}: Notion did not answer in time",)
    pulled = await Notion(TOKEN, "http://127.0.0.1:1").pull(URL, tmp_path)
    assert pulled.failed == (f"{URL}: Notion cannot be reached (ConnectError)",)


@pytest.mark.asyncio
async def test_nested_blocks_of_elsewhere_may_be_missing(holiday: NotionServer, tmp_path: Path) -> None:
    holiday.children[ID].append(block("synced_block", name="elsewhere", nested=True))
    pulled = await connector(holiday).pull(URL, tmp_path)
    assert pulled.saved == (f"notion_{ID}.md",)
    assert pulled.failed == (f"{URL}: blocks within it are not shared with the integration",)
    assert "Somewhere warm." in (tmp_path / pulled.saved[0]).read_text(encoding="utf-8")


@pytest.mark.asyncio
async def test_blocks_that_contain_themselves_come_to_an_end(holiday: NotionServer, tmp_path: Path) -> None:
    holiday.children[ID] = [block("bulleted_list_item", "again", name=ID, nested=True)]
    pulled = await connector(holiday).pull(URL, tmp_path)
    assert pulled.failed == (f"{URL}: only 12 levels of nested blocks were taken",)


@pytest.mark.asyncio
async def test_a_second_pull_replaces_the_first(holiday: NotionServer, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine")
    resources = tmp_path / "resources"
    resources.mkdir()
    (resources / f"notion_{ID}.md").symlink_to(outside)
    for content in ("Old.", "New."):
        holiday.children[ID] = [block("paragraph", content)]
        await connector(holiday).pull(URL, resources)
    assert (resources / f"notion_{ID}.md").read_text() == "# Holiday\n\nNew.\n"
    assert outside.read_text() == "mine", "a link is replaced, not followed"


@pytest.mark.asyncio
async def test_a_file_that_cannot_be_saved_is_a_failure(holiday: NotionServer, tmp_path: Path) -> None:
    (tmp_path / f"notion_{ID}.md").mkdir()
    pulled = await connector(holiday).pull(URL, tmp_path)
    assert pulled.failed == (f"{URL}: it could not be saved (is a directory)",)


@pytest.mark.req("P-17")
@pytest.mark.parametrize("options", [{"enabled": True}, {"enabled": True, "api_token": " "}, {"api_token": None}])
def test_no_token_stops_the_start(options: dict[str, Any]) -> None:
    with pytest.raises(ConnectorMisconfigured) as caught:
        notion(options)
    assert caught.value.message == "Connector 'notion' is enabled but missing required credentials."
    assert caught.value.code == "connector_misconfigured"
    assert "api_token" in caught.value.hint


def test_the_token_is_not_shown() -> None:
    made = notion({"enabled": True, "api_token": TOKEN})
    assert (made.name, made.token) == ("notion", TOKEN)
    assert TOKEN not in repr(made)
