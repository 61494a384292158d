"""Whether there is work that a process can continue with, or only people can."""

from __future__ import annotations

from forge.app.process.workshop import Workshop

_MANY = 10_000


def has_work(shop: Workshop) -> bool:
    """Runs that ask a person or wait for a key cannot continue by themselves, nor can those behind them on a branch."""
    going = shop.engine.runs(states=("queued", "waiting", "running"), limit=_MANY)
    asking = {question.run for question in shop.engine.open_questions()} | {run.id for run in going if run.waits_for}
    held = {(run.queue, run.partition) for run in going if run.id in asking and run.partition is not None}
    return any(run.id not in asking and (run.queue, run.partition) not in held for run in going)
