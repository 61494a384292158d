"""Contracts written by agents: one run, one conversation for each, saved as they are accepted."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.agents.errors import ModelFailed
from forge.agents.model import Model
from forge.agents.scripted import Say, ScriptedModel, call
from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.projects import exploration, generation_run
from forge.app.projects.catalog import workspace_of
from forge.app.projects.contract_views import checked_contracts, overview
from forge.app.projects.contracts import edit_found
from forge.app.projects.generation import Generation, Wanted, generate_found, generation_of, stop_found
from forge.app.projects.questionnaire import answer_found
from forge.contracts import pins
from forge.contracts.author import Work
from forge.contracts.contract_set import etag_of
from forge.contracts.documents import save
from forge.contracts.errors import ContractEdited, GenerationRunning, NothingKnown, NothingToGenerate
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.templates import template
from forge.errors import ForgeError
from forge.events import ContractAwaited, ContractProgress, ContractSaved, Event
from forge.projects.project import Project
from forge.sessions.messages import Usage
from forge.store.contract_reads import ContractReads
from tests.support.scripted_projects import Office, new

pytestmark = pytest.mark.req("C-02", "C-03")

ANSWERS = {
    "product": "A web application in which a team keeps its tasks.",
    "features": "Sign in\nTasks — create, list, change and delete a task\nComments — write comments\nBoard",
    "entities": "User: email\nTask: title, state\nComment: body",
    "languages": "Python, TypeScript",
}
USAGE = Usage(input_tokens=100, output_tokens=40, requests=1, cost=0.01)
Script = Callable[[Work], list[Any]]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office.at(tmp_path)


def submits(work: Work, text: str | None = None) -> Say:
    return Say("", (call("submit_contract", content=text or template(work.kind, mini=work.mini)),), usage=USAGE)


def plain(work: Work) -> list[Any]:
    """Fetches what was written last, then submits the example."""
    before = ORDER[: ORDER.index(work.kind)][-1:]
    calls = [call("get_prior_contract", contract_type=kind.value, part="outline") for kind in before]
    return [Say("", (call("get_project_intent"), *calls), usage=USAGE), submits(work)]


class Scripts:
    """A model for each contract; by default the example is submitted."""

    def __init__(self, **by_kind: Script) -> None:
        self.by_kind = by_kind
        self.models: dict[str, ScriptedModel] = {}
        self.asked: list[str] = []

    def model(self, shop: Workshop, name: str, work: Work) -> Model:
        self.asked.append(work.kind.value)
        script = self.by_kind.get(work.kind.value, plain)(work)
        return self.models.setdefault(work.kind.value, ScriptedModel(script, by_prompt=True))


def written(
    office: Office, monkeypatch: pytest.MonkeyPatch, scripts: Scripts, wanted: Wanted | None = None
) -> tuple[Generation, list[Event], Project]:
    monkeypatch.setattr(generation_run, "_model", scripts.model)

    async def use(shop: Workshop) -> tuple[Generation, list[Event], Project]:
        project = await known_project(shop)
        return (*await generated(shop, project, wanted or Wanted()), project)

    return office.do(use)


async def known_project(shop: Workshop) -> Project:
    found = workspace_project(shop)
    if found is not None:
        return found
    project = await new(shop, "TaskFlow", "")
    answer_found(shop, LOCAL, project, ANSWERS)
    return project


def workspace_project(shop: Workshop) -> Project | None:
    return next(iter(workspace_of(shop.settings).by_id()), None)


async def generated(shop: Workshop, project: Project, wanted: Wanted) -> tuple[Generation, list[Event]]:
    started = await generate_found(shop, LOCAL, project, wanted)
    with contextlib.suppress(ForgeError):
        await shop.engine.handle(started.run).result()
    await shop.events.flush()
    heard = [each.event for each in shop.events.after(project.subject.topic, started.after)]
    seen = generation_of(shop, project)
    assert seen is not None
    return seen, heard


def states(project: Project) -> dict[str, str]:
    return {card.contract_type.value: card.state for card in overview(project).items}


def test_nine_contracts_are_fetched_written_checked_and_counted(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = Scripts()
    seen, heard, project = written(office, monkeypatch, scripts)
    assert seen.state == "done"
    assert [each.state for each in seen.contracts] == ["saved"] * 9
    assert set(states(project).values()) == {"valid"}
    # Two answers each, with tokens and cost apart and together.
    assert {(each.input_tokens, each.output_tokens, each.requests) for each in seen.contracts} == {(200, 80, 2)}
    assert (seen.input_tokens, seen.output_tokens, seen.cost) == (1800, 720, pytest.approx(0.18))
    assert sum(isinstance(each, ContractSaved) for each in heard) == 9
    progress = [each for each in heard if isinstance(each, ContractProgress) and each.contract == "stack"]
    assert [(each.state, each.about) for each in progress] == [
        ("started", ""),
        ("answered", "get_project_intent, get_prior_contract"),
        ("fetched", "get_project_intent"),
        ("fetched", "get_prior_contract blueprint"),
        ("answered", "submit_contract"),
        ("saved", ""),
    ]
    assert (progress[-1].number, progress[-1].total, progress[-1].input_tokens) == (3, 9, 200)
    first = scripts.models["stack"].prompts[0]
    assert [tool.name for tool in first.tools] == [
        "get_project_intent",
        "get_technical_preferences",
        "get_user_stories",
        "get_prior_contract",
        "submit_contract",
    ]
    assert "keeps its tasks" not in first.system + first.messages[0].text, "what a tool gives is not pushed"
    assert "keeps its tasks" in scripts.models["stack"].prompts[1].messages[2].text


@pytest.mark.req("C-11")
def test_reads_are_recorded_with_role_run_and_tokens(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, _, project = written(office, monkeypatch, Scripts())

    async def rows(shop: Workshop) -> Any:
        reads = ContractReads(shop.database)
        return reads.list(project.id), reads.sums(project.id)

    reads, sums = office.do(rows)
    assert {(each.role, each.run, each.part) for each in reads} == {("contract-author", seen.run, "outline")}
    assert sorted(each.contract for each in reads) == sorted(kind.value for kind in ORDER[:-1])
    assert all(each.tokens > 0 and each.time > 0 for each in reads)
    assert {each.contract: each.reads for each in sums}["schema"] == 1


def test_findings_come_back_until_the_contract_is_right(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(work: Work) -> list[Any]:
        fenced = f"```markdown\n{template(work.kind)}```"
        return [submits(work, "# TaskFlow schema\n\n## Entities\n\nTODO\n"), submits(work, fenced)]

    def unknown_entity(work: Work) -> list[Any]:
        wrong = template(work.kind).replace("    Task:\n", "    Cart:\n").replace("schemas/Task", "schemas/Cart")
        return [submits(work, wrong), submits(work)]

    scripts = Scripts(schema=twice, physics=unknown_entity)
    seen, _heard, project = written(office, monkeypatch, scripts)
    assert seen.state == "done"
    assert set(states(project).values()) == {"valid"}
    told = scripts.models["schema"].prompts[1].messages[-1].text
    assert "schema.md:5: “TODO” is a placeholder." in told
    assert "The section “Relations” is missing." in told
    assert "Cart is not in schema.md" in scripts.models["physics"].prompts[1].messages[-1].text
    assert pins.current(project).text(Kind.SCHEMA) == template(Kind.SCHEMA), "the fence is not part of it"


def test_text_without_a_submit_and_the_last_submission_are_drafts(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def talks(work: Work) -> list[Any]:
        return [Say(f"Here it is:\n\n```md\n{template(work.kind)}```\n", usage=USAGE), Say("That is all.", usage=USAGE)]

    def never_right(work: Work) -> list[Any]:
        return [submits(work, f"openapi: 3.1.0\ninfo: {{title: T, version: '{n}'}}\n") for n in range(20)]

    scripts = Scripts(stack=talks, physics=never_right)
    seen, heard, project = written(office, monkeypatch, scripts)
    by_kind = {each.contract_type.value: each for each in seen.contracts}
    assert (by_kind["stack"].state, by_kind["physics"].state, by_kind["ui"].state) == ("draft", "draft", "saved")
    assert (by_kind["stack"].requests, by_kind["physics"].requests) == (2, 12), "twelve turns at most"
    assert states(project)["stack"] == states(project)["physics"] == "draft"
    assert pins.current(project).text(Kind.STACK) == template(Kind.STACK)
    assert "version: '11'" in (pins.current(project).text(Kind.PHYSICS) or ""), "the last submission is kept"
    drafts = [each for each in heard if isinstance(each, ContractProgress) and each.state == "draft"]
    assert [each.contract for each in drafts] == ["stack", "physics"]
    assert "12 times" in drafts[1].about


def test_turns_are_a_setting_by_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    office = Office.at(tmp_path, "contracts: {max_turns: 5, turns: {ui: 2}}\n")

    def wrong(work: Work) -> list[Any]:
        return [submits(work, f"# T{n}\n\n## Purpose\n\nx\n\n## Pages\n\nx\n") for n in range(9)]

    seen, _, _ = written(office, monkeypatch, Scripts(ui=wrong, manifesto=wrong))
    requests = {each.contract_type.value: each.requests for each in seen.contracts}
    assert (requests["manifesto"], requests["ui"]) == (5, 2)


def test_nothing_that_can_be_read_stops_the_run_and_keeps_the_rest(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(work: Work) -> list[Any]:
        return [Say("I cannot do that.", usage=USAGE)] * 2

    seen, _heard, project = written(office, monkeypatch, Scripts(schema=refuses))
    assert (seen.state, seen.code) == ("failed", "contract_not_submitted")
    assert [each.state for each in seen.contracts] == ["saved"] * 3 + ["not_written"] * 6
    assert states(project)["stack"] == "valid"
    assert states(project)["schema"] == "missing"
    # The next run goes on with what is missing.
    seen, _, _ = written(office, monkeypatch, Scripts())
    assert (seen.state, len(seen.contracts)) == ("done", 6)
    assert set(states(project).values()) == {"valid"}


def test_a_model_that_fails_stops_the_run(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = Scripts(blueprint=lambda _: [ModelFailed("The provider is down.", hint="Try later.")])
    seen, _, project = written(office, monkeypatch, scripts)
    assert (seen.state, seen.code) == ("failed", "generation_failed")
    assert "The provider is down." in seen.problem
    assert states(project)["manifesto"] == "valid"


def test_an_answer_that_was_cut_is_told_as_such(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(work: Work) -> list[Any]:
        return [Say("", submits(work, "# Half").calls, cut=True, usage=USAGE), submits(work)]

    scripts = Scripts(manifesto=cut)
    seen, _, _ = written(office, monkeypatch, scripts, Wanted(("manifesto",)))
    assert seen.state == "done"
    assert "cut off at the limit" in scripts.models["manifesto"].prompts[1].messages[-1].text


def test_one_contract_written_anew_makes_its_readers_stale(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    written(office, monkeypatch, Scripts())

    def longer(work: Work) -> list[Any]:
        return [submits(work, template(work.kind) + "\n## More\n\nAnd more.\n")]

    seen, _, project = written(office, monkeypatch, Scripts(blueprint=longer), Wanted(("blueprint",)))
    assert [each.contract_type for each in seen.contracts] == [Kind.BLUEPRINT]
    assert [kind for kind, state in states(project).items() if state == "stale"] == ["stack"]
    assert pins.current(project).text(Kind.STACK) == template(Kind.STACK), "stale, not overwritten"
    seen, _, _ = written(office, monkeypatch, Scripts())
    assert [each.contract_type for each in seen.contracts] == [Kind.STACK], "only what is stale is written again"
    # The same text again is no new version, and it is stale no more.
    assert [each.state for each in seen.contracts] == ["saved"]
    assert set(states(project).values()) == {"valid"}
    assert len(pins.current(project).history.versions[Kind.STACK]) == 1
    written(office, monkeypatch, Scripts(blueprint=plain), Wanted(("blueprint",)))
    assert states(project)["stack"] == "stale", "what it was confirmed with has changed again"


def test_what_a_person_wrote_is_not_written_over(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    written(office, monkeypatch, Scripts())
    mine = template(Kind.STACK) + "\n## Mine\n\nBy hand.\n"

    async def edit(shop: Workshop) -> Project:
        project = await known_project(shop)
        edit_found(shop, LOCAL, project, Kind.STACK, mine, expected=etag_of(template(Kind.STACK)))
        return project

    project = office.do(edit)
    with pytest.raises(ContractEdited, match="stack"):
        written(office, monkeypatch, Scripts(), Wanted(("stack",)))
    with pytest.raises(ContractEdited):
        written(office, monkeypatch, Scripts(), Wanted(everything=True))
    seen, _, _ = written(office, monkeypatch, Scripts(), Wanted(everything=True, edited="keep"))
    assert len(seen.contracts) == 8
    assert pins.current(project).text(Kind.STACK) == mine
    with pytest.raises(NothingToGenerate):
        written(office, monkeypatch, Scripts(), Wanted(("stack",), edited="keep"))
    seen, _, _ = written(office, monkeypatch, Scripts(), Wanted(("stack",), edited="overwrite"))
    assert pins.current(project).text(Kind.STACK) == template(Kind.STACK)
    assert [each.number for each in pins.current(project).history.versions[Kind.STACK]] == [3, 2, 1]


def test_what_a_person_saves_meanwhile_stays(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = template(Kind.BLUEPRINT) + "\n## Mine\n\nSaved while the agent wrote.\n"

    def interrupted(work: Work) -> list[Any]:
        def saving(_: Any) -> Say:
            project = Project.at(next((office.place / "workspace/projects").iterdir()))
            save(project, Kind.BLUEPRINT, mine, expected="")
            return submits(work)

        return [saving]

    scripts = Scripts(blueprint=interrupted)
    seen, _, project = written(office, monkeypatch, scripts)
    assert {each.contract_type.value: each.state for each in seen.contracts}["blueprint"] == "kept"
    assert seen.state == "done"
    assert pins.current(project).text(Kind.BLUEPRINT) == mine


def test_cancelling_keeps_what_is_done_and_signs_of_life_come_before(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation_run, "SIGN_OF_LIFE", 0.05)
    slow = Scripts(stack=lambda work: [Say("waiting " * 200, pause=0.1, usage=USAGE)])
    monkeypatch.setattr(generation_run, "_model", slow.model)

    async def use(shop: Workshop) -> tuple[Generation, list[Event], dict[str, str]]:
        project = await known_project(shop)
        started = await generate_found(shop, LOCAL, project, Wanted())
        heard: list[Event] = []
        async for each in shop.events.follow(started.topic, started.after):
            heard.append(each.event)
            if sum(isinstance(event, ContractAwaited) and event.contract == "stack" for event in heard) == 2:
                break
        with pytest.raises(GenerationRunning):
            await generate_found(shop, LOCAL, project, Wanted())
        seen = await stop_found(shop, LOCAL, project)
        return seen, heard, states(project)

    seen, heard, after = office.do(use)
    assert seen.state == "cancelled"
    assert [each.state for each in seen.contracts][:3] == ["saved", "saved", "not_written"]
    assert (after["blueprint"], after["stack"]) == ("valid", "missing")
    assert any(isinstance(each, ContractAwaited) and each.seconds > 0 for each in heard)


def test_two_who_begin_at_once_start_one_run(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = Scripts()
    monkeypatch.setattr(generation_run, "_model", scripts.model)

    async def use(shop: Workshop) -> list[Any]:
        project = await known_project(shop)
        asked = (generate_found(shop, LOCAL, project, Wanted()) for _ in range(2))
        came = await asyncio.gather(*asked, return_exceptions=True)
        for each in came:
            if not isinstance(each, BaseException):
                await shop.engine.handle(each.run).result()
        return came

    came = office.do(use)
    # On a slow machine the first one may be done before the second one looks.
    assert sum(isinstance(each, GenerationRunning | NothingToGenerate) for each in came) == 1
    assert len(scripts.asked) == 9


def test_a_project_that_says_nothing_is_asked_first(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use(shop: Workshop) -> None:
        project = await new(shop, "Empty", "")
        with pytest.raises(NothingKnown):
            await generate_found(shop, LOCAL, project, Wanted())

    office.do(use)


@pytest.mark.req("C-01")
def test_a_mini_build_has_two_phases(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def three_then_two(work: Work) -> list[Any]:
        return [submits(work, template(Kind.PHASES)), submits(work)]

    scripts = Scripts(phases=three_then_two)
    seen, _, project = written(office, monkeypatch, scripts, Wanted(mini=True))
    assert seen.state == "done"
    assert "A mini build has exactly two phases" in scripts.models["phases"].prompts[1].messages[-1].text
    assert len(pins.current(project).phase_plan().phases) == 2


@pytest.mark.req("B-09", "B-06")
def test_open_assumptions_are_risks_and_a_broken_one_is_a_finding(office: Office) -> None:
    async def use(shop: Workshop) -> tuple[str, list[Any], Any]:
        project = await known_project(shop)
        for claim, impact in (("Clinics pay for it.", "high"), ("There is a network.", "low")):
            given = {
                "claim": claim,
                "impact": impact,
                "confidence": "guessed",
                "type": "value",
                "basis": "Said.",
                "reason": "Said.",
            }
            exploration.change(shop, LOCAL, project.id, "register_assumption", given)
        started = await generate_found(shop, LOCAL, project, Wanted(agent="builtin"))
        await shop.engine.handle(started.run).result()
        text = pins.current(project).text(Kind.BLUEPRINT) or ""
        before = [each.code for each in checked_contracts(project).findings]
        exploration.change(
            shop,
            LOCAL,
            project.id,
            "update_assumption_status",
            {"assumption_id": "A1", "status": "invalidated", "reason": "Two said no."},
        )
        card = next(each for each in overview(project).items if each.contract_type is Kind.BLUEPRINT)
        return text, before, (checked_contracts(project).findings, card.state)

    text, before, (found, state) = office.do(use)
    risks = text.partition("## Risks")[2].partition("## ")[0]
    assert "Clinics pay for it [A1]" in risks
    assert "There is a network" not in text
    assert before == []
    assert [(each.code, each.file) for each in found] == [("assumption_broken", "blueprint.md")]
    assert text.split("\n")[found[0].line - 1] == "- Clinics pay for it [A1]"
    assert state == "findings"
