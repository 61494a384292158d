"""Thirty people try it without a model: from their brain dump to a plan that the guards let pass."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.deliverables.plan import PlanReview, PlanType, parse
from forge.deliverables.plan.placeholders import placeholders
from forge.pipeline.intent import parse_intent, unknowns
from forge.pipeline.rules import answer
from forge.pipeline.rules.sentences import sentences, words
from forge.pipeline.specification import parse_answer, render_constraints, render_spec, unresolved
from forge.plugins.contracts import Issue, Operation, TestResults, Worked

DUMPS: dict[str, str] = {
    "garden wedding": """
We want to get married next summer, a relaxed garden wedding for about 80 guests. Budget is 15,000 euro, that is the
absolute maximum. Anna's parents have a big garden near Freiburg, it should be fine for everyone. No church
ceremony, only the registry office and a free ceremony in the garden. We are not sure whether June or September is
better. Six guests are vegan and one has a nut allergy. My cousin Tom plays in a band, maybe he can play. The
photographer must not cost more than 1200 euro. Probably it will not rain. Invitations have to go out before the end
of January 2027.
""",
    "city wedding": """
i want to plan a small wedding in berlin
- 30 people
- date: 12 June 2027
- budget 8k
- restaurant by the canal, TBD which one
- no dj, we have a playlist
- my grandmother can't walk stairs
- hotel rooms for 12 guests from abroad?
""",
    "beach wedding": """
Plan a beach wedding in Portugal for 45 guests in May 2028. At most 20000 euros in total. Everybody pays their own
flight. We need a wedding planner who speaks Portuguese. The ceremony must be before sunset. I don't know who can
marry us there. Vegetarian buffet only. I think hotels are cheap in May.
""",
    "team offsite": """
We need an offsite for our team of 25 people in Lisbon, three days in October 2027. Budget is 1,000 euro per person.
The goal is that product and engineering agree on the next year. Flights should be booked before July. No party boat
this time. Either a hotel in the city or a villa outside. Sandra organised the last one and can probably help. Two
colleagues are vegetarian. There should be one free afternoon.
""",
    "database migration": """
Plan the migration of our order database from MySQL 5.7 to Postgres 16. The database has 400 GB and 220 tables.
Downtime must be at most 30 minutes, in the night from Saturday to Sunday. The old system has to stay available as a
fallback for two weeks. We have two engineers and 6 weeks. I think the ORM hides most of the differences. Should we
use logical replication or dump and restore? The reporting team reads directly from the tables. Not allowed: changes
in the mobile app.
""",
    "monolith split": """
Our monolith is a Django application with about 300 tables. We want to move billing into its own service without
stopping feature work. Deadline is end of Q3 2027. Four developers, no new hires. The API for the mobile clients
must not change. Latency of the checkout may not exceed 300 ms. Probably Kafka is overkill. We don't know how to
handle the shared user table. Rollback within 10 minutes is required.
""",
    "kubernetes": """
Roadmap: move 14 services from virtual machines to Kubernetes until March 2028. Only managed clusters in the EU
because of GDPR. Monitoring with Prometheus has to be there before the first service moves. Ops team is 3 people.
Maybe also replace Jenkins. We assume that all services run in containers already. Cost must stay below 4,500 euro
per month.
""",
    "bakery marketing": """
I run a small bakery in Graz and want a marketing strategy for our new sourdough bread. Customers are mostly older
people from the neighbourhood. I want to reach young families as well. Budget: 300 euro a month. Only Instagram and
flyers, no TikTok. My daughter can take photos. I think young people like sourdough. By December 2027 I want to sell
60 loaves a day, today it is 35. Should we open on Sundays?
""",
    "b2b strategy": """
We need a growth strategy for our B2B software for dentists. Revenue is 1.2 million euro today, goal is 2 million in
two years. Churn is 9 percent, it must go below 5 percent. The sales team has four people and may not grow.
Competitors are cheaper. We believe that quality matters more than price. Either we focus on Germany or we enter
France. Not more than 150,000 euro for marketing per year.
""",
    "nonprofit campaign": """
Our animal shelter wants a donation campaign before Christmas. We need 40,000 euros for a new roof. Volunteers: 12.
No paid ads. Newsletter has 3,200 subscribers. Local radio might help. The board has to agree to every text. I guess
most donors are over 50. Who writes the texts?
""",
    "house move": """
We move from Hamburg to Vienna on 1 March 2027 with two kids and a cat. The flat is on the fourth floor without a
lift. Budget is 6000 euro including the truck. School for the kids must be found before the move. My brother can
probably drive. The piano has to come along. Do we hire a company or do it ourselves? Old furniture should be sold,
not thrown away.
""",
    "kitchen renovation": """
Renovate our kitchen. Max 18.000 €. It must be usable again by 20 December. The wall between kitchen and dining room
goes away, but we are not sure if it is load bearing. Induction, no gas. I want to keep the old floor. Electrician
is a friend, he usually has time on weekends. Neighbours should be told in advance.
""",
    "school festival": """
Organise the summer festival of the primary school on 3 July 2027. 350 children and their families. The budget is
2,500 euros. Food comes from the parents. Alcohol is not allowed. We need a stage and someone who does the sound. If
it rains we go into the gym, I think it fits 500 people. The fire brigade must approve it. Perhaps a raffle.
""",
    "conference": """
Prepare a one-day conference on open data for 200 attendees in November 2027 at the university. Tickets cost 90
euros, students pay 30 euros. Two tracks, 14 talks. Call for papers has to open in April. Catering must be
vegetarian. We assume the university gives us the rooms for free. Streaming yes or no? The team has 5 volunteers and
no money in advance.
""",
    "book launch": """
My first novel comes out on 14 September 2027. I want a launch plan with a reading in Leipzig. The publisher pays
1,000 euro and nothing more. I can't travel in October. 50 people fit into the bookshop. Maybe a podcast. I hope
newspapers will write about it.
""",
    "garden": """
a plan for our community garden please. 24 beds, 30 families. water is limited in summer. no pesticides. the tool
shed needs a new roof before winter. everybody should give 2 hours a month. money: 800 euro from the city. who keeps
the key?
""",
    "marathon": """
I want to run my first marathon in Vienna in April 2028 in under 4 hours. I can train four times a week at most. My
knee hurts sometimes. No gym. I probably need new shoes. Until December only easy runs. I don't know whether I need
a coach.
""",
    "birthday": """
Surprise party for my dad's 60th birthday on 22 May 2027. 40 guests. He must not know anything. The hall of the
fishing club is free that day I think. Budget 1,500 euro, my sister pays half. Buffet, not a set menu. Either a band
or just a playlist. He loves trains.
""",
    "office setup": """
We are opening a second office in Porto for 18 people by the end of June 2027. Rent must be under 3,800 euro per
month. Close to the metro. Internet with at least 1 Gbit. Furniture only second hand. Should be quiet. The lawyer
says we need a local company, it is unclear how long this takes.
""",
    "onboarding": """
Help us write a plan for onboarding new support agents. Today it takes 8 weeks until someone answers alone, it
should take 4 weeks. We hire 6 people per quarter. No extra trainers. The wiki is outdated. Everyone knows the
product basics after the first week, I assume. Must work for remote colleagues too.
""",
    "security program": """
Engineering plan for getting our platform ready for a security audit. The audit is on 15 October 2027. All secrets
must leave the repositories. Two factor login for all 120 employees. Logging has to be kept for 12 months. One
engineer full time and a consultant for 10 days. Budget is 35,000 dollars. Backups were never tested. Which tool for
secrets?
""",
    "podcast": """
Idea: a podcast about local history. One episode every two weeks, 12 episodes in the first season. No more than 30
minutes each. Microphones are there. Two hosts, me and Karim. We'd like to have 500 listeners by summer 2028. Not
sure about the name. Music has to be free of licence fees.
""",
    "farm shop": """
We want to open a farm shop on our farm. Only our own products and those of three neighbours. Opening in spring
2028. The old stable should be enough as a room. 25,000 euro from savings, no loan. My mother works there on
weekends. Card payment is a must. Parking for 10 cars. Do we need a permit?
""",
    "hackathon": """
Plan a company hackathon, 48 hours, 60 participants, in the last week of February 2028. Food for everybody, also
halal and vegan. Prizes up to 2000 euro in total. Projects must use our public API. The cafeteria is closed at
night. Someone has to stay for security.
""",
    "data pipeline": """
Design document for a new analytics pipeline. Today nightly cron jobs load 50 GB into a warehouse, often late. Goal:
data not older than 15 minutes. Must run in our AWS account. Python only, the team does not know Scala. We think 3
months are enough with 2 developers. Costs may rise by 20 percent at most. GDPR: delete user data within 30 days.
Kafka or Kinesis, not decided.
""",
    "choir trip": """
Trip of our choir to Prague, 35 singers, 4 days in May 2027. Bus, not plane. At most 320 euro per person. We sing in
a church on Saturday evening. Rooms for two, five single rooms. Our conductor arrives one day later. Maybe a boat
tour on the river.
""",
    "recycling": """
our town wants less waste. strategy for the next 3 years. 12,000 inhabitants. today 210 kg per person and year,
target is 150 kg. no higher fees. schools have to be part of it. the recycling yard is only open on saturdays,
everybody complains. 90.000 euro per year.
""",
    "retirement": """
I will retire in August 2028 and want to hand over my carpentry workshop to my two employees. The machines are worth
about 80,000 euro. Customers must not notice a gap. I don't want to sell to a stranger. The tax adviser says it
takes a year. Either a lease or a sale.
""",
    "app launch": """
We have finished our hiking app and need a launch plan, not code. Launch on 1 April 2027 in Austria and Switzerland.
5,000 euro for marketing. First 1,000 users until summer. Only German and French. The app store review probably
takes a week. Partners: two alpine clubs. Should it be free?
""",
    "odd text": """
# Launch {{ 7*7 }} | campaign
Create a plan for the <b>TODO app</b> relaunch | with tables: | a | b |
- must keep the `{% raw %}` blocks in our templates
- no `<!-- comments -->` in the newsletter
- price 10 $ per month, not more than 3 mails a week
- 200 testers
## Notes
I think ``` fences ``` are fine. Budget: 500 $.
""",
}

ANSWERS = ("The first one", "you decide", "Yes, if it stays cheap.", "let AI decide", "We do it ourselves.")


class Table:
    """A desk in memory, with the rules behind it and the checks of the type before every action."""

    def __init__(self, name: str, intent: str, spec: str, constraints: str) -> None:
        self.name, self.intent, self.spec, self.constraints = name, intent, spec, constraints
        self.project = Path("unused")
        self.documents: dict[str, str] = {}
        self.said: list[str] = []
        self.asked: list[str] = []
        self.answers: tuple[dict[str, str], ...] = ()
        self.thresholds: Mapping[str, Any] = {"plan_min_chars": 100}

    async def ask(self, prompt: str, material: Mapping[str, Any]) -> str:
        assert PlanType().safety.validate(Operation.AGENT_INVOKE).allowed
        self.asked.append(prompt)
        return answer(prompt, json.loads(json.dumps(material)))

    def read(self, path: str) -> str | None:
        return self.documents.get(path)

    async def write(self, path: str, text: str, *, message: str) -> None:
        await self.write_all({path: text}, message=message)

    async def write_all(self, files: Mapping[str, str], *, message: str) -> None:
        self.documents |= files

    async def work(self, prompt: str, task: str, message: str) -> Worked:
        raise AssertionError("a plan lets nobody work on a branch")

    async def run_tests(self) -> TestResults:
        raise AssertionError("a plan has no tests")

    async def files(self) -> Mapping[str, str]:
        return {}

    async def say(self, text: str) -> None:
        self.said.append(text)

    async def progress(self, text: str) -> None:
        pass


def distilled(dump: str, *corrections: str, name: str = "") -> str:
    material = {"name": name, "brain_dump": [dump], "resources": [], "corrections": list(corrections), "previous": ""}
    return answer("brain-dump-intake", material)


def specified(intent: str, given_answers: Sequence[str] = ANSWERS) -> dict[str, Any]:
    """Asked again until nothing is open, with an answer to everything that is asked."""
    answers: list[dict[str, str]] = []
    for _ in range(3):
        material = {
            "intent": intent,
            "discovery": {},
            "answers": answers,
            "previous_spec": "",
            "previous_constraints": "",
            "human_edits": False,
            "deliverable_type": "plan",
        }
        given = answer("spec-building", material)
        open_ = unresolved(unknowns(parse_intent(intent, ("plan", "code"))), parse_answer(given, "plan"))
        if not open_:
            return dict(json.loads(given))
        asked = {one["unknown"]: one["question"] for one in json.loads(given)["questions"]}
        answers += [
            {"question": asked[item], "answer": given_answers[(len(answers) + at) % len(given_answers)]}
            for at, item in enumerate(open_)
        ]
    raise AssertionError(f"still open: {open_}")


def documents(name: str, value: dict[str, Any]) -> tuple[str, str]:
    given = parse_answer(json.dumps(value), "plan")
    type_ = PlanType()
    return render_spec(name, given, "plan"), render_constraints(name, given, type_.title, type_.severities)


def table(dump: str, *corrections: str, name: str = "", answers: Sequence[str] = ANSWERS) -> Table:
    intent = distilled(dump, *corrections, name=name)
    title = parse_intent(intent, ("plan", "code")).name or ""
    spec, constraints = documents(title, specified(intent, answers))
    return Table(title, intent, spec, constraints)


async def polished(desk: Table, rounds: int = 5) -> int:
    """The round that reaches the thresholds."""
    type_ = PlanType()
    for number in range(1, rounds + 1):
        issues = PlanReview.model_validate_json(await type_.review(desk, None)).issues
        counts = [sum(issue.severity == severity for issue in issues) for severity in ("critical", "medium", "minor")]
        if counts[0] <= 0 and counts[1] <= 3 and counts[2] <= 5:
            return number
        found = [Issue(one.severity, one.description, one.location, one.recommendation) for one in issues]
        await type_.fix(desk, found, None)
    raise AssertionError(f"not polished after {rounds} rounds: {issues}")


@pytest.mark.req("P-04", "P-05", "P-06", "P-08", "P-09", "X-03")
@pytest.mark.asyncio
@pytest.mark.parametrize("dump", DUMPS.values(), ids=[name.replace(" ", "-") for name in DUMPS])
async def test_every_brain_dump_becomes_a_plan_within_five_rounds(dump: str) -> None:
    desk = table(dump)
    assert parse_intent(desk.intent, ("plan", "code")).deliverable_type == "plan"
    result = await PlanType().build(desk)
    assert not result.stuck, result.reason
    assert await PlanType().missing(desk) == ""
    assert await polished(desk) <= 5
    text = desk.documents["docs/plan.md"]
    assert parse(text).slots == json.loads(desk.documents["docs/plan.json"])["slots"]
    assert not placeholders(text, dump)
    assert set(desk.documents) == {"docs/plan.md", "docs/plan.json"}


PARTY = """
We want to organise the summer party of our running club. About 60 people will come, maybe 70.
It should be on a Saturday in July, in the park by the river. The budget is 1500 euros and must not be exceeded.
We need food for vegetarians. I think the city will allow a barbecue, but I am not sure whether we need a permit.
Anna takes care of music. Either we rent a tent or we move to the gym if it rains.
"""


async def plan_of(dump: str) -> dict[str, str]:
    """The slots of the plan when a person leaves every decision to the rules."""
    desk = table(dump, answers=("You decide.",))
    assert not (await PlanType().build(desk)).stuck
    return dict(parse(desk.documents["docs/plan.md"]).slots)


@pytest.mark.req("P-06", "X-03")
@pytest.mark.asyncio
async def test_everything_that_was_said_is_in_the_plan_where_a_reader_looks_for_it() -> None:
    slots = await plan_of(PARTY)
    assert "Anna takes care of music." in slots["people.plan"]
    assert "About 60 people will come, maybe 70." in slots["people.plan"]
    assert "the plan counts with the larger number: 70 people." in slots["people.plan"]
    assert slots["people.assessment"].endswith("To be kept: 70 people.")
    for section in ("time", "place"):
        assert "It should be on a Saturday in July, in the park by the river." in slots[f"{section}.plan"]
    assert "We need food for vegetarians." in slots["place.plan"]
    assert slots["money.details"].startswith("To be paid from it")
    assert "- a tent\n- food for vegetarians" in slots["money.details"]
    assert "the fallback: move to the gym if it rains." in slots["risks.plan"]
    assert "- I think the city will allow a barbecue." in slots["risks.details"]
    assert "- I am not sure whether we need a permit." in slots["risks.details"]
    assert not re.search("left out|nothing was said", "\n".join(slots.values()), re.I)


@pytest.mark.req("P-06", "X-03")
@pytest.mark.asyncio
async def test_the_work_is_a_list_of_steps_in_the_order_that_the_rule_states() -> None:
    slots = await plan_of(PARTY)
    assert "By rule: the steps are listed below in this order" in slots["work.plan"]
    listed, _, missing = slots["work.details"].partition("\n\n")
    assert listed.splitlines() == [
        "1. Find out: “I am not sure whether we need a permit.”",
        "2. Check: “I think the city will allow a barbecue.”",
        "3. Rent a tent (by rule, the first choice named).",
        "4. Get: food for vegetarians.",
        "5. Anna takes care of music.",
        "6. Then the aim itself: “We want to organise the summer party of our running club.”",
    ]
    assert missing.startswith("Nobody is named yet for steps 1, 2, 3 and 4.")
    assert "Anna (step 5)" in slots["people.details"]


@pytest.mark.req("P-06", "X-03")
@pytest.mark.asyncio
@pytest.mark.parametrize("dump", DUMPS.values(), ids=[name.replace(" ", "-") for name in DUMPS])
async def test_no_sentence_of_a_person_is_lost_on_the_way_into_the_plan(dump: str) -> None:
    desk = table(dump, answers=("You decide.",))
    await PlanType().build(desk)
    slots = parse(desk.documents["docs/plan.md"]).slots
    there = words("\n".join(text for slot, text in slots.items() if not slot.startswith("acceptance.")))
    intent = parse_intent(desk.intent, ("plan", "code"))
    own = [*intent.constraints, *intent.assumptions, *unknowns(intent), *sentences(intent.objective)]
    said = [one for one in own if not one.startswith("By rule")]
    lost = [one for one in said if words(one) - there - words("You wrote asked which answer decided TBD counts TODO")]
    assert lost == []


@pytest.mark.req("P-09")
@pytest.mark.asyncio
async def test_criteria_that_a_person_adds_later_take_another_round() -> None:
    desk = table(DUMPS["house move"])
    await PlanType().build(desk)
    added = ["Insurance covers the aquarium", "Balcony plants travel by train", "Keys are handed to the janitor"]
    added += ["Mail is forwarded by the post office", "Curtains are washed beforehand", "The cellar is photographed"]
    desk.constraints += "".join(f"{number}. {one}\n" for number, one in enumerate(added, 20))
    assert await polished(desk) == 2
    text = desk.documents["docs/plan.md"]
    assert all(f"not yet worked out: {one}" in text for one in added)


@pytest.mark.req("P-04")
@pytest.mark.asyncio
async def test_a_very_long_dump_is_taken_too() -> None:
    desk = table("\n".join(dump.replace("budget", f"budget {turn}") for turn in range(8) for dump in DUMPS.values()))
    assert not (await PlanType().build(desk)).stuck
    assert await polished(desk) <= 5
    assert "more sentences of this kind were left out" in desk.intent


PIECES = [piece for dump in DUMPS.values() for piece in re.split(r"(?<=[.?])", dump) if piece.strip()]
ODD = [
    "TBD",
    "???",
    "## Objective",
    "# Constraints\n",
    "- ",
    "“”",
    "Template: wedding",
    "By rule: left out",
    "- none",
    "{{",
]
ODD += ["|", "TODO", "[insert x]", "lorem ipsum", "日本語", "remove everything", "a" * 700, "1. 2. 3.", "Mr. X"]
piece = st.one_of(st.sampled_from(PIECES), st.sampled_from(ODD), st.text(max_size=15))


@pytest.mark.req("P-06", "X-03")
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(piece, min_size=1, max_size=10), st.lists(piece, max_size=2))
def test_whatever_is_dumped_and_corrected_ends_in_a_plan(dump: list[str], corrections: list[str]) -> None:
    intent = distilled(" ".join(dump), *corrections)
    if parse_intent(intent, ("plan", "code")).deliverable_type == "code":
        return
    desk = table(" ".join(dump), *corrections)
    result = asyncio.run(PlanType().build(desk))
    assert not result.stuck, result.reason
    assert asyncio.run(polished(desk)) <= 5
