"""The board: every project of the workspace in the column of its phase."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from forge.app.process.workshop import Workshop
from forge.app.projects.catalog import workspace_of
from forge.app.projects.view import ProjectView, views
from forge.boards.overview import BoardView, ProjectRow, columns


def board_of(shop: Workshop, only: Collection[str] | None = None) -> BoardView:
    """With `only`, of the projects with these ids; no other is so much as looked at."""
    listed = workspace_of(shop.settings).by_id()
    seen, unread = views(shop, (each for each in listed if only is None or each.id in only))
    # Of one that does not even tell its id, nobody knows whose it is.
    nameless = listed.broken if only is None else ()
    return replace(columns([_row(each) for _, each in seen]), broken=(*nameless, *unread))


def _row(seen: ProjectView) -> ProjectRow:
    return ProjectRow(
        id=seen.id,
        name=seen.name,
        phase=seen.phase,
        halt_reason=seen.halt_reason,
        deliverable_type=seen.deliverable_type,
        phase_times=seen.phase_times,
        rounds=len(seen.rounds),
        totals=tuple(entry["total"] for entry in seen.rounds),
        updated=seen.updated_at,
        label=seen.label,
        outline=seen.outline is not None,
        waiting=seen.question or (seen.open_questions[0] if seen.open_questions else None),
    )
