"""`forge contracts generate|stop|questions|answer`: contracts written by an agent from what the project says."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Self

import typer

from forge.app.projects import contract_views as views
from forge.cli.terminal.editor import edited, given_text
from forge.cli.terminal.open_project import OpenProject, opened_project
from forge.cli.terminal.output import Output, cut, shown
from forge.cli.terminal.project_output import Agent, Which, directory_of, found, opened_here, output_of, settings_of
from forge.cli.terminal.questions import can_ask, says_yes, typed_line
from forge.cli.terminal.session import BadUsage, Exit
from forge.counts import counted
from forge.errors import Conflict, ForgeError
from forge.events import ContractAwaited, ContractProgress, Event

if TYPE_CHECKING:
    from forge.app.projects.catalog import Project
    from forge.app.projects.generation import Generation, Started, Wanted
    from forge.app.projects.questionnaire import Questionnaire
    from forge.settings import Settings

_BAR = 18
_COLOURS = {"saved": "green", "draft": "yellow", "kept": "dim", "not_written": "red"}


def generate(
    context: typer.Context,
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="One contract; those that are missing or stale if left out.")
    ] = None,
    project: Which = None,
    everything: Annotated[bool, typer.Option("--all", help="All nine, also those that are there.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what a person wrote.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave what a person wrote.")] = False,
    mini: Annotated[bool, typer.Option("--mini", help="Exactly two phases.")] = False,
    agent: Agent = None,
) -> None:
    """Let an agent write contracts from intent, spec and answers. Ctrl-C stops; what is written stays."""
    out = output_of(context)
    if force and keep:
        raise BadUsage("Give either --force or --keep, not both.", hint="--keep leaves what a person wrote.")
    if kind is not None and project is None and not _is_kind(kind):
        kind, project = None, kind
    from forge.app.projects.generation import Wanted  # noqa: PLC0415 - loads the engine

    choice = "overwrite" if force else "keep" if keep else "refuse"
    kinds = (views.kind_named(kind).value,) if kind else ()
    wanted = Wanted(kinds, everything, choice, mini, agent)  # type: ignore[arg-type]
    seen = asyncio.run(_generated(context, project, wanted))
    out.result(seen)
    _tell(out, seen)
    raise typer.Exit(Exit.OK if seen.state == "done" else Exit.ERROR)


def stop(context: typer.Context, project: Which = None) -> None:
    """Stop writing contracts. What is written stays."""
    out = output_of(context)

    async def act() -> Generation:
        async with opened_here(context, project) as opened:
            return await opened.stop_generation()

    seen = asyncio.run(act())
    out.result(seen)
    _tell(out, seen)


def questions(context: typer.Context, project: Which = None) -> None:
    """List the questions that contracts are written from, with the answers and where they come from."""
    out = output_of(context)
    seen = _questions(context, project)
    out.result(seen)
    section = ""
    for each in seen.questions:
        if each.section != section:
            section = each.section
            out.line(("\n" if each is not seen.questions[0] else "") + out.styled(section, "bold"))
        origin = f"  (from {each.origin}.md)" if each.origin not in ("person", "") else ""
        out.line(f"  {out.styled(each.id, 'cyan')}  {each.text}{out.styled(origin, 'dim')}")
        for line in each.answer.splitlines() or [""]:
            out.line(f"      {out.styled(line)}" if line else out.styled(f"      not answered: {each.hint}", "dim"))
    out.line(f"\n{seen.answered} of {counted(len(seen.questions), 'question')} answered.")


def answer(
    context: typer.Context,
    project: Which = None,
    given: Annotated[
        list[str] | None, typer.Option("--set", metavar="ID=TEXT", help="One answer; may be given several times.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="Take the answers from this YAML file; - is standard input."),
    ] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Fill the form in with your editor.")] = False,
) -> None:
    """Answer the questions: one by one at the terminal, by --set, from a file, or in your editor."""
    out = output_of(context)
    from forge.app.projects import questionnaire  # noqa: PLC0415 - loads the store

    settings = settings_of(out)
    one = found(settings, project, directory_of(context))
    if given:
        answers: dict[str, str] = dict(_pair(each) for each in given)
    elif edit:
        form = questionnaire.answers_form(one)
        with edited(form, suffix="-answers.yaml", instead="forge contracts answer --file FILE") as text:
            answers = dict(questionnaire.parse_answers(text))
    elif file is None and can_ask(json=out.json):
        answers = asyncio.run(_asked(out, questionnaire.questions_of(one)))
    else:
        answers = dict(questionnaire.parse_answers(given_text(file) or ""))
    seen = asyncio.run(_answered(context, settings, one, answers))
    out.result(seen)
    out.line(f"{seen.answered} of {counted(len(seen.questions), 'question')} answered.")


def _is_kind(name: str) -> bool:
    try:
        views.kind_named(name)
    except ForgeError:
        return False
    return True


def _questions(context: typer.Context, project: str | None) -> Questionnaire:
    from forge.app.projects.questionnaire import questions_of  # noqa: PLC0415 - loads the store

    out = output_of(context)
    return questions_of(found(settings_of(out), project, directory_of(context)))


def _pair(text: str) -> tuple[str, str]:
    id_, equals, value = text.partition("=")
    if not equals:
        raise BadUsage(
            f"`{text[:60]}` is no answer.", hint="Write --set ID=TEXT; `forge contracts questions` lists ids."
        )
    return id_.strip(), value.replace("\\n", "\n")


async def _asked(out: Output, seen: Questionnaire) -> dict[str, str]:
    """One question at a time, as in a chat; Enter leaves it as it is, an empty line ends a list."""
    answers: dict[str, str] = {}
    out.line("Enter keeps the current answer. Ctrl-D ends and saves.")
    for each in seen.questions:
        origin = f" (from {each.origin}.md)" if each.origin not in ("person", "") else ""
        out.line(f"\n{out.styled(each.section, 'dim')}\n{out.styled(each.text, 'bold')} {each.hint}")
        for line in each.answer.splitlines():
            out.line(out.styled(f"  {line}{origin}", "dim"))
        lines: list[str] = []
        typed = await _line()
        while typed is not None and typed.strip():
            lines.append(typed)
            typed = await _line() if each.many else ""
        if lines:
            answers[each.id] = "\n".join(lines)
        if typed is None:
            break
    return answers


async def _line() -> str | None:
    sys.stdout.write("> ")
    sys.stdout.flush()
    return await typed_line()


async def _answered(
    context: typer.Context, settings: Settings, project: Project, answers: dict[str, str]
) -> Questionnaire:
    async with opened_project(context.obj, settings, project) as opened:
        return await opened.answer_questions(answers)


async def _generated(context: typer.Context, which: str | None, wanted: Wanted) -> Generation:
    out = output_of(context)
    async with opened_here(context, which) as opened:
        started = await opened.generation_under_way()
        if started is not None:
            out.note("An earlier run continues; your new request was not started.")
        else:
            started = await _begun(out, opened, wanted)
        out.line(f"{started.model} writes {counted(len(started.kinds), 'contract')}.")
        try:
            with _Bar(out) as bar:
                async for event in opened.follow_generation(started):
                    bar(event)
        except asyncio.CancelledError:
            await opened.stop_generation()
            raise
        return await opened.generation()


async def _begun(out: Output, opened: OpenProject, wanted: Wanted) -> Started:
    """A person at the terminal is asked before what they wrote is written over."""
    try:
        return await opened.generate(wanted)
    except Conflict as e:
        if e.code != "contract_edited" or wanted.edited != "refuse":
            raise
        if not says_yes(f"{e.message} Write over them?", json=out.json):
            raise
    return await opened.generate(replace(wanted, edited="overwrite"))


class _Bar:
    """A line on standard error that is written anew; elsewhere one line for each contract."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._is_terminal = sys.stderr.isatty() and not out.json

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            self._out.raw_error(b"\r\x1b[K")

    def __call__(self, event: Event) -> None:
        match event:
            case ContractProgress() as told:
                self._progress(told)
            case ContractAwaited(contract=contract, seconds=seconds):
                if self._is_terminal:
                    return
                self._out.aside(f"… {contract}: waiting for the model ({seconds:.0f} s)")

    def _progress(self, told: ContractProgress) -> None:
        is_over = told.state in ("saved", "draft", "kept", "failed", "cancelled")
        if self._is_terminal:
            done = told.number if is_over else told.number - 1
            filled = round(_BAR * done / told.total)
            bar = "█" * filled + "░" * (_BAR - filled)
            tokens = f"{told.input_tokens + told.output_tokens:,} tokens"
            text = f"{bar} {done}/{told.total}  {told.contract}: {told.state} {told.about}  {tokens}"
            self._out.raw_error(b"\r\x1b[K" + shown(cut(text, 110)).encode("utf-8", "replace"))
        elif is_over:
            self._out.aside(f"{told.number}/{told.total} {told.contract}: {told.state} {told.about}".rstrip())


def _tell(out: Output, seen: Generation) -> None:
    out.table(
        (
            out.styled(each.contract_type.value, "cyan"),
            out.styled(each.state.replace("_", " "), _COLOURS.get(each.state, "dim")),
            f"{each.input_tokens:,} in, {each.output_tokens:,} out" if each.requests else "",
            _dollars(each.cost),
        )
        for each in seen.contracts
    )
    out.line(f"Total: {seen.input_tokens:,} tokens in, {seen.output_tokens:,} out {_dollars(seen.cost)}".rstrip())
    if seen.problem:
        out.note(f"forge: {seen.problem}")
    if any(each.state == "draft" for each in seen.contracts):
        out.line("Drafts have findings: forge contracts check")


def _dollars(cost: float | None) -> str:
    return "" if not cost else f"${cost:.4f}"
