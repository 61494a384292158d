"""The board: every project of the workspace in the column of its phase."""

from __future__ import annotations

from forge.app.projects import workspace_of
from forge.app.views import ProjectView, view
from forge.app.workshop import Workshop
from forge.boards.overview import BoardView, ProjectRow, columns


def board_of(shop: Workshop) -> BoardView:
    return columns([_row(view(shop, project)) for project in workspace_of(shop.settings).by_id()])


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
        waiting=seen.question or (seen.open_questions[0] if seen.open_questions else None),
    )
