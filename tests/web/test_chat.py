"""The chat of a branch in a real browser: turns as they come, what they leave, and what can be done with them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.browser import Desk, until
from tests.web.chat import FIRST_TURN, branched, ended, expect, open_chat, say, turns

WATER = '''"""Waters a bed."""


def get_schema():
    return {"type": "function", "function": {"name": "water", "description": "Waters a bed.", "parameters": {}}}


def execute(vfs, args):
    return "watered"
'''


def streams(page: Any, text: str) -> None:
    expect(page.get_by_role("log", name="Conversation")).to_contain_text(text, timeout=FIRST_TURN)


@pytest.mark.req("G-15")
def test_a_message_on_main_begins_a_branch_and_its_turn_is_shown_to_the_commit(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, "main")
    expect(page.get_by_text("Agents do not write here.")).to_be_visible()
    say(page, "task rose1: write the notes and run the command.")
    end = ended(page, 1)
    expect(page).to_have_url(re.compile("/b/ai(%2F|/)task-rose1-write-the"))
    expect(end).to_contain_text("Write the notes of rose1")
    expect(end).to_contain_text(re.compile(r"2 files \+2 −0.*\$0\.001"))
    expect(page.get_by_text("Commit: Write the notes")).to_have_count(0)
    page.get_by_role("button", name="Edit notes/rose1.txt, done").click()
    change = page.get_by_role("region", name="Change")
    expect(change).to_contain_text("one")
    expect(change).to_contain_text("two")
    page.get_by_role("button", name=re.compile("^Run echo rose1")).click()
    expect(page.get_by_role("region", name="Result").last).to_contain_text("Exit code 0.")
    end.get_by_role("button", name="Diff").click()
    expect(page.get_by_role("region", name="Changes of notes/rose1.txt")).to_contain_text("two rose1")


@pytest.mark.req("G-15")
def test_answers_are_markdown_with_code_and_what_was_thought_is_folded(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/prose"))
    say(page, "task prose1: plan it.")
    ended(page, 1)
    turn = page.get_by_role("article", name="Turn 1")
    expect(turn.get_by_role("heading", name="Plan")).to_be_visible()
    expect(turn.get_by_role("cell", name="tulips")).to_be_visible()
    expect(turn.locator("pre")).to_contain_text("def water(bed: str)")
    expect(turn.get_by_role("button", name="Copy the code")).to_be_visible()
    thought = turn.get_by_text("The person wants a plan.")
    expect(thought).to_have_count(0)
    turn.get_by_role("button", name="Thinking").click()
    expect(thought).to_be_visible()


@pytest.mark.req("G-15")
def test_a_turn_that_ends_never_leaves_the_screen(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/steady"))
    say(page, "task steady1: write the notes and run the command.")
    ended(page, 1)
    say(page, "task steady2: write the notes and run the command.")
    articles = page.get_by_role("log", name="Conversation").get_by_role("article")
    expect(articles).to_have_count(2)
    page.evaluate("""() => {
        const log = document.querySelector('[role=log]');
        window.fewest = Infinity;
        const look = () => { window.fewest = Math.min(window.fewest, log.querySelectorAll('article').length); };
        look();
        new MutationObserver(look).observe(log, { childList: true, subtree: true });
    }""")
    ended(page, 2)
    until(lambda: len(turns(desk, repo, "ai/steady")) == 2)
    page.wait_for_timeout(500)
    assert page.evaluate("window.fewest") == 2


@pytest.mark.req("G-15")
def test_what_is_being_read_stays_where_it_is_and_escape_stops_the_turn(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/slow"))
    say(page, "task long1: tell me much.")
    log = page.get_by_role("log", name="Conversation")
    streams(page, "Line 40")
    # Between two frames the text may be longer than what was scrolled to; without following it would stay so.
    at_end = (
        "() => (box => box.scrollHeight - box.scrollTop - box.clientHeight < 40)(document.querySelector('[role=log]'))"
    )
    page.wait_for_function(at_end)
    log.evaluate("box => { box.scrollTop -= 300 }")
    page.wait_for_timeout(50)
    place = log.evaluate("box => box.scrollTop")
    grown = log.evaluate("box => box.scrollHeight")
    page.wait_for_function("h => document.querySelector('[role=log]').scrollHeight > h + 100", arg=grown)
    assert log.evaluate("box => box.scrollTop") == place
    page.get_by_role("button", name="Jump to the latest").click()
    page.wait_for_function(at_end)
    expect(page.get_by_text(re.compile(r"Running 0:\d\d"))).to_be_visible()
    page.get_by_role("textbox", name="Message").focus()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Stopped by you.")).to_be_visible(timeout=FIRST_TURN)
    until(lambda: [turn["status"] for turn in turns(desk, repo, "ai/slow")] == ["cancelled"])


@pytest.mark.req("G-15")
def test_a_message_said_meanwhile_waits_and_is_sent_when_the_turn_has_ended(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/queue"))
    say(page, "task slow1: count.")
    streams(page, "word3")
    say(page, "task prose2: and then plan.")
    expect(page.get_by_role("list", name="Queued messages")).to_contain_text("and then plan")
    page.get_by_role("button", name="Stop", exact=True).click()
    ended(page, 2)
    assert [turn["asked"] for turn in turns(desk, repo, "ai/queue")] == [
        "task prose2: and then plan.",
        "task slow1: count.",
    ]


@pytest.mark.req("G-15")
def test_a_server_killed_in_the_middle_of_a_stream_costs_nothing_and_doubles_nothing(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/killed"))
    say(page, "task steady1: go on.")
    streams(page, "word20 ")
    page.get_by_role("textbox", name="Message").fill("a draft that must stay")
    desk.kill()
    expect(page.get_by_text("waiting for the server")).to_be_visible(timeout=15_000)
    desk.start()
    ended(page, 1)
    text = page.get_by_role("article", name="Turn 1").inner_text()
    assert [int(n) for n in re.findall(r"word(\d+)", text)] == list(range(120))
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("textbox", name="Message")).to_have_value("a draft that must stay")
    assert len(turns(desk, repo, "ai/killed")) == 1


@pytest.mark.req("G-15")
def test_a_second_window_and_a_reloaded_one_show_the_same_turn(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/two"))
    say(page, "task steady2: for two windows.")
    streams(page, "word5 ")
    other = page.context.new_page()
    open_chat(other, desk, repo, "ai/two")
    expect(other.get_by_role("article")).to_contain_text("for two windows")
    page.reload()
    for window in (page, other):
        ended(window, 1)
        assert window.get_by_role("article").inner_text().count("word119") == 1
    other.close()


@pytest.mark.req("G-15")
def test_a_page_that_begins_to_listen_too_late_still_shows_how_the_turn_ended(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    branched(desk, repo, "ai/late")
    held: list[Any] = []
    ended_there: list[bool] = []

    def hold(route: Any) -> None:
        if ended_there:
            route.continue_()
        else:
            held.append(route)

    page.route("**/api/events*", hold)
    open_chat(page, desk, repo, "ai/late")
    say(page, "task prose3: before anybody listens.")
    until(lambda: len(turns(desk, repo, "ai/late")) == 1, seconds=90)
    ended_there.append(True)
    for route in held:
        route.continue_()
    ended(page, 1)


@pytest.mark.req("G-15")
def test_the_last_message_can_be_edited_as_soon_as_its_turn_has_ended(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/soon"))
    say(page, "task rose1: write the notes.")
    ended(page, 1)
    held: list[Any] = []
    page.route("**/session/turns?*", lambda route: held.append(route))  # noqa: PLW0108 - playwright wants a plain function
    say(page, "task rose2: write the notes.")
    ended(page, 2)
    message = page.get_by_role("textbox", name="Message")
    message.focus()
    page.keyboard.press("ArrowUp")
    expect(message).to_have_value("task rose2: write the notes.")
    assert held, "the branch was read before"
    for route in held:
        route.continue_()
    page.unroute("**/session/turns?*")


@pytest.mark.req("G-15", "G-08")
def test_the_last_message_is_edited_on_a_new_branch_and_any_turn_is_forked(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/edit"))
    say(page, "task rose5: write the notes.")
    ended(page, 1)
    message = page.get_by_role("textbox", name="Message")
    message.focus()
    page.keyboard.press("ArrowUp")
    expect(message).to_have_value("task rose5: write the notes.")
    expect(page.get_by_role("textbox", name="Name of the new branch")).to_have_value("ai/edit-2")
    say(page, "task rose6: write other notes.")
    expect(page).to_have_url(re.compile("ai(%2F|/)edit-2"))
    ended(page, 1)
    assert [turn["asked"] for turn in turns(desk, repo, "ai/edit-2")] == ["task rose6: write other notes."]
    assert turns(desk, repo, "ai/edit-2")[0]["files"] == ["notes/rose6.txt", "ran.log"]
    page.get_by_role("button", name="Fork from here").click()
    page.get_by_role("textbox", name="Name of the branch").fill("ai/forked")
    page.get_by_role("button", name="Fork and open").click()
    expect(page).to_have_url(re.compile("ai(%2F|/)forked"))
    ended(page, 1)


@pytest.mark.req("G-15")
def test_a_turn_is_undone_and_brought_back(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/undo"))
    say(page, "task rose7: write the notes.")
    ended(page, 1).get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Nothing was said on ai/undo yet")).to_be_visible()
    page.get_by_role("button", name="Bring it back").click()
    ended(page, 1)


@pytest.mark.req("G-15")
def test_files_are_mentioned_and_attached(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/files"))
    message = page.get_by_role("textbox", name="Message")
    message.fill("task prose8: look at ")
    message.press_sequentially("@nor")
    expect(page.get_by_role("option", name="beds/north.md")).to_be_visible()
    page.keyboard.press("Enter")
    expect(message).to_have_value("task prose8: look at @beds/north.md ")
    with page.expect_file_chooser() as chosen:
        page.get_by_role("button", name="Attach files").click()
    chosen.value.set_files({"name": "seeds.txt", "mimeType": "text/plain", "buffer": b"tulip, rose\n"})
    expect(message).to_have_value(re.compile(r"@attachments/\S*seeds\S*"))
    message.focus()
    page.keyboard.press("Enter")
    ended(page, 1)
    with desk.client() as client:
        got = client.get(f"/api/repositories/{repo}/session/context", params={"branch": "ai/files"}).json()
    paths = [file["path"] for file in got["files"]]
    assert "beds/north.md" in paths
    assert any("seeds" in path for path in paths)


@pytest.mark.req("G-15")
def test_drafts_commands_and_models_are_at_hand(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/draft"))
    message = page.get_by_role("textbox", name="Message")
    message.fill("half a thought")
    page.reload()
    expect(message).to_have_value("half a thought")
    say(page, "task refused1: this cannot be answered.")
    trouble = page.get_by_role("article").get_by_role("status")
    expect(trouble).to_contain_text("The turn failed.", timeout=FIRST_TURN)
    expect(trouble.get_by_role("button", name="Try again")).to_be_visible()
    message.fill("/ret")
    expect(page.get_by_role("option", name="/retry")).to_be_visible()
    page.keyboard.press("Enter")
    until(lambda: len(turns(desk, repo, "ai/draft")) == 2)
    page.get_by_role("button", name=re.compile("^Model: ")).click()
    expect(page.get_by_role("menuitemcheckbox", name=re.compile(r"\$2 in, \$10 out"))).not_to_have_count(0)
    page.get_by_role("menuitemcheckbox", name=re.compile("Built-in engine")).click()
    expect(page.get_by_role("note")).to_contain_text("built-in engine answers")
    expect(page.get_by_role("link", name="Set up a model")).to_be_visible()


@pytest.mark.req("G-15")
def test_a_tool_of_the_repository_asks_to_be_approved(page: Any, desk: Desk) -> None:
    repo = desk.repository({"README.md": "# Garden\n", "tools/water.py": WATER})
    open_chat(page, desk, repo, branched(desk, repo, "ai/tools"))
    card = page.get_by_role("region", name="Approval of water")
    expect(card).to_contain_text("Nobody has approved it yet.")
    card.get_by_role("button", name="Refuse").click()
    expect(page.get_by_text("You refused the tool water.")).to_be_visible()
    page.get_by_role("button", name="Approve after all").click()
    expect(page.get_by_text("You approved the tool water.")).to_be_visible()
    with desk.client() as client:
        own = client.get(f"/api/repositories/{repo}/tools", params={"branch": "ai/tools"}).json()["own"]
    assert [(tool["name"], tool["state"]) for tool in own] == [("water", "approved")]


@pytest.mark.req("G-12", "G-15")
def test_a_changed_tool_shows_what_changed_since_it_was_approved(page: Any, desk: Desk) -> None:
    repo = desk.repository({"README.md": "# Garden\n", "tools/water.py": WATER})
    branch = branched(desk, repo, "ai/changed")
    with desk.client() as client:
        address, where = f"/api/repositories/{repo}", {"branch": branch}
        assert client.post(f"{address}/tools/water/approve", params=where).status_code == 200
        changed = f"{WATER}\nFLOOD = True\n"
        assert client.put(f"{address}/files/tools/water.py", params=where, content=changed).status_code == 200
        open_chat(page, desk, repo, branch)
        card = page.get_by_role("region", name="Approval of water")
        expect(card.get_by_text("Since it was approved, tools/water.py changed.")).to_have_count(1)
        shown = card.get_by_role("region", name="What changed in water since it was approved")
        expect(shown).to_contain_text("+FLOOD = True")
        page.get_by_role("button", name="Approve water").click()
        expect(page.get_by_text("You approved the tool water.")).to_be_visible()


@pytest.mark.req("G-15")
def test_two_hundred_words_a_second_hold_nothing_up(page: Any, desk: Desk, browser: Any) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/swift"))
    say(page, "task prose9: first, so that all is loaded.")
    ended(page, 1)
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    say(page, "task swift1: quickly.")
    ended(page, 2)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    assert long_tasks(events) == []


def long_tasks(events: list[dict[str, Any]]) -> list[tuple[float, list[str]]]:
    """Tasks of the page with more than 50 ms on the processor, and what was in them.

    What a busy machine takes away meanwhile is not the page's doing, nor are the questions that this test puts to it.
    """
    mains = {(e["pid"], e["tid"]) for e in events if e.get("args", {}).get("name") == "CrRendererMain"}
    work = [e for e in events if e.get("ph") == "X" and (e["pid"], e["tid"]) in mains]
    tasks = [e for e in work if e["name"].endswith("RunTask")]
    assert len(tasks) > 100, "the page's work was recorded"
    found = []
    for task in tasks:
        if task.get("tdur", 0) > 50_000:
            ends = task["ts"] + task["dur"]
            inside = [e for e in work if task["ts"] <= e["ts"] < ends and e["tid"] == task["tid"] and e is not task]
            if any("DevToolsSession" in str(e.get("args")) for e in inside):
                continue
            inside.sort(key=lambda e: -e.get("tdur", 0))
            names = [f"{e['name']} {e.get('tdur', 0) / 1000} {e.get('args')}"[:200] for e in inside[:8]]
            found.append((task["tdur"] / 1000, names))
    return found
