"""Whether the guards are right: generated trajectories of seven classes against a second reading of the same rules.

The reference below shares nothing with `forge.pipeline`: it reads the rules sentence by sentence, with fractions and a
plain edit distance, and reads answers and test records by itself.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any

from forge.deliverables.code.review import CodeReview
from forge.deliverables.plan.review import PlanReview
from forge.pipeline.evidence import tests_pass
from forge.pipeline.guards import Counts, evaluate
from forge.pipeline.review import parse_review
from forge.projects.errors import AnswerMalformed

PER_CLASS = 50
_RETRIES = 2
_ROUNDS = 52
"""Two more than can ever be needed."""
WORDS = ("table", "route", "cache", "login", "price", "guest", "hall", "index", "error", "budget", "menu", "clock")
_SEVERITIES = ("critical", "medium", "minor")

Finding = dict[str, str]
Run = dict[str, object]


@dataclass
class Round:
    """What one round is given: the agent's answers until one can be used, the commit, and all test records so far."""

    answers: list[str]
    commit: str = ""
    runs: list[Run] | None = None


@dataclass
class Case:
    kind: str
    code: bool
    rounds: list[Round] = field(default_factory=list)
    source: Iterator[None] = field(default_factory=lambda: iter(()))
    """Adds the next round; most of them are never needed."""

    def played(self) -> Iterator[Round]:
        for n in count():
            if n == len(self.rounds) and next(self.source, self) is self:
                return
            yield self.rounds[n]


Verdict = tuple[str, str, int]
"""Guard or `malformed`, outcome, and the round that it came in."""


# The seven classes


def cases(kinds: Iterable[str] | None = None) -> list[Case]:
    return [_case(kind, random.Random(f"{kind} {seed}")) for kind in kinds or CLASSES for seed in range(PER_CLASS)]


def _case(kind: str, rng: random.Random) -> Case:
    case = Case(kind, code=rng.random() < 0.3)
    case.source = CLASSES[kind](rng, case)
    return case


def _honest(rng: random.Random, case: Case) -> Iterator[None]:
    """Findings stay until they are mended, one or two a round; now and then one comes back."""
    known = random_findings(rng, [rng.randint(1, 4), rng.randint(4, 10), rng.randint(6, 14)])
    for _ in range(_ROUNDS):
        _add(rng, case, [], findings=known)
        yield
        kept = rng.sample(known, max(0, len(known) - rng.choice((0, 1, 1, 2))))
        known = [*kept, *random_findings(rng, [0, rng.random() < 0.1, rng.random() < 0.2])]


def _oscillating(rng: random.Random, case: Case) -> Iterator[None]:
    """Saw teeth: short ones are only odd, long and high ones look like invention."""
    teeth, step, low = rng.randint(2, 5), rng.randint(1, 3), rng.randint(8, 14)
    for n in range(_ROUNDS):
        total = low + step * (teeth - 1 - n % teeth)
        _add(rng, case, [1, total // 3, total - total // 3 - 1])
        yield


def _stagnating(rng: random.Random, case: Case) -> Iterator[None]:
    """The same total; the findings rotate, stay, or anything between, sometimes only by a few letters."""
    total, share, start = rng.randint(7, 12), rng.choice((0, 0, 0.1, 0.3, 0.5, 1)), rng.randint(0, 4)
    known = random_findings(rng, [1, 3, total - 4])
    for n in range(_ROUNDS):
        if n < start:
            _add(rng, case, [2, 6, total + start - n])
            yield
            continue
        known = [_finding(rng, f["severity"]) if rng.random() < share else f for f in known]
        _add(rng, case, [], findings=[_reworded(rng, f, most=3 if share else 99) for f in known])
        yield


def _drifting(rng: random.Random, case: Case) -> Iterator[None]:
    """Ever more findings."""
    counts = [rng.randint(0, 2), rng.randint(2, 6), rng.randint(3, 10)]
    for _ in range(_ROUNDS):
        _add(rng, case, counts)
        yield
        growth = (0, 0, 1, 2) if sum(counts) < 30 else (0, 0, 0, 1, -1)
        counts = [max(0, c + rng.choice(growth if rng.random() < 0.9 else (-3, 0))) for c in counts]


def _fabricating(rng: random.Random, case: Case) -> Iterator[None]:
    """Near the limits, and then a burst in one severity."""
    for _ in range(rng.randint(1, 6)):
        _add(rng, case, [0 if rng.random() < 0.8 else 1, rng.randint(3, 7), rng.randint(5, 11)])
        yield
    burst = [0, rng.randint(3, 6), rng.randint(6, 10)]
    burst[rng.randrange(3)] += rng.randint(1, 9)
    for _ in range(_ROUNDS - 6):
        _add(rng, case, burst)
        yield
        burst = [max(0, c + rng.choice((-1, 0, 0, 1))) for c in burst]


def _malformed(rng: random.Random, case: Case) -> Iterator[None]:
    """Answers in prose and fences, broken ones, two at once; sometimes too many bad ones in a row."""
    counts = [1, rng.randint(4, 7), rng.randint(6, 12)]
    for _ in range(_ROUNDS):
        _add(rng, case, counts)
        good = case.rounds[-1].answers[0]
        bad = 0 if rng.random() < 0.5 else rng.randint(1, 3)
        wrapped = rng.choice((good, f"Here it is:\n```json\n{good}\n```\nDone.", f"I looked at {{everything}}. {good}"))
        case.rounds[-1].answers = [*(_broken(rng, good) for _ in range(bad)), wrapped][: 1 + _RETRIES]
        yield
        counts = [max(0, c - rng.randint(0, 1)) for c in counts]


def _shrinking(rng: random.Random, case: Case) -> Iterator[None]:
    """The findings go away, and so do tests; or they fail, or are of another commit, or were never run."""
    case.code = True
    counts, total = [1, rng.randint(3, 6), rng.randint(4, 9)], rng.randint(6, 12)
    trouble = rng.choice(("shrink", "fail", "stale", "none", "exit", "skip", "grow back"))
    for n in range(_ROUNDS):
        _add(rng, case, counts, tests=total)
        run = (case.rounds[-1].runs or [{}])[-1]
        if n > 1:
            match trouble:
                case "shrink":
                    run |= {"total": total - 1, "passed": total - 1}
                case "grow back" if n < 9:
                    run |= {"total": total - 2, "passed": total - 2}
                case "fail":
                    run |= {"passed": total - 1, "failed": 1, "exit_code": 1}
                case "stale":
                    run |= {"commit": "f" * 40}
                case "none":
                    case.rounds[-1].runs = []
                case "exit":
                    run |= {"exit_code": rng.choice((1, 2, 139))}
                case "skip":
                    run |= {"passed": total - 3}
        yield
        counts = [max(0, c - rng.randint(0, 2)) for c in counts]


CLASSES: dict[str, Callable[[random.Random, Case], Iterator[None]]] = {
    "honest slow progress": _honest,
    "oscillation": _oscillating,
    "stagnation": _stagnating,
    "drift": _drifting,
    "fabricated findings": _fabricating,
    "malformed output": _malformed,
    "shrinking tests": _shrinking,
}


def _add(
    rng: random.Random, case: Case, counts: list[int], *, findings: list[Finding] | None = None, tests: int = 9
) -> None:
    found = random_findings(rng, counts) if findings is None else list(findings)
    rng.shuffle(found)
    # The counts that the agent claims are wrong on purpose: nothing may be decided by them.
    # Only an empty list beside counts contradicts itself, and is no usable answer.
    claimed = rng.randint(0, 9)
    answer: dict[str, object] = {"critical": 0, "medium": claimed if found else 0, "minor": 0, "issues": found}
    if not case.code:
        case.rounds.append(Round([json.dumps(answer)]))
        return
    answer["tests"] = {"total": tests, "passed": tests, "failed": 0}
    commit = f"{rng.getrandbits(160):040x}"
    run: Run = {"commit": commit, "total": tests, "passed": tests, "failed": 0, "exit_code": 0}
    case.rounds.append(Round([json.dumps(answer)], commit, [run]))


def random_findings(rng: random.Random, counts: list[int]) -> list[Finding]:
    return [_finding(rng, severity) for severity, n in zip(_SEVERITIES, counts, strict=False) for _ in range(n)]


def _finding(rng: random.Random, severity: str) -> Finding:
    text = " ".join(rng.sample(WORDS, 3))
    return {"severity": severity, "description": text, "location": "a:1", "recommendation": "mend it"}


def _reworded(rng: random.Random, finding: Finding, *, most: int) -> Finding:
    """Around the border of being the same: up to one letter in `most` differs."""
    letters = list(finding["description"])
    for place in rng.sample(range(len(letters)), rng.choice((0, 0, 1, len(letters) // most))):
        letters[place] = rng.choice("abcdefghij")
    return finding | {"description": "".join(letters)}


def _broken(rng: random.Random, good: str) -> str:
    return rng.choice(
        (
            good[: len(good) // 2],
            good + good,
            "All is well.",
            good.replace('"issues"', '"problems"'),
            good.replace('"minor"', '"tiny"').replace('"medium"', '"tiny"'),
            "",
        )
    )


# What Forge decides


def forge_verdict(case: Case) -> Verdict:
    trajectory: list[Counts] = []
    runs: list[Run] = []
    for number, given in enumerate(case.played(), 1):
        issues = None
        for answer in given.answers:
            try:
                issues = parse_review(answer, CodeReview if case.code else PlanReview)
                break
            except AnswerMalformed:
                continue
        if issues is None:
            return "malformed", "halt", number
        trajectory.append(Counts.of(number, issues))
        runs += given.runs or []
        verdict = evaluate(trajectory, tests=tests_pass(runs, given.commit) if case.code else None)
        if verdict.outcome != "continue":
            return str(verdict.guard), verdict.outcome, number
    return "none", "continue", len(case.rounds)


# The same, read a second time


def right_verdict(case: Case) -> Verdict:
    history: list[tuple[dict[str, int], list[str]]] = []
    records: list[Run] = []
    for number, given in enumerate(case.played(), 1):
        usable = [found for answer in given.answers if (found := _read(answer)) is not None]
        if not usable:
            return "malformed", "halt", number
        found = usable[0]
        tally = {severity: [f["severity"] for f in found].count(severity) for severity in _SEVERITIES}
        history.append((tally, [f["description"] for f in found]))
        records.extend(given.runs or [])
        if decided := _decided(history, number, green=not case.code or _green(records, given.commit)):
            return (*decided, number)
    return "none", "continue", len(case.rounds)


def _decided(history: list[tuple[dict[str, int], list[str]]], number: int, *, green: bool) -> tuple[str, str] | None:
    tally, texts = history[-1]
    totals = [sum(t.values()) for t, _ in history]
    # First: nothing critical, three medium, five minor, and the tests.
    if green and tally["critical"] == 0 and tally["medium"] < 4 and tally["minor"] < 6:
        return "termination", "done"
    # Two falling rounds, and then more than a fifth more.
    if number >= 4 and totals[-4] > totals[-3] > totals[-2] and Fraction(totals[-1]) > totals[-2] * Fraction(6, 5):
        return "hallucination", "halt"
    # One severity half as much again as its mean of three rounds and at least two above, after a round near the limits.
    if number >= 4:
        means = {s: Fraction(sum(t[s] for t, _ in history[-4:-1]), 3) for s in _SEVERITIES}
        jumped = [s for s in _SEVERITIES if tally[s] > means[s] * Fraction(3, 2) and tally[s] - means[s] >= 2]
        near = [t for t, _ in history[:-1] if t["critical"] <= 0 and t["medium"] <= 6 and t["minor"] <= 10]
        if jumped and near:
            return "fabrication", "halt"
    # Three times the same total, and fewer than seven in ten of the findings known from the round before.
    if green and number >= 3 and totals[-1] == totals[-2] == totals[-3] and texts:
        again = [text for text in texts if any(_same(text, old) for old in history[-2][1])]
        if Fraction(len(again), len(texts)) < Fraction(7, 10):
            return "stagnation", "done"
    return ("max_iterations", "halt") if number >= 50 else None


def _read(answer: str) -> list[Finding] | None:
    """The last whole object with a list of findings, each of a known severity, and no name twice."""
    read: list[Finding] | None = None
    for begin in re.finditer(r'\{"', answer):
        try:
            value, _ = json.JSONDecoder(object_pairs_hook=_once).raw_decode(answer, begin.start())
        except ValueError:
            continue
        found = value.get("issues")
        if isinstance(found, list) and all(f["severity"] in _SEVERITIES for f in found):
            read = found
    return read


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def _green(records: list[Run], commit: str) -> bool:
    if not records or records[-1]["commit"] != commit:
        return False
    last = records[-1]
    fewer = any(int(str(last["total"])) < int(str(r["total"])) for r in records)
    return (last["exit_code"], last["failed"]) == (0, 0) and last["passed"] == last["total"] != 0 and not fewer


@lru_cache(maxsize=1 << 16)
def _same(one: str, other: str) -> bool:
    """At least eight tenths alike: the edits needed, against the longer text."""
    longest = max(len(one), len(other))
    # A letter that only one of them has costs an edit: most pairs are settled by that.
    if max((Counter(one) - Counter(other)).total(), (Counter(other) - Counter(one)).total()) * 5 > longest:
        return False
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, against in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != against))
    return longest == 0 or Fraction(longest - row[-1], longest) >= Fraction(8, 10)
