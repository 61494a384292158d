"""`need_decision`: the task of a build cannot continue before a person has decided something. It ends the turn."""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.tool import ToolRetry

NAME = "need_decision"
MOST_OPTIONS = 6
_LONGEST_QUESTION = 1_000
_LONGEST_OPTION = 200
ASKED = "The person is asked. Your turn ends here; the next order tells you what was decided."


def get_schema() -> Json:
    return {
        "name": NAME,
        "description": (
            "Stop, because the task needs a decision that only the person can make; difficulty is no reason. Your turn "
            "ends, what you changed is kept, and the next order has the answer. Say first, in a sentence or two, what "
            'you tried. Example: {"question": "Is an empty file valid?", "options": ["valid", "an error"]}.'
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "question": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": _LONGEST_QUESTION,
                    "description": "One question, complete in itself.",
                },
                "options": {
                    "type": "array",
                    "maxItems": MOST_OPTIONS,
                    "items": {"type": "string", "minLength": 1, "maxLength": _LONGEST_OPTION},
                    "description": "The answers that you see, each as the person would say it.",
                },
            },
            "required": ["question"],
            "additionalProperties": False,
        },
    }


def execute(vfs: WorkInProgressVFS, args: Json) -> str:
    del vfs
    if not args["question"].strip():
        raise ToolRetry("`question` is empty.")
    return ASKED
