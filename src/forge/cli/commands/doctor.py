"""`forge doctor`: whether everything that Forge stands on is in order, and what to do where not."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from forge.app.admin.doctor import Check, CheckState, examine
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Exit, Session

app = Commands(__doc__)

_MARKS = {CheckState.OK: ("✓", "green"), CheckState.WARNING: ("!", "yellow"), CheckState.FAILED: ("✗", "red")}


@app.add()
def doctor(
    context: typer.Context,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair what can be repaired, and list each repair.")
    ] = False,
    online: Annotated[bool, typer.Option("--online", help="Also send a request to each provider.")] = False,
) -> int:
    """Check git, sandbox, database, keys and projects. Exit code 1 if something must be repaired."""
    session: Session = context.obj
    out = session.output
    checks: list[Check] = []
    for check in examine(session.directory, os.environ, repair=repair, online=online):
        checks.append(check)
        mark, colour = _MARKS[check.state]
        out.line(f"{out.styled(mark, colour)} {check.name:<10}  {out.styled(check.detail)}")
        if check.hint:
            out.line(f"  {'':<10}  → {out.styled(check.hint)}")
    failed = any(check.state is CheckState.FAILED for check in checks)
    out.result({"ok": not failed, "checks": checks})
    return Exit.ERROR if failed else Exit.OK
