"""Which open-source components an agent proposes, as checked values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from forge.agents.answer_object import parse_object
from forge.deliverables.code.registries import Ecosystem
from forge.plugins.roles import Desk
from forge.projects.errors import AnswerMalformed

MOST = 6
_TRIES = 2
GATHERED = ("repository", "environment", "resources", "plan")
_NAMES: Mapping[Ecosystem, re.Pattern[str]] = {
    "python": re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?"),
    "npm": re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]{0,98}/)?[a-z0-9~-][a-z0-9._~-]{0,98}", re.IGNORECASE),
}


class Candidate(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: Annotated[str, StringConstraints(strip_whitespace=True)]
    ecosystem: Ecosystem
    purpose: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""

    @model_validator(mode="after")
    def _can_be_asked_for(self) -> Candidate:
        if not _NAMES[self.ecosystem].fullmatch(self.name):
            raise ValueError(f"`name` must be the name of one {self.ecosystem} package, without a version")
        return self


class Proposal(BaseModel):
    candidates: Annotated[list[Candidate], Field(max_length=100)]


async def proposed(desk: Desk) -> tuple[Candidate, ...] | str:
    """What an agent would take, the first few of it, each once; or why two answers could not be read."""
    material = {"intent": desk.intent, "constraints": desk.constraints, "most": MOST}
    problem = ""
    for _ in range(_TRIES):
        given = parsed(await desk.ask("open-source", material, gather=GATHERED, schema=Proposal, complaint=problem))
        if not isinstance(given, str):
            return given
        problem = given
    return problem


def parsed(answer: str) -> tuple[Candidate, ...] | str:
    """The candidates, or what is wrong with the answer."""
    try:
        found = parse_object(answer, Proposal)
    except AnswerMalformed as e:
        return f"{e.message} Answer with one JSON object with `candidates` and nothing else."
    return tuple({(each.ecosystem, each.name.lower()): each for each in reversed(found.candidates)}.values())[::-1][
        :MOST
    ]
