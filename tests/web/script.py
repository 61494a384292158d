"""What the scripted model answers: the first word of a message names the task, as in `task rose1: …`."""

from __future__ import annotations

import re

from tests.support.provider import Asked, working
from tests.support.stand_in import Reply

_KIND = re.compile("[a-z]+")
_PROSE = """## Plan

1. Look at `beds/north.md`.
2. Write the **notes**.

```python
def water(bed: str) -> None:
    print(f"watering {bed}")
```

| bed | flowers |
|---|---|
| north | tulips |
"""


def answers(asked: Asked) -> Reply:
    """`rose`: writes a file and runs a command. `slow`: streams for long. `prose`: Markdown, and thinks first.

    `steady`: a hundred and twenty words. `long`: many lines. `swift`: two hundred words a second. `refused`: an error.
    `ask`: asks for a colour, then writes a file. `explore`: routes, notes an assumption, then asks a question slowly.
    """
    found = _KIND.match(asked.task)
    match found.group() if found else "":
        case "slow":
            return Reply(tuple(f"word{n} " for n in range(400)), pause=0.05)
        case "prose":
            return Reply(tuple(re.findall(r"\s*\S+", _PROSE)), thinking="The person wants a plan.", pause=0.005)
        case "steady":
            return Reply(tuple(f"word{n} " for n in range(120)), pause=0.04)
        case "long":
            return Reply(tuple(f"Line {n}\n\n" for n in range(600)), pause=0.02)
        case "swift":
            return Reply(tuple(re.findall(r"\s*\S+", _LONG)), pause=0.005)
        case "ask":
            return _asking(asked)
        case "explore":
            return _exploring(asked)
        case "refused":
            problem = {"type": "invalid_request_error", "message": "The words are too long."}
            return Reply(status=400, error={"error": problem})
    return working(asked)


_PARAGRAPH = "Rows of **tulips** stand in `beds/north.md`, and _each_ wants its water before the sun is high."
_CODE = "```python\ndef water(bed: str) -> None:\n    print(f'watering {bed}')\n```"
_LONG = "\n\n".join(f"### Part {n}\n\n{_PARAGRAPH}\n\n- one\n- two\n\n{_CODE}" for n in range(20))


def _asking(asked: Asked) -> Reply:
    match asked.number:
        case 1:
            question = {"question": "Which colour has the sign?", "choices": ["red", "blue"]}
            return Reply(("One thing ", "first."), (("ask_user", question),))
        case 2:
            return Reply(calls=(("write_file", {"path": "sign.md", "content": f"{asked.task}\n"}),))
    return Reply(("The sign ", "is painted.", "\n\nCommit: Paint the sign"))


def _exploring(asked: Asked) -> Reply:
    if "register_assumption" not in asked.tools:
        return Reply(('{"kind": "problem", "mode": "gathering"}',))
    if asked.number > 1:
        return Reply((*(f"word{n} " for n in range(60)), "\n\nWhy now?"), pause=0.05)
    given = {
        "type": "value",
        "impact": "high",
        "confidence": "guessed",
        "basis": "It is wished for.",
        "reason": "A wish.",
    }
    call = ("register_assumption", {"claim": "A dashboard saves an hour a day", **given})
    return Reply(("I note what this rests on.",), (call,))
