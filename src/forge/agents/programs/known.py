"""The agent programs that Forge knows, as data: flags, variables and files that make them work alone and confined."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType

from forge.agents.programs.program import Api, Manner, Program

_CLAUDE = Program(
    name="claude",
    command=(
        "claude", "--print", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
        "--no-session-persistence", "--strict-mcp-config",
    ),
    report="claude",
    confined=Manner(arguments=("--permission-mode", "bypassPermissions")),
    # Settings of the repository may name hooks, which are commands; `acceptEdits` alone lets some commands pass.
    online=Manner(
        arguments=(
            "--permission-mode", "acceptEdits", "--setting-sources", "user", "--tools=Read,Edit,Write,Glob,Grep",
        )
    ),
    model=("--model", "{model}"),
    env={
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # It would hide an API that is away behind minutes of silence; Forge tries again by itself.
        "CLAUDE_CODE_MAX_RETRIES": "2",
    },
    apis=(
        Api(
            upstream="https://api.anthropic.com",
            key_names=("ANTHROPIC_API_KEY",),
            base_names=("ANTHROPIC_BASE_URL",),
            env={"ANTHROPIC_BASE_URL": "{base}", "ANTHROPIC_API_KEY": "{key}"},
        ),
        # A subscription, by the token that `claude setup-token` prints.
        Api(
            upstream="https://api.anthropic.com",
            key_names=("CLAUDE_CODE_OAUTH_TOKEN",),
            env={"ANTHROPIC_BASE_URL": "{base}", "CLAUDE_CODE_OAUTH_TOKEN": "{key}"},
        ),
    ),
    credentials=(".claude/.credentials.json", ".claude.json"),
)  # fmt: skip

_CODEX = Program(
    name="codex",
    # The directory holds no .git: a commit is Forge's to make.
    command=("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral", "--color", "never"),
    report="codex",
    # Its own sandbox needs user namespaces, which there are none of inside ours: any mode but this one runs nothing.
    confined=Manner(arguments=("--dangerously-bypass-approvals-and-sandbox",)),
    online=Manner(arguments=("--dangerously-bypass-approvals-and-sandbox",)),
    model=("--model", "{model}"),
    last=("-",),
    apis=(
        Api(
            upstream="https://api.openai.com/v1",
            key_names=("CODEX_API_KEY", "OPENAI_API_KEY"),
            base_names=("OPENAI_BASE_URL",),
            arguments=(
                "-c", 'model_provider="forge"', "-c",
                'model_providers.forge={name="forge",base_url="{base}",env_key="OPENAI_API_KEY",wire_api="responses",'
                "request_max_retries=2,stream_max_retries=2}",
            ),
            env={"OPENAI_API_KEY": "{key}"},
        ),
    ),
    credentials=(".codex/auth.json",),
)  # fmt: skip

_GEMINI = Program(
    name="gemini",
    command=("gemini", "--skip-trust", "--output-format", "stream-json"),
    report="gemini",
    confined=Manner(arguments=("--approval-mode", "yolo")),
    online=Manner(arguments=("--approval-mode", "auto_edit")),
    model=("--model", "{model}"),
    env={"GEMINI_SANDBOX": "false", "GEMINI_TELEMETRY_ENABLED": "false"},
    home={
        ".gemini/settings.json": json.dumps(
            {
                "security": {"auth": {"selectedType": "gemini-api-key"}},
                "privacy": {"usageStatisticsEnabled": False},
                "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
            }
        )
    },
    apis=(
        Api(
            upstream="https://generativelanguage.googleapis.com",
            key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            base_names=("GOOGLE_GEMINI_BASE_URL",),
            env={"GOOGLE_GEMINI_BASE_URL": "{base}", "GEMINI_API_KEY": "{key}"},
        ),
    ),
    credentials=(".gemini/settings.json", ".gemini/oauth_creds.json", ".gemini/google_accounts.json"),
)


def _opencode_api(provider: str, upstream: str, key: str, base: str = "", suffix: str = "") -> Api:
    options = {"baseURL": "{base}", "apiKey": "{key}"}
    config = {"autoupdate": False, "share": "disabled", "provider": {provider: {"options": options}}}
    return Api(
        provider=provider,
        upstream=upstream,
        key_names=(key,),
        base_names=(base,) if base else (),
        base_suffix=suffix,
        env={"OPENCODE_CONFIG_CONTENT": json.dumps(config)},
    )


_OPENCODE = Program(
    name="opencode",
    command=("opencode", "run", "--format", "json"),
    report="opencode",
    confined=Manner(env={"OPENCODE_PERMISSION": '{"*":"allow"}'}),
    online=Manner(
        env={
            "OPENCODE_PERMISSION": '{"edit":"allow","bash":"deny","webfetch":"deny","external_directory":"deny"}',
            "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        }
    ),
    model=("--model", "{model}"),
    env={
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_SHARE": "1",
    },
    apis=(
        _opencode_api(
            "anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", suffix="/v1"
        ),
        _opencode_api("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        _opencode_api(
            "google",
            "https://generativelanguage.googleapis.com/v1beta",
            "GEMINI_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            suffix="/v1beta",
        ),
        _opencode_api("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    ),
    credentials=(".local/share/opencode/auth.json",),
)

KNOWN: Mapping[str, Program] = MappingProxyType(
    {program.name: program for program in (_CLAUDE, _CODEX, _GEMINI, _OPENCODE)}
)
