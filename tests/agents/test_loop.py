"""A loop without a branch: limits, a stop condition, a result that is handed in, and steps that are done once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from forge.agents.errors import ModelFailed
from forge.agents.loop import Cancelled, Failed, Finished, Loop, LoopResult, Submitted, TurnLimit, run_loop
from forge.agents.profile import LoopLimits, Profile
from forge.agents.relay.journal import Journal
from forge.agents.scripted import Say, ScriptedModel, Step, call
from forge.agents.submission import Submission
from forge.events import ContextCompacted, ModelAnswered, TextStreamed, ToolEnded
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, ContextMessage, ToolResult, Usage, UserMessage
from forge.settings import CostLimits
from forge.tools.access import ToolAccess
from forge.tools.tool import FunctionTool, Inquiry, Tool
from forge.tools.toolbox import Toolbox
from tests.support.turns import Killed, Ledger, MemorySteps

pytestmark = [pytest.mark.asyncio, pytest.mark.req("G-07", "X-04")]

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
AUDITOR = Profile("auditor", "reviewer", "You audit.", ToolAccess(frozenset({"double", "charge"})))
LOOK = Say("", (call("double", n=2),))


@dataclass
class World:
    """What a loop has around it, and what happened outside of it."""

    folder: Path
    ledger: Ledger = field(default_factory=Ledger)
    charged: list[int] = field(default_factory=list)
    paid: dict[str, float] = field(default_factory=dict)
    checked: list[Json] = field(default_factory=list)

    def tools(self) -> tuple[Tool, ...]:
        def charge(args: Json) -> str:
            self.charged.append(args["n"])
            return f"charged {args['n']}"

        return (
            FunctionTool("double", "Double it.", NUMBER, lambda args: str(args["n"] * 2)),
            FunctionTool("charge", "Charge it.", NUMBER, charge, outside=True),
            FunctionTool("secret", "Not for everybody.", NUMBER, charge, outside=True),
            FunctionTool("ask", "Ask a person.", NUMBER, lambda args: Inquiry("How many?", ("1", "2"))),
        )

    def submission(self, findings: Callable[[Json], Sequence[str]] = lambda _: ()) -> Submission:
        async def check(value: Json) -> Sequence[str]:
            self.checked.append(value)
            return findings(value)

        return Submission(NUMBER, check)

    async def run(
        self,
        model: ScriptedModel | Sequence[Step],
        steps: MemorySteps | None = None,
        *,
        profile: Profile = AUDITOR,
        **options: Any,
    ) -> LoopResult:
        def paid(name: str, answer: AssistantMessage) -> None:
            self.paid.setdefault(name, answer.usage.cost or 0.0)

        loop = Loop(
            profile=profile,
            model=model if isinstance(model, ScriptedModel) else ScriptedModel(model, by_prompt=True),
            toolbox=Toolbox(self.tools(), profile.tools, files=False),
            journal=Journal(self.folder / "answers"),
            paid=paid,
            **options,
        )
        return await run_loop(loop, [UserMessage("Audit it.")], steps or MemorySteps(self.ledger))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def test_a_loop_ends_when_the_model_calls_for_nothing_more(world: World) -> None:
    model = ScriptedModel([LOOK, "It is 4."])
    result = await world.run(model)
    assert result.end == Finished("It is 4.")
    assert result.usage == Usage(input_tokens=20, output_tokens=10, requests=2, cost=0.002)
    assert [type(item) for item in result.items] == [UserMessage, AssistantMessage, ToolResult, AssistantMessage]
    assert world.paid == {"model 1": 0.001, "model 2": 0.001}
    assert world.ledger.ran == ["model 1", "model 2"]
    assert model.prompts[0].system == "You audit."
    kinds = [type(event) for event in world.ledger.events if not isinstance(event, TextStreamed)]
    assert kinds.count(ModelAnswered) == 2
    assert kinds.count(ToolEnded) == 1


async def test_a_tool_outside_of_the_profile_is_neither_offered_nor_run(world: World) -> None:
    model = ScriptedModel([Say("", (call("secret", n=1),)), "Then not."])
    result = await world.run(model)
    assert [tool.name for tool in model.prompts[0].tools] == ["double", "charge"]
    assert "The tool secret is not allowed here" in _results(result)[0]
    assert world.charged == []


async def test_the_profile_limits_the_requests_and_gives_the_last_words(world: World) -> None:
    profile = replace(AUDITOR, limits=LoopLimits(requests=3))
    model = ScriptedModel([Say(f"Looking {n}.", (call("double", n=n),)) for n in range(9)])
    result = await world.run(model, profile=profile)
    assert isinstance(result.end, TurnLimit)
    assert (model.calls, result.end.text, result.end.last_submission) == (3, "Looking 2.", None)
    assert result.end.reason == "The model was asked 3 times, which is the limit of `auditor`."


async def test_the_lower_limit_of_money_counts(world: World) -> None:
    model = ScriptedModel([Say("", (call("double", n=n),)) for n in range(9)])
    profile = replace(AUDITOR, limits=LoopLimits(usd=0.002))
    result = await world.run(model, profile=profile)
    assert isinstance(result.end, TurnLimit)
    assert "limit is $0.00" in result.end.reason
    assert model.calls == 2
    lower = ScriptedModel([Say("", (call("double", n=n),)) for n in range(9)])
    result = await world.run(lower, MemorySteps(Ledger()), profile=profile, limits=CostLimits(turn_usd=0.001))
    assert (type(result.end), lower.calls) == (TurnLimit, 1)


async def test_a_stop_condition_ends_it_after_the_tools(world: World) -> None:
    model = ScriptedModel([LOOK, Say("More.", (call("double", n=5),)), "never asked"])
    result = await world.run(model, stop=lambda items: isinstance(items[-1], ToolResult) and items[-1].text == "10")
    assert result.end == Finished("More.")
    assert model.calls == 2


async def test_a_submission_is_refused_with_findings_until_it_is_right(world: World) -> None:
    def findings(value: Json) -> Sequence[str]:
        return [] if value["n"] == 4 else [f"{value['n']} is not twice 2.", "Look again."]

    model = ScriptedModel(
        [
            Say("", (call("submit", n="four"),)),
            Say("", (call("submit", n=5),)),
            Say("Now.", (call("submit", n=4), call("charge", n=1))),
        ]
    )
    result = await world.run(model, submission=world.submission(findings))
    assert result.end == Submitted({"n": 4})
    assert world.checked == [{"n": 5}, {"n": 4}], "what has not the form is not checked further"
    first, second, accepted = _results(result)
    assert "`n` must be an integer, not a string" in first
    assert second == "Not accepted. Mend this and submit again:\n- 5 is not twice 2.\n- Look again."
    assert accepted == "Accepted."
    assert world.charged == [], "nothing is done after the result"
    assert [tool.name for tool in model.prompts[0].tools] == ["double", "charge", "submit"]


async def test_an_empty_result_can_be_submitted(world: World) -> None:
    result = await world.run([Say("", (call("submit"),))], submission=Submission({"type": "object"}))
    assert result.end == Submitted({})


async def test_who_stops_without_a_result_is_reminded_and_at_the_limit_told_to_hand_it_in(world: World) -> None:
    profile = replace(AUDITOR, limits=LoopLimits(requests=3))
    model = ScriptedModel([Say("", (call("submit", n=3),)), "I am done.", "Really."])
    result = await world.run(model, profile=profile, submission=world.submission(lambda _: ["No."]))
    assert isinstance(result.end, TurnLimit)
    assert (result.end.last_submission, result.end.findings, result.end.text) == ({"n": 3}, ("No.",), "Really.")
    told = [item.text for item in result.items if isinstance(item, ContextMessage)]
    assert told[0] == "You have not handed in a result. Call `submit` with it."
    assert told[1] == "This is your last answer before the limit. Call `submit` now, with what you have."
    assert model.prompts[2].messages[-1] == ContextMessage(told[1])


async def test_the_tool_that_submits_cannot_be_another_one_too(world: World) -> None:
    with pytest.raises(ValueError, match="two tools named double"):
        await world.run(["x"], submission=Submission(NUMBER, name="double"))


async def test_an_answer_cut_at_its_length_is_told_to_the_model(world: World) -> None:
    model = ScriptedModel(
        [
            Say("The beginning of a long", cut=True),
            Say("", (call("double", n=1), call("charge", n=9)), cut=True),
            Say("", (call("submit", n=4),)),
        ]
    )
    result = await world.run(model, submission=world.submission())
    assert result.end == Submitted({"n": 4})
    told = next(item.text for item in result.items if isinstance(item, ContextMessage))
    assert told.startswith("Your last answer was cut off: it reached the limit for its length.")
    whole, half, _ = _results(result)
    assert whole == "2"
    assert half.startswith("Not carried out: your answer was cut off at the limit")
    assert world.charged == []


async def test_without_a_result_to_hand_in_a_cut_answer_is_the_last_word(world: World) -> None:
    assert (await world.run([Say("Half of", cut=True)])).end == Finished("Half of", cut=True)


async def test_a_cancelled_run_and_a_failing_model_are_ends(world: World) -> None:
    cancelled = await world.run([LOOK, "x"], MemorySteps(Ledger(), cancel="model 2"))
    assert cancelled.end == Cancelled()
    assert cancelled.usage.requests == 1
    failed = await world.run([ModelFailed("It broke.", hint="Ask again.")], MemorySteps(Ledger()))
    assert failed.end == Failed("It broke. Ask again.")
    stuck = await world.run([Say("", (call("double"),))] * 9, MemorySteps(Ledger()))
    assert stuck.end == Failed("The model called double 5 times in vain.")


async def test_a_person_can_be_asked_and_the_window_stays_bounded(world: World) -> None:
    profile = replace(AUDITOR, tools=ToolAccess(frozenset({"ask", "double"})))
    model = ScriptedModel(
        [Say("", (call("ask", n=1),)), *[Say("word " * 300, (call("double", n=n),)) for n in range(8)], "Done."],
        context_window=3_000,
    )
    result = await world.run(model, MemorySteps(world.ledger, answers=("2",)), profile=profile)
    assert result.end == Finished("Done.")
    assert _results(result)[0] == "2"
    assert world.ledger.questions == [("How many?", ("1", "2"))]
    assert any(isinstance(event, ContextCompacted) for event in world.ledger.events)
    assert len(result.items) == 2 * 9 + 2, "only what is sent becomes shorter"


SCRIPT = (
    Say("", (call("charge", n=7),)),
    Say("", (call("submit", n=5),)),
    Say("", (call("double", n=2), call("submit", n=4))),
)
STEPS = ["model 1", "tool 1.1", "model 2", "submit 2.1", "model 3", "submit 3.2"]


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("when", ["before", "recorded"])
async def test_a_loop_killed_between_steps_goes_on_and_pays_nothing_twice(world: World, when: str, name: str) -> None:
    def findings(value: Json) -> Sequence[str]:
        return [] if value["n"] == 4 else ["No."]

    asked = 0
    for kill in ((when, name), None):
        model = ScriptedModel(SCRIPT, by_prompt=True)
        steps = MemorySteps(world.ledger, kill=kill)
        try:
            result = await world.run(model, steps, submission=world.submission(findings))
        except Killed:
            assert kill is not None
        asked += model.calls
    assert result.end == Submitted({"n": 4})
    assert world.ledger.ran == STEPS
    assert asked == 3
    assert world.charged == [7]
    assert world.checked == [{"n": 5}, {"n": 4}]
    assert world.paid == {f"model {n}": 0.001 for n in (1, 2, 3)}


async def test_two_loops_in_one_run_are_both_counted(world: World) -> None:
    steps = MemorySteps(world.ledger)
    usd = Usage(requests=1, cost=1.0), Usage(requests=1, cost=5.0)
    first = await world.run([Say("One.", usage=usd[0])], steps.scoped("contract/blueprint"))
    second = await world.run([Say("Two.", usage=usd[1])], steps.scoped("contract/schema"))
    assert (first.end, second.end) == (Finished("One."), Finished("Two."))
    assert world.paid == {"contract/blueprint/model 1": 1.0, "contract/schema/model 1": 5.0}
    assert world.ledger.ran == ["contract/blueprint/model 1", "contract/schema/model 1"]


async def test_a_profile_is_a_value_that_json_brings_back() -> None:
    tools = ToolAccess(frozenset({"list_files", "search"}), (("list_directory", "list_files"),))
    profile = Profile("builder", "builder", "Build.", tools, LoopLimits(requests=9, usd=1.5))
    assert Profile.from_json(profile.to_json()) == profile
    assert hash(profile) == hash(Profile.from_json(profile.to_json()))
    assert profile.without_tools("search").tools.names == {"list_files"}


def _results(result: LoopResult) -> list[str]:
    return [item.text for item in result.items if isinstance(item, ToolResult)]
