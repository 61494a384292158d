"""Turns written to a branch without an agent."""

from __future__ import annotations

from forge.git import Repository
from forge.sessions.conversation import (
    read_head,
    write_turn,
)
from forge.sessions.messages import AssistantMessage, ContextMessage, ToolCall, ToolResult, Usage, UserMessage
from forge.sessions.turns import Reference, Turn, turn_id


def a_turn(number: int, parent: str | None, text: str = "do it", mark: str = "0badcafe", **more: object) -> Turn:
    items = (
        Reference({"kind": "file", "path": "a.txt", "blob": "0" * 40}),
        UserMessage(text, "Ada <ada@example.org>", 12.5),
        AssistantMessage(
            "On it.", (ToolCall("c1", "read_file", {"path": "a.txt"}),), "scripted", Usage(10, 5, 8, 1, 1, 0.01)
        ),
        ToolResult("c1", "read_file", "1: hello", failed=False),
        ContextMessage("note", "note"),
        AssistantMessage("Done — fertig. ✓", (), "scripted", Usage(12, 3, requests=1), ({"thinking": "x"},)),
    )
    return Turn(turn_id(number, mark), parent, 12.5, "scripted", items, usage=Usage(22, 8, 8, 1, 2, 0.01), **more)  # type: ignore[arg-type]


def say(repo: Repository, branch: str, text: str, mark: str = "0badcafe", **more: object) -> Turn:
    vfs = repo.workspace(branch)
    head = read_head(vfs)
    turn = write_turn(vfs, a_turn(head.turns + 1, head.last, text, mark, **more))
    vfs.commit(f"chat: {text}", trailers={"Forge-Turn": turn.id})
    return turn
