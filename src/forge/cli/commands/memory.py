"""`forge memory`: what is remembered of the work in a directory: shown, added to, taken up again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import typer

from forge.app.admin import memory as door
from forge.app.admin.memory import (
    Caution,
    Entry,
    Initiative,
    Memory,
    MilestoneStatus,
    NoteKind,
    Recalled,
    Resumed,
    UpdateResult,
    moment,
    time_ago,
)
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import directory_of, output_of, settings_of
from forge.cli.terminal.session import BadUsage, Exit, Session
from forge.counts import counted

app = Commands(__doc__, group=True)
Done = TypeVar("Done", UpdateResult, Resumed)

Step = Annotated[
    str | None, typer.Option("--step", metavar="ID", help="An id for this change; repeating it changes nothing.")
]
_TICKS = {MilestoneStatus.PENDING: "○", MilestoneStatus.IN_PROGRESS: "◐", MilestoneStatus.COMPLETED: "●"}


@app.add("show")
def show(context: typer.Context) -> None:
    """Show the content of each memory layer: state files, MEMORY.md, status file, milestone files."""
    memory, out = _opened(context)
    found = memory.read()
    others = door.disagreeing(found)
    out.result(
        {
            "source": found.source,
            "layers": [
                {"source": each.source, "agrees": each.source not in others, "initiative": _document(each.initiative)}
                for each in found.claims
            ],
            "interview": _interview(found),
            "lines": {kind.value: len(found.lines(kind)) for kind in NoteKind},
            "warnings": _warnings(found.warnings),
        }
    )
    for each in found.claims:
        rules = "rules" if each.source is found.source else "tells something else" if each.source in others else ""
        out.line(f"{out.styled(each.source.value, 'bold')} {out.styled(rules, 'dim')}".rstrip())
        out.line(f"  {_position(out, each.initiative)}")
    if found.interview.topics:
        out.line(f"{out.styled('Interviews', 'bold')} {counted(len(found.interview.topics), 'topic')}")
    for kind in NoteKind:
        _tell_lines(out, found, kind, last=3)
    _tell_nothing(out, found)
    _tell_warnings(out, found.warnings)


@app.add("add")
def add(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="One line.")],
    learning: Annotated[bool, typer.Option("--learning", help="A lesson, pattern or preference; the usual.")] = False,
    delegation: Annotated[bool, typer.Option("--delegation", help="Something that a sub-agent was given.")] = False,
    step: Step = None,
) -> None:
    """Add a line to MEMORY.md, in its place; your own text there stays as it is."""
    if learning and delegation:
        raise BadUsage("A line is a learning or a delegation.", hint="Leave one of them out.")
    memory, out = _opened(context)
    kind = NoteKind.DELEGATION if delegation else NoteKind.LEARNING
    result = _changed(context, kind.name.lower(), lambda: door.add(memory, text, kind, step=step))
    _told(out, result, f"Added to {kind.value}.")


@app.add("start")
def start(
    context: typer.Context,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it is about.")],
    kind: Annotated[str, typer.Option("--type", metavar="TYPE", help="APEX, DEBUG, BRAINSTORM or FORGE.")] = "APEX",
    about: Annotated[str, typer.Option("--context", metavar="TEXT", help="What its lines call it.")] = "",
    step: Step = None,
) -> None:
    """Start an initiative. The previous one must be completed."""
    memory, out = _opened(context)
    _told(out, _changed(context, "start", lambda: memory.start(title, kind, about, step=step)), "Begun.")


@app.add("advance")
def advance(
    context: typer.Context,
    done: Annotated[str, typer.Argument(metavar="DONE", help="The phase that is done.")],
    following: Annotated[
        str, typer.Argument(metavar="NEXT", help="The phase that begins; git-commit or x-archive ends it.")
    ],
    about: Annotated[str | None, typer.Option("--context", metavar="TEXT", help="What its lines call it now.")] = None,
    step: Step = None,
) -> None:
    """Move to the next phase, with a checkpoint in MEMORY.md."""
    memory, out = _opened(context)
    _told(out, _changed(context, "checkpoint", lambda: memory.advance(done, following, about, step=step)), "Gone on.")


@app.add("status")
def status(
    context: typer.Context,
    new: Annotated[
        str | None, typer.Argument(metavar="STATUS", help="in_progress, blocked, completed or archived.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; of a completed one, the outcome.")] = "",
    step: Step = None,
) -> None:
    """Show the status of the initiative, or change it. created → in_progress ⇄ blocked, → completed → archived."""
    memory, out = _opened(context)
    if new is not None:
        wanted = door.status_named(new)
        result = _changed(context, "status", lambda: memory.change_status(wanted, reason=reason, step=step))
        _told(out, result, "Changed.")
        return
    found = memory.read()
    out.result({"initiative": _document(found.initiative), "warnings": _warnings(found.warnings)})
    if found.initiative:
        out.line(_position(out, found.initiative))
    _tell_nothing(out, found)
    _tell_warnings(out, found.warnings)


@app.add("milestone")
def milestone(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="Its id, such as M2.")],
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What it is about.")] = "",
    tasks: Annotated[int, typer.Option("--tasks", metavar="N", min=0, help="How many tasks it has.")] = 0,
    done: Annotated[bool, typer.Option("--done", help="Complete it; the next one is current then.")] = False,
    step: Step = None,
) -> None:
    """Start a milestone of the initiative, or complete it with --done."""
    if done and (title or tasks):
        raise BadUsage("A milestone is begun or completed.", hint="Leave --done out, or --title and --tasks.")
    memory, out = _opened(context)
    if done:
        result = _changed(context, "milestone", lambda: memory.milestone_completed(name, step=step))
        _told(out, result, "Completed.")
        return
    result = _changed(context, "milestone", lambda: memory.milestone_started(name, title, total=tasks, step=step))
    _told(out, result, "Begun.")


@app.add("task")
def task(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="MILESTONE", help="The milestone that it belongs to.")],
    step: Step = None,
) -> None:
    """Count one more task of a milestone as done."""
    memory, out = _opened(context)
    _told(out, _changed(context, "task", lambda: memory.task_completed(name, step=step)), "Counted.")


@app.add("confidence")
def confidence(
    context: typer.Context,
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="What it is about.")],
    value: Annotated[float, typer.Argument(metavar="VALUE", help="From 0 to 1.")],
    source: Annotated[str, typer.Option("--source", metavar="NAME", help="Who is confident.")] = "person",
    step: Step = None,
) -> None:
    """Record how confident somebody is about a topic; the history is kept."""
    memory, out = _opened(context)
    result = _changed(context, "confidence", lambda: memory.confidence(topic, value, source, step=step))
    _told(out, result, "Noted.")


@app.add("resume")
def resume(context: typer.Context) -> None:
    """Show the state of the work. Where files disagree, the newest wins and Forge updates the others."""
    memory, out = _opened(context)
    found = _changed(context, "resume", memory.resume)
    out.result(
        {
            "source": found.source,
            "initiative": _document(found.initiative),
            "brought_up": found.brought_up,
            "warnings": _warnings(found.warnings),
        }
    )
    if found.initiative is None:
        out.aside("Nothing is remembered here: `forge memory start TITLE` begins an initiative.")
    else:
        out.line(_position(out, found.initiative))
        _tell_milestones(out, found.initiative)
    for path in found.brought_up:
        out.line(f"Brought up to date: {out.styled(path)}")
    _tell_warnings(out, found.warnings)


@app.add("context")
def everything(context: typer.Context) -> None:
    """Show everything that is remembered in one view. Writes nothing."""
    memory, out = _opened(context)
    found = memory.read()
    out.result(
        {
            "source": found.source,
            "enriched_by": found.enriched_by,
            "initiative": _document(found.initiative),
            "interview": _interview(found),
            "lines": {kind.value: [_line(entry) for entry in found.lines(kind)] for kind in NoteKind},
            "folded": [{"kind": fold.kind, "count": fold.count} for fold in found.folds],
            "warnings": _warnings(found.warnings),
        }
    )
    if found.initiative and found.source:
        out.line(f"{_position(out, found.initiative)} {out.styled(f'(by {found.source.value})', 'dim')}")
        _tell_milestones(out, found.initiative)
    for topic in found.interview.topics:
        history = " → ".join(f"{each.value:.2f} ({each.source})" for each in topic.history)
        out.line(f"{out.styled('Confidence', 'bold')} {out.styled(topic.name)}: {out.styled(history)}")
    for kind in NoteKind:
        _tell_lines(out, found, kind)
    _tell_nothing(out, found)
    _tell_warnings(out, found.warnings)


def _opened(context: typer.Context) -> tuple[Memory, Output]:
    session: Session = context.obj
    return door.open_memory(session.directory), session.output


def _changed(context: typer.Context, action: str, act: Callable[[], Done]) -> Done:
    """In the directory of a project it is a change of that project: committed, and in the audit."""
    from forge.app.projects.project_memory import change_found, project_here  # noqa: PLC0415 - these load the database

    project = project_here(directory_of(context))
    if project is None:
        return act()
    from forge.app.access.identity import LOCAL  # noqa: PLC0415
    from forge.app.access.local_access import opened_access  # noqa: PLC0415

    with opened_access(settings_of(output_of(context)), os.environ) as access:
        return change_found(access, LOCAL, project, action, act)


def _told(out: Output, result: UpdateResult, done: str) -> None:
    out.result(
        {
            "initiative": _document(result.initiative),
            "changed": result.changed,
            "saved": result.saved,
            "warnings": _warnings(result.warnings),
        }
    )
    if result.changed and result.saved:
        out.line(done)
    elif not result.changed:
        out.line("Nothing to change." if result.saved else "Not remembered.")
    if result.initiative:
        out.line(_position(out, result.initiative))
    _tell_warnings(out, result.warnings)
    if not result.saved:
        raise typer.Exit(Exit.ERROR)


def _position(out: Output, value: Initiative) -> str:
    phase = f" · {value.phase}" if value.phase else ""
    why = f" · {value.reason}" if value.reason else ""
    when = f"last updated {time_ago(value.updated, datetime.now(UTC))}"
    name = out.styled(value.title or value.context, "cyan")
    return f"{name} {out.styled(value.type)}{out.styled(phase)} · {value.status.value}{out.styled(why)} · {when}"


def _tell_milestones(out: Output, value: Initiative) -> None:
    for each in value.milestones:
        progress = f" {each.done}/{each.total}" if each.total else ""
        out.line(f"  {_TICKS[each.status]} {out.styled(each.title or each.id)}{progress}")


def _tell_lines(out: Output, found: Recalled, kind: NoteKind, last: int | None = None) -> None:
    lines = found.lines(kind)
    folds = [fold for fold in found.folds if fold.kind is kind]
    if not lines and not folds:
        return
    out.line(f"{out.styled(kind.value, 'bold')} {len(lines)}")
    for fold in folds:
        out.line(f"  {out.styled(fold.text, 'dim')}")
    for entry in lines[-last:] if last else lines:
        out.line(f"  {out.styled(entry.text)}")


def _tell_nothing(out: Output, found: Recalled) -> None:
    if found.initiative is None:
        out.aside("No initiative is remembered here: `forge memory start TITLE` begins one.")


def _tell_warnings(out: Output, warnings: Iterable[Caution]) -> None:
    for each in warnings:
        say = out.note if each.prominent else out.aside
        say(f"! {each.message}")
        if each.hint:
            say(f"  → {each.hint}")


def _warnings(warnings: Iterable[Caution]) -> list[dict[str, Any]]:
    return [asdict(each) for each in warnings]


def _document(value: Initiative | None) -> dict[str, Any] | None:
    """As a program needs it, without what Forge keeps for itself."""
    if value is None:
        return None
    inner = {"steps", "owed", "other", "created", "updated"}
    plain = {name: item for name, item in asdict(value).items() if name not in inner}
    return {**plain, "created": moment(value.created), "updated": moment(value.updated)}


def _interview(found: Recalled) -> list[dict[str, Any]]:
    return [
        {
            "topic": topic.name,
            "confidence": topic.confidence,
            "history": [{"value": h.value, "source": h.source, "at": moment(h.at)} for h in topic.history],
        }
        for topic in found.interview.topics
    ]


def _line(entry: Entry) -> dict[str, Any]:
    return {"text": entry.text, "at": moment(entry.at), "initiative": entry.initiative, "phase": entry.phase}
