"""Checks of work under way: the database, workers, runs, projects, notices, answers that are not on record."""

from __future__ import annotations

import math
import shlex
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from forge.agents.relay.journal import Journal
from forge.app.admin.checks import REPAIR, Check, Place, damage, failed, ok, some, warning
from forge.counts import counted
from forge.engine.workers import Worker
from forge.errors import ForgeError
from forge.projects import fields, info
from forge.projects.project import Project
from forge.projects.workspace import Workspace
from forge.store.database import Database
from forge.store.leases import Lease, Leases
from forge.store.outbox import Outbox
from forge.store.questions import Questions
from forge.store.runs import Runs, RunState

_SILENT = 60.0
_FORGOTTEN = 3600.0
_NONE_YET = "None yet; the first work makes it."
_GOING_ON: tuple[RunState, ...] = ("queued", "waiting", "running")
_GO_ON = "`forge worker --until-idle` continues it."


def database(place: Place) -> Check:
    records = place.records
    if not records.exist:
        return ok("database", _NONE_YET)
    found = records.facts
    if found.is_newer:
        return failed("database", f"It has revision {found.revision}, of a newer Forge.", "Update Forge.")
    if found.damage:
        return damage.found(place, "database", records.path, found.damage)
    if found.revision is None and not place.repair:
        return ok("database", f"{found.kind}: empty; the first work makes its tables.")
    if found.is_older and place.repair:
        Database.open(place.records.database.url.render_as_string(hide_password=False)).close()
        return ok("database", f"{found.kind}: brought up to date.")
    if found.is_older:
        hint = f"The next work brings them up to date. {REPAIR}"
        return warning("database", f"{found.kind}: its tables are of an older Forge.", hint)
    return ok("database", f"{found.kind}, revision {found.revision}, {found.size / (1 << 20):.1f} MiB")


def engine(place: Place) -> Check:
    """Where runs are recorded step by step, so that they continue after a crash."""
    file = place.records.runs_path
    if file is None:
        return ok("engine", "Runs are recorded in the same server.")
    if not file.exists():
        return ok("engine", _NONE_YET)
    if trouble := place.records.damage_of_runs:
        return damage.found(place, "engine", file, trouble)
    return ok("engine", f"Runs are recorded in {file.name}, {file.stat().st_size / (1 << 20):.1f} MiB.")


def _is_empty(place: Place) -> bool:
    try:
        return place.records.facts.revision is None and not place.records.facts.damage
    except ForgeError:  # told by the check of the database
        return False


def _unseen(place: Place, name: str) -> Check | None:
    """What to say where there is no database to look into."""
    if not place.records.exist or _is_empty(place):
        return ok(name, "None yet.")
    return None if place.records.usable else warning(name, "Not looked at.", "See to the database first.")


class _OnlyLooking(Leases):
    """Whoever looks declares nobody dead."""

    def declare_dead(self, lease: Lease) -> bool:
        del lease
        return True


def workers(place: Place) -> Check:
    """Processes that have a lease: alive, or dead and not yet missed by anybody."""
    if unseen := _unseen(place, "workers"):
        return unseen
    leases = Leases(place.records.database).list()
    dead = _dead(place)
    alive = len(leases) - len(dead)
    told = f"{counted(alive, 'process', 'processes')} at work." if alive else "No process is running."
    if dead and place.repair:
        for lease in leases:
            if lease.id in dead and Leases(place.records.database).declare_dead(lease):
                Leases(place.records.database).drop(lease.id)
        leases_word = counted(len(dead), "lease")
        return ok("workers", f"{told} Removed {leases_word} of the dead: the next worker takes what they had.")
    if dead:
        return warning("workers", f"{told} {counted(len(dead), 'lease')} of dead processes.", REPAIR)
    return ok("workers", told)


def _dead(place: Place) -> frozenset[str]:
    """Those whose process is gone from this machine, and those that have been silent for long, wherever they are."""
    looking = _OnlyLooking(place.records.database)
    watcher = Worker(looking, beat=1.0, dead_after=math.inf, on_lost=lambda _: None, name="")
    silent = (id_ for id_, seen in place.records.seen().items() if time.time() - seen > _SILENT)
    return frozenset((*watcher.find_dead(), *silent))


def runs(place: Place) -> Check:
    """Runs that have not ended: who has them, and which nobody has."""
    if unseen := _unseen(place, "runs"):
        return unseen
    if place.records.damage_of_runs:
        return warning("runs", "Not looked at.", "See to the engine first.")
    database = place.records.database
    listed = {row.id for row in Runs(database).list(states=_GOING_ON, limit=10_000)}
    held = place.records.unfinished()
    alive = {lease.id for lease in Leases(database).list() if lease.alive} - _dead(place)
    asked = {question.run for question in Questions(database).list_open()}
    left = [each.run for each in held or () if each.holder is not None and each.holder not in alive]
    # Who waits for a person needs no process meanwhile.
    orphans = [run for run in left if run not in asked]
    # A run is listed as ended before the engine ends it: look again at what the engine does not have.
    lost = [run for run in listed - {each.run for each in held or ()} if not _has_ended(database, run)]
    if lost:
        hint = "The engine's tables are not those of this database. Cancel it, or resume its project."
        return warning("runs", f"The engine does not know {some(sorted(lost))}.", hint)
    if orphans:
        return warning("runs", f"No process has {some(orphans)}.", _GO_ON)
    waiting = f"; {counted(len(asked & listed), 'run')} for a person" if asked & listed else ""
    return ok("runs", f"{len(listed)} under way{waiting}." if listed else "None is under way.")


def _has_ended(database: Database, run: str) -> bool:
    row = Runs(database).get(run)
    return row is None or row.has_ended


def projects(place: Place) -> Check:
    """Every project can be read, and the work that it names is known."""
    if place.records.exist and (unseen := _unseen(place, "projects")):
        return unseen
    workspace = Workspace(place.settings.workspace)
    if not workspace.projects.is_dir():
        return ok("projects", "None yet.")
    found = workspace.list()
    if broken := (*found.broken, *filter(None, map(_damage, found))):
        name = broken[0].partition(":")[0]
        hint = f"`git -C {shlex.quote(str(workspace.projects / name))} status` says what differs from its last commit."
        return warning("projects", " ".join(broken[:3]), hint)
    waiting = [project.directory.name for project in found if _is_unknown(place, project)]
    if waiting:
        hint = f"`forge project resume {waiting[0]}` begins it."
        return warning("projects", f"Work that was not begun: {some(waiting)}.", hint)
    return ok("projects", f"{counted(len(found), 'project')} can be read." if found else "None yet.")


def _damage(project: Project) -> str:
    try:
        project.status(), project.name, project.chat()
    except ForgeError as e:
        return f"{project.directory.name}: {e.message}"
    return ""


def _is_unknown(place: Place, project: Project) -> bool:
    """Whether a crash came between an action and its run. See `forge.app.projects.runs.go_on`."""
    named: dict[str, Any] | None = fields.loaded_object(project.records.read(info.FILE) or "{}", info.FILE).get("run")
    if named is None or place.records.run(named["id"]) is not None:
        return False
    from forge.app.projects.run_kinds import KINDS  # noqa: PLC0415 - seldom needed here

    return KINDS.get(project.status().phase) == str(named["kind"])


def notices(place: Place) -> Check:
    if unseen := _unseen(place, "notices"):
        return unseen
    outbox = Outbox(place.records.database)
    given_up, waiting = outbox.list(state="failed"), outbox.list(state="pending")
    if given_up:
        channels = some(sorted({entry.channel for entry in given_up}))
        hint = "`forge notify test` tries the channels; check their settings."
        return warning("notices", f"{len(given_up)} could not be delivered by {channels}.", hint)
    return ok("notices", f"{len(waiting)} on the way." if waiting else "None waits.")


def answers(place: Place) -> Check:
    """Answers of models are kept until they are on record; those of runs that have ended were left by a crash."""
    if place.records.exist and (unseen := _unseen(place, "answers")):
        return unseen
    folder = place.settings.data_dir / "answers"
    kept = sorted(folder.glob("run-*")) if folder.is_dir() else []
    left = [unquote(each.name.removeprefix("run-")) for each in kept if _is_left(place, each)]
    if left and place.repair:
        for run in left:
            Journal(folder).forget(run)
        return ok("answers", f"Removed what {counted(len(left), 'run')} had kept and nobody needs.")
    if left:
        return warning("answers", f"{counted(len(left), 'run')} left answers that nobody needs.", REPAIR)
    return ok("answers", f"Kept for {counted(len(kept), 'run')}." if kept else "None is kept.")


def _is_left(place: Place, folder: Path) -> bool:
    try:
        row = place.records.run(unquote(folder.name.removeprefix("run-")))
        return row.has_ended if row is not None else time.time() - folder.stat().st_mtime > _FORGOTTEN
    except FileNotFoundError:  # its run has ended meanwhile
        return False
