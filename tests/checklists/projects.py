"""A project that is gone through by commands, with a script for an agent; and what each command left behind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.checklists.conftest import contents
from tests.cli.conftest import Ran, run_here

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
Json = dict[str, Any]


@dataclass
class Walk:
    """Commands on one project, by the name that each step is given."""

    workspace: Path
    name: str
    ran: dict[str, Ran] = field(default_factory=dict)
    files: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        return self.workspace / "projects" / self.name

    def step(self, name: str, command: str, *args: str) -> Ran:
        return self.seen(name, run_here("project", command, self.name, *args, "--json"))

    def seen(self, name: str, ran: Ran) -> Ran:
        self.ran[name] = ran
        self.files[name] = contents(self.directory)
        return ran

    def view(self, step: str) -> Json:
        return dict(self.ran[step].document)

    def value(self, step: str, file: str) -> Any:
        return json.loads(self.files[step][file])

    def status(self, step: str) -> Json:
        return dict(self.value(step, "status.json"))

    def said(self, step: str) -> list[str]:
        """What is in the chat, message by message."""
        return [message["content"] for message in self.value(step, "chat_history.json")]

    def log(self, step: str) -> Iterator[Json]:
        for line in self.files[step]["forge.log"].splitlines():
            yield json.loads(line)

    def headings(self, step: str, file: str) -> list[str]:
        return re.findall(r"^#{1,2} .*", self.files[step][file], re.MULTILINE)


def reviews(*criticals: int) -> Callable[[Any], str]:
    """Reviews of a plan with so many critical findings, one after the other; the last one for all that follow."""

    def review(task: Any) -> str:
        count = criticals[min(task.nth, len(criticals)) - 1]
        issues = [
            {
                "severity": "critical",
                "description": f"gap {n} of round {task.nth}",
                "location": "Money",
                "recommendation": "mend",
            }
            for n in range(count)
        ]
        # The count at the top is wrong on purpose: it is for readers.
        return json.dumps({"critical": 99 if issues else 0, "medium": 0, "minor": 0, "issues": issues})

    return review
