"""Projects in the browser: from a brain dump to done, halts and how they end, files, documents and figures."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Desk, opened, until
from tests.support.provider import Provider
from tests.web.projects import DUMP, advanced, at_rest, made, say

_CONFIG = """\
polish: {{max_iterations: 1}}
models: {{planner: builtin, writer: author, fixer: builtin, reviewer: critic}}
agents: {{critic: {{command: [echo, {review}]}}, author: {{command: {author}}}}}
"""
AUTHOR = """\
import json, re, sys
slots = json.loads(re.search(r"<slots>(.*?)</slots>", sys.stdin.read(), re.S)[1])
content = dict.fromkeys(slots, "This is what has to be done here.")
print(json.dumps({"stuck": False, "reason": "", "content": json.dumps(content)}))
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Desk]:
    """One round of polishing, and a reviewer that always says the same: a project without an agent is halted."""
    place = tmp_path_factory.mktemp("desk")
    issues = [
        {"severity": "medium", "description": f"Finding {n}", "location": "Money", "recommendation": "Mend it"}
        for n in range(9)
    ]
    review = json.dumps({"critical": 0, "medium": 9, "minor": 0, "issues": issues})
    (place / "config.yaml").write_text(
        _CONFIG.format(review=json.dumps(review), author=json.dumps([sys.executable, "-c", AUTHOR]))
    )
    with opened(place, provider) as made:
        yield made


@pytest.mark.req("P-03", "P-12")
def test_distill_sends_what_stands_in_the_composer_and_confirm_asks_about_it(
    page: Any, desk: Desk, expect: Any
) -> None:
    with desk.client() as client:
        id_ = made(client, "Unsent words")
    page.goto(f"{desk.url}/projects/{id_}")
    composer = page.get_by_label("Message to the project")
    composer.fill(DUMP)
    page.get_by_role("button", name="Distill").click()
    standing = page.get_by_role("status", name="Where it stands")
    expect(standing).to_contain_text("confirm or correct the intent")
    expect(composer).to_have_value("")
    expect(page.get_by_role("article", name="You")).to_contain_text("summer party")
    expect(page.get_by_role("article", name="intent.md")).to_contain_text("1500 euros")

    composer.fill("The budget is 2000 euros.")
    page.get_by_role("button", name="Confirm").click()
    dialog = page.get_by_role("dialog").or_(page.get_by_role("alertdialog"))
    expect(dialog).to_contain_text("Your message is not sent")
    page.keyboard.press("Escape")
    expect(standing).to_contain_text("confirm or correct the intent")
    expect(composer).to_have_value("The budget is 2000 euros.")
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Confirm without it").click()
    expect(standing).not_to_contain_text("confirm or correct the intent")
    expect(composer).to_have_value("The budget is 2000 euros.")


@pytest.mark.req("P-03", "P-12")
def test_whether_a_message_is_background_is_asked_once_with_two_buttons(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Bakery")
    page.goto(f"{desk.url}/projects/{id_}")
    page.get_by_label("Message to the project").fill("We are a bakery of twelve people in Leeds, and Tom decides.")
    page.keyboard.press("Enter")
    card = page.get_by_role("region", name="About your first message")
    expect(card).to_be_visible()
    expect(page.get_by_text("Is this background about your team")).to_have_count(1)
    card.get_by_role("button", name="Background").click()
    expect(card).to_have_count(0)
    expect(page.get_by_text("Is this background about your team")).to_have_count(1)


@pytest.mark.req("X-01", "X-03")
def test_the_example_runs_to_its_end_by_one_press_whatever_the_limits_are_set_to(
    page: Any, desk: Desk, expect: Any
) -> None:
    page.get_by_role("button", name="Run the example").click()
    page.wait_for_url(re.compile("/projects/"))
    expect(page.get_by_text("Done after 3 rounds").first).to_be_visible(timeout=60_000)
    expect(page.get_by_role("heading", name="Trip Split", exact=True)).to_be_visible()


@pytest.mark.req("P-04", "P-05", "P-12")
def test_a_brain_dump_becomes_a_plan_in_the_browser(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(f"{desk.url}/projects/new")
    page.get_by_label("Name (optional)").fill("Campaign Analysis: Q3 (Final)")
    expect(page.get_by_label("Directory")).to_have_text("campaign-analysis-q3-final")
    page.get_by_role("radio", name="A plan").check()
    page.get_by_label("Who answers").select_option("builtin")
    page.get_by_role("button", name="Create the project").click()
    expect(page.get_by_role("heading", name="Campaign Analysis")).to_be_visible()
    expect(page.get_by_label("Message to the project")).to_have_value("")
    expect(page.get_by_text("plan", exact=True)).to_be_visible()
    standing = page.get_by_role("status", name="Where it stands")
    expect(standing).to_contain_text("Waits for you: your words")

    page.get_by_label("Message to the project").fill(f"{DUMP} It is open whether music is allowed.")
    page.reload()  # what is not sent yet is kept
    expect(page.get_by_label("Message to the project")).to_have_value(re.compile("music is allowed"))
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("article", name="You")).to_contain_text("summer party")
    expect(page.get_by_label("Message to the project")).to_have_value("")

    presses: list[Any] = []
    page.on("request", lambda request: presses.append(request) if "/actions/" in request.url else None)
    page.get_by_role("button", name="Distill").dblclick()
    expect(standing).to_contain_text("confirm or correct the intent")
    assert len(presses) == 1
    assert presses[0].headers["idempotency-key"]
    expect(page.get_by_role("article", name="intent.md")).to_contain_text("Open Questions")

    say(page, "The budget is 2000 euros now.")
    expect(page.get_by_role("article", name="intent.md")).to_contain_text("2000 euros")
    expect(standing).to_contain_text("confirm or correct the intent")
    page.get_by_role("button", name="Confirm").click()
    expect(standing).to_contain_text("Waits for you: 1 question")
    chat = page.get_by_role("log", name="Chat")
    expect(chat).not_to_contain_text("summer party")
    asked = page.get_by_role("region", name="Open questions").get_by_text("music is allowed")
    expect(asked).to_have_count(1)
    expect(chat.get_by_text("music is allowed")).to_have_count(1)  # in the card, and nowhere else in the chat
    chat.get_by_role("button", name="Show what was said before").click()
    expect(chat.get_by_role("article", name="You").first).to_contain_text("summer party")
    confirm = page.get_by_role("button", name="Confirm")
    expect(confirm).to_be_disabled()
    why = "1 question is still open. Answer before confirming."
    expect(confirm).to_have_accessible_description(why)
    page.mouse.move(0, 0)
    confirm.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(why)

    page.get_by_role("textbox", name="Answer:").fill("Music is allowed until ten.")
    page.get_by_role("button", name="Send the answer").click()
    expect(standing).to_contain_text("confirm the specification")
    expect(confirm).to_be_enabled()
    confirm.click()
    expect(standing).to_have_text(re.compile(r"^Outline ready · \d+ points open$"), timeout=30_000)
    ways = page.get_by_role("region", name="What you can do")
    expect(ways).to_contain_text("Connect a model to write it")
    expect(ways.get_by_role("textbox", name="Key")).to_be_visible()
    expect(ways).to_contain_text("Ollama")
    expect(ways.get_by_role("button", name="Write it with a model")).to_be_enabled()
    expect(page.get_by_role("article", name="outline.md")).to_be_visible()
    page.get_by_role("group", name="What can be done").get_by_role("button", name="Accept the outline").click()
    page.get_by_role("dialog").get_by_role("button", name="Accept the outline").click()
    expect(standing).to_have_text(re.compile(r"^Outline accepted · \d+ points open$"))

    page.get_by_role("button", name="Intent").click()
    page.get_by_role("button", name="Changes").click()
    changes = page.get_by_role("region", name="Changes of intent.md")
    expect(changes.locator("ins", has_text="2000 euros")).to_be_visible()
    expect(changes.locator("del", has_text="1500 euros")).to_be_visible()

    page.get_by_role("tab", name="Artifacts").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download outline.md").click()
    assert Path(download.value.path()).read_text().startswith("# ")

    page.get_by_role("tab", name="Log").click()
    log = page.get_by_role("log", name="Operational log")
    expect(log).to_contain_text("phase transition")
    page.get_by_role("group", name="Levels").get_by_role("button", name="info").click()
    expect(page.get_by_text("No such line")).to_be_visible()


@pytest.mark.req("P-12")
def test_a_halted_project_is_overridden_only_when_confirmed(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Halted", None)
        assert advanced(client, id_, "distill", "confirm", "confirm")["halt_reason"] == "guard_max_iterations"
        page.goto(f"{desk.url}/projects/{id_}")
        standing = page.get_by_role("status", name="Where it stands")
        expect(standing).to_contain_text("the maximum of rounds is reached")

        page.get_by_role("button", name="Resume").click()  # halted again, by the same reviewer
        until(lambda: len(client.get(f"/api/projects/{id_}").json()["rounds"]) == 2, seconds=30)
        at_rest(client, id_)
        page.get_by_role("tab", name="Polish (2)").click()
        row = page.get_by_role("row", name="Round 2")
        expect(row).to_contain_text("max_iterations: halt")
        expect(page.get_by_role("region", name="Findings of round 2")).to_contain_text("Finding 8")

        page.get_by_role("button", name="Override").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Take the deliverable as it is now, with everything that is still open in it?")
        dialog.get_by_role("button", name="Cancel").click()
        assert client.get(f"/api/projects/{id_}").json()["phase"] == "halted"
        page.get_by_role("button", name="Override").click()
        page.get_by_role("button", name="Accept the deliverable").click()
        expect(standing).to_have_text("Done")


@pytest.mark.req("P-12")
def test_a_project_is_terminated_for_good_after_a_question(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Given up")
    page.goto(f"{desk.url}/projects/{id_}")
    page.get_by_role("button", name="Terminate").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Stop this project for good? It cannot be taken up again.")
    dialog.get_by_role("button", name="Terminate the project").click()
    expect(page.get_by_role("status", name="Where it stands")).to_have_text("Terminated")
    expect(page.get_by_role("group", name="What can be done").get_by_role("button")).to_have_count(0)
    expect(page.get_by_label("Message to the project")).to_have_count(0)


@pytest.mark.req("P-03")
def test_files_are_attached_dropped_and_refused_by_name_and_links_are_known(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "With files")
        page.goto(f"{desk.url}/projects/{id_}")
        page.get_by_label("Files to attach").set_input_files(
            [
                {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Forty people come."},
                {"name": "film.mp4", "mimeType": "video/mp4", "buffer": b"x"},
            ]
        )
        sent = page.get_by_role("list", name="Files being sent")
        expect(sent).to_contain_text("notes.txt")
        expect(sent.get_by_text("sent, 18 B")).to_be_visible()
        expect(sent.get_by_role("alert")).to_contain_text("Files of type .mp4 cannot be read")
        transfer = page.evaluate_handle(
            "() => { const it = new DataTransfer(); it.items.add(new File(['rain'], 'weather.md')); return it; }"
        )
        page.get_by_role("log", name="Chat").dispatch_event("drop", {"dataTransfer": transfer})
        expect(sent.get_by_text("weather.md")).to_be_visible()
        until(lambda: len(client.get(f"/api/projects/{id_}/resources").json()["files"]) == 2)

        page.get_by_label("Message to the project").fill(
            "See https://www.notion.so/Team-0a1b2c3d4e5f60718293a4b5c6d7e8f9."
        )
        expect(page.get_by_role("list", name="Links found")).to_contain_text("Notion")
        expect(page.get_by_role("list", name="Links found")).to_contain_text("its connector is off")
        page.get_by_role("tab", name="Artifacts").click()
        expect(page.get_by_role("region", name="Files given")).to_contain_text("weather.md")


@pytest.mark.req("W-08")
def test_the_list_is_searched_and_projects_are_renamed_archived_and_deleted(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Quiet reading")
        made(client, "Loud singing")
    page.goto(f"{desk.url}/projects")
    rows = page.get_by_role("main").get_by_role("list", name="Projects").get_by_role("listitem")
    page.get_by_label("Search projects").fill("quiet")
    expect(rows.first).to_contain_text("Quiet reading")
    expect(rows.first).to_contain_text("waits for you")
    expect(rows.filter(has_text="Loud singing")).to_have_count(0)
    rows.first.get_by_role("link").click()

    more = page.get_by_role("button", name="More about this project")
    more.click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Quiet writing")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="Quiet writing")).to_be_visible()

    more.click()
    page.get_by_role("menuitem", name="Archive the project").click()
    expect(page.get_by_text("archived", exact=True)).to_be_visible()
    page.goto(f"{desk.url}/projects")
    expect(rows.filter(has_text="Loud singing")).to_have_count(1)
    expect(rows.filter(has_text="Quiet writing")).to_have_count(0)
    page.get_by_role("button", name="Archived too").click()
    expect(rows.filter(has_text="Quiet writing")).to_have_count(1)

    page.goto(f"{desk.url}/projects/{id_}")
    more.click()
    page.get_by_role("menuitem", name="Delete").click()
    delete = page.get_by_role("button", name="Delete the project")
    expect(delete).to_be_disabled()
    page.get_by_label("to confirm").fill("quiet-reading")
    delete.click()
    expect(page.get_by_role("heading", name="Projects", level=1)).to_be_visible()
    expect(rows.filter(has_text="Quiet writing")).to_have_count(0)


@pytest.mark.req("P-21")
def test_a_page_catches_up_after_the_server_was_killed(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Interrupted")
    page.goto(f"{desk.url}/projects/{id_}")
    # Texts are rendered by code that is fetched with the first of them; it has to be there before the server goes.
    expect(page.get_by_role("article", name="Forge").get_by_role("list").first).to_be_visible()
    page.get_by_label("Message to the project").fill("Not sent yet")
    expect(page.get_by_text("connected", exact=True)).to_be_visible()
    desk.kill()
    expect(page.get_by_text(re.compile("reconnecting", re.IGNORECASE)).first).to_be_visible()
    desk.start()
    with desk.client() as client:
        advanced(client, id_, "distill")
    expect(page.get_by_role("status", name="Where it stands")).to_contain_text("confirm or correct", timeout=40_000)
    expect(page.get_by_role("article", name="You")).to_have_count(1)
    expect(page.get_by_label("Message to the project")).to_have_value("Not sent yet")


def test_the_demo_shows_its_trajectory_tests_and_branch(page: Any, desk: Desk, expect: Any) -> None:
    desk.run("demo")
    with desk.client() as client:
        id_ = next(each["id"] for each in client.get("/api/projects").json()["items"] if each["branch"])
    page.goto(f"{desk.url}/projects/{id_}?tab=polish")
    expect(page.get_by_role("region", name="Tests")).to_contain_text(re.compile(r"(\d+) of \1 tests pass"))
    expect(page.locator("canvas")).to_be_visible()
    expect(page.get_by_role("row", name="Round 3")).to_contain_text("termination: done")
    page.get_by_role("button", name="Round 1").click()
    expect(page.get_by_role("region", name="Findings of round 1")).to_contain_text("critical")
    page.get_by_role("button", name="Open branch").or_(page.get_by_role("link", name="Open branch")).first.click()
    page.wait_for_url(re.compile(r"/r/[^/]+/b/forge"))
