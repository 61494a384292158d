"""What an agent does in a draft: read, search, change files, run commands; each call ends in text and a saved draft."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forge.app.drafts import drafts
from forge.app.drafts.drafts import Agent, Draft, Opened, Target
from forge.app.repositories.diff import patch_text
from forge.app.sessions.sandbox_commands import TurnCommands
from forge.git import FileChange, Repository, WorkInProgressVFS
from forge.git.history.diff import diff as differing
from forge.git.merging.merge_base import merge_bases
from forge.git.refs.drafts import DraftChanged
from forge.git.workspace.forge_records import is_session
from forge.json_value import Json
from forge.sessions.redaction import Redactor
from forge.tools.access import ToolAccess
from forge.tools.registry import builtin_tools
from forge.tools.result_text import RESULT_BYTES, capped, plural
from forge.tools.suites.command import repository_command
from forge.tools.suites.record import Records
from forge.tools.tool import ToolOutcome
from forge.tools.toolbox import Toolbox

_ATTEMPTS = 8
_NAMED = 40
READS = frozenset({"list_files", "read_file", "search"})
CHANGES = frozenset({"write_file", "search_replace", "rename_file", "delete_file"})
COMMANDS = frozenset({"run_command", "run_tests"})


@dataclass(frozen=True, slots=True)
class Done:
    """What a call came to. `draft` is the one that holds what changed, if anything is pending."""

    text: str
    failed: bool = False
    draft: Draft | None = None


def read(repo: Repository, agent: Agent, target: Target, tool: str, arguments: Json) -> Done:
    outcome = _toolbox(READS).run(drafts.readable(repo, agent, target), tool, arguments)
    return Done(outcome.text, outcome.failed)


def change(repo: Repository, agent: Agent, target: Target, tool: str, arguments: Json) -> Done:
    """Another call may change the draft meanwhile; then this one is made anew on what that left."""
    for attempt in range(_ATTEMPTS):
        opened = drafts.writable(repo, agent, target)
        outcome = _toolbox(CHANGES).run(opened.files, tool, arguments)
        try:
            return _saved(repo, agent, opened, outcome)
        except DraftChanged:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def run(
    repo: Repository,
    agent: Agent,
    target: Target,
    arguments: Json,
    *,
    commands: TurnCommands,
    test_command: str | None = None,
) -> Done:
    """Run a command, or the tests where none is named. What it changes goes into the draft.

    A command is not repeated: where another call changed the draft meanwhile, its changes are not kept.
    """
    opened = drafts.writable(repo, agent, target)
    tools = Toolbox(
        builtin_tools(
            commands,
            test_command=test_command or repository_command(repo),
            records=Records(repo.common_dir, Redactor(()).text, commands.layer_key),
        ),
        ToolAccess(COMMANDS),
    )
    outcome = tools.run(opened.files, "run_command" if "command" in arguments else "run_tests", arguments)
    if commands.cancelled.is_set():
        return Done("The command was cancelled; nothing it changed was kept.", failed=True, draft=opened.draft)
    try:
        return _saved(repo, agent, opened, outcome)
    except DraftChanged as e:
        raise DraftChanged(
            "Another call changed this draft while the command ran; what the command changed was not kept.",
            hint=f"Run it again if you need its changes. It said:\n{capped(outcome.text, 4000)}",
        ) from e


@dataclass(frozen=True, slots=True)
class Difference:
    old: str | None
    new: str
    files: tuple[tuple[str, str], ...]
    """Kind and path of each changed file."""
    patch: str


def diff(repo: Repository, agent: Agent, target: Target, paths: Sequence[str] = ()) -> Difference:
    """What a draft changes, or what a branch has done since it left the default branch."""
    if target.draft is not None:
        draft = drafts.find(repo, agent, target.draft)
        old, new = draft.base, draft.commit
    else:
        new = repo.resolve(target.revision or repo.current_branch or "HEAD")
        default = repo.refs.tip(repo.default_branch) if repo.default_branch else None
        bases = merge_bases(repo.objects, default, new) if default else ()
        old = bases[0] if bases else None
    before = repo.objects.commit(old).tree if old else None
    every = differing(repo.objects, before, repo.objects.commit(new).tree, paths=paths)
    changes = [each for each in every if not is_session(each.path)]
    return Difference(old, new, tuple((str(each.kind), each.path) for each in changes), _patch(repo, changes))


def _patch(repo: Repository, changes: Sequence[FileChange]) -> str:
    """As git prints it, as much as a model is shown at once."""
    parts: list[bytes] = []
    for each in changes:
        parts.append(patch_text(repo, each))
        if sum(map(len, parts)) > RESULT_BYTES:
            break
    return capped(b"".join(parts).decode("utf-8", "replace"))


def told(draft: Draft, files: WorkInProgressVFS) -> str:
    """One line on what is pending."""
    named = [f"{change} {path}" for path, change in files.pending_changes().items()]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    return f"{plural(len(named), 'pending file')} for {draft.branch}: {', '.join(named[:_NAMED])}{more}"


def _saved(repo: Repository, agent: Agent, opened: Opened, outcome: ToolOutcome) -> Done:
    if outcome.failed or not (opened.files.pending or opened.draft):
        return Done(outcome.text, outcome.failed, opened.draft)
    return Done(outcome.text, draft=drafts.save(repo, agent, opened))


def _toolbox(names: frozenset[str]) -> Toolbox:
    return Toolbox(builtin_tools(None), ToolAccess(names))


_WORDS = re.compile(r"\b(?:read_file|list_files|search_replace|write_file|run_command|run_tests)\b")


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The first line of a failure with the names that the caller knows the tools by; file contents stay as they are."""
    first, line_end, rest = text.partition("\n")
    return _WORDS.sub(lambda found: names.get(found[0], found[0]), first) + line_end + rest
