"""Prompts that a person picks in their client: continue a project, review a branch, write a contract."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mcp_types as types

from forge.errors import InvalidInput, NotFound
from forge.mcp.session import project_of
from forge.mcp.text import document

if TYPE_CHECKING:
    from forge.mcp.call import Call

_CONTINUE = """\
Continue the project {name} ({id}), which is in phase {phase}.

What Forge knows of it now:
{state}

1. Read what was done so far: forge_read_memory, forge_get_summary with `session` {id}, then the documents you need.
2. Say in three sentences where the project stands and what you do next. If it waits for a person, tell them and stop.
3. Work on a branch of your own with the forge_ tools; run the tests; make one commit for each finished step.
4. Write what you learned with forge_write_memory.
"""
_REVIEW = """\
Review the branch {branch}. Change nothing.

1. forge_diff with `at` {branch} shows what it changes; forge_read and forge_search show the rest.
2. forge_run with `at` {branch} runs the tests.
3. Report as the rules below say.

{rules}"""
_WRITE = """\
Write the contract `{kind}` of the project {project}.

1. Read what comes before it: {before}. Use forge_get_project_contract with `project_id` {project}.
2. Keep the form of the example below; replace everything that is about its application.
3. No placeholder stays. Ids (F1, P1, D0.1) are those of the other contracts.
4. Show the whole text to the person, who saves it with `forge contracts edit {kind}` after `forge contracts check`.

Example of the form:

{example}"""


class PromptInvalid(InvalidInput):
    code = "prompt_invalid"


async def _continue(call: Call, given: Mapping[str, str]) -> str:
    from forge.app.projects.project_access import show_project  # noqa: PLC0415 - loads projects

    shop, id_ = await project_of(call, given.get("project"))
    seen = await call.in_thread(lambda: show_project(shop, call.who, id_))
    names = ("label", "deliverable_type", "waiting", "question", "problem", "branch")
    state = {name: value for name in names if (value := getattr(seen, name)) not in (None, "", ())}
    return _CONTINUE.format(name=seen.name, id=id_, phase=seen.phase, state=document(state))


async def _review(call: Call, given: Mapping[str, str]) -> str:
    from forge.app.projects.contract_reads import rule_text  # noqa: PLC0415

    del call
    return _REVIEW.format(branch=given["branch"], rules=rule_text("auditor_prompt"))


async def _write(call: Call, given: Mapping[str, str]) -> str:
    from forge.app.projects.contract_reads import rule_text  # noqa: PLC0415
    from forge.app.projects.contract_views import kind_named  # noqa: PLC0415
    from forge.app.projects.lookup import project_for  # noqa: PLC0415

    kind = kind_named(given["type"])
    shop, id_ = await project_of(call, given.get("project"))
    await call.in_thread(lambda: project_for(shop, call.who, id_))
    before = ", ".join(each.value for each in kind.reads) or "nothing; it is the first"
    return _WRITE.format(kind=kind.value, project=id_, before=before, example=rule_text(kind.value))


@dataclass(frozen=True, slots=True)
class _Prompt:
    shown: types.Prompt
    text: Callable[[Call, Mapping[str, str]], Awaitable[str]]


def _made(
    name: str, title: str, text: Callable[[Call, Mapping[str, str]], Awaitable[str]], **arguments: str
) -> _Prompt:
    """Arguments with their description; those that end in `?` may be left out."""
    taken = [
        types.PromptArgument(name=each, description=told.rstrip("?"), required=not told.endswith("?"))
        for each, told in arguments.items()
    ]
    return _Prompt(types.Prompt(name=name, title=title, arguments=taken), text)


_PROMPTS = {
    each.shown.name: each
    for each in (
        _made("continue_project", "Continue a project", _continue, project="Project id; the session's if left out.?"),
        _made("review_branch", "Review a branch", _review, branch="The branch, or REPO:branch."),
        _made(
            "write_contract",
            "Write a contract",
            _write,
            type="One of the nine, such as blueprint.",
            project="Project id; the session's if left out.?",
        ),
    )
}
PROMPTS = tuple(each.shown for each in _PROMPTS.values())


async def prompt(call: Call, name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    found = _PROMPTS.get(name)
    if found is None:
        raise NotFound(f"There is no prompt {name[:60]!r}.", hint=f"There are {', '.join(_PROMPTS)}.")
    arguments = found.shown.arguments or []
    missing = [each.name for each in arguments if each.required and not given.get(each.name)]
    unknown = sorted(set(given) - {each.name for each in arguments})
    if missing or unknown:
        named = (missing or unknown)[0]
        raise PromptInvalid(
            f"The prompt {name} {'needs' if missing else 'has no'} {named!r}.",
            hint=f"Its arguments are {', '.join(each.name for each in arguments)}.",
        )
    text = await found.text(call, {key: value for key, value in given.items() if value})
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=found.shown.title, messages=[message])
