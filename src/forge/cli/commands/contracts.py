"""`forge contracts`: what a build is held to: nine documents, written by agents or people, checked, compared."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forge.app.projects import contract_views as views
from forge.cli.commands import contract_generation
from forge.cli.terminal.editor import edited, given_text
from forge.cli.terminal.open_project import opened_project
from forge.cli.terminal.options import At, Branch
from forge.cli.terminal.output import Output, ago
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import Which, directory_of, found, output_of, settings_of
from forge.cli.terminal.session import Exit
from forge.counts import counted

if TYPE_CHECKING:
    from forge.app.projects.catalog import Project

app = Commands(__doc__, group=True)

KindName = Annotated[str, typer.Argument(metavar="KIND", help="manifesto, blueprint, stack, …; `list` shows them.")]
_LEAKS = {
    "contract_text": "text of a contract",
    "contract_name": "name of a contract",
    "forge_metadata": "Forge metadata",
}
_COLOURS = {"valid": "green", "missing": "dim", "draft": "yellow", "stale": "yellow", "findings": "red"}


@app.add("list")
def list_contracts(context: typer.Context, project: Which = None) -> None:
    """List the nine contracts, with version and state."""
    out = output_of(context)
    seen = views.overview(_found(context, project))
    out.result(seen)
    rows = []
    for card in seen.items:
        state = counted(card.findings, "finding") if card.state == "findings" else card.state
        version = f"v{card.version}" if card.version else ""
        changed = ago(card.updated_at) if card.updated_at else ""
        name, about = out.styled(card.contract_type.value, "cyan"), out.styled(card.line, "dim") if version else ""
        rows.append((name, out.styled(state, _COLOURS[card.state]), version, changed, about))
    out.table(rows)
    if seen.latest_batch is not None:
        out.line(f"Pinned last as number {seen.latest_batch}.")


@app.add("show")
def show(
    context: typer.Context,
    kind: KindName,
    project: Which = None,
    version: Annotated[int | None, typer.Option("--version", metavar="N", min=1, help="An earlier version.")] = None,
    batch: Annotated[int | None, typer.Option("--batch", metavar="N", min=1, help="As it was pinned.")] = None,
) -> None:
    """Print a contract; an example where the project has none."""
    out = output_of(context)
    one, wanted = _found(context, project), views.kind_named(kind)
    if version is not None:
        seen = views.contract_at(one, wanted, version)
    else:
        seen = views.whole_contract(one, wanted, batch=batch)
    out.result(seen)
    if not out.json:
        if seen.source == "template":
            out.note(f"The project has no {wanted.value} yet; this is an example.")
        out.raw(seen.content.encode("utf-8", "replace"))


@app.add("edit")
def edit(
    context: typer.Context,
    kind: KindName,
    project: Which = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Take the text from this file; - is standard input.")
    ] = None,
) -> None:
    """Write a contract: in your editor, from a file, or from what is piped in."""
    out = output_of(context)
    one, wanted = _found(context, project), views.kind_named(kind)
    text = given_text(file)
    before = views.whole_contract(one, wanted)
    if text is not None:
        seen = _saved(context, one, wanted, text, before.etag)
    else:
        instead = f"forge contracts edit {kind} --file FILE"
        with edited(before.content, suffix=f"-{wanted.file}", instead=instead) as new:
            # An example that is saved as it is becomes the project's own.
            changed = new != before.content or not before.version
            seen = _saved(context, one, wanted, new, before.etag) if changed else before
    out.result(seen)
    if seen.version == before.version:
        out.line("Nothing was changed.")
        return
    out.line(f"Saved {wanted.value} version {seen.version} → {str(seen.commit)[:7]}")
    _tell_findings(out, seen.findings)


@app.add("check")
def check(
    context: typer.Context,
    project: Which = None,
    mini: Annotated[bool, typer.Option("--mini", help="Expect exactly two phases.")] = False,
) -> None:
    """Check all contracts, each alone and against the others. Exit code 1 if anything is found."""
    out = output_of(context)
    seen = views.checked_contracts(_found(context, project), mini=mini)
    out.result(seen)
    _tell_findings(out, seen.findings)
    out.line("The contracts fit together." if seen.ok else f"{counted(len(seen.findings), 'finding')}.")
    raise typer.Exit(Exit.OK if seen.ok else Exit.ERROR)


@app.add("history")
def history(context: typer.Context, kind: KindName, project: Which = None) -> None:
    """List the versions of a contract, newest first."""
    out = output_of(context)
    versions = views.versions_of(_found(context, project), views.kind_named(kind))
    out.result({"contract_type": views.kind_named(kind), "versions": versions})
    out.table(
        (
            out.styled(f"v{each.number}", "cyan"),
            out.styled(each.commit[:7], "dim"),
            ago(each.time),
            "draft" if each.draft else each.origin,
            out.styled(each.author),
            out.styled(each.subject),
        )
        for each in versions
    )


@app.add("diff")
def diff(
    context: typer.Context,
    kind: KindName,
    project: Which = None,
    old: Annotated[int | None, typer.Option("--from", metavar="N", min=1, help="The version before `--to`.")] = None,
    new: Annotated[int | None, typer.Option("--to", metavar="N", min=1, help="The newest version.")] = None,
) -> None:
    """Show what changed between two versions; by default in the newest one."""
    out = output_of(context)
    seen = views.compared(_found(context, project), views.kind_named(kind), old=old, new=new)
    out.result(seen)
    if not out.json:
        out.raw(seen.diff.encode("utf-8", "replace"))


@app.add("restore")
def restore(
    context: typer.Context,
    kind: KindName,
    version: Annotated[int, typer.Argument(metavar="VERSION", min=1, help="As `history` shows it.")],
    project: Which = None,
) -> None:
    """Make an earlier version of a contract the newest one."""
    out = output_of(context)
    one, wanted = _found(context, project), views.kind_named(kind)

    async def act() -> views.ContractText:
        async with opened_project(context.obj, settings_of(out), one) as opened:
            return await opened.restore_contract(wanted, version)

    seen = asyncio.run(act())
    out.result(seen)
    out.line(f"{wanted.value} is at version {seen.version}, with the text of version {version}.")
    _tell_findings(out, seen.findings)


@app.add("schema")
def schema(context: typer.Context, kind: KindName) -> None:
    """Print the JSON Schema of a contract, or the sections that a Markdown one needs."""
    import json  # noqa: PLC0415 - only this command prints it

    out = output_of(context)
    found_schema = views.schema_of(views.kind_named(kind))
    out.result(found_schema)
    if not out.json:
        out.raw((json.dumps(found_schema, indent=2) + "\n").encode())


@app.add("window")
def window(
    context: typer.Context,
    phase: Annotated[int, typer.Argument(metavar="N", help="The number of a phase, from 0.")],
    project: Which = None,
) -> None:
    """Print phase N and the one after it."""
    out = output_of(context)
    seen = views.phase_window(_found(context, project), phase)
    out.result(seen)
    if not out.json:
        out.raw(seen.content.encode("utf-8", "replace"))


@app.add("leaks")
def leaks(
    context: typer.Context,
    project: Which = None,
    branch: Branch = None,
    at: At = None,
    batch: Annotated[
        int | None, typer.Option("--batch", metavar="N", min=1, help="The pinned set instead of today's contracts.")
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--in", metavar="DIRECTORY", help="Another repository than the project's own.")
    ] = None,
) -> None:
    """Find contract text, names of contracts and Forge metadata in delivered files. Exit code 1 if there are any."""
    from forge.app.projects import contract_leaks  # noqa: PLC0415 - loads the store

    out = output_of(context)
    one = _found(context, project)
    wanted = contract_leaks.Delivered(branch, at, batch)
    seen = contract_leaks.leaks_found_in(one, wanted, directory)
    out.result(seen)
    for each in seen.leaks:
        place = out.styled(f"{each.path}:{each.line}", "cyan")
        out.line(f"{place} {_LEAKS[each.code]}{f' ({each.contract})' if each.contract else ''}: {each.text}")
    where = f"branch {seen.branch}" if seen.branch else f"commit {str(seen.commit)[:7]}"
    told = counted(seen.total, "leak") if seen.total else "No contract text"
    out.line(f"{told} in {counted(seen.files, 'file')} of {where}.")
    raise typer.Exit(Exit.OK if seen.ok else Exit.ERROR)


app.add("generate")(contract_generation.generate)
app.add("stop")(contract_generation.stop)
app.add("questions")(contract_generation.questions)
app.add("answer")(contract_generation.answer)


def _found(context: typer.Context, project: str | None) -> Project:
    return found(settings_of(output_of(context)), project, directory_of(context))


def _saved(context: typer.Context, project: Project, kind: views.Kind, text: str, etag: str) -> views.ContractText:
    async def act() -> views.ContractText:
        async with opened_project(context.obj, settings_of(output_of(context)), project) as opened:
            return await opened.edit_contract(kind, text, etag=etag)

    return asyncio.run(act())


def _tell_findings(out: Output, findings: tuple[views.Finding, ...]) -> None:
    for each in findings:
        place = out.styled(f"{each.file}:{each.line}", "cyan")
        out.line(f"{place} {each.message} {out.styled(each.hint, 'dim')}")
