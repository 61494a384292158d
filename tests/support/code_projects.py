"""A code project from the brain dump to its end on the real engine, with a scripted model in place of a provider.

Everything else is real: git, turns, tools, the sandbox, test runs, the pipeline. Calls and tokens are counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any
from unittest.mock import patch

from forge.agents.model import OnText, Prompt
from forge.agents.models import registry
from forge.agents.scripted import Say, call
from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.projects.autopilot import LocalPilot, carry_on
from forge.app.projects.catalog import create
from forge.app.projects.messages import add_resource, say
from forge.app.projects.project_tests import set_command_found
from forge.app.projects.view import ProjectView
from forge.context.overview import tokens_of as estimate
from forge.git import Repository
from forge.projects.project import Project
from forge.sessions.messages import AssistantMessage, ToolCall, Usage, UserMessage
from tests.support.project_runs import CODE_ANSWER

__all__ = ["Say", "call"]

AGENT = "openai:scripted"
Json = dict[str, Any]
Answer = str | Callable[[Prompt, int], str]
Turn = Callable[[str, int], Sequence[Say]]
"""What the agent does for an order, which is its message and how many there were, this one included."""
IDEA = (
    "We want a change in our code. It should parse durations such as 1h30m and give seconds, with tests for each case. "
    "Keep it small, in the style of what is there, without any new dependency. Nothing else may change."
)
NO_FINDING = json.dumps({"critical": 0, "medium": 0, "minor": 0, "issues": []})
NO_CANDIDATE = json.dumps({"candidates": []})


def intent(title: str = "Durations") -> str:
    sections = ("Assumptions", "Constraints", "Unknowns", "Open Questions")
    head = f"# {title}\n\n## Deliverable Type\n\nCode — a module.\n\n## Objective\n\nParse durations.\n"
    return head + "".join(f"\n## {each}\n\n- None\n" for each in sections)


def specification(*tasks: str, criteria: int = 5, tests: bool = True) -> str:
    structure = {**CODE_ANSWER["spec"]["structure"]}
    structure["tasks"] = [{"id": title.lower().replace(" ", "-"), "title": title, "tests": tests} for title in tasks]
    constraints = {**CODE_ANSWER["constraints"], "criteria": [f"It does {n}." for n in range(1, criteria + 1)]}
    spec = {**CODE_ANSWER["spec"], "structure": structure}
    return json.dumps({**CODE_ANSWER, "spec": spec, "constraints": constraints})


@dataclass(slots=True)
class ScriptedCoder:
    """Implements `Model`: answers of the pipeline by prompt, turns of a build by order."""

    turn: Turn
    answers: Mapping[str, Answer] = field(default_factory=dict)
    prompts: list[tuple[str, Prompt]] = field(default_factory=list)
    """What was asked: the name of the prompt, or `turn`."""
    orders: list[str] = field(default_factory=list)
    name: str = AGENT
    context_window: int = 200_000
    tokens: int = 0
    """Sent and received."""

    @property
    def calls(self) -> int:
        return len(self.prompts)

    def asked(self, prompt: str) -> list[Prompt]:
        return [each for name, each in self.prompts if name == prompt]

    async def answer(self, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:
        kind = "turn" if prompt.tools else _prompt_name(prompt)
        self.prompts.append((kind, prompt))
        said = self._turn(prompt) if kind == "turn" else Say(self._answer(kind, prompt))
        on_text(said.text)
        sent = estimate(prompt.system) + sum(estimate(str(each)) for each in (*prompt.tools, *prompt.messages))
        got = estimate(said.text + str(said.calls))
        self.tokens += sent + got
        calls = tuple(ToolCall(f"call-{self.calls}-{i}", name, given) for i, (name, given) in enumerate(said.calls))
        usage = Usage(input_tokens=sent, output_tokens=got, requests=1, cost=0.0)
        return AssistantMessage(said.text, calls, self.name, usage)

    def _turn(self, prompt: Prompt) -> Say:
        place = max(i for i, each in enumerate(prompt.messages) if isinstance(each, UserMessage))
        order = prompt.messages[place]
        assert isinstance(order, UserMessage)
        done = sum(isinstance(each, AssistantMessage) for each in prompt.messages[place:])
        if done == 0:
            self.orders.append(order.text)
        steps = [*self.turn(order.text, len(self.orders))]
        return steps[done] if done < len(steps) else Say("Nothing more.")

    def _answer(self, kind: str, prompt: Prompt) -> str:
        usual: Mapping[str, Answer] = {
            "brain-dump-intake": intent(),
            "team-context": json.dumps({"kind": "problem", "context": ""}),
            "spec-building": specification("Parse"),
            "open-source": NO_CANDIDATE,
            "completeness-gate": json.dumps({"complete": True, "missing": []}),
            "code-review": NO_FINDING,
        }
        given = self.answers.get(kind, usual.get(kind, ""))
        return given if isinstance(given, str) else given(prompt, len(self.asked(kind)))


def _prompt_name(prompt: Prompt) -> str:
    """By the file that the system prompt is made from."""
    folder = resources.files("forge.prompts") / "files"
    found = (each.name for each in folder.iterdir() if prompt.system.startswith(each.read_text("utf-8")[:200]))
    return next(found).removesuffix(".md")


@contextmanager
def answering(model: ScriptedCoder) -> Iterator[ScriptedCoder]:
    """In place of every provider."""
    with patch.object(registry, "resolve", lambda *_: model):
        yield model


async def built(
    shop: Workshop,
    repository: Path | None,
    *,
    idea: str = IDEA,
    files: Sequence[Path] = (),
    after: Project | None = None,
    name: str | None = None,
    command: str = "",
) -> tuple[Project, ProjectView]:
    """From the first word until it is done or a person has to decide."""
    project = await create(shop, name, agent=AGENT, repository=repository, after=after, deliverable_type="code")
    if command:
        set_command_found(shop, LOCAL, project, command)
    for file in files:
        add_resource(shop, project, file)
    await say(shop, project, idea, about="problem")
    return project, await carry_on(LocalPilot(shop, project), auto_confirm=True, hear=lambda _: None)


def writes(text: str = "Done.\n\nCommit: Add it", **files: str) -> list[Say]:
    """One answer that writes files, by path with `__` for a slash and `_py` for the ending, and one that ends it."""
    return edits({_path(name): content for name, content in files.items()}, text)


def edits(files: Mapping[str, str], text: str = "Done.\n\nCommit: Add it") -> list[Say]:
    return [
        Say("", tuple(call("write_file", path=path, content=content) for path, content in files.items())),
        Say(text),
    ]


def _path(name: str) -> str:
    stem, _, ending = name.replace("__", "/").rpartition("_")
    return f"{stem}.{ending}"


def subjects(project: Project) -> list[str]:
    """Of the commits on the build branch, the newest first, without those it began with."""
    info = project.info()
    repo = Repository.open(Path(info.repository or ""))
    commits = []
    for commit in repo.log(info.branch or ""):
        if commit.id == info.baseline:
            break
        commits.append(commit.message.partition("\n")[0])
    return commits
