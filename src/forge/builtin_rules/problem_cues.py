"""Words by which rules tell a wish from a problem, and either from background."""

from __future__ import annotations

import re

SOLUTION = re.compile(
    r"\b(?:want|need|build|make|create|launch|develop|would like)\b[^.?!]*?"
    r"\b((?:an?|some|our own|the) (?:[\w-]+ ){0,3}?"
    r"(?:app|application|dashboard|tool|platform|portal|website|bot|chatbot|system|report|integration|feature|page|api|"
    r"plugin|software|automation|assistant|marketplace|form|workflow|database))\b",
    re.I,
)
PROBLEM = re.compile(
    r"\b(?:problem|because|takes?|slow|late|lose|losing|lost|wait|waiting|cannot|can[’']?t|manual(?:ly)?|by hand|"
    r"errors?|mistakes?|wrong|complain|complaints?|fail|fails|miss(?:ed|ing)?|forget|expensive|hours|struggle|suffer|churn|"
    r"leave|nobody knows|do(?:es)? not know|don[’']?t know|twice|chaos|overload)\b",
    re.I,
)
_SURE = 2


def states_problem(text: str) -> bool:
    """Whether the text says what is wished for or what is wrong; one word alone may be background."""
    return SOLUTION.search(text) is not None or len(PROBLEM.findall(text)) >= _SURE
