"""Tools on the conversation itself: probes and patterns that ran, the summary, artifacts, the end of a mode."""

from __future__ import annotations

from forge.explore import brief
from forge.explore.errors import ChangeRefused
from forge.explore.knowledge import MODES
from forge.explore.schema import IDS, one_of, text, tool
from forge.explore.workbench import Done, Workbench
from forge.json_value import Json


def _probe(bench: Workbench, given: Json) -> Done:
    mode = str(bench.values.get("active_mode") or "gathering")
    history = bench.items(bench.routing, "probe_history")
    history.append(
        {
            "probe": given["probe"].strip(),
            "mode": mode,
            "turn": bench.turn,
            "finding": given["finding"],
            "satisfied": given["satisfied"],
            "source": bench.source,
        }
    )
    return Done(f"Probe {given['probe']}: {'satisfied' if given['satisfied'] else 'still open'}.", (given["probe"],))


def _pattern(bench: Workbench, given: Json) -> Done:
    done = bench.items(bench.routing, "patterns_fired")
    name = given["pattern"].strip()
    if any(isinstance(each, dict) and each.get("pattern") == name for each in done):
        raise ChangeRefused(f"The pattern {name} fired before.", hint="A pattern fires once. Go on without it.")
    done.append({"pattern": name, "turn": bench.turn, "why": given["why"]})
    return Done(f"Pattern {name} is recorded.", (name,))


def _summary(bench: Workbench, given: Json) -> Done:
    bench.skeleton["conversation_summary"] = given["summary"]
    return Done("The summary is updated.", ("summary",))


def _artifact(bench: Workbench, given: Json) -> Done:
    kind = given["artifact_type"]
    written = given.get("content")
    page = brief.checked(written, bench) if written else brief.composed(kind, bench)
    made = brief.with_documents(page, bench)
    bench.files[kind] = made
    bench.values["latest_artifact"] = made
    return Done(f"{brief.FILES[kind]} is written, {brief.words(page)} words.", (kind,))


def _complete(bench: Workbench, given: Json) -> Done:
    mode = given["mode"]
    if bench.values.get("active_mode") != mode:
        now = bench.values.get("active_mode") or "gathering"
        raise ChangeRefused(f"The mode {mode} is not active; {now} is.", hint=f"Complete {now}, or none.")
    left = [
        each
        for each in bench.register.assumptions.values()
        if each.impact == "high" and each.confidence == "guessed" and each.status in ("active", "at_risk")
    ]
    unseen = [each.id for each in left if each.id not in given.get("acknowledged", ())]
    if unseen:
        raise ChangeRefused(
            f"High impact and only guessed: {', '.join(unseen)}.",
            hint="Ask about them in one short question, or complete the mode again with these ids as `acknowledged`.",
        )
    done = bench.items(bench.routing, "completed_modes")
    if mode not in done:
        done.append(mode)
    after = list(MODES)[list(MODES).index(mode) + 1 :]
    follows = next((each for each in after if each not in done), None)
    if follows is not None:
        reason = f"{MODES[mode]} is complete: {given['summary']}"
        bench.routing["proposal"] = {"mode": follows, "reason": reason, "turn": bench.turn}
    return Done(f"{MODES[mode]} is complete." + (f" Proposed next: {MODES[follows]}." if follows else ""), (mode,))


TOOLS = (
    tool(
        "record_probe_fired",
        "Note that a probe was asked or answered, and what it found.",
        _probe,
        "probe finding satisfied",
        probe=text(most=60),
        finding=text(most=1000),
        satisfied={"type": "boolean"},
    ),
    tool(
        "record_pattern_fired",
        "Note that a domain pattern was used. Each is used once.",
        _pattern,
        "pattern why",
        pattern=text(most=60),
        why=text(most=500),
    ),
    tool(
        "update_conversation_summary",
        "Replace the summary of the conversation so far.",
        _summary,
        "summary",
        summary=text(most=4000),
    ),
    tool(
        "generate_artifact",
        "Write an artifact. Every sentence ends with its source ids, such as [A1, T3]; at most 600 words. Without "
        "`content`, Forge writes it from the state.",
        _artifact,
        "artifact_type",
        artifact_type=one_of(tuple(brief.FILES)),
        content={"type": "string", "maxLength": 20_000},
    ),
    tool(
        "complete_mode",
        "End the active mode and propose what comes next.",
        _complete,
        "mode summary",
        mode=one_of(tuple(MODES)),
        summary=text(most=1000),
        acknowledged={**IDS, "description": "Guessed high-impact assumptions that the person knows are open."},
    ),
)
