"""Tools that evaluate: solution, risks, validation plan, verdict, estimate of value, priorities."""

from __future__ import annotations

from forge.counts import counted
from forge.explore import estimate, priorities, verdict
from forge.explore.errors import ChangeRefused
from forge.explore.schema import ID, IDS, NUMBER, TEXTS, listed, members, one_of, text, tool
from forge.explore.workbench import Done, Workbench
from forge.json_value import Json
from forge.projects.skeleton import RISK_AREAS

METHODS = ("painted_door", "concierge", "technical_spike", "wizard_of_oz", "prototype")
LAYERS = ("said", "organisation", "domain")
LEVELS = ("low", "medium", "high")
MOST_RISKS = 4
"""New risks in one turn."""


def _solution(bench: Workbench, given: Json) -> Done:
    bench.skeleton.update(
        solution_name=given["name"].strip(), solution_description=given["description"], solution_source=bench.source
    )
    if "build_buy_partner" in given:
        bench.skeleton["build_buy_partner"] = given["build_buy_partner"]
    return Done(f"The solution is noted: {given['name'].strip()}.", ("solution",))


def _risks(bench: Workbench, given: Json) -> Done:
    area, confidence = given["area"], given.get("confidence", "guessed")
    by = given.get("confirmed_by", "")
    if area == "feasibility" and confidence != "guessed" and not by.strip():
        raise ChangeRefused(
            "Feasibility stays `guessed` until a named technical person confirms it.",
            hint="Give `confirmed_by` with their name, or `confidence` guessed.",
        )
    known = bench.items(bench.skeleton, "risks")
    this_turn = sum(1 for each in known if isinstance(each, dict) and each.get("turn") == bench.turn)
    if this_turn + len(given["risks"]) > MOST_RISKS:
        raise ChangeRefused(
            f"At most {MOST_RISKS} risks a turn; {this_turn} are noted already.", hint="Keep the gravest ones."
        )
    made: list[str] = []
    for risk in given["risks"]:
        for id_ in risk.get("assumptions", ()):
            bench.register.get(id_)
        made.append(f"R{len(known) + 1}")
        known.append({"id": made[-1], "area": area, **risk, "source": bench.source, "turn": bench.turn})
    bench.group("risk_assessment")[area] = {
        "level": given["level"],
        "confidence": confidence,
        "confirmed_by": by,
        "who_loses": given.get("who_loses", ""),
        "source": bench.source,
    }
    return Done(f"{area}: {given['level']} risk, {confidence}. Noted: {', '.join(made) or 'no new risk'}.", tuple(made))


def _plan(bench: Workbench, given: Json) -> Done:
    steps = []
    for step in given["steps"]:
        bench.register.get(step["assumption_id"])
        steps.append(dict(step))
        test = {"method": step["method"], "pass_line": step["pass_line"], "due": step.get("due", "")}
        bench.register = bench.register.changed(step["assumption_id"], test=test)
    bench.skeleton["validation_plan"] = steps
    return Done(
        f"The validation plan has {counted(len(steps), 'step')}.", tuple(step["assumption_id"] for step in steps)
    )


def _verdict(bench: Workbench, given: Json) -> Done:
    if not bench.skeleton.get("solution_name"):
        raise ChangeRefused("There is no solution to judge yet.", hint="Call `set_solution_info` first.")
    if not given.get("other_side", "").strip():
        raise ChangeRefused(
            "Argue the other side once before a verdict.",
            hint="Call again with `other_side`: the strongest case against this verdict, in two or three sentences.",
        )
    conditions = list(given.get("conditions", ()))
    verdict.check(given["verdict"], bench.register, conditions, bench.line, bench.now.date())
    bench.skeleton["go_no_go"] = {
        "verdict": given["verdict"],
        "reason": given["reason"],
        "conditions": conditions,
        "dealbreakers": list(given.get("dealbreakers", ())),
        "other_side": given["other_side"],
        "source": bench.source,
    }
    return Done(f"Verdict: {given['verdict'].replace('_', ' ')}.", ("verdict",))


def _value(bench: Workbench, given: Json) -> Done:
    inputs = []
    for each in given["inputs"]:
        for id_ in each["assumptions"]:
            bench.register.get(id_)
        names = ("name", "low", "base", "high")
        values = {name: each[name] for name in names} | {"unit": each.get("unit", "")}
        inputs.append(estimate.Input(**values, assumptions=tuple(each["assumptions"])))
    made = estimate.estimated(given["formula"], inputs)
    bench.skeleton["value_estimate"] = {
        "label": estimate.LABEL,
        "unit": given.get("unit", ""),
        "formula": given["formula"],
        "inputs": list(given["inputs"]),
        **made.to_json(),
        "source": bench.source,
    }
    widest = made.swings[0]
    moves = next(iter(made.by_assumption), "no assumption")
    return Done(
        f"{estimate.LABEL}: {made.result:g} {given.get('unit', '')}. {moves} moves it most: `{widest.name}` "
        f"takes it from {widest.low:g} to {widest.high:g}.",
        ("value",),
    )


def _priorities(bench: Workbench, given: Json) -> Done:
    for item in given["items"]:
        for id_ in item.get("assumptions", ()):
            bench.register.get(id_)
    done = priorities.ordered(given["framework"], given["items"])
    bench.skeleton["priorities"] = [{**item, "source": bench.source} for item in done]
    bench.skeleton["priority_framework"] = given["framework"]
    listing = "; ".join(f"{item['rank']}. {item['name']} ({item['why']})" for item in done)
    return Done(f"Order by {given['framework']}: {listing}.", tuple(item["id"] for item in done))


_RISK = members(
    "text layer", text=text(most=500), layer=one_of(LAYERS, "Who brings it up."), assumptions=IDS, level=one_of(LEVELS)
)
_INPUT = members(
    "name low base high assumptions",
    name={"type": "string", "minLength": 1, "maxLength": 40, "description": "Letters, digits and _."},
    low=NUMBER,
    base=NUMBER,
    high=NUMBER,
    unit=text(most=40),
    assumptions={**IDS, "minItems": 1},
)
_ITEM = members(
    "name",
    name=text(most=120),
    **dict.fromkeys(("reach", "impact", "confidence", "effort", "delay_cost", "duration", "ease"), NUMBER),
    depends_on=TEXTS,
    assumptions=IDS,
)
TOOLS = (
    tool(
        "set_solution_info",
        "Note the solution that is thought of.",
        _solution,
        "name description",
        name=text(most=200),
        description=text(),
        build_buy_partner=text("By criteria, never by vendor names."),
    ),
    tool(
        "set_risk_assessment",
        "Judge one area of risk of the solution. At most four new risks a turn.",
        _risks,
        "area level risks",
        area=one_of(RISK_AREAS),
        level=one_of(LEVELS),
        confidence=one_of(("guessed", "informed", "validated")),
        confirmed_by=text("The technical person who confirmed it.", most=200),
        who_loses=text("Who loses when this wins.", most=500),
        risks=listed(_RISK, most=MOST_RISKS),
    ),
    tool(
        "set_validation_plan",
        "Say how the riskiest assumptions are tested, with the pass line set beforehand.",
        _plan,
        "steps",
        steps=listed(
            members(
                "assumption_id method pass_line",
                assumption_id=ID,
                method=one_of(METHODS),
                pass_line=text(most=300),
                due=text("YYYY-MM-DD", most=10),
            ),
            least=1,
            most=12,
        ),
    ),
    tool(
        "set_go_no_go",
        "Give the verdict. `go` is refused while an untested assumption is above the risk line.",
        _verdict,
        "verdict",
        verdict=one_of(verdict.VERDICTS),
        conditions=TEXTS,
        dealbreakers=TEXTS,
        other_side=text("The strongest case against this verdict."),
    ),
    tool(
        "update_value_estimate",
        "Estimate the value by a formula over inputs; each input names its assumptions. Computes the sensitivity.",
        _value,
        "formula inputs",
        formula=text("Names of inputs, numbers, + - * / ( ).", most=300),
        unit=text(most=40),
        inputs=listed(_INPUT, least=1, most=20),
    ),
    tool(
        "set_priorities",
        "Order items by a framework; the scores are computed.",
        _priorities,
        "framework items",
        framework=one_of(tuple(priorities.NEEDED)),
        items=listed(_ITEM, least=1, most=40),
    ),
)
