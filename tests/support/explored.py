"""A scripted product person who talks to the built-in explorer, and the page that shows the whole of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forge.app.admin.prompts import prompts
from forge.explore import rules, turn
from forge.explore.knowledge import Knowledge
from forge.explore.route import decide
from forge.explore.turn import ExplorerOutcome
from forge.explore.workbench import Workbench
from forge.projects import state
from forge.settings import load

SAID = (
    "We want to build a dashboard for our dispatchers. They lose two hours every day because they copy orders by hand.",
    "Every morning there are 80 mails and each order is typed twice. I think the drivers would use it too. "
    "Anna Berg decides.",
    "yes",
    "Orders would arrive in the planning tool by themselves and nobody would type at six in the morning.",
    "Since October we have a new customer with twice as many orders.",
    "One pain has to go away soon, because the winter peak starts in December.",
    "I watched Piotr on Tuesday: he keeps a private list of unclear customers.",
    "The Sales team likes the mails because they can change orders late.",
    "Before it the customer writes a mail, after it the drivers get a list.",
    "Minutes per order, wrong deliveries per month, late changes that sales can still take.",
)
_NOW = datetime(2026, 11, 2, tzinfo=UTC)


def conversation(said: tuple[str, ...] = SAID) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """What was said and answered, and the values of the state after it."""
    knowledge = Knowledge(prompts(load({})).get)
    values: dict[str, Any] = {**state.defaults(), "messages": []}
    turns: list[tuple[str, str]] = []
    for number, text in enumerate(said, 1):
        values["messages"] = [*values["messages"], {"role": "user", "content": text}]
        bench = Workbench.of(state.SavedState("Depot orders", values), now=_NOW)
        decision = decide(rules.routed(bench, text), bench, knowledge, text)
        turn.begin(bench, decision)
        reply, probe = rules.respond(bench, decision, knowledge, text, first=number == 1)
        now = Workbench.of(state.SavedState("Depot orders", values), now=_NOW)
        answer = turn.finish(now, ExplorerOutcome(decision, tuple(bench.calls), reply, text, number, (), probe))
        values = now.saved()
        values["messages"] = [*values["messages"], {"role": "assistant", "content": answer.text}]
        turns.append((text, answer.text))
    return turns, values


def example() -> str:
    """As docs/explore.md has it."""
    turns, values = conversation()
    talk = "\n\n".join(f"> {said}\n\n{answer}" for said, answer in turns)
    brief = values["latest_artifact"].strip()
    return (
        f"The built-in engine, as it answers:\n\n````text\n{talk}\n````\n\n"
        f"And `artifacts/problem_brief.md`:\n\n````markdown\n{brief}\n````\n"
    )


def write(page: Path) -> None:
    """Put the example into the page, in place of the one that is there."""
    head, mark, _ = page.read_text("utf-8").partition("## A worked example\n\n")
    page.write_text(head + mark + example(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[2] / "docs" / "explore.md")
