"""From names and roles to models: what is chosen by itself, what is refused, and that nothing heavy is loaded."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from forge.agents.builtin import BuiltinEngine
from forge.agents.errors import KeyMissing, ModelUnknown
from forge.agents.models import available, choose, resolve
from forge.agents.models.api import ApiModel
from forge.agents.models.names import DEFAULT_MODELS
from forge.agents.pricing import context_window, price
from forge.settings import Settings, load

KEY = "sk-test-0123456789"
NOBODY = "http://127.0.0.1:9"


def settings_of(tmp_path: Path, text: str = "", **environ: str) -> Settings:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return load({"OLLAMA_BASE_URL": NOBODY, **environ}, path=path)


@pytest.fixture
def ollama() -> Iterator[str]:
    """A server with two models, the first of which cannot hold a conversation."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/api/tags"
            body = json.dumps({"models": [{"name": "nomic-embed-text:latest"}, {"name": "qwen3:8b"}]}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.req("X-03")
def test_without_any_key_the_builtin_engine_answers(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    assert choose("chat", settings, ("claude",)) == "builtin"
    assert isinstance(resolve("builtin", settings), BuiltinEngine)


@pytest.mark.req("X-03")
def test_a_local_ollama_is_found(tmp_path: Path, ollama: str) -> None:
    for address in (ollama, f"{ollama}/v1"):
        settings = settings_of(tmp_path, OLLAMA_BASE_URL=address)
        assert choose("chat", settings) == "ollama:qwen3:8b"
        model = resolve("ollama:qwen3:8b", settings)
        assert isinstance(model, ApiModel)
        assert model.endpoint.base_url == f"{ollama}/v1"


@pytest.mark.req("X-03", "G-17")
def test_one_key_is_enough_and_the_setting_is_stronger(tmp_path: Path, ollama: str) -> None:
    environ = {"GEMINI_API_KEY": KEY, "OLLAMA_BASE_URL": ollama}
    assert choose("chat", settings_of(tmp_path, **environ)) == f"google:{DEFAULT_MODELS['google']}"
    environ["OPENAI_API_KEY"] = KEY
    assert choose("chat", settings_of(tmp_path, **environ)).startswith("openai:")
    text = "models: {chat: 'google:gemini-x', default: builtin, builder: claude}\nproviders: {openai: {model: mine}}"
    settings = settings_of(tmp_path, text, **environ)
    assert choose("chat", settings) == "google:gemini-x"
    assert choose("scout", settings) == "builtin"
    assert choose("builder", settings, ("claude",)) == "claude"
    with pytest.raises(ModelUnknown):
        choose("builder", settings)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("antropic:claude-sonnet-5", "`anthropic:claude-sonnet-5`"),
        ("claude-sonnet-5", "`anthropic:claude-sonnet-5`"),
        ("gpt-5.4", "`openai:gpt-5.4`"),
        ("bultin", "`builtin`"),
        ("anthropic", f"`anthropic:{DEFAULT_MODELS['anthropic']}`"),
        ("anthropic:", f"`anthropic:{DEFAULT_MODELS['anthropic']}`"),
        ("xyz:abc", "providers are"),
        ("", "providers are"),
        ("recorded:nothing", "greeting"),
        ("openrouter:gpt-5.4", "`openrouter:<maker>/gpt-5.4`"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(ModelUnknown) as refused:
        resolve(name, settings_of(tmp_path))
    assert hint in refused.value.hint


@pytest.mark.req("G-17")
def test_a_model_without_a_key_says_which_one_is_missing(tmp_path: Path) -> None:
    with pytest.raises(KeyMissing) as missing:
        resolve("anthropic:claude-sonnet-5", settings_of(tmp_path))
    assert "ANTHROPIC_API_KEY" in missing.value.hint


@pytest.mark.req("X-06")
@pytest.mark.parametrize("key", ["sk-with a space", "sk-with-ü", "sk-\nX-Evil: 1"])
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(tmp_path: Path, key: str) -> None:
    with pytest.raises(KeyMissing, match="variable OPENAI_API_KEY") as refused:
        resolve("openai:gpt-5.4", settings_of(tmp_path, OPENAI_API_KEY=key))
    assert key not in refused.value.message + refused.value.hint
    resolve("openai:gpt-5.4", settings_of(tmp_path, OPENAI_API_KEY=" sk-good\n"))


@pytest.mark.req("G-17")
def test_an_endpoint_of_ones_own_is_reached_by_its_name(tmp_path: Path) -> None:
    text = "providers: {shop: {base_url: 'http://10.0.0.7/v1', model: m, context_window: 9000}}\nkeys: {shop: k}"
    settings = settings_of(tmp_path, text)
    model = resolve("shop:qwen/coder:free", settings)
    assert isinstance(model, ApiModel)
    at = model.endpoint
    assert (at.base_url, at.model, at.key.value if at.key else "") == ("http://10.0.0.7/v1", "qwen/coder:free", "k")
    assert (model.name, model.context_window) == ("shop:qwen/coder:free", 9000)
    assert choose("chat", settings) == "shop:m"


def test_a_compatible_server_needs_an_address(tmp_path: Path) -> None:
    with pytest.raises(ModelUnknown, match="no address"):
        resolve("openai-compatible:m", settings_of(tmp_path))
    settings = settings_of(tmp_path, "providers: {openai-compatible: {base_url: 'http://127.0.0.1:1/v1'}}")
    assert resolve("openai-compatible:m", settings).name == "openai-compatible:m"


def test_openai_itself_is_asked_by_the_responses_api_and_others_by_chat_completions(tmp_path: Path) -> None:
    def speaks(text: str = "", **environ: str) -> bool:
        model = resolve("openai:gpt-5.4", settings_of(tmp_path, text, OPENAI_API_KEY=KEY, **environ))
        assert isinstance(model, ApiModel)
        return model.endpoint.responses_api

    assert speaks()
    assert not speaks(OPENAI_BASE_URL="http://127.0.0.1:1/v1")
    assert speaks("providers: {openai: {api: responses}}", OPENAI_BASE_URL="http://127.0.0.1:1/v1")
    assert not speaks("providers: {openai: {api: chat}}")


@pytest.mark.req("G-17", "X-06")
def test_what_is_available_is_listed_with_the_origin_of_keys_and_never_a_key(tmp_path: Path, ollama: str) -> None:
    settings = settings_of(tmp_path, ANTHROPIC_API_KEY=KEY, OLLAMA_BASE_URL=ollama)
    listed = {entry.provider: entry for entry in available(settings)}
    assert listed["anthropic"].usable
    assert listed["anthropic"].how == "key from variable ANTHROPIC_API_KEY"
    assert listed["anthropic"].price is not None
    assert not listed["openai"].usable
    assert "OPENAI_API_KEY" in listed["openai"].how
    assert listed["ollama"].model == "ollama:qwen3:8b"
    assert listed["builtin"].usable
    assert KEY not in repr(listed) + repr(resolve("anthropic:x", settings)) + repr(settings)


def test_the_models_that_are_taken_by_themselves_have_a_price_and_a_window() -> None:
    for provider, model in DEFAULT_MODELS.items():
        assert price(provider, model) is not None, model
        assert (context_window(provider, model) or 0) >= 100_000, model


def test_resolving_loads_no_library_of_a_provider() -> None:
    program = (
        "import sys; from forge.settings import load; from forge.agents.models import resolve, choose;"
        "s = load({'ANTHROPIC_API_KEY': 'k'}); resolve(choose('chat', s), s); resolve('builtin', s);"
        "heavy = ('pydantic_ai', 'anthropic', 'openai', 'google.genai', 'keyring', 'genai_prices');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
