"""Thirty people try it without a model: from their brain dump to an outline in which every sentence is theirs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.builtin_rules import Outlined, answer, outlined, rendered
from forge.builtin_rules.sentences import words
from forge.pipeline.specification import parse_answer, render_spec, unresolved
from forge.projects.intent import parse_intent, unknowns

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


def distilled(dump: str, *corrections: str, name: str = "") -> str:
    material = {"name": name, "brain_dump": [dump], "resources": [], "corrections": list(corrections), "previous": ""}
    return answer("brain-dump-intake", material)


def specified(intent: str, *, text: str = "") -> dict[str, Any]:
    """Asked again until nothing is asked any more: everything is left open, or answered with `text`."""
    answers: list[dict[str, Any]] = []
    for _ in range(3):
        material = {"intent": intent, "answers": answers, "deliverable_type": "plan"}
        given = answer("spec-building", material)
        parsed = parse_answer(given, "plan", leaves_open=True)
        open_ = unresolved(unknowns(parse_intent(intent, ("plan", "code"))), parsed)
        if not open_:
            return dict(json.loads(given))
        asked = {one["unknown"]: one["question"] for one in json.loads(given)["questions"]}
        reply = {"answer": text} if text else {"answer": "", "delegated": True}
        answers += [{"question": asked[item], "unknown": item, **reply} for item in open_]
    raise AssertionError(f"still open: {open_}")


def outline_of(dump: str, *corrections: str, text: str = "") -> Outlined:
    intent = distilled(dump, *corrections)
    name = parse_intent(intent, ("plan", "code")).name or ""
    spec = render_spec(name, parse_answer(json.dumps(specified(intent, text=text)), "plan", leaves_open=True), "plan")
    return outlined(name, intent=intent, spec=spec)


@pytest.mark.req("B-05", "P-04", "P-05", "X-03")
@pytest.mark.parametrize("dump", DUMPS.values(), ids=[name.replace(" ", "-") for name in DUMPS])
def test_every_word_of_a_dump_is_in_its_outline_and_every_sentence_is_the_persons(dump: str) -> None:
    made = outline_of(dump)
    text = rendered(made)
    headings = {"notes", "note", "not"}
    assert words(dump) - words("plan TBD") - headings <= words(text), words(dump) - words(text)
    own = set(re.findall(r"\w+", dump.lower()))
    for part in made.parts:
        for sentence in part.said:
            assert set(re.findall(r"\w+", sentence.lower())) <= own, f"{sentence} was not said"
    assert "By rule" not in text
    assert len(made.points) >= 3


@pytest.mark.req("B-05", "P-04")
def test_a_complaint_is_no_constraint_no_decision_and_no_step() -> None:
    dump = "Ok so our onboarding is a mess. We want new hires to push code on Friday. It must cost nothing."
    intent = parse_intent(distilled(dump), ("plan",))
    assert intent.constraints == ("It must cost nothing.",)
    spec = specified(distilled(dump))
    assert "mess" not in json.dumps(spec["constraints"]) + json.dumps(spec["spec"])
    assert "2. Ok so our onboarding is a mess." in rendered(outline_of(dump))


@pytest.mark.req("B-05", "P-05")
def test_an_answer_is_a_decision_and_the_point_is_closed() -> None:
    dump = "We want a party for forty people. Should we rent a tent or a barn?"
    question = "Should we rent a tent or a barn?"
    assert f"- [ ] {question}" in rendered(outline_of(dump))
    answered = rendered(outline_of(dump, text="The barn"))
    assert f"- {question} → The barn." in answered
    assert f"- [ ] {question}" not in answered


@pytest.mark.req("B-05")
def test_beliefs_and_doubts_are_points() -> None:
    text = rendered(outline_of("We want a party. I think the city allows it. I am not sure whether we need a permit."))
    assert "- [ ] Believed, and not verified: I think the city allows it." in text
    assert "- [ ] “I am not sure whether we need a permit.”" in text


@pytest.mark.req("B-05", "P-04")
@pytest.mark.parametrize(
    ("dump", "name"),
    [
        (
            "Also unser Onboarding ist ein Chaos. Neue Leute warten drei Wochen auf den Laptop. "
            "Wir wollen, dass alle am Freitag Code pushen. Nehmen wir Notion oder Confluence?",
            "Unser Onboarding ist ein Chaos",
        ),
        (
            "新しい社員は三週間待ちます。予算はありません。Notionを使いますか？",
            "新しい社員は三週間待ちます",
        ),
    ],
)
def test_another_language_is_listed_as_it_was_said_and_asked_what_is_wanted(dump: str, name: str) -> None:
    intent = parse_intent(distilled(dump), ("plan",))
    assert intent.name == name
    assert intent.open_questions[0] == "What do you want to have in the end?"
    assert (intent.constraints, intent.assumptions) == ((), ())
    text = rendered(outline_of(dump))
    for sentence in re.split(r"(?<=[.?])\s+|(?<=[。？])", dump):
        assert sentence in text


@pytest.mark.req("P-04")
def test_a_very_long_dump_is_taken_too() -> None:
    long = "\n".join(dump.replace("budget", f"budget {turn}") for turn in range(8) for dump in DUMPS.values())
    assert outline_of(long).sentences > 150


PIECES = [piece for dump in DUMPS.values() for piece in re.split(r"(?<=[.?])", dump) if piece.strip()]
ODD = ["TBD", "???", "## Objective", "# Constraints\n", "- ", "“”", "Template: wedding", "Background, in your words:"]
ODD += ["- none", "{{", "|", "TODO", "[insert x]", "lorem ipsum", "日本語", "remove everything", "a" * 700, "1. 2. 3."]
piece = st.one_of(st.sampled_from(PIECES), st.sampled_from(ODD), st.text(max_size=15))


@pytest.mark.req("B-05", "X-03")
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(piece, min_size=1, max_size=10), st.lists(piece, max_size=2))
def test_whatever_is_dumped_and_corrected_ends_in_an_outline(dump: list[str], corrections: list[str]) -> None:
    intent = distilled(" ".join(dump), *corrections)
    if parse_intent(intent, ("plan", "code")).deliverable_type == "code":
        return
    assert rendered(outline_of(" ".join(dump), *corrections)).startswith("# ")
