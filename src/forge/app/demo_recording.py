"""The recording that comes with Forge: which agent it is, and the settings that its answers were made with."""

from __future__ import annotations

from dataclasses import replace

from forge.app.process.workshop import Workshop
from forge.notices.sender import Sender
from forge.projects.project import Project
from forge.settings import Settings
from forge.store.outbox import Outbox

RECORDING = "demo"
AGENT = f"recorded:{RECORDING}"
_AS_RECORDED = ("polish", "phase3_completeness", "brain_dump", "notifications")


def as_recorded(settings: Settings) -> Settings:
    """Nobody wants notices of a demo, and other limits would need other answers."""
    defaults = Settings()
    return settings.model_copy(update={"boards": {}, **{name: getattr(defaults, name) for name in _AS_RECORDED}})


def recorded_workshop(shop: Workshop) -> Workshop:
    quiet = Sender(Outbox(shop.database), {}, warn=lambda _notice, _text: None)
    return replace(shop, settings=as_recorded(shop.settings), sender=quiet)


def workshop_for(shop: Workshop, project: Project) -> Workshop:
    """What a project's run works with: the process's own, except for the demo."""
    return recorded_workshop(shop) if project.info().agent == AGENT else shop
