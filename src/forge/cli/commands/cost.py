"""`forge cost`: what models have taken: by branch, day, model or turn, in tokens and dollars."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from forge.app.admin.costs import spent_by, spent_in_total
from forge.app.admin.settings import load_settings
from forge.cli.terminal.options import opened
from forge.cli.terminal.parser import Commands
from forge.counts import counted

app = Commands(__doc__)


class By(StrEnum):
    BRANCH = "branch"
    DAY = "day"
    MODEL = "model"
    RUN = "run"


@app.add()
def cost(
    context: typer.Context,
    by: Annotated[By, typer.Option("--by", metavar="WHAT", help="Add up by branch, day, model or run.")] = By.BRANCH,
    days: Annotated[int, typer.Option("--days", metavar="N", min=1, help="How many days back.")] = 30,
    everywhere: Annotated[bool, typer.Option("--everywhere", help="All repositories, not only this one.")] = False,
) -> None:
    """Show what was spent in this repository."""
    repo, out = opened(context)
    settings = load_settings(repo, os.environ)
    where = None if everywhere else str(repo.common_dir)
    since = time.time() - days * 86_400
    rows = spent_by(settings, by.value, repository=where, since=since)
    total = spent_in_total(settings, repository=where, since=since)
    out.result({"by": by.value, "days": days, "rows": {k: asdict(v) for k, v in rows.items()}, "total": asdict(total)})
    if not rows:
        out.aside("No model has been asked yet.")
        return
    out.table(
        (
            out.styled(name, style),
            counted(spent.requests, "request"),
            f"{spent.input_tokens:,} in",
            f"{spent.cache_read_tokens * 100 // max(spent.input_tokens, 1)} % cached",
            f"{spent.output_tokens:,} out",
            "price unknown" if spent.cost is None else f"${spent.cost:.4f}",
        )
        for name, spent, style in [*((n, s, "cyan") for n, s in rows.items()), ("total", total, "bold")]
    )
