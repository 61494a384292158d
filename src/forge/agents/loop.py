"""The loop: ask a model, run the tools that it calls for, show it the results, until there is a result or a limit.

A loop needs no branch, no files and no repository. A turn is a loop that ends in one commit on a branch. Each answer,
each tool with outside effects and each check of a submission is a step: done once, whatever happens to the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from forge.agents.exchange import Exchange
from forge.agents.limit_check import Spent
from forge.agents.model import Model, Prompt
from forge.agents.profile import Profile
from forge.agents.relay.journal import Journal
from forge.agents.request import Paid, Request, Unanswered, shown
from forge.agents.steps import Steps
from forge.agents.submission import Submission
from forge.agents.tool_calls import ToolCalls
from forge.counts import counted
from forge.engine.errors import RunCancelled
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, ContextMessage, Message, ToolCall, ToolResult, Usage
from forge.sessions.redaction import Redactor
from forge.sessions.turns import Item
from forge.settings import CostLimits
from forge.tools.toolbox import Toolbox

# Calls that differ in nothing and fail in the same way: a model that does this is stuck.
_SAME_FAILURES = 5
# Calls in a row with nothing new in them, not even in what came back.
_REPEATED, _CYCLE, _IN_CYCLE = 12, 36, 3
_CUT = (
    "Your last answer was cut off: it reached the limit for its length. {what} "
    "Go on from there with shorter answers, in several parts if need be."
)
_CUT_CALL = "Not carried out: your answer was cut off at the limit for its length, so this call may not be whole."
_SUBMIT = "You have not handed in a result. Call `{name}` with it."
_LAST = "This is your last answer before the limit. Call `{name}` now, with what you have."


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission was accepted."""

    value: Json


@dataclass(frozen=True, slots=True)
class Finished:
    """The model calls for nothing more, or the stop condition holds. `text` is its last word."""

    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class TurnLimit:
    """A limit of requests or of money ended it. `last_submission` was refused, or never made (None)."""

    reason: str
    text: str
    last_submission: Json | None = None
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A person ended the run."""


@dataclass(frozen=True, slots=True)
class Failed:
    reason: str


End = Submitted | Finished | TurnLimit | Cancelled | Failed


@dataclass(frozen=True, slots=True)
class LoopResult:
    end: End
    usage: Usage
    items: tuple[Item, ...]
    """All that was said, the messages that it began with included."""


@dataclass(frozen=True, slots=True)
class Loop:
    """What a loop works with; the same for every one that the same agent does."""

    profile: Profile
    model: Model
    toolbox: Toolbox
    journal: Journal
    """Where an answer is from its first piece until it is on record."""
    paid: Paid
    """Told of each answer, at least once, under a name that is its own in the whole run."""
    redactor: Redactor = field(default_factory=lambda: Redactor(()))
    limits: CostLimits = field(default_factory=CostLimits)
    spent: Callable[[Usage], Spent] = lambda usage: Spent(turn=usage.cost or 0.0, requests=usage.requests)
    """What was spent so far, given what this loop has taken."""
    submission: Submission | None = None
    stop: Callable[[Sequence[Item]], bool] = lambda _: False
    """Asked after each round of tools. A function of what was said and nothing else, so that a replay agrees."""
    interrupt: Callable[[], None] = lambda: None
    """Ends a command that is running, when the run is cancelled."""


async def run_loop(loop: Loop, messages: Sequence[Message] | Exchange, steps: Steps) -> LoopResult:
    """From the first messages to an end. In a run with several loops, `steps` is scoped: `run.scoped("audit/1")`."""
    exchange = messages
    if not isinstance(exchange, Exchange):
        name = f"{steps.id}/{steps.scope}" if steps.scope else steps.id
        exchange = Exchange(id=name, items=list(exchange))
    rounds = _Rounds(loop, exchange, steps)
    try:
        end = await rounds.run()
    except Unanswered as e:
        end = rounds.limited(e.reason) if e.limited else Failed(e.reason)
    except RunCancelled:
        end = Cancelled()
    return LoopResult(end, exchange.usage, tuple(exchange.items))


class _Rounds:
    def __init__(self, loop: Loop, exchange: Exchange, steps: Steps) -> None:
        self._loop = loop
        self._exchange = exchange
        self._steps = steps
        self._sent = exchange.messages()
        self._failures: list[tuple[str, str]] = []
        self._calls_made: list[tuple[str, str]] = []
        self._accepted = False
        self._submitted: Json | None = None
        self._findings: tuple[str, ...] = ()
        submission = loop.submission
        if submission is not None and any(each.name == submission.name for each in loop.toolbox.schemas()):
            raise ValueError(f"There are two tools named {submission.name}.")
        self._tools = (*loop.toolbox.schemas(), *((submission.tool,) if submission is not None else ()))
        limits = loop.profile.limits.within(loop.limits)
        self._request = Request(
            loop.model, loop.journal, loop.redactor, limits, loop.spent, loop.paid, exchange=exchange, steps=steps
        )
        self._calls = ToolCalls(loop.toolbox, loop.redactor, loop.interrupt, exchange=exchange, steps=steps)

    async def run(self) -> End:
        most = self._loop.profile.limits.requests
        number = 0
        while most is None or number < most:
            number += 1
            if number == most and self._loop.submission is not None and most > 1:
                self._tell(_LAST.format(name=self._loop.submission.name))
            answer = await self._asked(number)
            end = await self._round(answer, number)
            if end is not None:
                return end
            self._exchange.after_tools(self._sent)
            if self._loop.stop(self._exchange.items):
                return Finished(_last_text(self._exchange), answer.cut)
        reason = f"The model was asked {counted(number, 'time')}, which is the limit of `{self._loop.profile.role}`."
        return self.limited(reason)

    async def _asked(self, number: int) -> AssistantMessage:
        self._sent = self._exchange.fitted(self._steps, self._sent, self._loop.model.context_window)
        prompt = Prompt(self._loop.profile.system, self._tools, tuple(self._sent))
        answer = await self._request.answer(prompt, number)
        self._add(shown(self._loop.redactor, answer))
        self._exchange.usage += answer.usage
        return answer

    async def _round(self, answer: AssistantMessage, number: int) -> End | None:
        if not answer.calls:
            return self._without_calls(answer)
        for place, call in enumerate(answer.calls, 1):
            if answer.cut and place == len(answer.calls):
                result = ToolResult(call.id, call.name, _CUT_CALL, failed=True)
            elif self._loop.submission is not None and call.name == self._loop.submission.name:
                result = await self._submit(self._loop.submission, call, f"submit {number}.{place}")
            else:
                result = await self._calls.run(call, f"tool {number}.{place}")
            self._add(result)
            if self._accepted:
                assert self._submitted is not None
                return Submitted(self._submitted)
            if self._is_stuck(call, result):
                return Failed(f"The model called {call.name} {_SAME_FAILURES} times in vain.")
            if many := self._repeats(call, result):
                return Failed(f"The model repeats itself: {call.name} and {many} calls before it brought nothing new.")
        return None

    def _without_calls(self, answer: AssistantMessage) -> End | None:
        if self._loop.submission is None:
            return Finished(answer.text, answer.cut)
        needed = _SUBMIT.format(name=self._loop.submission.name)
        self._tell(_CUT.format(what=needed) if answer.cut else needed)
        return None

    async def _submit(self, submission: Submission, call: ToolCall, place: str) -> ToolResult:
        async def check() -> Json:
            return await submission.findings(call.arguments)

        done = await self._steps.step(place, check)
        if done["value"] is not None:
            self._submitted = done["value"]
        self._findings = tuple(self._loop.redactor.text(each) for each in done["findings"])
        self._accepted = not self._findings
        if self._accepted:
            return ToolResult(call.id, call.name, "Accepted.")
        listed = "\n".join(f"- {each}" for each in self._findings)
        return ToolResult(call.id, call.name, f"Not accepted. Mend this and submit again:\n{listed}", failed=True)

    def _is_stuck(self, call: ToolCall, result: ToolResult) -> bool:
        failed = (f"{call.name} {call.arguments}", result.text)
        self._failures = [*self._failures, failed][-_SAME_FAILURES:] if result.failed else []
        return len(self._failures) == _SAME_FAILURES and len(set(self._failures)) == 1

    def _repeats(self, call: ToolCall, result: ToolResult) -> int:
        """How many calls before this one brought the same, where that is too many; else 0."""
        self._calls_made = [*self._calls_made, (f"{call.name} {call.arguments}", result.text)][-_CYCLE:]
        same = len(set(self._calls_made[-_REPEATED:])) == 1 and len(self._calls_made) >= _REPEATED
        cycle = len(set(self._calls_made)) <= _IN_CYCLE and len(self._calls_made) == _CYCLE
        return _CYCLE - 1 if cycle else _REPEATED - 1 if same else 0

    def limited(self, reason: str) -> TurnLimit:
        return TurnLimit(reason, _last_text(self._exchange), self._submitted, self._findings)

    def _tell(self, text: str) -> None:
        self._add(ContextMessage(text))

    def _add(self, message: Message) -> None:
        self._exchange.items.append(message)
        self._sent.append(message)


def _last_text(exchange: Exchange) -> str:
    said = (item.text for item in reversed(exchange.items) if isinstance(item, AssistantMessage))
    return next((text for text in said if text.strip()), "")
