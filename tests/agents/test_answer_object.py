"""Answers as models really write them: small slips of form cost nothing, and what is unclear is never accepted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from forge.agents.answer_object import parse_object
from forge.deliverables.code.review import CodeReview
from forge.deliverables.plan.answers import BuilderAnswer, FixAnswer
from forge.deliverables.plan.review import PlanReview
from forge.pipeline.scene import Recognised
from forge.pipeline.specification import Answer
from forge.projects.errors import AnswerMalformed

pytestmark = pytest.mark.req("P-09")

FINDING = {
    "severity": "critical",
    "description": "It loses, data]\nsilently",
    "location": "a.py:3",
    "recommendation": "Sync.",
}
OTHER = {"severity": "minor", "description": "A {name} is odd", "location": "b.py", "recommendation": "Rename."}
CODE = {
    "critical": 1,
    "medium": 0,
    "minor": 1,
    "tests": {"total": 3, "passed": 3, "failed": 0},
    "issues": [FINDING, OTHER],
}
PLAN = {"critical": 1, "medium": 0, "minor": 1, "issues": [FINDING, OTHER]}
SPEC = {
    "challenges": [{"decision": "SQLite", "concern": "Several writers", "resolution": "WAL"}],
    "resolutions": [{"unknown": "Which language?", "resolution": "Python", "source": "ai"}],
    "questions": [],
    "spec": {
        "overview": "A small tool.\n\nIt reads.",
        "structure": {
            "architecture": "One module.",
            "language": "Python",
            "tasks": [{"title": "Parse", "tests": True}],
        },
        "decisions": ["One file", {"decision": "No server", "rationale": "Local use"}],
        "dependencies": ["none yet"],
        "included": ["parsing"],
        "excluded": ["a server"],
    },
    "constraints": {
        "context": "For one person.",
        "priorities": ["correctness"],
        "exclusions": [],
        "scope": ["the parser"],
        "criteria": ["one", "two", "three", "four", "five"],
    },
}
BUILT = {"stuck": False, "reason": "", "content": '{"goal": "Ship it."}', "decided": []}
FIXED = {"slots": {"goal": "Ship it, now."}, "summary": "Said when."}
SCENE = {"kind": "problem", "context": "A team\tof five.\nAll remote."}

CASES: dict[str, tuple[type[BaseModel], dict[str, Any]]] = {
    "code review": (CodeReview, CODE),
    "plan review": (PlanReview, PLAN),
    "specification": (Answer, SPEC),
    "builder": (BuilderAnswer, BUILT),
    "fix": (FixAnswer, FIXED),
    "first message": (Recognised, SCENE),
}


def spaced(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2)


def with_trailing_commas(value: dict[str, Any]) -> str:
    return spaced(value).replace('"\n', '",\n').replace("}\n", "},\n").rstrip(",\n")


def with_comments(value: dict[str, Any]) -> str:
    return spaced(value).replace("{\n", "{ // the answer\n  /* as asked */\n", 1)


def with_other_case(value: dict[str, Any]) -> str:
    return json.dumps({name.upper().replace("_", "-"): inside for name, inside in value.items()})


def with_raw_line_breaks(value: dict[str, Any]) -> str:
    return json.dumps(value).replace("\\n", "\n")


HABITS: dict[str, Callable[[dict[str, Any]], str]] = {
    "plain": json.dumps,
    "indented": spaced,
    "fenced": lambda value: f"```json\n{spaced(value)}\n```",
    "fenced without a language": lambda value: f"```\n{spaced(value)}\n```",
    "tildes": lambda value: f"~~~\n{spaced(value)}\n~~~",
    "prose before": lambda value: f"Sure! Here is what you asked for:\n\n{spaced(value)}",
    "prose around": lambda value: f"Here {{it}} is.\n{spaced(value)}\nLet me know if you need {{more}}!",
    "thinking": lambda value: f'<think>\nMaybe {{"issues": []}}? No.\n</think>\n{spaced(value)}',
    "thinking without a start": lambda value: f'Hm, {{"kind": "both"}}.\n</think>\n\n{spaced(value)}',
    "reasoning in capitals": lambda value: f"<THINKING>What now</THINKING>{spaced(value)}",
    "trailing commas": with_trailing_commas,
    "comments": with_comments,
    "raw line breaks": with_raw_line_breaks,
    "python constants": lambda value: json.dumps(value).replace("false", "False").replace("true", "True"),
    "names in capitals": with_other_case,
    "more fields": lambda value: json.dumps({"note": "as asked", **value, "confidence": 0.9}),
    "a draft first": lambda value: f'Draft: {{"draft": true}}\nFinal: {json.dumps(value)}',
    "said twice": lambda value: f"{json.dumps(value)}\n\nAgain, whole:\n{json.dumps(value)}",
    "in an object of its own": lambda value: json.dumps({"answer": value}),
    "a byte order mark": lambda value: f"\ufeff{json.dumps(value)}",
    "an empty object first": lambda value: f"{{}} {json.dumps(value)}",
    "windows line ends": lambda value: spaced(value).replace("\n", "\r\n"),
    "a fence inside of prose": lambda value: f"1. Read\n2. Answer\n\n```json\n{json.dumps(value)}\n```\n\n— done",
    "tabs": lambda value: json.dumps(value, indent="\t"),
    "a tool call": lambda value: f"<tool_call>{json.dumps({'name': 'answer', 'arguments': value})}</tool_call>",
    "a tool call with input": lambda value: json.dumps({"tool": "submit", "input": value}),
    "a function call with text": lambda value: json.dumps(
        {"type": "function", "function": {"name": "answer", "arguments": json.dumps(value)}}
    ),
    "channels": lambda value: (
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{json.dumps(value)}<|return|>"
    ),
    "answer tags": lambda value: f"<answer>\n{spaced(value)}\n</answer>",
    "a list of one": lambda value: json.dumps([value]),
    "JSON as a text": lambda value: json.dumps(json.dumps(value)),
    "a table before": lambda value: f"| severity | place |\n|---|---|\n| critical | a.py |\n\n{json.dumps(value)}",
    "a quotation": lambda value: "\n".join(f"> {line}" for line in spaced(value).splitlines()),
    "two thoughts": lambda value: f"<think>a {{</think>\n<think>b }}</think>{json.dumps(value)}",
    "spaces that do not break": lambda value: spaced(value).replace("  ", "\u00a0\u00a0"),
    "headings around": lambda value: f"## Result\n\n```JSON\n{spaced(value)}\n```\n\n**Summary:** as above.",
}


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("case", CASES)
def test_form_costs_nothing_where_the_meaning_is_clear(case: str, habit: str) -> None:
    schema, value = CASES[case]
    assert parse_object(HABITS[habit](value), schema).model_dump() == schema.model_validate(value).model_dump()


def test_there_are_enough_variants() -> None:
    assert len(HABITS) * len(CASES) + len(FIELDS) + len(UNCLEAR) >= 280


def reviewed(**changes: Any) -> dict[str, Any]:
    return {**PLAN, **changes}


FIELDS: list[tuple[dict[str, Any], list[str]]] = [
    (reviewed(issues=[{**FINDING, "severity": "CRITICAL"}]), ["critical"]),
    (reviewed(issues=[{**FINDING, "severity": " **Critical** "}]), ["critical"]),
    (reviewed(issues=[{**FINDING, "severity": "blocker"}]), ["critical"]),
    (reviewed(issues=[{**FINDING, "severity": "High"}]), ["critical"]),
    (reviewed(issues=[{**FINDING, "severity": "major"}]), ["medium"]),
    (reviewed(issues=[{**FINDING, "severity": "Moderate"}]), ["medium"]),
    (reviewed(issues=[{**FINDING, "severity": "nit"}]), ["minor"]),
    (reviewed(issues=[{**FINDING, "severity": "Low"}]), ["minor"]),
    *(
        (reviewed(issues=[{**FINDING, "severity": word}]), [meant])
        for words, meant in (
            (("Kritisch", "critique", "Crítico", "grave", "критический", "严重", "重大", "🔴 Critical"), "critical"),
            (("Mittel", "moyen", "Média", "средний", "中"), "medium"),
            (("gering", "mineur", "leve", "низкий", "轻微", "軽微"), "minor"),
        )
        for word in words
    ),
    (reviewed(issues=FINDING), ["critical"]),
    (reviewed(issues={"1": FINDING, "2": OTHER}), ["critical", "minor"]),
    (reviewed(issues=[FINDING, None, {}]), ["critical"]),
    (reviewed(issues=[FINDING, "and so on"]), ["critical"]),
    (reviewed(issues=[{**FINDING, "location": None, "recommendation": None}]), ["critical"]),
    (reviewed(issues=[{**FINDING, "location": 12}]), ["critical"]),
    (reviewed(issues=[{**FINDING, "location": ["a.py", "b.py"]}]), ["critical"]),
    ({"issues": [FINDING]}, ["critical"]),
    ({"Issues": [FINDING]}, ["critical"]),
    (reviewed(critical=None, medium=None, minor=None, issues=[FINDING]), ["critical"]),
    (reviewed(critical="1", issues=[FINDING]), ["critical"]),
    (reviewed(critical=0, minor=0, issues=None), []),
    (reviewed(critical=0, minor=0, issues="none"), []),
    (reviewed(critical=0, minor=0, issues=[]), []),
]


@pytest.mark.parametrize(("value", "severities"), FIELDS)
def test_fields_are_read_as_they_are_meant(value: dict[str, Any], severities: list[str]) -> None:
    assert [str(issue.severity) for issue in parse_object(json.dumps(value), PlanReview).issues] == severities


def test_what_is_left_out_is_noted() -> None:
    notes: list[str] = []
    parse_object(json.dumps(reviewed(issues=[FINDING, "and so on", OTHER])), PlanReview, notes)
    assert notes == ["issues: left out 1 of 3 items, not in the form that was asked for."]


def test_the_last_object_that_fits_wins() -> None:
    text = f"{json.dumps(reviewed(issues=[OTHER]))} Better: {json.dumps(PLAN)} See {json.dumps({'file': 'a.py'})}"
    assert len(parse_object(text, PlanReview).issues) == 2


WHOLE = json.dumps(PLAN)
UNCLEAR: list[tuple[str, type[BaseModel], str]] = [
    ("", PlanReview, "no JSON object"),
    ("All is well.", PlanReview, "no JSON object"),
    ("<think>It is fine.</think>", PlanReview, "no JSON object"),
    (f"<think>{WHOLE}", PlanReview, "no JSON object"),
    ("[]", PlanReview, "no JSON object"),
    ("| severity | description |\n|---|---|\n| critical | It loses data |", PlanReview, "no JSON object"),
    (json.dumps({"name": "answer", "arguments": "{broken"}), PlanReview, "issues"),
    (json.dumps({"name": "answer", "arguments": {"summary": "All good"}}), PlanReview, "issues"),
    (json.dumps(reviewed(issues=[{**FINDING, "severity": "wichtig?"}])), PlanReview, "severity"),
    (WHOLE[:-2], PlanReview, "ends before it does"),
    (f"Draft: {WHOLE}\nFinal: {WHOLE[:80]}", PlanReview, "ends before it does"),
    (WHOLE.replace('"issues"', '"issues": [], "issues"'), PlanReview, "occurs twice"),
    (json.dumps({"critical": 0, "medium": 0, "minor": 0}), PlanReview, "issues"),
    (json.dumps(reviewed(issues=[{**FINDING, "severity": "purple"}])), PlanReview, "severity"),
    (json.dumps(reviewed(issues=[{**FINDING, "description": None}])), PlanReview, "description"),
    (json.dumps(reviewed(issues=["It is bad."])), PlanReview, "issues"),
    (json.dumps(reviewed(issues=3)), PlanReview, "issues"),
    (json.dumps(reviewed(issues={})), PlanReview, "issues"),
    (json.dumps(reviewed(critical=-1)), PlanReview, "critical"),
    (json.dumps({**BUILT, "stuck": True}), BuilderAnswer, "reason"),
    (json.dumps({**BUILT, "content": ""}), BuilderAnswer, "content"),
    (json.dumps({**BUILT, "stuck": "perhaps"}), BuilderAnswer, "stuck"),
    (json.dumps({"summary": "Done."}), FixAnswer, "slots"),
    (json.dumps({"kind": "neither"}), Recognised, "kind"),
    (json.dumps({**SPEC, "constraints": {**SPEC["constraints"], "criteria": ["one"]}}), Answer, "criteria"),
    (json.dumps({**SPEC, "spec": None}), Answer, "spec"),
    (json.dumps({"spec": SPEC["spec"]}), Answer, "constraints"),
]


@pytest.mark.parametrize(("raw", "schema", "told"), UNCLEAR)
def test_what_is_unclear_is_refused_with_the_reason(raw: str, schema: type[BaseModel], told: str) -> None:
    with pytest.raises(AnswerMalformed) as error:
        parse_object(raw, schema)
    assert told in error.value.message
    assert "one JSON object" in error.value.hint
