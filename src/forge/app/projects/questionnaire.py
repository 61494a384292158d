"""The questionnaire of a project: its questions with the answers so far, and answers given by people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forge.app.access.identity import Who, audit
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.contracts import questionnaire
from forge.contracts.history import EDITOR
from forge.contracts.material import DOCUMENTS
from forge.contracts.questionnaire import FILE, SECTIONS, Answer, Origin
from forge.events import ContractAnswersSaved
from forge.git.objects.commits import message_with
from forge.json_value import Json
from forge.projects.project import Project
from forge.projects.records import Read

__all__ = ["FILE", "SECTIONS", "parse_answers"]


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """`origin` is `person`, the document that the answer was taken from, or empty while there is none."""

    id: str
    section: str
    text: str
    hint: str
    many: bool
    answer: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Questionnaire:
    project_id: str
    questions: tuple[AnsweredQuestion, ...]
    answered: int
    by_person: int


def questions_from_json(data: Json) -> Questionnaire:
    """As the API gives it."""
    return Questionnaire(**{**data, "questions": tuple(AnsweredQuestion(**each) for each in data["questions"])})


def show_questions(shop: Workshop, who: Who, id_: str) -> Questionnaire:
    return questions_of(project_for(shop, who, id_))


def questions_of(project: Project) -> Questionnaire:
    read = project.records.read
    documents = {name: read(path) or "" for name, path in DOCUMENTS.items()}
    found = questionnaire.answered(questionnaire.parse(read(FILE)), **documents)
    shown = tuple(map(_shown, found))
    by_person = sum(each.origin == "person" for each in shown)
    return Questionnaire(project.id, shown, sum(bool(each.answer) for each in shown), by_person)


def answer_questions(shop: Workshop, who: Who, id_: str, answers: Mapping[str, str]) -> Questionnaire:
    return answer_found(shop, who, project_for(shop, who, id_, "write"), answers)


def answer_found(shop: Workshop, who: Who, project: Project, answers: Mapping[str, str]) -> Questionnaire:
    """Save them beside the answers that are there; an empty one takes a person's answer back."""
    clean = {
        questionnaire.question(id_).id: shop.redactor.text(questionnaire.checked(text, id_))
        for id_, text in answers.items()
    }
    known = {each.id: each for each in questions_of(project).questions}
    # What was only confirmed stays the word of the document it came from, and follows it.
    own = {id_: text for id_, text in clean.items() if known[id_].origin == "person" or text != known[id_].answer}

    def change(read: Read) -> Mapping[str, str]:
        before = questionnaire.parse(read(FILE))
        after = {id_: text for id_, text in {**before, **own}.items() if text}
        return {FILE: questionnaire.format(after)} if after != before else {}

    editor = project.records.repository.signature().name if who.is_local else who.name
    done = project.records.update(change, message_with("contracts: answer questions", {EDITOR: editor}))
    if done is not None:
        audit(shop, who, "contract.answer", f"project:{project.id}", ", ".join(sorted(own)))
        shop.events.publish(project.subject.topic, ContractAnswersSaved(project.id, tuple(sorted(own))))
    return questions_of(project)


def parse_answers(text: str) -> Mapping[str, str]:
    """As `contracts/answers.yaml` has them."""
    return questionnaire.parse(text)


def answers_form(project: Project) -> str:
    """The file to fill in: every question as a comment, with the answer that is known and where it comes from."""
    lines = [f"# Answers for {project.name}. Empty ones stay open.", ""]
    for section in SECTIONS:
        lines += [f"# {section}", ""]
        for each in questions_of(project).questions:
            if each.section == section:
                origin = f" (from {each.origin}.md)" if each.origin not in ("person", "") else ""
                lines += [f"# {each.text} {each.hint}{origin}"]
                text = questionnaire.format({each.id: each.answer}).rstrip() if each.answer else f"{each.id}:"
                lines += [text, ""]
    return "\n".join(lines)


def _shown(answer: Answer) -> AnsweredQuestion:
    asked = answer.question
    return AnsweredQuestion(asked.id, asked.section, asked.text, asked.hint, asked.many, answer.text, answer.origin)
