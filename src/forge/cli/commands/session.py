"""`forge session`: conversations on branches: listed, shown at any commit, forked, rewound; turns helped and ended."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
from dataclasses import asdict
from typing import Annotated, Any

import typer

from forge.app.admin.settings import load_settings
from forge.app.repositories.catalog import Repository, id_of, moved_by
from forge.app.sessions.conversation import (
    AssistantMessage,
    ContextMessage,
    Conversation,
    Moment,
    Reference,
    Reservation,
    Sessions,
    SessionView,
    Settings,
    ToolResult,
    TurnMissing,
    UserMessage,
    Working,
    answer_of,
    branches_with_talk,
    conversation,
    fork_at,
    item_json,
    rewind_to,
    sessions_of,
    turn_entry,
    view_of,
)
from forge.app.sessions.interrupted_turn import reason_to_wait
from forge.app.sessions.migration import migrate
from forge.cli.terminal.merge_preview import Preview
from forge.cli.terminal.options import Branch, branch_or_current, existing_branch, opened, short, tell_checkouts
from forge.cli.terminal.output import Output, ago, cut, plain
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.questions import can_ask
from forge.cli.terminal.session import BadUsage, Exit
from forge.cli.terminal.turn_output import telling
from forge.cli.terminal.turns import CancelledTurn, ConversationPlace, opened_turns
from forge.counts import counted

app = Commands(__doc__, group=True)

_SHOWN = 20


Number = Annotated[str, typer.Argument(metavar="TURN", help="Its number or id, as `forge session show` lists them.")]


@app.add("list")
def list_sessions(context: typer.Context) -> None:
    """List branches that have a conversation."""
    repo, out = opened(context)
    sessions, settings = _sessions(repo), load_settings(repo, os.environ)
    found = branches_with_talk(sessions)
    views = [_view(repo, each.branch.name, Conversation(each.head, (), (), each.working), settings) for each in found]
    out.result(views)
    if not found:
        out.aside("Nobody has talked with an agent here yet: `forge chat --branch ai/first -m …` begins.")
    out.table(
        (
            out.styled(each.branch, "cyan"),
            counted(each.turns, "turn"),
            _cost(each.usage.cost),
            out.styled(_state(each.working), "yellow"),
        )
        for each in views
    )


@app.add("show")
def show(
    context: typer.Context,
    branch: Branch = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="REV", help="Show this commit instead of the branch's tip.")
    ] = None,
    turn: Annotated[str | None, typer.Option("--turn", metavar="TURN", help="Only this turn, with its tools.")] = None,
    last: Annotated[int, typer.Option("--last", "-n", metavar="N", min=1, help="How many turns.")] = _SHOWN,
) -> None:
    """Show a conversation, oldest turn first."""
    repo, out = opened(context)
    name = branch_or_current(repo, branch)
    settings = load_settings(repo, os.environ)
    found = conversation(sessions_of(repo, settings), name, at)
    if not (found.moments or found.working or at):
        existing_branch(repo, name)
    if turn is not None:
        moment = next((m for m in found.moments if turn in (m.turn.id, str(m.turn.number))), None)
        if moment is None:
            raise TurnMissing(f"There is no turn {turn} here.", hint="`forge session show` lists them.")
        out.result(_document(moment, whole=True))
        _tell(out, moment, whole=True)
        return
    chosen = found.moments[:last][::-1]
    working = _view(repo, name, found, settings).working
    out.result(
        {
            "branch": name,
            "at": at,
            "turns": [_document(moment, whole=False) for moment in chosen],
            "messages": [item_json(item) for moment in chosen for item in moment.turn.items],
            "active_files": [asdict(file) for file in found.head.active_files],
            "usage": asdict(found.head.usage),
            "merged_turns": list(found.merged),
            "working": working,
        }
    )
    for moment in chosen:
        _tell(out, moment, whole=False)
    _tell_rest(out, found, len(chosen))
    _tell_working(out, found.working, working)


@app.add("fork")
def fork(
    context: typer.Context,
    turn: Number,
    name: Annotated[str, typer.Argument(metavar="NEW", help="The new branch.")],
    branch: Branch = None,
) -> None:
    """Create a branch from the state after a turn: files and conversation."""
    repo, out = opened(context)
    commit = fork_at(_sessions(repo), branch_or_current(repo, branch), turn, name)
    out.result({"branch": name, "commit": commit})
    out.line(f"Made {out.styled(name, 'cyan')} at {out.styled(short(commit), 'yellow')}")


@app.add("rewind")
def rewind(context: typer.Context, turn: Number, branch: Branch = None) -> None:
    """Reset a branch to the state after a turn. The old tip is kept; `forge undo` reverts this."""
    repo, out = opened(context)
    name = branch_or_current(repo, branch)
    operation = rewind_to(_sessions(repo), name, turn)
    now = moved_by(operation).get(name)
    out.result({"branch": name, "commit": now, "operation": operation.id})
    out.line(f"{out.styled(name, 'cyan')} is at turn {turn} again ({out.styled(short(str(now)), 'yellow')})")
    tell_checkouts(out, operation)


@app.add("migrate")
def migrate_sessions(context: typer.Context, preview: Preview = False) -> int:
    """Let plain git merge every branch: one commit on each branch whose session.json has the first format."""
    repo, out = opened(context)
    found = migrate(repo, preview=preview)
    out.result(found)
    if not found:
        out.line("Every branch has the present format: plain git can merge their conversations.")
    for each in found:
        branch = out.styled(each.branch, "cyan")
        match each.state:
            case "migrated":
                out.line(f"Migrated {branch} → {out.styled(short(str(each.commit)), 'yellow')}")
            case "would_migrate":
                out.line(f"Would migrate {branch}")
            case "left":
                out.line(f"Left {branch}: {each.reason}")
    return Exit.ERROR if any(each.state == "left" for each in found) else Exit.OK


@app.add("cancel")
def cancel_turn(context: typer.Context, branch: Branch = None) -> None:
    """Cancel the running turn of a branch, in whichever process. The conversation is kept."""
    repo, out = opened(context)
    name = branch_or_current(repo, branch)

    async def end() -> CancelledTurn | None:
        place = ConversationPlace(repo, name)
        async with opened_turns(context.obj, load_settings(repo, os.environ), place) as turns:
            return await turns.cancel()

    held = asyncio.run(end())
    if held is None:
        existing_branch(repo, name)
    cancelled = None if held is None else Working(held.turn, held.who, held.since)
    out.result({"branch": name, "cancelled": cancelled})
    out.line(f"Ended the turn on {out.styled(name, 'cyan')}." if held else f"No turn is under way on {name}.")


@app.add("answer")
def answer_question(
    context: typer.Context,
    message: Annotated[
        str | None,
        typer.Option("--message", "-m", metavar="TEXT", help="The answer, or the number of a choice; - reads it."),
    ] = None,
    branch: Branch = None,
) -> int:
    """Answer the agent's question on a branch and follow the turn. Without -m, Forge shows the question first."""
    repo, out = opened(context)
    text = sys.stdin.read() if message == "-" else message
    name = branch_or_current(repo, branch)
    if text is None and not can_ask(json=out.json):
        raise BadUsage("There is no answer.", hint="Give it with -m TEXT.")

    async def answer() -> int:
        from forge.cli.terminal.conversation import Talk  # noqa: PLC0415 - takes a moment to load

        place = ConversationPlace(repo, name)
        async with opened_turns(context.obj, load_settings(repo, os.environ), place) as turns:
            return await Talk(turns, telling(out, stream=False), name, asks=can_ask(json=out.json)).answer(text)

    return asyncio.run(answer())


def _sessions(repo: Repository) -> Sessions:
    return sessions_of(repo, load_settings(repo, os.environ))


def _document(moment: Moment, *, whole: bool) -> dict[str, Any]:
    """As the API has it; `turn` is the id under its older name."""
    entry = turn_entry(moment, whole=whole)
    document = plain(entry)
    return {"turn": entry.id, **{key: value for key, value in document.items() if whole or key != "messages"}}


def _tell(out: Output, moment: Moment, *, whole: bool) -> None:
    turn = moment.turn
    where = out.styled(short(moment.commit), "yellow") if moment.commit else out.styled("rewritten", "dim")
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(turn.started))
    out.line(f"{out.styled(f'Turn {turn.number}', 'bold')} {where} {out.styled(f'{when} · {turn.model}', 'dim')}")
    for item in turn.items if whole else ():
        _tell_item(out, item)
    if not whole:
        _tell_text(out, "you", turn.asked)
        _tell_text(out, "agent", answer_of(turn))
    if turn.status != "done":
        out.line(f"  {out.styled(f'stopped ({turn.status})', 'red')}: {out.styled(turn.reason)}")
    if turn.files:
        out.line(f"  {out.styled('changed', 'green')}: {out.styled(', '.join(turn.files))}")
    out.line()


def _tell_item(out: Output, item: object) -> None:
    match item:
        case UserMessage(text=text):
            _tell_text(out, "you", text)
        case AssistantMessage(text=text, calls=calls):
            _tell_text(out, "agent", text)
            for call in calls:
                out.line(f"    {out.styled(call.name, 'cyan')} {out.styled(cut(str(call.arguments), 100), 'dim')}")
        case ToolResult(text=text, failed=failed):
            mark = out.styled("✗", "red") if failed else out.styled("→", "dim")
            out.line(f"    {mark} {out.styled(cut(' '.join(text.split()), 100), 'dim')}")
        case ContextMessage(kind=kind):
            out.line(out.styled(f"    (context: {kind})", "dim"))
        case Reference(data=data):
            out.line(out.styled(f"    (context: {data.get('kind')} {data.get('path', '')})", "dim"))


def _tell_text(out: Output, who: str, text: str) -> None:
    lines = text.strip().splitlines()
    for number, line in enumerate(lines):
        out.line(f"  {out.styled(f'{who} ›' if number == 0 else ' ' * (len(who) + 2), 'bold')} {out.styled(line)}")


def _tell_rest(out: Output, found: Conversation, shown: int) -> None:
    if not found.moments:
        out.aside("No conversation has begun on this branch.")
    elif shown < len(found.moments):
        out.aside(f"{counted(len(found.moments) - shown, 'earlier turn')}: --last {len(found.moments)} shows them too.")
    if found.merged:
        out.aside(f"{counted(len(found.merged), 'turn')} of other branches came with merges.")


def _tell_working(out: Output, held: Reservation | None, working: Working | None) -> None:
    if held is None or working is None:
        return
    if not held.abandoned:
        out.aside(f"{working.who} is at work since {ago(int(working.since))}.")
        return
    out.aside(f"The turn of {working.who}, begun {ago(int(working.since))}, was interrupted.")
    on = f"--branch {shlex.quote(held.branch)}"
    out.aside(working.waits_for or "`forge worker --until-idle` finishes it.")
    out.aside(f"`forge session cancel {on}` ends it; its words are kept.")


def _view(repo: Repository, branch: str, found: Conversation, settings: Settings) -> SessionView:
    return view_of(id_of(repo), branch, found, waits_for=reason_to_wait(settings, found.working))


def _state(working: Working | None) -> str:
    if working is None:
        return ""
    return "waiting" if working.waits_for else "working"


def _cost(cost: float | None) -> str:
    return "" if not cost else f"${cost:.4f}"
