"""Whether there is work that a process can go on with, or only people can."""

from __future__ import annotations

from forge.app.process.workshop import Workshop

_MANY = 10_000


def has_work(shop: Workshop) -> bool:
    """Runs that ask a person cannot go on by themselves, nor can those behind them on the same branch."""
    going = shop.engine.runs(states=("queued", "waiting", "running"), limit=_MANY)
    asking = {question.run for question in shop.engine.open_questions()}
    held = {(run.queue, run.partition) for run in going if run.id in asking and run.partition is not None}
    return any(run.id not in asking and (run.queue, run.partition) not in held for run in going)
