"""`forge chat`: say what you want on a branch, watch an agent work, get one commit with the change and the talk."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from forge.app.repositories.catalog import Repository
from forge.cli.terminal.options import opened
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import Agent
from forge.cli.terminal.questions import can_ask
from forge.cli.terminal.session import BadUsage, Exit, Session
from forge.cli.terminal.turn_output import TurnDisplay, telling
from forge.errors import ForgeError

app = Commands(__doc__)


@app.add()
def chat(
    context: typer.Context,
    branch: Annotated[
        str, typer.Option("--branch", "-b", metavar="BRANCH", help="Where to work; made from HEAD if it is not there.")
    ],
    message: Annotated[
        str | None,
        typer.Option("--message", "-m", metavar="TEXT", help="What you want; - reads it from standard input."),
    ] = None,
    agent: Agent = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="Which model; of a program named by --agent, too.")
    ] = None,
    stream_json: Annotated[
        bool, typer.Option("--stream-json", help="One JSON document a line for each event, the result last.")
    ] = False,
) -> int:
    """Send a message to an agent on a branch; without -m, continue talking until you end the input."""
    repo, out = opened(context)
    text = _message(message)
    if (text is None and (out.json or stream_json)) or (text is not None and not text.strip()):
        raise BadUsage("There is no message.", hint="Give it with -m TEXT.")
    how = telling(out, stream=stream_json)
    asks = can_ask(json=out.json or stream_json)
    try:
        return asyncio.run(_chat(context.obj, repo, how, branch, text, model, agent, asks=asks))
    except ForgeError as e:
        if stream_json:  # whoever reads lines is told in a line
            how.failed(e)
        raise


def _message(given: str | None) -> str | None:
    """What -m says, else what is piped in; None where a person sits at a terminal."""
    if given == "-" or (given is None and not sys.stdin.isatty()):
        return sys.stdin.read()
    return given


async def _chat(
    session: Session,
    repo: Repository,
    how: TurnDisplay,
    branch: str,
    text: str | None,
    model: str | None,
    agent: str | None,
    *,
    asks: bool,
) -> int:
    # Only now: these take a moment to load.
    from forge.app.admin.settings import load_settings  # noqa: PLC0415
    from forge.app.sessions.tools import approvals_to_repeat  # noqa: PLC0415
    from forge.cli.terminal.conversation import Talk  # noqa: PLC0415
    from forge.cli.terminal.turns import ConversationPlace, opened_turns  # noqa: PLC0415

    settings = load_settings(repo, os.environ)
    for warning in settings.warnings:
        session.output.note(f"forge: {warning}")
    if unproven := approvals_to_repeat(repo, branch):
        session.output.note(
            f"forge: {', '.join(unproven)} will not run: .forge/approved_tools lists an approval, but nobody "
            f"gave it in this repository. Read the tools, then `forge tools approve --again --branch {branch}`."
        )
    async with opened_turns(session, settings, ConversationPlace(repo, branch, model, agent)) as turns:
        talk = Talk(turns, how, branch, asks=asks)
        if text is not None:
            return await talk.turn(text)
        how.welcome(branch, turns.answering())
        code: int = Exit.OK
        while (said := await _asked(how)) is not None:
            if said.strip():
                with suppress(ForgeError):
                    code = await talk.turn(said, forgiving=True)
        return code


async def _asked(how: TurnDisplay) -> str | None:
    """A line from the person; a line that ends in a backslash continues. None at the end of the input."""
    lines: list[str] = []
    while True:
        how.prompt(more=bool(lines))
        line = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            return None
        text = line.rstrip("\n")
        lines.append(text.removesuffix("\\"))
        if not text.endswith("\\"):
            return "\n".join(lines)
