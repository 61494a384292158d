"""The tools of the explorer: each one recorded change; what they refuse, they refuse in words that help."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.explore import brief
from forge.explore.toolkit import TOOLS
from forge.explore.workbench import Workbench, replayed
from forge.projects import state
from forge.tools.tool import ToolRetry

pytestmark = pytest.mark.req("W-10")

NAMES = (
    "register_assumption",
    "update_assumption_status",
    "update_assumption_confidence",
    "update_problem_statement",
    "update_target_audience",
    "add_stakeholder",
    "update_success_metrics",
    "add_decision_criteria",
    "add_constraint",
    "update_value_estimate",
    "set_solution_info",
    "set_risk_assessment",
    "set_validation_plan",
    "set_go_no_go",
    "set_priorities",
    "record_probe_fired",
    "record_pattern_fired",
    "update_conversation_summary",
    "generate_artifact",
    "complete_mode",
    "update_org_context",
)


def bench(turns: int = 3) -> Workbench:
    values = state.defaults()
    values["messages"] = [{"role": "user", "content": f"message {n}"} for n in range(turns)]
    return Workbench.of(state.SavedState("Depot", values), now=datetime(2026, 11, 18, tzinfo=UTC))


def use(made: Workbench, tool: str, **arguments: Any) -> str:
    return made.apply(TOOLS[tool], {"reason": "Because it was said.", **arguments})


def assume(made: Workbench, claim: str = "They would pay", impact: str = "high", **more: Any) -> str:
    given_ = {"type": "value", "confidence": "guessed", "basis": "said", **more}
    return use(made, "register_assumption", claim=claim, impact=impact, **given_)


def test_there_are_the_21_tools_of_the_product() -> None:
    assert sorted(TOOLS) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_change_needs_its_reason(name: str) -> None:
    made = bench()
    with pytest.raises(ToolRetry, match="`reason` is missing"):
        made.apply(TOOLS[name], {})
    assert made.changes == []
    assert made.saved() == bench().saved()


def test_a_change_is_recorded_with_its_reason_and_in_the_history_of_what_it_changed() -> None:
    made = bench()
    assume(made)
    use(made, "update_assumption_status", assumption_id="A1", status="invalidated", reason="Ten said no.")
    history = made.saved()["assumption_register"]["A1"]["history"]
    assert [(each["tool"], each["reason"], each["status"]) for each in history] == [
        ("register_assumption", "Because it was said.", "active"),
        ("update_assumption_status", "Ten said no.", "invalidated"),
    ]
    assert [each["tool"] for each in made.routing["changes"]] == ["register_assumption", "update_assumption_status"]


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("update_assumption_status", {"assumption_id": "A7", "status": "confirmed"}, "There is no assumption `A7`"),
        ("register_assumption", {"claim": " ", "type": "value", "impact": "low", "confidence": "guessed", "basis": "b"},
         "claim is empty"),
        ("register_assumption", {"claim": "c", "type": "value", "impact": "low", "confidence": "guessed", "basis": "b",
                                 "depends_on": ["A9"]}, "There is no assumption `A9`"),
        ("update_assumption_confidence", {"assumption_id": "A1", "depends_on": ["A2"]}, "cannot depend on A2"),
        ("update_assumption_confidence", {"assumption_id": "A1"}, "nothing to change"),
        ("update_assumption_confidence", {"assumption_id": "A1", "confidence": "validated"}, "without evidence"),
        ("update_success_metrics", {}, "No new metric"),
        ("add_decision_criteria", {}, "No criterion"),
        ("set_go_no_go", {"verdict": "go"}, "no solution to judge"),
        ("complete_mode", {"mode": "discover", "summary": "s"}, "is not active"),
        ("generate_artifact", {"artifact_type": "problem_brief"}, "no problem statement"),
        ("update_org_context", {}, "No team context"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_in_words_and_changes_nothing(
    tool: str, arguments: dict[str, Any], told: str
) -> None:
    made = bench()
    assume(made)
    assume(made, "It can be built", depends_on=["A1"])
    before = made.saved()["assumption_register"], len(made.changes)
    with pytest.raises(ToolRetry, match=told):
        use(made, tool, **arguments)
    assert (made.saved()["assumption_register"], len(made.changes)) == before


def test_feasibility_stays_guessed_without_a_named_technical_person() -> None:
    made = bench()
    judged = {"area": "feasibility", "level": "low", "confidence": "informed", "risks": []}
    with pytest.raises(ToolRetry, match="named technical person"):
        use(made, "set_risk_assessment", **judged)
    assert "informed" in use(made, "set_risk_assessment", **judged, confirmed_by="Ines, platform team")


def test_at_most_four_risks_a_turn() -> None:
    made = bench()
    four = [{"text": f"risk {n}", "layer": "said"} for n in range(4)]
    use(made, "set_risk_assessment", area="value", level="high", risks=four)
    with pytest.raises(ToolRetry, match="At most 4"):
        use(made, "set_risk_assessment", area="usability", level="high", risks=four[:1])


@pytest.mark.req("W-09")
def test_go_is_refused_while_something_is_untested_above_the_line_and_names_the_cheapest_test() -> None:
    made = bench()
    use(made, "set_solution_info", name="Inbox robot", description="Reads mails.")
    assume(made, test={"method": "read 50 mails by hand", "pass_line": "45 are clear"})
    with pytest.raises(ToolRetry, match="Argue the other side"):
        use(made, "set_go_no_go", verdict="go")
    with pytest.raises(ToolRetry, match=r"A1 is untested with risk 2\.4.*read 50 mails by hand"):
        use(made, "set_go_no_go", verdict="go", other_side="Mails change.")
    evidence = [{"source": "50 mails read", "strength": "strong"}]
    use(made, "update_assumption_confidence", assumption_id="A1", confidence="validated", evidence_for=evidence)
    assert use(made, "set_go_no_go", verdict="go", other_side="Mails change.") == "Verdict: go."


@pytest.mark.req("W-09")
def test_500_explorations_with_an_untested_kill_assumption_give_no_go_at_all() -> None:
    chance = random.Random(24)
    for _ in range(500):
        made = bench()
        use(made, "set_solution_info", name="Thing", description="Does it.")
        for number in range(chance.randrange(1, 6)):
            on = [f"A{n}" for n in range(1, number + 1) if chance.random() < 0.3]
            assume(made, f"claim {number}", chance.choice(["low", "medium", "high"]), depends_on=on,
                   confidence=chance.choice(["guessed", "informed", "validated"]), basis="b")  # fmt: skip
        kill = chance.choice(["guessed", "informed"])
        assume(made, "the kill assumption", "high", confidence=kill)
        if kill == "informed":  # above the line by what rests on it
            for number in range(2):
                assume(made, f"rests {number}", "low", depends_on=[f"A{made.register.counter - number}"])
        with pytest.raises(ToolRetry, match="`go` is not possible"):
            use(made, "set_go_no_go", verdict="go", other_side="It may fail.")
        assert made.skeleton["go_no_go"]["verdict"] is None


@pytest.mark.req("W-09")
def test_the_estimate_is_computed_and_tells_which_assumption_moves_it_most() -> None:
    made = bench()
    assume(made, "80 orders a day")
    assume(made, "3 minutes each")
    inputs = [
        {"name": "orders", "low": 60, "base": 80, "high": 90, "assumptions": ["A1"]},
        {"name": "minutes", "low": 1, "base": 3, "high": 8, "assumptions": ["A2"]},
    ]
    told = use(made, "update_value_estimate", formula="orders * minutes / 60 * 220", unit="hours a year", inputs=inputs)
    assert told.startswith("Projected Opportunity (Unadjusted): 880 hours a year. A2 moves it most")
    for wrong in ("orders ** 9999", "__import__('os')", "orders +", "orders / 0", "customers * 2"):
        with pytest.raises(ToolRetry):
            use(made, "update_value_estimate", formula=wrong, inputs=inputs)
    assert made.skeleton["value_estimate"]["result"] == 880


@pytest.mark.req("W-09")
def test_priorities_are_scored_by_code_and_wait_for_what_they_depend_on() -> None:
    made = bench()
    items = [
        {"name": "robot", "reach": 100, "impact": 3, "confidence": 0.8, "effort": 4, "depends_on": ["inbox"]},
        {"name": "inbox", "reach": 50, "impact": 1, "confidence": 1, "effort": 2},
        {"name": "report", "reach": 100, "impact": 1, "confidence": 1, "effort": 2},
    ]
    use(made, "set_priorities", framework="rice", items=items)
    order = [(each["name"], each["score"]) for each in made.skeleton["priorities"]]
    assert order == [("report", 50.0), ("inbox", 25.0), ("robot", 60.0)]
    assert "robot depends on it" in made.skeleton["priorities"][1]["why"]
    circle = [{**items[0]}, {**items[1], "depends_on": ["robot"]}]
    with pytest.raises(ToolRetry, match="circle"):
        use(made, "set_priorities", framework="rice", items=circle)
    delays = [{"name": "a", "delay_cost": 10, "duration": 5}, {"name": "b", "delay_cost": 9, "duration": 1}]
    use(made, "set_priorities", framework="cost_of_delay", items=delays)
    assert [each["name"] for each in made.skeleton["priorities"]] == ["b", "a"]


def test_a_mode_is_not_left_before_guesses_that_matter_were_seen() -> None:
    made = bench()
    made.values["active_mode"] = "discover"
    assume(made)
    with pytest.raises(ToolRetry, match="only guessed: A1"):
        use(made, "complete_mode", mode="discover", summary="framed")
    use(made, "complete_mode", mode="discover", summary="framed", acknowledged=["A1"])
    assert made.routing["proposal"]["mode"] == "evaluate"


def test_a_pattern_fires_once() -> None:
    made = bench()
    use(made, "record_pattern_fired", pattern="ai_wish", why="They said AI.")
    with pytest.raises(ToolRetry, match="fired before"):
        use(made, "record_pattern_fired", pattern="ai_wish", why="Again.")


@pytest.mark.req("W-06")
def test_an_artifact_with_an_unsourced_sentence_or_too_many_words_is_refused() -> None:
    made = bench()
    assume(made)
    good = "# Brief\n\nThey lose hours. [T1] It is wished for [A1].\n\n- One line [T2, A1]\n"
    use(made, "generate_artifact", artifact_type="problem_brief", content=good)
    assert made.files["problem_brief"] == good
    for wrong, told in (
        ("They lose hours [T1]. Nobody said this.", "no source"),
        ("They lose hours [T9].", "unknown source T9"),
        ("They lose hours [Z1].", "no source"),
        ("word " * 601 + "[T1].", "one page is 600"),
        ("   ", "empty"),
    ):
        with pytest.raises(ToolRetry, match=told):
            use(made, "generate_artifact", artifact_type="problem_brief", content=wrong)
    assert made.files["problem_brief"] == good


@pytest.mark.req("W-06")
def test_all_five_artifacts_are_written_from_the_state_with_a_source_in_every_sentence() -> None:
    made = bench()
    assume(made)
    use(made, "update_problem_statement", statement="They type twice. It takes hours.", not_about=["Billing"])
    use(made, "add_stakeholder", name="Anna", role="decision_authority")
    use(made, "update_success_metrics", leading=["minutes per order"], anti_metric=["late changes"])
    use(made, "set_solution_info", name="Robot", description="Reads mails.")
    use(made, "set_risk_assessment", area="value", level="high", risks=[{"text": "Nobody wants it", "layer": "said"}])
    steps = [{"assumption_id": "A1", "method": "concierge", "pass_line": "5 of 10 stay"}]
    use(made, "set_validation_plan", steps=steps)
    use(made, "set_go_no_go", verdict="conditional_go", conditions=["A1 holds"], other_side="It may not pay.")
    use(made, "add_constraint", constraint="No new servers", kind="technical", severity="hard_blocker", binding=True)
    inputs = [{"name": "n", "low": 1, "base": 2, "high": 3, "assumptions": ["A1"]}]
    use(made, "update_value_estimate", formula="n * 10", inputs=inputs)
    use(made, "set_priorities", framework="ice", items=[{"name": "x", "impact": 1, "confidence": 1, "ease": 1}])
    for kind in brief.FILES:
        use(made, "generate_artifact", artifact_type=kind)
        text = made.files[kind]
        assert brief.words(text) <= 600
        for sentence in brief.sentences(text):
            assert "[" in sentence, sentence
    assert made.values["latest_artifact"] == made.files["priorities"]
    assert "Projected Opportunity (Unadjusted)" in made.files["value_estimate"]
    assert "What this is not about" in made.files["problem_brief"]


def test_calls_are_repeated_on_a_state_that_a_person_changed_meanwhile() -> None:
    told = bench()
    assume(told, "from the model")
    use(told, "register_assumption", claim="rests on it", type="value", impact="low", confidence="guessed", basis="A1",
        depends_on=["A1"])  # fmt: skip
    now = bench()
    assume(now, "from a person")
    refused, names = replayed(now, told.calls, TOOLS)
    assert (refused, names) == ((), {"A1": "A2", "A2": "A3"})
    assert now.register.get("A3").depends_on == ("A2",)
    assert [each.claim for each in now.register.assumptions.values()] == [
        "from a person", "from the model", "rests on it"]  # fmt: skip


ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "claim": st.text(max_size=5), "type": st.sampled_from(["value", "x"]), "impact": st.sampled_from(["high", 3]),
        "confidence": st.just("guessed"), "basis": st.just("b"), "reason": st.just("r"),
        "assumption_id": st.sampled_from(["A1", "A2", "A3", "Q"]), "status": st.sampled_from(["invalidated", "active"]),
        "depends_on": st.lists(st.sampled_from(["A1", "A2", "A3"]), max_size=2),
        "statement": st.text(max_size=9), "name": st.text(max_size=5), "role": st.just("pain_holder"),
    },
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NAMES), ARGUMENTS), max_size=12))
def test_random_calls_keep_the_state_whole(calls: list[tuple[str, dict[str, Any]]]) -> None:
    made = bench()
    for name, arguments in calls:
        known = TOOLS[name].parameters["properties"]
        fitting = {key: value for key, value in arguments.items() if key in known}
        before = len(made.changes)
        try:
            made.apply(TOOLS[name], fitting)
        except ToolRetry:
            assert len(made.changes) == before
    saved = state.SavedState("Depot", made.saved())
    text = state.formatted(saved, now=datetime(2026, 11, 18, tzinfo=UTC))
    again = Workbench.of(state.loaded(text))
    assert again.register == made.register
    for each in again.register.assumptions.values():
        assert all(on in again.register.assumptions for on in each.depends_on)


def test_a_person_with_a_first_name_and_a_full_name_is_one() -> None:
    made = bench()
    for name in ("Anna", "Anna Berg", "Piotr Holm", "Holm"):
        with suppress(ToolRetry):
            use(made, "add_stakeholder", name=name, role="decision_authority")
    use(made, "add_stakeholder", name="Anna", role="pain_holder")
    people = made.group("stakeholders")
    assert [(each["id"], each["name"]) for each in people["decision_authority"]] == [
        ("S1", "Anna Berg"),
        ("S2", "Piotr Holm"),
    ]
    assert [each["name"] for each in people["pain_holder"]] == ["Anna Berg"]


def test_names_that_may_be_two_people_or_a_group_stay_apart() -> None:
    made = bench()
    for name in ("Anna Berg", "Anna Holm", "Anna", "Our board", "Sales", "the Sales team", "Board of Sales"):
        use(made, "add_stakeholder", name=name, role="pain_holder")
    assert len(made.group("stakeholders")["pain_holder"]) == 7
