"""Agent programs on a branch, with small scripts in their place: what counts as success, retries, ends and bounds."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from forge.agents.errors import KeyMissing, ModelUnknown, ProgramMissing
from forge.agents.programs import (
    KNOWN,
    InstalledProgram,
    ProgramRun,
    configured,
    find_program,
    find_programs,
    run_program,
)
from forge.errors import InvalidInput
from forge.git import Repository, WorkInProgressVFS
from forge.sandbox import Limits
from tests.conftest import Git, MakeRepo
from tests.support.program_api import program_api

pytestmark = [pytest.mark.asyncio, pytest.mark.req("P-14")]

SMALL = Limits(output_bytes=20_000, processes=60, memory_bytes=500 << 20, file_bytes=300 << 20, disk_bytes=400 << 20)


class Bench:
    """A branch, and a way to let a script work on it as if it were an agent program."""

    def __init__(self, repo: Repository, root: Path, bin_dir: Path) -> None:
        self.repo = repo
        self.root = root
        self.bin = bin_dir
        self.vfs: WorkInProgressVFS = repo.workspace("work")
        self.shown: list[str] = []

    def found(self, script: str, *, name: str = "fake", **options: Any) -> InstalledProgram:
        file = self.bin / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return find_program(configured(name, {"command": [name], **options}, {}), str(self.bin))

    async def run(self, script: str | InstalledProgram, prompt: str = "Do it.", **options: Any) -> ProgramRun:
        found = script if isinstance(script, InstalledProgram) else self.found(script)
        settings = {"limits": SMALL, "timeout": 20.0, "on_text": self.shown.append} | options
        return await run_program(found, prompt, self.vfs, self.materialise, **settings)

    def materialise(self, view: Any, *, keep_ignored: bool = True) -> Any:
        return self.repo.materialize(view, root=self.root, keep_ignored=keep_ignored)


@pytest.fixture
def bench(tmp_path: Path, make_repo: MakeRepo, git: Git) -> Bench:
    directory = make_repo(
        {"README.md": "hello\n", "old.txt": "old\n", ".gitignore": "cache/\n", ".forge/session.json": "{}\n"}
    )
    git(directory, "branch", "work")
    (tmp_path / "bin").mkdir()
    return Bench(Repository.open(directory), tmp_path / "directories", tmp_path / "bin")


# -- success


async def test_the_prompt_comes_on_stdin_and_changes_come_back(bench: Bench) -> None:
    ended = await bench.run(
        'read -r words; echo "You said: $words"; echo new > made.txt; echo more >> README.md; rm old.txt',
        'add $HOME `a` file; rm -rf / "quoted"\n',
    )
    assert ended.success, ended.error
    assert ended.output == 'You said: add $HOME `a` file; rm -rf / "quoted"'
    assert (ended.exit_code, ended.timed_out, ended.cancelled, ended.attempts) == (0, False, False, 1)
    assert {change.path: change.change.value for change in ended.changes} == {
        "made.txt": "added", "README.md": "modified", "old.txt": "deleted",
    }  # fmt: skip
    assert bench.vfs.read_file("made.txt") == "new\n"
    assert bench.vfs.read_file("README.md") == "hello\nmore\n"
    assert not bench.vfs.file_exists("old.txt")


async def test_pending_changes_of_the_turn_are_what_the_program_starts_from(bench: Bench) -> None:
    bench.vfs.write_file("plan.md", "first this\n")
    ended = await bench.run("cat plan.md; echo then that >> plan.md")
    assert ended.output == "first this"
    assert bench.vfs.read_file("plan.md") == "first this\nthen that\n"


async def test_text_is_shown_as_it_comes(bench: Bench) -> None:
    seen: list[tuple[float, str]] = []
    started = time.monotonic()
    ended = await bench.run(
        "echo one; sleep 1; echo two", on_text=lambda text: seen.append((time.monotonic() - started, text))
    )
    assert "".join(text for _, text in seen) == "one\ntwo\n"
    assert seen[-1][0] - seen[0][0] > 0.5
    assert ended.output == "one\ntwo"


async def test_a_program_sees_nothing_of_the_persons_home_or_environment(
    bench: Bench, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "secret").write_text("hunter2")
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    ended = await bench.run(
        bench.found(f'env; ls -A "$HOME" /home /root; cat {home}/secret; echo "mine=$MINE"', env=["MINE"]),
        env={"MINE": "yes", "ANTHROPIC_API_KEY": "hunter2", "PATH": "/nowhere"},
    )
    assert "hunter2" not in ended.output + ended.error
    assert "mine=yes" in ended.output


async def test_there_is_no_network_unless_the_settings_say_so(bench: Bench) -> None:
    script = "if [ -d /sys/class/net ]; then :; fi; grep -c : /proc/net/dev"
    alone = await bench.run(script)
    assert alone.output == "1"
    assert alone.notes == ()
    online = await bench.run(bench.found("echo ok", network=True))
    assert any("ran with network" in note for note in online.notes)


# -- failures and the one retry


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("echo trying; echo no such model >&2; exit 3", 3, "exit code 3"),
        ("exit 0", 0, "without a word"),
        ("echo '   '", 0, "without a word"),
    ],
)
async def test_failure_is_tried_once_more_and_then_told(bench: Bench, script: str, code: int, words: str) -> None:
    ended = await bench.run(f"echo change > README.md; {script}")
    assert not ended.success
    assert (ended.exit_code, ended.attempts, ended.changes) == (code, 2, ())
    assert words in ended.error
    if code:
        assert "no such model" in ended.error
    assert bench.vfs.pending_changes() == {}


async def test_a_second_attempt_starts_from_a_clean_directory_and_counts(bench: Bench, tmp_path: Path) -> None:
    attempts = tmp_path / "attempts"
    attempts.write_text("")

    def materialise(view: Any, *, keep_ignored: bool = True) -> Any:
        attempts.write_text(attempts.read_text() + "x")
        return bench.materialise(view, keep_ignored=keep_ignored)

    script = f"""
ls; ls cache 2>/dev/null
if [ "$(cat {attempts})" = x ]; then mkdir cache; touch cache/left left.txt; rm README.md; exit 1; fi
echo hi > README.md
"""
    found = bench.found(script, readonly=[str(attempts)])
    ended = await run_program(found, "go", bench.vfs, materialise, limits=SMALL, timeout=20)
    assert ended.success, ended.error
    assert ended.attempts == 2
    assert ended.output == "README.md\nold.txt"
    assert any("first attempt failed: It ended with exit code 1" in note for note in ended.notes)
    assert [change.path for change in ended.changes] == ["README.md"]
    assert attempts.read_text() == "xx"


async def test_a_program_that_hangs_is_ended_and_says_so(bench: Bench) -> None:
    started = time.monotonic()
    ended = await bench.run("trap '' TERM; echo working; while :; do sleep 0.1; done", timeout=0.7)
    assert (ended.success, ended.timed_out, ended.attempts) == (False, True, 2)
    assert "did not end within 0.7 s" in ended.error
    assert time.monotonic() - started < 6


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        ('{"output": "done"}', ""),
        ('log line\n{"result": "done", "success": true}', ""),
        ('{"output": "no", "success": false}', "no"),
        ('{"text": "x", "error": {"message": "quota"}}', "quota"),
        ('{"result": "x", "is_error": true}', "x"),
        ("not json", "JSON"),
        ("[[[[", "JSON"),
    ],
)
async def test_json_output_is_read_for_what_it_says(bench: Bench, printed: str, error: str) -> None:
    ended = await bench.run(bench.found(f"cat <<'END'\n{printed}\nEND", output="json"))
    assert ended.success is not bool(error)
    assert error in ended.error
    if not error:
        assert ended.output == "done"


# -- cancelling


async def test_cancelling_by_handle_ends_everything_and_changes_nothing(bench: Bench) -> None:
    cancel = threading.Event()
    asyncio.get_running_loop().call_later(0.5, cancel.set)
    started = time.monotonic()
    ended = await bench.run("echo x > README.md; (sleep 60 &) ; sleep 60", cancel=cancel)
    assert (ended.cancelled, ended.success, ended.attempts) == (True, False, 1)
    assert time.monotonic() - started < 3
    assert bench.vfs.pending_changes() == {}


async def test_cancelling_the_task_ends_the_program_first(bench: Bench, tmp_path: Path) -> None:
    token = f"forge-trace-{tmp_path.name}-{os.getpid()}"
    found = bench.found("echo up; sleep 60", env=["TRACE"])
    up = asyncio.Event()
    task = asyncio.create_task(bench.run(found, env={"TRACE": token}, on_text=lambda _: up.set()))
    await asyncio.wait_for(up.wait(), 20)
    assert _with_variable(token)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _with_variable(token) == []
    assert bench.vfs.pending_changes() == {}


def _with_variable(token: str) -> list[int]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if token.encode() in environment:
            found.append(int(pid))
    return found


# -- programs that behave badly


async def test_a_flood_of_output_is_bounded_everywhere(bench: Bench) -> None:
    ended = await bench.run("head -c 30000000 /dev/zero | tr '\\0' a; echo; echo end")
    assert ended.success
    assert ended.output.endswith("end")
    assert len(ended.output) <= SMALL.output_bytes
    assert sum(map(len, bench.shown)) <= SMALL.output_bytes


async def test_a_program_that_forks_is_ended_with_all_its_children(bench: Bench, tmp_path: Path) -> None:
    token = f"forge-forks-{tmp_path.name}-{os.getpid()}"
    found = bench.found("for i in $(seq 20); do (setsid sleep 30 &) ; done; echo done", env=["TRACE"])
    ended = await bench.run(found, env={"TRACE": token})
    assert ended.success
    assert _with_variable(token) == []


async def test_too_many_processes_end_it(bench: Bench) -> None:
    ended = await bench.run("for i in $(seq 120); do sleep 5 & done; wait; echo done")
    assert not ended.success
    assert "too much processes" in ended.error


async def test_a_program_cannot_kill_who_started_it(bench: Bench) -> None:
    ended = await bench.run("kill -9 $PPID 2>/dev/null; kill -9 1 2>/dev/null; kill -9 -1 2>/dev/null; echo still here")
    assert ended.exit_code in (0, 137)
    assert (await bench.run("echo fine")).success


@pytest.mark.req("X-06")
async def test_writing_outside_reaches_nothing(bench: Bench, tmp_path: Path, home: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    ended = await bench.run(
        f"echo x > {outside}/a; echo x > ../b; echo x > {home}/c; echo x > /etc/d; echo x > /tmp/e; "
        f"ln -s {outside} link; echo x > link/f; ln -sf /etc/passwd README.md; echo done"
    )
    assert list(outside.iterdir()) == []
    assert not (home / "c").exists()
    assert not Path("/etc/d").exists()
    assert ended.output == "done"
    assert all(change.path not in ("link", "link/f") for change in ended.changes)
    assert any("link" in note for note in ended.notes)


async def test_a_huge_file_is_left_out_and_told(bench: Bench) -> None:
    ended = await bench.run("truncate -s 150M big.bin; echo small > small.txt; echo done")
    assert ended.success
    assert [change.path for change in ended.changes] == ["small.txt"]
    assert any("big.bin" in note and "too large" in note for note in ended.notes)


async def test_output_that_is_not_utf8_is_survived(bench: Bench) -> None:
    ended = await bench.run("printf 'caf\\351 \\377\\376 ok\\n'; printf '\\377bad' >&2")
    assert ended.success
    assert ended.output == "caf\ufffd \ufffd\ufffd ok"


@pytest.mark.req("X-06")
async def test_changes_below_forges_own_folder_are_dropped_with_a_note(bench: Bench) -> None:
    bench.vfs.write_file(".forge/turns/1.json", "pending\n")
    ended = await bench.run("rm -r .forge; echo file > .forge; echo made > made.txt; echo done")
    assert ended.success, ended.error
    assert [change.path for change in ended.changes] == ["made.txt"]
    assert bench.vfs.read_file(".forge/session.json") == "{}\n"
    assert bench.vfs.read_file(".forge/turns/1.json") == "pending\n"
    assert set(bench.vfs.pending_changes()) == {".forge/turns/1.json", "made.txt"}
    again = await bench.run("echo x > .forge/session.json; mkdir -p .forge/a; echo y > .forge/a/b; echo done")
    assert set(bench.vfs.pending_changes()) == {".forge/turns/1.json", "made.txt"}
    assert sum("belongs to Forge" in note for note in again.notes) == 1
    assert sum("only Forge writes" in note for note in again.notes) == 1


# -- the model API


@pytest.mark.req("X-06")
async def test_the_key_stays_outside_and_the_api_is_reached(bench: Bench) -> None:
    script = r"""
exec python3 - <<'END'
import os, urllib.request, json
for name in ("KEY", "OTHER"): print(name, os.environ.get(name))
request = urllib.request.Request(os.environ["BASE"] + "/v1/messages", data=b"{}", method="POST")
request.add_header("x-api-key", os.environ["KEY"]); request.add_header("x-note", os.environ["KEY"])
print(urllib.request.urlopen(request, timeout=10).status)
END
"""
    with program_api() as api:
        options = {"url": api.url, "base_url_env": "BASE", "key_env": "KEY"}
        ended = await bench.run(bench.found(script, api=options), env={"KEY": "the-real-key", "OTHER": "no"})
        assert ended.success, ended.error
        assert "the-real-key" not in ended.output
        assert "OTHER None" in ended.output
        ((path, headers, _),) = api.asked
    assert path == "/v1/messages"
    assert headers["x-api-key"] == "the-real-key"
    assert headers["x-note"] != "the-real-key"


async def test_without_a_key_a_program_is_not_started(bench: Bench) -> None:
    (bench.bin / "claude").write_text("#!/bin/sh\ntouch ran\n")
    (bench.bin / "claude").chmod(0o755)
    found = find_program(KNOWN["claude"], str(bench.bin))
    with pytest.raises(KeyMissing) as caught:
        await bench.run(found)
    assert "ANTHROPIC_API_KEY" in caught.value.hint
    assert "login: true" in caught.value.hint


async def test_a_login_is_given_only_where_the_settings_allow_it(bench: Bench, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/.credentials.json").write_text("login-of-the-person")
    (home / ".codex").mkdir()
    (home / ".codex/auth.json").write_text("login-of-another")
    script = """cat > /dev/null
if [ -e "$HOME/.claude/.credentials.json" ]; then got=login; else got=none; fi; [ -e "$HOME/.codex" ] && got=too-much
echo "{\\"type\\":\\"result\\",\\"subtype\\":\\"success\\",\\"is_error\\":false,\\"result\\":\\"$got $*\\"}"
"""
    (bench.bin / "claude").write_text(f"#!/bin/sh\n{script}")
    (bench.bin / "claude").chmod(0o755)
    said = []
    for login in (False, True):
        program = configured("claude", {"network": True, "login": login}, KNOWN)
        ended = await bench.run(find_program(program, str(bench.bin)), logins=home)
        assert ended.success, ended.error
        said.append(ended.output.split()[0])
        assert "acceptEdits" in ended.output
    assert said == ["none", "login"]


# -- settings and finding


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"command": "mytool --stdin"},
        {"command": []},
        {"command": ["x", 3]},
        {"command": ["x"], "output": "xml"},
        {"command": ["x"], "colour": "blue"},
        {"command": ["x"], "api": {"url": "https://x"}},
        {"command": ["x"], "env": "HOME"},
    ],
)
async def test_wrong_settings_are_refused_with_a_hint(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        configured("mine", options, KNOWN)
    assert caught.value.hint


async def test_settings_change_a_known_program_and_keep_what_makes_it_work() -> None:
    program = configured("claude", {"command": ["/opt/mine/claude"], "network": True}, KNOWN)
    assert program.command[0] == "/opt/mine/claude"
    assert program.command[1:] == KNOWN["claude"].command[1:]
    assert program.network
    assert not program.login


async def test_models_are_named_as_the_program_names_them() -> None:
    assert KNOWN["claude"].named("anthropic:opus") == "opus"
    assert KNOWN["opencode"].named("openai:gpt-5.5") == "openai/gpt-5.5"
    assert [api.provider for api in KNOWN["opencode"].apis_for("google:gemini-3-pro")] == ["google"]
    with pytest.raises(ModelUnknown):
        KNOWN["opencode"].apis_for("elsewhere:model")


async def test_programs_are_found_with_their_version_and_asked_once(tmp_path: Path) -> None:
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.mkdir()
    script = places[1] / "codex"
    script.write_text("#!/bin/sh\necho codex-cli 1.2.3\n")
    script.chmod(0o755)
    hanging = places[1] / "gemini"
    hanging.write_text("#!/bin/sh\nexit 1\n")
    hanging.chmod(0o755)
    path = os.pathsep.join(map(str, places))
    found = {item.program.name: item for item in find_programs(path)}
    assert set(found) == {"codex", "gemini"}
    assert (found["codex"].version, found["gemini"].version) == ("1.2.3", "")
    started = time.monotonic()
    find_programs(path)
    assert time.monotonic() - started < 0.05
    script.write_text("#!/bin/sh\necho codex-cli 1.2.40\n")
    assert find_program(KNOWN["codex"], path).version == "1.2.40"


async def test_an_npm_installation_tells_its_version_without_being_run(tmp_path: Path) -> None:
    package = tmp_path / "lib/node_modules/@openai/codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "@openai/codex", "version": "0.9.1"}))
    (package / "bin/codex.js").write_text("#!/usr/bin/env node\nthrow 1\n")
    (package / "bin/codex.js").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/codex").symlink_to(package / "bin/codex.js")
    (found,) = find_programs(str(tmp_path / "bin"))
    assert found.version == "0.9.1"
    assert found.visible[0] == tmp_path / "lib/node_modules"


async def test_a_program_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ProgramMissing) as caught:
        find_program(KNOWN["opencode"], str(tmp_path))
    assert "opencode" in caught.value.message


async def test_a_program_sees_its_installation_and_its_interpreter_wherever_they_are(
    bench: Bench, tmp_path: Path
) -> None:
    node = tmp_path / "versions/v99/bin/node"
    package = tmp_path / "versions/v99/lib/node_modules/mine"
    (package / "bin").mkdir(parents=True)
    node.parent.mkdir(parents=True)
    node.write_text('#!/bin/sh\necho "run by node: $1"; cat "${1%/*}/../word"\n')
    (package / "word").write_text("from its package\n")
    (package / "bin/mine.js").write_text("#!/usr/bin/env -S node\n")
    for file in (node, package / "bin/mine.js"):
        file.chmod(0o755)
    (node.parent / "mine").symlink_to(package / "bin/mine.js")
    found = find_program(configured("mine", {"command": ["mine"]}, {}), str(node.parent))
    ended = await bench.run(found)
    assert ended.success, ended.error
    assert ended.output == f"run by node: {package}/bin/mine.js\nfrom its package"
