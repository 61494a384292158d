"""The prompt as a stream: it only grows, and another process makes the same bytes from what is stored."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.context.overview import tokens_of
from forge.context.seen import Seen, SeenFile
from forge.context.source import ContextSettings, Source
from forge.context.stream import Addition, changes_since, opening, rebase, rebase_due, render, stream, superseded_tokens
from forge.git import ObjectId, Repository, WorkInProgressVFS
from forge.sessions.active import ActiveFile, read_active, write_active
from forge.sessions.conversation import read_turn, write_turn
from forge.sessions.head import drop_draft
from forge.sessions.messages import (
    AssistantMessage,
    ContextMessage,
    Message,
    ToolCall,
    ToolResult,
    UserMessage,
    to_json,
)
from forge.sessions.turns import Item, Reference, Turn, turn_id
from tests.context.conftest import OpenRepo, source_of

SETTINGS = ContextSettings(overview_tokens=2_000, seconds=None)
FILES = {"AGENTS.md": "Be brief.\n", "a.py": "def a(): ...\n", "b.py": "def b(): ...\n", "src/c.py": "class C: ...\n"}


def sent(messages: Sequence[Message]) -> bytes:
    return b"".join(json.dumps(to_json(message)).encode() + b"\n" for message in messages)


def texts(addition: Addition) -> str:
    return "\n".join(message.text for message in addition.messages)


def workspace(repository: Repository, active: Sequence[ActiveFile] = ()) -> WorkInProgressVFS:
    view = repository.workspace("main")
    write_active(view, active)
    return view


def commit(view: WorkInProgressVFS, message: str) -> None:
    """With the same files in context afterwards, as the turn that a commit has says."""
    active = read_active(view)
    drop_draft(view)
    if view.pending:
        view.commit(message)
    write_active(view, active)


@pytest.mark.req("G-14")
def test_a_conversation_opens_with_overview_skills_instructions_and_active_files_in_order(opened: OpenRepo) -> None:
    skill = "---\nname: tidy\ndescription: Tidies.\n---\nDo it.\n"
    repository = opened(FILES | {".agents/skills/tidy/SKILL.md": skill})
    view = workspace(repository, [ActiveFile("src/c.py"), ActiveFile("a.py", ((1, 1),))])
    found = opening(view, source_of(repository), SETTINGS)
    kinds = [message.kind for message in found.messages]  # type: ignore[union-attr]
    assert kinds == ["overview", "skills", "instructions", "file", "file"]
    assert found.messages[3].text.startswith("src/c.py (blob ")
    assert found.messages[4].text.startswith("a.py (blob ")
    assert "- tidy: Tidies." in texts(found)
    assert "Be brief." in texts(found)


@pytest.mark.req("G-14")
def test_a_changed_active_file_is_appended_and_says_that_it_replaces_the_earlier_text(opened: OpenRepo) -> None:
    repository = opened(FILES)
    source = source_of(repository)
    view = workspace(repository, [ActiveFile("a.py")])
    first = opening(view, source, SETTINGS)
    view.write_file("a.py", "def changed(): ...\n")
    view.write_file("b.py", "def other(): ...\n")
    view.write_file("new.py", "def new(): ...\n")
    view.delete_file("src/c.py")
    commit(view, "work")
    more = changes_since(view, first.seen, source, SETTINGS)
    assert [message.kind for message in more.messages] == ["changes", "file"]  # type: ignore[union-attr]
    assert more.messages[0].text.splitlines()[1:] == [
        "~ b.py — python, 1 line: def other",
        "+ new.py — python, 1 line: def new",
        "- src/c.py",
    ]
    assert more.messages[1].text.startswith("This replaces the earlier text of the file:\na.py (blob ")
    assert "def changed" in more.messages[1].text
    assert changes_since(view, more.seen, source, SETTINGS).items == ()


@pytest.mark.req("G-13")
def test_files_that_come_into_and_leave_the_context_are_told(opened: OpenRepo) -> None:
    repository = opened(FILES | {"src/AGENTS.md": "In src.\n"})
    source = source_of(repository)
    view = workspace(repository, [ActiveFile("a.py")])
    seen = opening(view, source, SETTINGS).seen
    write_active(view, [ActiveFile("src/c.py"), ActiveFile("b.py", ((1, 1),))])
    more = changes_since(view, seen, source, SETTINGS, edits=False)
    assert "class C" in texts(more)
    assert "In src." in texts(more)
    assert "def b()" in texts(more)
    assert more.messages[-1].text == "No longer in context, and not kept up to date here: a.py.\n"
    write_active(view, [ActiveFile("b.py")])
    last = changes_since(view, more.seen, source, SETTINGS, edits=False)
    assert "This replaces the earlier text of the file:\nb.py" in texts(last)
    assert "No longer in context, and not kept up to date here: src/c.py." in texts(last)


def test_within_a_turn_own_edits_are_not_repeated_until_the_next(opened: OpenRepo) -> None:
    repository = opened(FILES)
    source = source_of(repository)
    view = workspace(repository, [ActiveFile("a.py")])
    seen = opening(view, source, SETTINGS).seen
    view.write_file("a.py", "def edited(): ...\n")
    assert changes_since(view, seen, source, SETTINGS, edits=False).items == ()
    commit(view, "turn")
    assert "def edited" in texts(changes_since(view, seen, source, SETTINGS))


def test_text_that_was_never_committed_is_kept_with_the_reference(opened: OpenRepo) -> None:
    repository = opened(FILES)
    source = source_of(repository)
    view = workspace(repository)
    seen = opening(view, source, SETTINGS).seen
    view.write_file("draft.py", "first = 1\n")
    write_active(view, [ActiveFile("draft.py")])
    shown = changes_since(view, seen, source, SETTINGS, edits=False)
    view.write_file("draft.py", "second = 2\n")
    commit(view, "turn")
    again = stream(shown.items, source_of(Repository.open(repository.git_dir)))
    assert "first = 1" in again[0].text
    assert again == shown.messages


def test_a_blob_or_tree_that_is_gone_leaves_a_note(opened: OpenRepo) -> None:
    source = source_of(opened(FILES))
    gone = "1" * 40
    block = {"kind": "file", "path": "x.py", "blob": gone, "why": "active", "limit": 100}
    assert "no longer in the repository" in render(Reference(block), source).text
    listed = {"kind": "overview", "tree": gone, "budget": 100, "near": [], "exclude": [], "summarised": 3}
    assert "cannot be listed" in render(Reference(listed), source).text
    assert "this version of Forge" in render(Reference({"kind": "from the future"}), source).text
    view = source_view(source)
    told = changes_since(view, Seen(ObjectId(gone), {}), source, SETTINGS)
    assert "may be out of date" in told.messages[0].text


def source_view(source: Source) -> WorkInProgressVFS:
    return Repository.open(source.objects.git_dir).workspace("main")


def test_a_merge_of_thousands_of_files_is_told_in_a_few_lines(opened: OpenRepo) -> None:
    repository = opened(FILES)
    source = source_of(repository)
    view = workspace(repository)
    seen = opening(view, source, SETTINGS).seen
    for number in range(1500):
        view.write_file(f"gen/{number % 10}/f{number}.py", f"x = {number}\n")
    commit(view, "many")
    told = texts(changes_since(view, seen, source, SETTINGS))
    assert "and 1,460 more, by folder:" in told
    assert len(told.splitlines()) <= 1 + 40 + 1 + 8


def test_seen_survives_json() -> None:
    seen = Seen(ObjectId("1" * 40), {"a": SeenFile(ObjectId("2" * 40), ((1, 2),)), "b": SeenFile(None)}, "x")
    assert Seen.from_json(json.loads(json.dumps(seen.to_json()))) == seen
    assert not Seen.from_json({}).begun


@pytest.mark.req("G-14")
def test_references_in_a_stored_turn_give_the_same_bytes_in_another_process(opened: OpenRepo, tmp_path: Path) -> None:
    repository = opened(FILES)
    source = source_of(repository)
    view = workspace(repository, [ActiveFile("a.py"), ActiveFile("gone.py")])
    first = opening(view, source, SETTINGS)
    turn = Turn(turn_id(1, "0" * 8), None, 1.0, "m", (*first.items, UserMessage("hello")), seen=first.seen.to_json())
    write_turn(view, turn)
    view.write_file("a.py", "changed = 1\n")
    commit(view, "turn")
    other = Repository.open(repository.git_dir)
    stored = read_turn(other.workspace("main"), turn.id)
    assert stored.items == turn.items
    assert sent(stream(stored.items, source_of(other, tmp_path / "fresh"))) == sent(
        (*first.messages, UserMessage("hello"))
    )


def test_rebasing_drops_replaced_text_and_keeps_the_conversation(opened: OpenRepo) -> None:
    repository = opened(FILES | {"big.py": "old = 1\n" * 400})
    source = source_of(repository)
    view = workspace(repository, [ActiveFile("big.py")])
    first = opening(view, source, SETTINGS)
    view.write_file("big.py", "new = 2\n" * 400)
    commit(view, "turn")
    said: list[Message] = [
        UserMessage("make it new"),
        AssistantMessage("ok", (ToolCall("1", "write_file", {"path": "big.py"}),)),
        ToolResult("1", "write_file", "written"),
        AssistantMessage("done"),
    ]
    more = changes_since(view, first.seen, source, SETTINGS)
    items: list[Item] = [*first.items, *said, *more.items]
    assert superseded_tokens(items, more.seen) >= 800
    assert rebase_due(items, more.seen, 3_000, SETTINGS)
    assert not rebase_due(items, more.seen, 200_000, SETTINGS)
    again = rebase(view, said, source, SETTINGS)
    assert "old = 1" not in texts(again)
    assert again.messages[2].text.count("new = 2") == 400
    assert list(again.messages[-4:]) == said
    assert superseded_tokens([*items, *again.items], again.seen) == 0
    whole = stream([*items, *again.items], source)
    assert whole == again.messages
    # Stored in a turn of its own, the items need what was said before it.
    assert stream(again.items, source, earlier=lambda: said) == again.messages


def test_a_compacted_stream_is_made_again_the_same(opened: OpenRepo) -> None:
    repository = opened(FILES)
    source = source_of(repository)
    view = workspace(repository, [ActiveFile("a.py")])
    said: list[Message] = []
    for number in range(12):
        said += [
            UserMessage(f"question {number}"),
            AssistantMessage("", (ToolCall("c", "read_file", {"path": "a.py"}),)),
            ToolResult("c", "read_file", f"text {number} " * 500),
            AssistantMessage(f"answer {number}"),
        ]
    again = rebase(view, said, source, SETTINGS, limit=3_500)
    text = texts(again)
    assert all(f"question {number}" in text for number in range(12))
    assert "Files that were read can be read again: a.py." in text
    other = source_of(Repository.open(repository.git_dir))
    assert sent(stream(again.items, other, earlier=lambda: said)) == sent(again.messages)
    following = (*again.items, UserMessage("next"))
    assert sent(stream(following, other, earlier=lambda: said)).startswith(sent(again.messages))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(["a.py", "b.py", "src/c.py", "d.md"]), st.integers(0, 5)),
        st.tuples(st.just("delete"), st.sampled_from(["a.py", "b.py"]), st.just(0)),
        st.tuples(st.just("activate"), st.sampled_from(["a.py", "b.py", "src/c.py", "none.py"]), st.integers(0, 2)),
        st.tuples(st.just("leave"), st.sampled_from(["a.py", "b.py"]), st.just(0)),
        st.tuples(st.just("turn"), st.just(""), st.integers(0, 1)),
        st.tuples(st.just("rebase"), st.just(""), st.integers(0, 1)),
    ),
    max_size=14,
)


@pytest.mark.req("G-14")
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_outside_of_rebasing_each_prompt_begins_with_the_one_before(steps: list[tuple[str, str, int]]) -> None:
    with TemporaryDirectory() as place:
        repository = made_in(Path(place))
        source = source_of(repository)
        view = repository.workspace("main")
        view.write_file("AGENTS.md", "Be brief.\n")
        commit(view, "start")
        active: list[ActiveFile] = []
        first = opening(view, source, SETTINGS)
        items: list[Item] = [*first.items]
        said: list[Message] = []
        seen = first.seen
        before = sent(stream(items, source))
        for what, path, number in steps:
            match what:
                case "write":
                    view.write_file(path, f"def f{number}(): ...\n" * (number + 1))
                case "delete" if view.file_exists(path):
                    view.delete_file(path)
                case "activate":
                    active = [file for file in active if file.path != path]
                    active.append(ActiveFile(path, ((1, number),) if number else ()))
                    write_active(view, active)
                    more = changes_since(view, seen, source, SETTINGS, edits=False)
                    items += more.items
                    seen = more.seen
                case "leave":
                    active = [file for file in active if file.path != path]
                    write_active(view, active)
                case "turn":
                    if view.pending:
                        commit(view, "turn")
                    more = changes_since(view, Seen.from_json(json.loads(json.dumps(seen.to_json()))), source, SETTINGS)
                    seen = more.seen
                    asked = UserMessage(f"do {number}")
                    items += [*more.items, asked]
                    said.append(asked)
                case "rebase":
                    again = rebase(view, said, source, SETTINGS, limit=3_000 if number else None)
                    items += again.items
                    seen = again.seen
                    before = sent(again.messages)
            now = sent(stream(items, source))
            assert now.startswith(before)
            assert now == sent(stream(items, source_of(Repository.open(repository.git_dir))))
            before = now


def made_in(place: Path) -> Repository:
    subprocess.run(["git", "init", "-q", "-b", "main", str(place / "r")], check=True)
    return Repository.open(place / "r")


def test_context_messages_in_the_conversation_do_not_survive_a_rebasing(opened: OpenRepo) -> None:
    repository = opened(FILES)
    view = workspace(repository)
    again = rebase(view, [UserMessage("q"), ContextMessage("old note")], source_of(repository), SETTINGS)
    assert "old note" not in texts(again)


def test_paths_that_cannot_be_are_told_to_be_missing(opened: OpenRepo) -> None:
    repository = opened(FILES | {".forge/session.json": HAND_WRITTEN})
    found = opening(repository.workspace("main"), source_of(repository), SETTINGS)
    assert "../secrets is not there." in texts(found)
    assert "a.py (blob " in texts(found)


HAND_WRITTEN = json.dumps(
    {
        "schema_version": 1,
        "active_files": ["../secrets", "a.py"],
        "messages": {"folder": ".forge/session", "turns": 0, "count": 0, "last": None},
    }
)


@pytest.mark.req("G-14")
def test_another_process_renders_the_same_overview_for_the_same_message(opened: OpenRepo, tmp_path: Path) -> None:
    files = {f"area{n % 9}/part_{n}.md": f"# Part   {n}\t of  many\n" for n in range(400)}
    repository = opened(files)
    usual = ContextSettings.for_window(200_000)
    assert usual.overview_tokens == 6_000
    first = opening(repository.workspace("main"), source_of(repository), usual, message="Look at part 377.")
    again = stream(first.items, source_of(Repository.open(repository.git_dir)))
    cold = stream(first.items, source_of(repository, tmp_path / "elsewhere"))
    assert first.messages == again == cold
    assert "part_377.md — " in first.messages[0].text
    assert tokens_of(first.messages[0].text) <= 6_000
