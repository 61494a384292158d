"""The card of a project on every board that is set."""

from __future__ import annotations

from collections.abc import Mapping

from forge.app.admin.plugins import plugins_of
from forge.errors import ForgeError
from forge.json_value import Json
from forge.plugins.roles import Card, CardRunner
from forge.settings import Settings


async def mirrored(settings: Settings, cards: Mapping[str, str], card: Card) -> Json:
    """Every board that is set shows the card, and runs it if it can. What one of them cannot do is a warning."""
    made: dict[str, str] = {}
    warnings: list[str] = []
    for name, board in plugins_of(settings).made_boards(settings.boards):
        try:
            known = cards.get(name)
            if known is None:
                known = made[name] = await board.create(card)
            else:
                await board.update(known, card)
            if card.builds_code and isinstance(board, CardRunner):
                await board.start(known, card)
        except ForgeError as e:
            warnings.append(f"board {name}: {e.message}")
    return {"cards": made, "warnings": warnings}
