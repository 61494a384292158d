"""What became of a program's attempt: why it is no success, and what it took."""

from __future__ import annotations

from dataclasses import replace

from forge.agents.programs.patience import Patience
from forge.agents.programs.reports import Said
from forge.git import CollectedChange
from forge.sandbox import CommandResult, Limits
from forge.sessions.messages import Usage

ERROR_TAIL = 2000


def kind_of(status: int) -> str:
    """What an HTTP status of the model API means to whoever waits; empty where it is no passing trouble."""
    named = {429: "rate_limit", 502: "network", 503: "overloaded", 529: "overloaded"}
    return named.get(status, "server_error" if status >= 500 else "")


def counted(told: Usage, passed: Usage | None) -> Usage:
    """What the program says it took, and what was seen to pass: programs that fail often say nothing."""
    spoke = told.input_tokens or told.output_tokens
    if passed is None:
        return replace(told, requests=max(told.requests, 1)) if spoke else told
    return replace(told if spoke else passed, requests=passed.requests)


def failure(result: CommandResult, said: Said, limits: Limits, patience: Patience) -> str:
    """Why this is no success; empty if it may be one."""
    if result.cancelled:
        return "It was cancelled."
    if patience.is_over:
        return f"It made no progress for {patience.seconds:g} s: no output, and nothing from its model."
    if result.timed_out:
        return f"It did not end within {limits.seconds:g} s."
    if broken := [name for name in result.limited if name not in ("output", "file size")]:
        return f"It was ended: too much {', '.join(broken)}."
    if said.error:
        return f"It failed: {said.error[-ERROR_TAIL:]}"
    if result.exit_code != 0:
        return f"It ended with exit code {result.exit_code}."
    if not said.complete:
        return "It broke off without a result."
    return "" if said.text else "It ended without a word."


def refusal(said: Said, changes: tuple[CollectedChange, ...]) -> str:
    if said.denied and not changes:
        return f"It was refused what it wanted to do ({', '.join(said.denied)}) and changed nothing."
    return ""
