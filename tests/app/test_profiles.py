"""Profiles through the application: every prompt has a model role, and plugins add theirs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from forge.agents.errors import ModelRoleUnknown, ProfileUnknown
from forge.agents.profile import SHIPPED, WORK_TOOLS, Profile, Profiles
from forge.app.admin.plugin_list import list_plugins
from forge.app.admin.profiles import profiles_of
from forge.app.admin.prompts import prompts
from forge.app.process.workshop import open_workshop
from forge.app.sessions.messages import end_of, send_message
from forge.git import Repository
from forge.settings import Settings, load
from forge.settings.values import MODEL_ROLES
from tests.conftest import MakeRepo
from tests.support.stand_in import Reply, StandIn, anthropic

PLUGIN = """
from forge.plugins.roles import Offer, OfferedPrompt, OfferedTools
from forge.tools.tool import FunctionTool

def tools(context):
    text = f"on {context.branch} as {context.role}"
    return [FunctionTool("where_am_i", "Say where.", {"type": "object"}, lambda args: text, outside=True)]

def offer():
    return Offer(
        prompts=(OfferedPrompt("poem", "writer", "Write a poem.", frozenset({"read_file", "list_files"}),
                               (("list_directory", "list_files"),)),),
        tools=(OfferedTools(("where_am_i",), tools, ("chat", "poem")),),
    )
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "poems.py").write_text(PLUGIN)
    (tmp_path / "config.yaml").write_text("")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "FORGE_DATA_DIR": str(tmp_path / "data"),
        "FORGE_CONFIG": str(tmp_path / "config.yaml"),
    }


@pytest.fixture
def settings(environ: dict[str, str]) -> Settings:
    return load(environ)


@pytest.mark.req("P-15")
def test_every_prompt_that_comes_with_forge_has_a_model_role(settings: Settings) -> None:
    profiles = profiles_of(settings)
    assert {prompt.name for prompt in prompts(settings).list()} == set(profiles) == {*SHIPPED, "poem"}
    assert {profiles.model_role(role) for role in profiles} <= set(MODEL_ROLES)
    assert profiles.model_role("completeness-gate") == "reviewer"
    assert profiles.get("code-build").tools.names == WORK_TOOLS
    assert profiles.get("plan-review").tools.names == frozenset()


@pytest.mark.req("P-15")
def test_a_prompt_of_a_plugin_has_its_role_its_tools_and_a_person_s_words(settings: Settings) -> None:
    profile = profiles_of(settings).get("poem")
    assert (profile.model_role, profile.system) == ("writer", "Write a poem.")
    assert profile.tools.names == {"read_file", "list_files", "where_am_i"}
    assert profile.tools.shown("list_files") == "list_directory"
    prompts(settings).save("poem", "Write a sonnet.")
    assert profiles_of(settings).get("poem").system == "Write a sonnet."
    prompts(settings).reset("poem")
    assert profiles_of(settings).get("poem").system == "Write a poem."
    plugins = list_plugins(settings)
    assert plugins.plugins[-1].brings == ("prompts: poem", "tools: where_am_i")
    assert plugins.problems == ()


def test_no_prompt_falls_to_a_model_that_nobody_chose(settings: Settings) -> None:
    prompts(settings).save("unheard-of", "Do it.")
    with pytest.raises(ProfileUnknown, match="No model role is set for the prompt `unheard-of`"):
        profiles_of(settings).model_role("unheard-of")
    with pytest.raises(ModelRoleUnknown, match="The profile `x` names the model role `poet`"):
        Profile("x", "poet")
    with pytest.raises(ValueError, match="two profiles for the role x"):
        Profiles([Profile("x", "chat"), Profile("x", "chat")], str)
    with pytest.raises(AttributeError):
        settings.models.named("poet")


@pytest.mark.req("P-15", "G-07")
def test_a_turn_can_use_a_tool_that_a_plugin_makes_for_it(environ: dict[str, str], make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    replies = [Reply(("",), calls=(("where_am_i", {}),)), Reply(("There.",))]

    async def turn() -> str:
        async with StandIn(anthropic, replies) as server:
            environ.update(ANTHROPIC_API_KEY="sk-ant-test-key-of-nobody", ANTHROPIC_BASE_URL=server.url)
            async with open_workshop(load(environ), environ) as shop:
                sent = await send_message(shop, repo, "ai/x", "where are you?")
                await end_of(shop, sent.run)
        return server.requests[1].body.decode()

    assert "on ai/x as chat" in asyncio.run(turn())
