"""Looking after Forge as one person may: settings, prompts, costs, notifications; who may not is told so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from forge.app.access.identity import Who, audit, require
from forge.app.admin import notifications
from forge.app.admin.checks import Check
from forge.app.admin.models import refuse_paths
from forge.app.admin.prompts import prompts
from forge.app.admin.settings import Changed, load_settings, set_value
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import repository
from forge.prompts import Prompt
from forge.settings.catalog import Setting, listed, shown
from forge.store.costs import Grouping, Spent

_DAY = 86_400


@dataclass(frozen=True, slots=True)
class PromptText:
    name: str
    text: str
    default: str | None
    """The text that comes with Forge; None for a prompt of the person's own."""


@dataclass(frozen=True, slots=True)
class Costs:
    by: str
    days: int
    rows: dict[str, Spent]
    total: Spent


def settings(shop: Workshop, who: Who, name: str = "") -> tuple[Setting, ...]:
    """As the files have them now, which a running server takes up when it starts again. Secrets are hidden."""
    require(who, "admin")
    return listed(load_settings(None, shop.environ), name)


def setting(shop: Workshop, who: Who, name: str) -> Setting:
    require(who, "admin")
    now = load_settings(None, shop.environ)
    return Setting(name, shown(now, name), now.origin(name))


def set_setting(shop: Workshop, who: Who, name: str, value: Any) -> Changed:
    require(who, "admin")
    for name_of_model in _texts(value):
        refuse_paths(who, name_of_model)
    done = set_value(shop.environ, name, value)
    audit(shop, who, "settings.change", name)
    return done


def _texts(value: Any) -> Iterator[str]:
    """Each may come to name a model, whichever setting it is for."""
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for each in value.values():
                yield from _texts(each)


def doctor(shop: Workshop, who: Who, repository_id: str | None = None) -> tuple[Check, ...]:
    """What `forge doctor` finds where the server runs, and in one repository if it is named. Nothing is mended."""
    from forge.app.admin.doctor import examine  # noqa: PLC0415 - takes a moment to load

    require(who, "admin")
    place = repository(shop, who, repository_id).common_dir if repository_id else shop.settings.data_dir
    return tuple(examine(place, shop.environ))


def list_prompts(shop: Workshop, who: Who) -> tuple[Prompt, ...]:
    require(who, "read")
    return prompts(shop.settings).list()


def prompt(shop: Workshop, who: Who, name: str) -> PromptText:
    require(who, "read")
    registry = prompts(shop.settings)
    text = registry.get(name)
    own = any(each.name == name and each.origin == "own" for each in registry.list())
    return PromptText(name, text, None if own else registry.default(name))


def save_prompt(shop: Workshop, who: Who, name: str, text: str) -> PromptText:
    require(who, "admin")
    prompts(shop.settings).save(name, text)
    audit(shop, who, "prompts.save", name)
    return prompt(shop, who, name)


def reset_prompt(shop: Workshop, who: Who, name: str) -> PromptText:
    """The person's text is kept beside."""
    require(who, "admin")
    prompts(shop.settings).reset(name)
    audit(shop, who, "prompts.reset", name)
    return prompt(shop, who, name)


def prompt_diff(shop: Workshop, who: Who, name: str) -> str:
    require(who, "read")
    return prompts(shop.settings).diff(name)


def costs(shop: Workshop, who: Who, *, by: str, days: int, repository_id: str | None) -> Costs:
    """Of one repository for whoever may see it; of everything for whoever manages Forge."""
    where: dict[str, Any] = {"since": time.time() - days * _DAY}
    if repository_id is None:
        require(who, "admin")
    else:
        where["repository"] = str(repository(shop, who, repository_id).common_dir)
    rows = shop.costs.by(cast("Grouping", by), **where)
    # Projects are worked on outside of branches.
    named = {name or f"no {by}": spent for name, spent in rows.items()}
    return Costs(by, days, named, shop.costs.total(**where))


@on_work_loop
async def test_notifications(shop: Workshop, who: Who) -> tuple[notifications.Sent, ...]:
    require(who, "admin")
    return await notifications.send_test(shop)
