"""Turns of a scripted model, and what a branch says, wherever its conversation is kept."""

from __future__ import annotations

from itertools import count

from forge.agents.scripted import Say, ScriptedModel, call
from forge.app.sessions.conversation import conversation
from forge.git import Repository
from forge.sessions.places import Sessions
from tests.support.turns import request, turn

_MARKS = count(1)


async def say(sessions: Sessions, text: str, branch: str = "ai/x", *, writes: bool = True) -> ScriptedModel:
    number = next(_MARKS)
    write = call("write_file", path=f"f{number}.txt", content=f"{number}\n")
    model = ScriptedModel([Say("", (write,)), "Done.\nCommit: Add it"] if writes else ["Only talk."])
    await turn(sessions.repo, model, request(text, f"{number:012x}", branch), beside=sessions.beside)
    return model


def said(sessions: Sessions, branch: str = "ai/x") -> list[str]:
    fresh = Sessions(Repository.open(sessions.repo.git_dir), beside=sessions.beside)
    return [moment.turn.asked for moment in conversation(fresh, branch).moments][::-1]
