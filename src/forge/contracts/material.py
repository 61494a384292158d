"""What a project says about itself, as the agents that write contracts fetch it; nothing of it is in the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Self

from forge.contracts import questionnaire
from forge.contracts.questionnaire import Answer
from forge.json_value import Json
from forge.projects.intent import bullets, items, under
from forge.projects.project import Project

DOCUMENTS = {"intent": "docs/intent.md", "spec": "docs/spec.md", "constraints": "docs/constraints.md"}
_NAMED = {"intent": "intent.md", "spec": "spec.md", "constraints": "constraints.md"}
_INTENT = (questionnaire.INTENT, questionnaire.CONSTRAINTS)
TECHNICAL = (questionnaire.TECHNICAL, questionnaire.DATA, questionnaire.CONSTRAINTS)
STORIES = (questionnaire.USERS, questionnaire.FEATURES, questionnaire.LOOK)


_RISKS = "Assumptions of high impact that nobody validated. `blueprint` names them under *Risks*, with their ids."


@dataclass(frozen=True, slots=True)
class Material:
    """Taken once, when a run begins: later edits of the project's documents do not reach that run."""

    name: str
    documents: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""
    risks: tuple[str, ...] = ()
    """Assumptions of high impact that nobody validated, each with its id."""

    @classmethod
    def of(cls, project: Project, *, notes: str = "", risks: tuple[str, ...] = ()) -> Self:
        read = project.records.read
        documents = {name: text for name, path in DOCUMENTS.items() if (text := read(path))}
        return cls(project.name, documents, questionnaire.parse(read(questionnaire.FILE)), notes, risks)

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Json) -> Self:
        return cls(**{**value, "risks": tuple(value.get("risks", ()))})

    @property
    def is_empty(self) -> bool:
        return not any(each.text for each in self.answered())

    def answered(self) -> tuple[Answer, ...]:
        given = {name: self.documents.get(name, "") for name in DOCUMENTS}
        return questionnaire.answered(self.answers, **given)

    def answer(self, id_: str) -> Answer:
        return next(each for each in self.answered() if each.question.id == id_)

    def project_intent(self, document: str | None = None) -> str:
        """The purpose in short; with `document`, that one whole."""
        if document is not None:
            return self.documents.get(document) or f"The project has no {document}.md."
        parts = [f"# {self.name}", *self._told(_INTENT)]
        for heading in ("assumptions", "unknowns", "open questions"):
            found = items(under(self.documents.get("intent", ""), heading))
            parts += [f"## {heading.capitalize()}\n\n{bullets(found)}"] if found else []
        if found := items(under(self.documents.get("spec", ""), "key decisions")):
            parts.append(f"## Decisions\n\n{bullets(found)}")
        if self.risks:
            parts.append(f"## Risks\n\n{_RISKS}\n\n{bullets(self.risks)}")
        if self.notes:
            parts.append(self.notes)
        return "\n\n".join(parts) if len(parts) > 1 else f"# {self.name}\n\nNothing else is known."

    def technical_preferences(self, sections: Sequence[str] = TECHNICAL) -> str:
        return "\n\n".join(self._told(sections)) or "Nobody named any. Choose what is common and simple."

    def user_stories(self, sections: Sequence[str] = STORIES) -> str:
        parts = self._told(sections)
        tasks = items(under(self.documents.get("spec", ""), "tasks"))
        if tasks and questionnaire.FEATURES in sections and self.answer("features").items != tuple(tasks):
            parts.append(f"## Tasks of the spec\n\n{bullets(tasks)}")
        return "\n\n".join(parts) or "Nobody wrote any. Take them from the intent."

    def _told(self, sections: Sequence[str]) -> list[str]:
        """Only what is answered, with the origin of what no person typed."""
        parts = []
        for section in sections:
            given = [each for each in self.answered() if each.question.section == section and each.text]
            if given:
                parts.append("\n\n".join([f"## {section}", *map(_shown, given)]))
        return parts


def _shown(answer: Answer) -> str:
    body = "\n".join(f"- {each}" for each in answer.items) if answer.question.many else answer.text
    origin = "" if answer.origin == "person" else f" ({_NAMED[answer.origin]})"
    return f"{answer.question.text}{origin}\n{body}"
