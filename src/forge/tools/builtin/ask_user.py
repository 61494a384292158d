"""`ask_user`: a question that only the person can answer. The turn waits; the answer is the call's result."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.tool import Inquiry, ToolRetry

MOST_CHOICES = 6
_LONGEST_QUESTION = 2_000
_LONGEST_CHOICE = 200


def get_schema() -> Json:
    return {
        "name": "ask_user",
        "description": (
            "Ask the person one question and wait for the answer, which may take long. Only for what you can neither "
            'find out nor sensibly decide yourself. Example: {"question": "Which colour has the sign?", "choices": '
            '["red", "blue"]}. The person may choose, or answer in other words.'
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "question": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": _LONGEST_QUESTION,
                    "description": "Short, and complete in itself.",
                },
                "choices": {
                    "type": "array",
                    "maxItems": MOST_CHOICES,
                    "items": {"type": "string", "minLength": 1, "maxLength": _LONGEST_CHOICE},
                    "description": "Likely answers, each as the person would say it.",
                },
            },
            "required": ["question"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> Inquiry:
    del vfs
    question = args["question"].strip()
    if not question:
        raise ToolRetry("`question` is empty.")
    choices = dict.fromkeys(choice.strip() for choice in args.get("choices", ()))
    return Inquiry(question, tuple(choice for choice in choices if choice))
