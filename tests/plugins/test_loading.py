"""Plugins: found, loaded one by one, joined; a broken one is named and the others work."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forge.plugins.loader import GROUP, Plugins, load_plugins
from forge.plugins.offer_check import misfits
from forge.plugins.roles import (
    Channel,
    Notice,
    Offer,
    OfferedPrompt,
    OfferedTools,
    ResultView,
    Structure,
    ToolContext,
    result_view_of,
    structures_of,
)
from forge.settings.plugin_sections import PluginSection
from forge.tools.tool import FunctionTool

EXAMPLE = Path(__file__).parent / "example_package" / "src"
CHANNEL = """
from forge.plugins.roles import Offer

def offer():
    return Offer(channels={NAME: lambda settings: settings})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "plugins"
    folder.mkdir()
    return folder


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> EntryPoint:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return EntryPoint("checklist", "forge_checklist:offer", GROUP)


def plugin(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.py"
    path.write_text(text)
    return path


@pytest.mark.req("P-15")
def test_files_and_packages_of_the_persons_directory_are_plugins(folder: Path) -> None:
    plugin(folder, "one", CHANNEL.replace("NAME", "'single'"))
    package = folder / "two"
    package.mkdir()
    (package / "names.py").write_text("NAME = 'packaged'\n")
    (package / "__init__.py").write_text("from .names import NAME\n" + CHANNEL)
    plugin(folder, "_draft", "raise RuntimeError('not to be loaded')")
    (folder / "notes.txt").write_text("nothing")
    found = load_plugins(folder, installed=())
    assert (set(found.channels), found.loaded, found.problems) == ({"single", "packaged"}, ("one", "two"), ())


@pytest.mark.req("P-15")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def (", "SyntaxError"),
        ("import no_such_library", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = 1", "there is no function `offer()`"),
        ("def offer(): raise ValueError('out of order')", "ValueError: out of order"),
        ("def offer(): return None", "must return a `forge.plugins.roles.Offer`, not nothing"),
        (CHANNEL.replace("NAME", "'No Name'"), "cannot be a name"),
        (CHANNEL.replace("NAME: lambda settings: settings", "'x': 3"), "channels.x must be a function"),
    ],
)
def test_one_that_fails_is_named_and_the_rest_works(folder: Path, text: str, why: str) -> None:
    broken = plugin(folder, "broken", text)
    plugin(folder, "good", CHANNEL.replace("NAME", "'good'"))
    found = load_plugins(folder, installed=())
    assert set(found.channels) == {"good"}
    (problem,) = found.problems
    assert str(broken) in problem
    assert why in problem
    assert "forge_own_plugins_good" in sys.modules


@pytest.mark.req("P-15")
def test_of_two_with_one_name_the_first_wins_and_the_other_is_named(folder: Path, example: EntryPoint) -> None:
    first = EntryPoint("a-thief", "forge_checklist:offer", GROUP)
    plugin(folder, "late", CHANNEL.replace("NAME", "'book'"))
    found = load_plugins(folder, installed=(example, first))
    assert set(found.deliverables) == {"checklist"}
    assert len(found.problems) == 5
    assert all("brings already" in problem for problem in found.problems)


@pytest.mark.req("P-15")
def test_a_stranger_cannot_replace_what_comes_with_forge(example: EntryPoint, monkeypatch: pytest.MonkeyPatch) -> None:
    good = example.load()().deliverables[0]
    offered = Offer(deliverables=(replace(good, name="plan"), replace(good, name="poem")))
    monkeypatch.setitem(sys.modules, "aaa_thief", SimpleNamespace(offer=lambda: offered))  # type: ignore[arg-type]
    builtin = EntryPoint("forge", "forge.builtin:offer", GROUP)
    found = load_plugins(installed=(EntryPoint("aaa", "aaa_thief:offer", GROUP), builtin))
    assert set(found.deliverables) == {"plan", "code", "poem"}
    assert type(found.deliverables["plan"]) is not type(good)
    (problem,) = found.problems
    assert "aaa (aaa_thief:offer) brings `plan`" in problem
    assert "forge (forge.builtin:offer)" in problem


def test_nobody_takes_the_place_of_forge_by_its_name(folder: Path, example: EntryPoint) -> None:
    impostor = EntryPoint("forge", "forge_checklist:offer", GROUP)
    real = EntryPoint("forge", "forge.builtin:offer", GROUP)
    found = load_plugins(installed=(impostor, real))
    assert list(found.deliverables) == ["plan", "code", "checklist"]


@pytest.mark.req("P-15")
def test_what_comes_with_forge_fits_its_own_contracts() -> None:
    found = load_plugins(installed=(EntryPoint("forge", "forge.builtin:offer", GROUP),))
    assert found.problems == ()
    assert {"plan", "code"} <= set(found.deliverables)
    assert {"notion", "google_drive"} <= set(found.connectors)
    assert {"ntfy", "telegram"} <= set(found.channels)
    assert {"vibekanban", "kanban", "backlog"} <= set(found.boards)


@pytest.mark.req("P-15")
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"review": None}, "`review` must be an `async def`"),
        ({"build": lambda desk: None}, "`build` must be an `async def`"),
        ({"name": "Two Words"}, "`name` must be one word"),
        ({"severities": {"critical": "x", "medium": "y"}}, "`severities` must say what counts as minor"),
        ({"schema": dict}, "`schema` must be a pydantic model"),
        ({"needs_code": "no"}, "`needs_code` must be True or False"),
        ({"title": ""}, "`title` must be a text"),
        ({"safety": object()}, "`safety` must have"),
    ],
)
def test_a_deliverable_type_that_does_not_fit_is_told_why(
    example: EntryPoint, change: dict[str, Any], why: str
) -> None:
    good = example.load()().deliverables[0]
    assert list(misfits(Offer(deliverables=(good,)))) == []
    changed = type(
        "Changed", (type(good),), {**change, "__init__": lambda self: None, "__setattr__": object.__setattr__}
    )
    assert why in "; ".join(misfits(Offer(deliverables=(changed(),))))


def test_a_deliverable_type_without_members_or_with_wrong_arguments_is_told_why(example: EntryPoint) -> None:
    good = example.load()().deliverables[0]

    class Bare:
        name = "bare"

    class Narrow(type(good)):  # type: ignore[misc]
        async def fix(self, desk: object) -> str:
            return ""

    (lacking,) = misfits(Offer(deliverables=(Bare(),)))  # type: ignore[arg-type]
    assert "Bare lacks `title`, `safety`" in lacking
    (narrow,) = misfits(Offer(deliverables=(Narrow(),)))
    assert "`fix` cannot be called as the contract says" in narrow
    (itself,) = misfits(Offer(deliverables=(type(good),)))
    assert "not the class itself: `Checklist()`" in itself


@pytest.mark.req("P-15")
@pytest.mark.asyncio
async def test_channels_are_made_from_their_settings(example: EntryPoint, tmp_path: Path) -> None:
    found = load_plugins(installed=(example,))
    file = tmp_path / "book.txt"
    settings = {"book": PluginSection.model_validate({"enabled": True, "path": str(file)})}
    ((name, channel),) = found.made_channels(settings)
    assert name == "book"
    made: Channel = channel
    await made.send(Notice("20260101-abcd", "Move", "polishing", "human_needed", "Have a look."))
    assert file.read_text() == "Move [polishing] human_needed: Have a look.\n"
    assert found.faults(channels=settings) == ()
    assert found.made_channels({"book": PluginSection(enabled=False)}) == ()


def test_what_is_enabled_and_cannot_be_used_is_told_without_its_secrets(folder: Path, example: EntryPoint) -> None:
    plugin(folder, "loud", CHANNEL.replace("NAME: lambda settings: settings", "'loud': lambda s: 1 / 0"))
    plugin(folder, "leak", CHANNEL.replace("NAME: lambda settings: settings", "'leak': lambda s: int(s['token'])"))
    found = load_plugins(folder, installed=(example,))
    sections = {
        name: PluginSection.model_validate({"enabled": True, "token": "sk-secret-12345"})
        for name in ("book", "loud", "leak", "pigeon")
    }
    assert found.made_channels(sections) == ()
    told = "\n".join(found.faults(channels=sections))
    assert "No plugin brings the notification channel 'pigeon', which is enabled." in told
    assert "'book' cannot be used: Notification channel 'book' is enabled but has no path configured." in told
    assert "'loud' cannot be used: ZeroDivisionError" in told
    assert "sk-secret-12345" not in told


def test_no_directory_is_no_plugin_and_a_file_in_its_place_is_named(tmp_path: Path) -> None:
    assert load_plugins(tmp_path / "none", installed=()).problems == ()
    (tmp_path / "file").write_text("")
    assert "cannot be read" in load_plugins(tmp_path / "file", installed=()).problems[0]


def tool(name: str, text: str = "") -> FunctionTool:
    return FunctionTool(name, "Say it.", {"type": "object"}, lambda _: text)


def offered(monkeypatch: pytest.MonkeyPatch, **parts: Any) -> Plugins:
    monkeypatch.setitem(sys.modules, "some_plugin", SimpleNamespace(offer=lambda: Offer(**parts)))  # type: ignore[arg-type]
    return load_plugins(installed=(EntryPoint("some", "some_plugin:offer", GROUP),))


@pytest.mark.req("P-15")
@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"prompts": (OfferedPrompt("poem", "poet", "Write."),)}, "names the model role `poet`; use one of chat"),
        ({"prompts": (OfferedPrompt("chat", "writer", "Write."),)}, "`chat` is a prompt of Forge"),
        ({"prompts": (OfferedPrompt("Poem!", "writer", "Write."),)}, "cannot be a name"),
        ({"prompts": (OfferedPrompt("poem", "writer", " "),)}, "the prompt `poem` has no text"),
        ({"prompts": ("poem",)}, "prompts must be `OfferedPrompt`s, not a str"),
        ({"tools": (OfferedTools(("read_file",), lambda _: ()),)}, "`read_file` is a tool of Forge"),
        ({"tools": (OfferedTools(("use_skill",), lambda _: ()),)}, "`use_skill` is a tool of Forge"),
        ({"tools": (OfferedTools(("a-b",), lambda _: ()),)}, "cannot be a name"),
        ({"tools": (OfferedTools(("rhyme",), lambda _: (), roles=("poet",)),)}, "there is no role `poet`"),
        ({"tools": (tool("rhyme"),)}, "tools must be `OfferedTools`"),
    ],
)
def test_prompts_and_tools_that_do_not_fit_are_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, parts: dict[str, Any], why: str
) -> None:
    found = offered(monkeypatch, **parts)
    assert why in found.problems[0]
    assert (dict(found.prompts), dict(found.tools)) == ({}, {})


@pytest.mark.req("P-15")
def test_tools_are_made_for_the_turn_and_only_for_their_roles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def make(context: ToolContext) -> tuple[FunctionTool, ...]:
        return tool("branch_name", context.branch), tool("undeclared")

    def broken(context: ToolContext) -> tuple[FunctionTool, ...]:
        raise KeyError(context.run)

    poem = OfferedPrompt("poem", "writer", "Write.")
    tools = (OfferedTools(("branch_name",), make, ("chat", "poem")), OfferedTools(("rhyme",), broken, ("poem",)))
    found = offered(monkeypatch, prompts=(poem,), tools=tools)
    assert found.problems == ()
    assert found.brought == {"some": ("prompts: poem", "tools: branch_name", "tools: rhyme")}
    (made,) = found.made_tools(ToolContext(tmp_path, "ai/x", "run", "poem"))
    assert made.execute(None, {}) == "ai/x"  # type: ignore[arg-type]
    assert found.made_tools(ToolContext(tmp_path, "ai/x", "run", "code-review")) == ()
    assert found.tools_for("poem") == {"branch_name", "rhyme"}


@pytest.mark.req("P-15")
def test_a_type_may_tell_its_forms_and_where_its_result_is(example: EntryPoint) -> None:
    type_ = load_plugins(installed=(example,)).deliverables["checklist"]
    assert structures_of(type_) == (Structure("boxes", "Boxes to tick", ("Boxes",)),)
    assert result_view_of(type_) == ResultView("document", "docs/checklist.md")
    plain: Any = SimpleNamespace(needs_code=True)
    assert (structures_of(plain), result_view_of(plain)) == ((), ResultView("branch"))
    wrong: Any = replace(type_, result_view="a page", structures=("one",))  # type: ignore[type-var]
    told = " ".join(misfits(Offer(deliverables=(wrong,))))
    assert "`result_view` must be a `ResultView`" in told
    assert "`structures` must be `Structure`s, not a str" in told
