"""`forge mcp install` in the configuration of seven programs, `--undo`, `forge mcp check`, and a team server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from forge.app.access.identity import LOCAL, share
from forge.app.mcp_clients import jsonc
from forge.app.mcp_clients.clients import CLIENTS, Client, Scope, ThrowAwayInstallation, client_named, command_line
from forge.app.mcp_clients.installation import EntryForeign, NotInstalled, installing, removing, write
from tests.conftest import MakeRepo
from tests.mcp.doc_blocks import blocks
from tests.support.api_server import House, opened
from tests.support.mcp_client import at_machine, draft_in

pytestmark = [pytest.mark.req("C-10"), pytest.mark.xdist_group("mcp-http")]
FORGE = Path("/opt/forge/bin/forge")
JSON_TEXTS = [
    "",
    "{}\n",
    "{ }",
    '{\n  // mine\n  "theme": "dark", // at night\n  "SECTION": {\n    // the other\n'
    '    "other": {"command": "x"}, /* here */\n  },\n}\n',
    '{"SECTION": {"other": {"command": "x", "args": ["a, b", "{"]}}, "last": [1, 2,]}',
    '{\n\t"SECTION": {},\n\t"a": "// no comment"\n}\n',
]
TOML_TEXTS = ["", '# mine\nmodel = "x" # the best\n', '[mcp_servers.other]\ncommand = "x"\n\n[tools]\nweb = true\n']
CASES = [
    (client, text.replace("SECTION", client.section))
    for client in CLIENTS.values()
    for text in (TOML_TEXTS if client.is_toml else JSON_TEXTS)
]


def change_of(client: Client, root: Path, scope: Scope = "project") -> str:
    change = installing(client, scope, root, forge=FORGE, environ={"HOME": str(root)}, prefix="/opt/forge")
    write(change)
    return change.file.read_text()


@pytest.mark.parametrize(("client", "text"), CASES, ids=lambda each: getattr(each, "name", ""))
def test_an_entry_is_added_and_undo_gives_the_file_back(tmp_path: Path, client: Client, text: str) -> None:
    file = tmp_path / client.project
    file.parent.mkdir(parents=True, exist_ok=True)
    if text:
        file.write_text(text)
    after = change_of(client, tmp_path)
    values = tomllib.loads(after) if client.is_toml else jsonc.read(after)
    entry = values[client.section]["forge"]
    assert client.words(entry) == [str(FORGE), "-C", str(tmp_path), "mcp"]
    for comment in ("// mine", "// at night", "// the other", "/* here */", "# mine", "# the best"):
        assert (comment in after) == (comment in text)
    assert change_of(client, tmp_path) == after
    write(removing(client, "project", tmp_path, environ={}))
    left = file.read_text() if file.exists() else ""
    expected = jsonc.read(text) if not client.is_toml else tomllib.loads(text)
    got = jsonc.read(left) if not client.is_toml else tomllib.loads(left)
    assert got == ({k: v for k, v in expected.items() if v != {}})
    if "other" in text or "# mine" in text:
        assert left == text


def test_what_forge_did_not_write_stays(tmp_path: Path) -> None:
    client = client_named("claude")
    file = tmp_path / ".mcp.json"
    file.write_text('{"mcpServers": {"forge": {"command": "/usr/bin/minecraft"}}}')
    with pytest.raises(EntryForeign):
        installing(client, "project", tmp_path, forge=FORGE, environ={}, prefix="/opt")
    with pytest.raises(EntryForeign):
        removing(client, "project", tmp_path, environ={})
    file.write_text('{"mcpServers": [1')
    with pytest.raises(jsonc.ConfigurationUnreadable):
        installing(client, "project", tmp_path, forge=FORGE, environ={}, prefix="/opt")
    with pytest.raises(NotInstalled):
        removing(client_named("zed"), "project", tmp_path, environ={})
    assert file.read_text() == '{"mcpServers": [1'


def test_a_throw_away_environment_is_refused(tmp_path: Path) -> None:
    for prefix in ("/home/ada/.cache/uv/archive-v0/abc", "/root/.cache/uv/environments-v2/forge-1"):
        with pytest.raises(ThrowAwayInstallation):
            command_line(client_named("zed"), "user", tmp_path, forge=FORGE, prefix=prefix)


def forge(repo: Path, *words: str, code: int = 0) -> str:
    command = [str(Path(sys.executable).parent / "forge"), "-C", str(repo), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_the_command_shows_writes_checks_and_undoes(make_repo: MakeRepo, home: Path) -> None:
    repo = make_repo({"a.txt": "hello\n"})
    shown = forge(repo, "mcp", "install", "cursor")
    assert '+    "forge": {' in shown
    assert not (home / ".cursor/mcp.json").exists()
    told = json.loads(forge(repo, "--json", "mcp", "install", "cursor", "--yes"))
    assert told["outcome"] == "written"
    assert (home / ".cursor/mcp.json").read_text().count(str(Path(sys.executable).parent / "forge")) == 1
    found = json.loads(forge(repo, "--json", "mcp", "check", "cursor"))
    assert "forge_commit" in found["tools"]
    forge(repo, "mcp", "install", "cursor", "--undo", "--yes")
    assert not (home / ".cursor/mcp.json").exists()
    assert forge(repo, "mcp", "check", "cursor", code=1) == ""
    forge(repo, "mcp", "install", code=2)


@pytest.mark.parametrize("name", CLIENTS)
def test_the_block_of_each_program_in_the_docs_installs_and_checks(make_repo: MakeRepo, name: str) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-eu", "-c", blocks()[name][0]],
        cwd=make_repo({"a.txt": "hello\n"}),
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "with 12 tools" in done.stdout


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


@pytest.mark.asyncio
async def test_with_a_key_and_an_address_stdio_speaks_to_the_team_server(house: House, tmp_path: Path) -> None:
    key, id_ = house.user("ada"), house.repository()
    share(house.shop, LOCAL, "repository", id_, "ada", right="write")
    env = {"FORGE_URL": house.url, "FORGE_KEY": key, "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with at_machine(tmp_path, env=env) as agent:
        assert len((await agent.client.list_tools()).tools) == 12
        text = await agent.call("forge_write", at=f"{id_}:agent/a", path="a.txt", content="x\n")
        assert "agent/a" in await agent.call("forge_commit", draft=draft_in(text), message="add a")
        assert len((await agent.client.list_prompts()).prompts) == 3
    with pytest.raises(BaseExceptionGroup) as refused:
        async with at_machine(tmp_path, env={**env, "FORGE_KEY": "fk_" + "x" * 43}):
            pass
    assert refused.group_contains(MCPError, match="Check FORGE_URL and FORGE_KEY")
