"""Secrets never enter a conversation; ordinary text passes unchanged."""

from __future__ import annotations

import base64
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.sessions import redaction
from forge.sessions.redaction import MARK, Redactor

_RANDOM = random.Random(7)


def token(alphabet: str, length: int) -> str:
    return "".join(_RANDOM.choice(alphabet) for _ in range(length))


_WORD = string.ascii_letters + string.digits
SECRETS = {
    "anthropic": "sk-ant-api03-" + token(_WORD + "-_", 60),
    "openai": "sk-proj-" + token(_WORD, 48),
    "openai old": "sk-" + token(_WORD, 48),
    "openrouter": "sk-or-v1-" + token("0123456789abcdef", 64),
    "google": "AIza" + token(_WORD, 35),
    "github": "ghp_" + token(_WORD, 36),
    "github fine": "github_pat_" + token(_WORD, 40),
    "gitlab": "glpat-" + token(_WORD, 20),
    "slack": "xoxb-" + token(string.digits, 12) + "-" + token(_WORD, 24),
    "aws": "AKIA" + token(string.ascii_uppercase + string.digits, 16),
    "stripe": "sk_live_" + token(_WORD, 24),
    "npm": "npm_" + token(_WORD, 36),
    "huggingface": "hf_" + token(_WORD, 34),
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + token(_WORD, 43),
    "random": base64.b64encode(_RANDOM.randbytes(36)).decode(),
}
KEY_BLOCK = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    + "\n".join(token(_WORD, 70) for _ in range(4))
    + "\n-----END OPENSSH PRIVATE KEY-----"
)
CARRIERS = [
    "{}",
    "key = '{}'",
    '{{"token": "{}"}}',
    "export KEY={}\n",
    "see {} here",
    "Authorization: Bearer {}",
    "`{}`",
]


@pytest.mark.req("X-06", "G-07")
@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_secret_is_replaced_wherever_it_stands(kind: str, carrier: str) -> None:
    text = Redactor().text(carrier.format(SECRETS[kind]))
    assert SECRETS[kind] not in text
    assert MARK in text


@pytest.mark.req("X-06")
def test_a_private_key_goes_as_a_whole_also_when_it_is_cut_off() -> None:
    whole = Redactor().text(f"before\n{KEY_BLOCK}\nafter")
    assert whole == f"before\n{MARK}private-key]\nafter"
    cut = Redactor().text(KEY_BLOCK[:200])
    assert KEY_BLOCK[60:120] not in cut


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("DB_PASSWORD=corr3ct-h0rse", "corr3ct-h0rse"),
        ("password: 'tr0ub4dor&3'", "tr0ub4dor&3"),
        ('"client_secret" : "a1B2c3D4e5F6"', "a1B2c3D4e5F6"),
        ("postgresql://forge:s3cr3t-pw@db.example.org/forge", "s3cr3t-pw"),
        ("apiKey := 0123456789abcdef", "0123456789abcdef"),
    ],
)
def test_a_value_beside_a_telling_name_is_replaced(text: str, secret: str) -> None:
    assert secret not in Redactor().text(text)


@pytest.mark.req("X-06")
def test_the_keys_of_this_very_process_are_replaced_whatever_they_look_like() -> None:
    assert Redactor(["plain words"]).text("my key is plain words, really") == f"my key is {MARK}key], really"


@pytest.mark.parametrize(
    "text",
    [
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904 is empty",
        "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        '"integrity": "sha512-' + base64.b64encode(_RANDOM.randbytes(64)).decode() + '"',
        "id 123e4567-e89b-12d3-a456-426614174000",
        "token = os.environ['TOKEN']",
        "api_key = settings.api_key",
        "password: str",
        "def check_password(password_hash: bytes) -> bool: ...",
        "max_tokens=4096, input_tokens: 200000",
        "secret = get_secret()",
        "src/forge/git/materialize/AVeryLongFolderName/another_long_file_name_2.py",
        "class TheLongestNameThatAnybodyHasEverGivenToATestCaseInPython3: ...",
        "https://example.org:8080/a/b@c",
    ],
)
def test_ordinary_text_passes_unchanged(text: str) -> None:
    assert Redactor().text(text) == text


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300) | st.lists(st.sampled_from([*SECRETS.values(), "password=", " ", "\n", "'"])).map("".join))
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = Redactor().text(text)
    assert Redactor().text(once) == once


def test_values_of_json_are_replaced_and_names_kept() -> None:
    data = {"path": "a", "edits": [{"new": SECRETS["github"]}], "count": 3, "on": True}
    found = Redactor().json(data)
    assert found == {"path": "a", "edits": [{"new": f"{MARK}github-token]"}], "count": 3, "on": True}


def unhurried(text: str) -> str:
    """Every shape looked for in every text."""
    text = redaction._KNOWN.sub(lambda m: f"{MARK}{str(m.lastgroup).replace('_', '-')}]", text)
    text = redaction._URL_PASSWORD.sub(rf"\g<before>{MARK}password]", text)
    text = redaction._BEARER.sub(redaction._if_random, text)
    text = redaction._ASSIGNED.sub(redaction._if_random, text)
    return redaction._WORD.sub(
        lambda m: f"{MARK}high-entropy]" if redaction._is_random(m[0]) else m[0],
        text,
    )


PARTS = st.sampled_from(
    [*SECRETS.values(), "PassWord=", "api_key: ", "bearer ", "Basıc ", "tOKen:", "https://a:b@", " "]
)


@pytest.mark.req("X-06")
@settings(max_examples=300, deadline=None)
@given(st.lists(PARTS | st.text(max_size=40), max_size=6).map("".join))
def test_the_short_way_finds_all_that_the_long_one_does(text: str) -> None:
    assert Redactor()._once(text) == unhurried(text)
