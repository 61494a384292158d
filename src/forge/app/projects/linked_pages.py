"""Pages that people link to: fetched into `resources/` where a connector is set up, and named where none is."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from forge.app.admin.plugins import plugins_of
from forge.app.process.workshop import Workshop
from forge.app.projects.change import change_project
from forge.connectors import google_drive as drive
from forge.connectors import notion
from forge.pipeline import messages
from forge.pipeline.draft import Draft
from forge.projects.project import Project
from forge.projects.status import Phase

_UNREAD = "A build does not read new pages: paste here what it should use."


async def pull(shop: Workshop, project: Project, text: str, phase: Phase) -> str:
    """Fetch what a message links to; gives the sentences for the person: what was saved, failed or was not read."""
    told: list[str] = []
    saved: list[str] = []
    connectors = plugins_of(shop.settings).made_connectors(shop.settings.connectors)
    for link in messages.links(text):
        for connector in connectors:
            if connector.takes(link):
                with tempfile.TemporaryDirectory(prefix="forge-pull-") as place:
                    pulled = await connector.pull(link, Path(place))
                    await asyncio.to_thread(_keep, project, Path(place))
                names = [Path(path).name for path in pulled.saved]
                saved += names
                told += [f"Saved resources/{name}." for name in names]
                told += [f"Could not fetch {failed}" for failed in pulled.failed]
                break
        else:
            told += _not_read(link)
    if saved and phase is Phase.BUILDING:
        told.append(_UNREAD)
    if saved and phase is Phase.SPEC_BUILDING:
        await asyncio.to_thread(
            change_project, shop, project, lambda draft: _name_for_spec(draft, saved), "resources: for the spec"
        )
    return "\n\n".join(told)


def _name_for_spec(draft: Draft, saved: Sequence[str]) -> None:
    draft.info = replace(draft.info, pages=tuple(dict.fromkeys([*draft.info.pages, *saved])))


def _not_read(link: str) -> list[str]:
    """What to tell of a link that no connector fetched; nothing of those that none is there for."""
    for title, name, takes in (
        ("Notion", notion.NAME, notion.is_page),
        ("Google Drive", drive.NAME, drive.is_document),
    ):
        if takes(link):
            return [
                f"{title} is not set up; the page was not read: {link}\n"
                f"Set up `connectors.{name}` in the settings, or add the page as a file, or paste its text here."
            ]
    return []


def _keep(project: Project, place: Path) -> None:
    files: Mapping[str, str | bytes | None] = {f"resources/{file.name}": file.read_bytes() for file in place.iterdir()}
    if files:
        project.records.update(lambda _: files, f"resources: {', '.join(Path(path).name for path in files)}")
