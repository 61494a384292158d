"""Looking after Forge: health, board, settings, prompts, costs and a test of notifications."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

from fastapi import Path, Query

from forge import __version__
from forge.api.http.dependencies import Asking, Shop
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import house as shapes
from forge.api.shapes.projects import BoardShape
from forge.app.access import provider_keys
from forge.app.admin import admin_access, connectors, plugin_list
from forge.app.projects import project_access

router = router_for()

Name = Annotated[str, Path(min_length=1, max_length=200, examples=["polish.max_iterations"])]
Prompt = Annotated[str, Path(min_length=1, max_length=100, examples=["chat"])]
Provider = Annotated[str, Path(min_length=1, max_length=100, examples=["anthropic"])]
_PROVIDER = {404: ["provider_unknown"], 409: ["keyring_unusable"]}
_SETTING = {404: ["setting_unknown"], 422: ["settings_invalid"]}
_PROMPT = {404: ["prompt_missing"], 422: ["prompt_unusable"], 502: ["prompt_unwritable"]}


@router.get("/health", tags=["health"], response_model=shapes.HealthShape)
async def health() -> Any:
    """Whether the server answers; for anybody."""
    return {"status": "ok", "version": __version__, "pid": os.getpid()}


@router.get(
    "/doctor", tags=["health"], response_model=shapes.DoctorShape, responses=may_end({404: ["repository_missing"]})
)
def show_doctor(
    shop: Shop, who: Asking, *, repository: Annotated[str | None, Query(min_length=1, max_length=64)] = None
) -> Any:
    """Whether everything that Forge stands on is in order, and a repository if one is named. Nothing is mended."""
    checks = admin_access.doctor(shop, who, repository)
    return {"ok": all(check.state != "failed" for check in checks), "checks": checks}


@router.get("/board", tags=["board"], response_model=BoardShape, responses=may_end())
def show_board(shop: Shop, who: Asking) -> Any:
    """Your projects in the columns of their phases."""
    return project_access.board_for(shop, who)


@router.get("/settings", tags=["settings"], response_model=shapes.SettingsShape, responses=may_end(_SETTING))
def list_settings(shop: Shop, who: Asking, *, name: Annotated[str, Query(max_length=200)] = "") -> Any:
    """All settings, or those at and below a dotted name. Secrets are never shown."""
    return {"settings": admin_access.settings(shop, who, name)}


@router.get("/settings/{name}", tags=["settings"], response_model=shapes.SettingShape, responses=may_end(_SETTING))
def show_setting(shop: Shop, who: Asking, *, name: Name) -> Any:
    """One setting or section."""
    return admin_access.setting(shop, who, name)


@router.put(
    "/settings/{name}",
    tags=["settings"],
    response_model=shapes.ChangedSetting,
    responses=may_end({**_SETTING, 409: ["settings_not_edited"], 422: ["settings_invalid", "model_unknown"]}),
)
def change_setting(shop: Shop, who: Asking, *, name: Name, body: shapes.NewValue) -> Any:
    """Change one value in the settings file. A running server takes it up when it starts again."""
    return admin_access.set_setting(shop, who, name, body.value)


@router.get("/prompts", tags=["prompts"], response_model=shapes.PromptsShape, responses=may_end(_PROMPT))
def list_prompts(shop: Shop, who: Asking) -> Any:
    """The words that agents are given, and which of them are your own."""
    return {"prompts": admin_access.list_prompts(shop, who)}


@router.get("/prompts/{name}", tags=["prompts"], response_model=shapes.PromptTextShape, responses=may_end(_PROMPT))
def show_prompt(shop: Shop, who: Asking, *, name: Prompt) -> Any:
    """A prompt as it is used, and as it comes with Forge."""
    return admin_access.prompt(shop, who, name)


@router.put("/prompts/{name}", tags=["prompts"], response_model=shapes.PromptTextShape, responses=may_end(_PROMPT))
def save_prompt(shop: Shop, who: Asking, *, name: Prompt, body: shapes.NewPrompt) -> Any:
    """Your own text for a prompt; it is used from the next call on."""
    return admin_access.save_prompt(shop, who, name, body.text)


@router.post(
    "/prompts/{name}/reset", tags=["prompts"], response_model=shapes.PromptTextShape, responses=may_end(_PROMPT)
)
def reset_prompt(shop: Shop, who: Asking, *, name: Prompt) -> Any:
    """Set a prompt back to its default; your text is kept beside it."""
    return admin_access.reset_prompt(shop, who, name)


@router.get("/prompts/{name}/diff", tags=["prompts"], response_model=shapes.PromptDiff, responses=may_end(_PROMPT))
def diff_prompt(shop: Shop, who: Asking, *, name: Prompt) -> Any:
    """What your text changes in the default."""
    return {"name": name, "diff": admin_access.prompt_diff(shop, who, name)}


@router.get(
    "/costs", tags=["costs"], response_model=shapes.CostsShape, responses=may_end({404: ["repository_missing"]})
)
def show_costs(
    shop: Shop,
    who: Asking,
    *,
    by: Literal["branch", "day", "model", "run", "repository", "session"] = "branch",
    days: Annotated[int, Query(ge=1, le=3650)] = 30,
    repository: Annotated[str | None, Query(max_length=64)] = None,
) -> Any:
    """What models have taken, in tokens and dollars."""
    return admin_access.costs(shop, who, by=by, days=days, repository_id=repository)


@router.get("/connectors", tags=["connectors"], response_model=shapes.ConnectorsShape, responses=may_end())
def list_connectors(shop: Shop, who: Asking) -> Any:
    """What can bring documents from elsewhere, and whether it can be used."""
    return {"connectors": connectors.list_connectors(shop, who)}


@router.get("/deliverable-types", tags=["projects"], response_model=shapes.DeliverableTypesShape, responses=may_end())
def list_deliverable_types(shop: Shop, who: Asking) -> Any:
    """What a project can become: the types that plugins bring, with their forms and where the result is looked at."""
    return {"deliverable_types": plugin_list.list_deliverable_types(shop, who)}


@router.get("/provider-keys", tags=["models"], response_model=shapes.ProviderKeysShape, responses=may_end())
def list_provider_keys(shop: Shop, who: Asking) -> Any:
    """Which providers have a key, and where it comes from. Never the keys themselves."""
    return {"keys": provider_keys.list_provider_keys(shop, who)}


@router.put(
    "/provider-keys/{provider}",
    tags=["models"],
    response_model=shapes.ProviderKeyShape,
    responses=may_end({**_PROVIDER, 422: ["provider_key_invalid"]}),
)
def set_provider_key(shop: Shop, who: Asking, *, provider: Provider, body: shapes.NewProviderKey) -> Any:
    """Keep a provider's key in the keyring of the server's machine. It is never shown."""
    return provider_keys.set_provider_key(shop, who, provider, body.key)


@router.delete(
    "/provider-keys/{provider}",
    tags=["models"],
    response_model=shapes.ProviderKeyShape,
    responses=may_end(_PROVIDER),
)
def remove_provider_key(shop: Shop, who: Asking, *, provider: Provider) -> Any:
    """Take a provider's key out of the keyring."""
    return provider_keys.remove_provider_key(shop, who, provider)


@router.post("/notifications/test", tags=["notifications"], response_model=shapes.SentNotices, responses=may_end())
async def test_notifications(shop: Shop, who: Asking) -> Any:
    """Send a test message through every channel that is set up, and say how it went."""
    return {"channels": await admin_access.test_notifications(shop, who)}
