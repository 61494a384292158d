"""Secrets never enter a conversation; ordinary text passes unchanged."""

from __future__ import annotations

import base64
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.sessions.redaction import MARK, Redactor, shapes
from tests.support.redaction.kinds import KINDS
from tests.support.redaction.ordinary import changed
from tests.support.redaction.planted import missed, missed_bare

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
        ("https://example.org/a?page=2&sig=aB3dE5fG7hI9&x=1", "aB3dE5fG7hI9"),
        ("https://example.org/a?api_key=0a1b2c3d4e", "0a1b2c3d4e"),
        ("https://docs.google.com/document/d/1Bxi/edit?token=aB3dE5fG7hI9", "aB3dE5fG7hI9"),
        ("https://oauth2:aB3dE5fG7hI9@git.example.org/a.git", "aB3dE5fG7hI9"),
        ("curl -u ada:aB3dE5fG7hI9 https://example.org", "aB3dE5fG7hI9"),
        ("Authorization: Token aB3dE5fG7hI9jK1l", "aB3dE5fG7hI9jK1l"),
        ("machine example.org login ada password aB3dE5fG7", "aB3dE5fG7"),
        ("CREATE ROLE ada WITH PASSWORD 'aB3dE5fG7'", "aB3dE5fG7"),
        ("<password>aB3dE5fG7</password>", "aB3dE5fG7"),
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
        "https://docs.google.com/document/d/1" + token(_WORD, 43) + "/edit",
        "docs.google.com/spreadsheets/d/1" + token(_WORD, 43),
        "https://www.notion.so/team/Plan-" + token("0123456789abcdef", 32),
        "the document 1" + token(_WORD, 43) + " in Drive",
        "a.whl,sha256=" + token(_WORD, 43) + ",120",
        "![](data:image/png;base64,iVBORw0KGgo" + token(_WORD, 90) + ")",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + token(_WORD, 43) + " ada@example.org",
        "sk-loading-indicator-with-a-long-name-2",
        "fk_orders_of_customers_2026_to_customers_of_the_shop",
        "tokenizers==0.15.2rc1",
        "token_url: https://example.org/oauth/token2",
        "max_life = _TOKEN_LIFE; _TOKEN_LIFE = 86_400.0",
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


# Whatever the redactor looks for before it looks closer.
HINTS = "; ".join(
    [
        *(shape.start for shape in shapes._PREFIXED),
        *(hint for each in shapes._HOLDING for hint in each.hints),
        "a://b@c?d&e=#",
    ]
)


PARTS = st.sampled_from(
    [*SECRETS.values(), "PassWord=", "api_key: ", "bearer ", "Basıc ", "tOKen:", "https://a:b@", " "]
)


@pytest.mark.req("X-06")
@settings(max_examples=300, deadline=None)
@given(st.lists(PARTS | st.text(max_size=40), max_size=6).map("".join))
def test_the_short_way_finds_all_that_the_long_one_does(text: str) -> None:
    beside = f"\n;\n{HINTS}\n;\n"
    assert Redactor().text(text + beside) == Redactor().text(text) + Redactor().text(beside)


@pytest.mark.req("X-06")
def test_of_an_address_only_the_secret_goes() -> None:
    shown = Redactor().text("see https://example.org/a?page=2&token=aB3dE5fG7hI9&x=1#part and call")
    assert shown == f"see https://example.org/a?page=2&token={MARK}secret]&x=1#part and call"
    hook = "https://hooks.slack.com/services/T0" + token(_WORD, 8) + "/B0" + token(_WORD, 8) + "/" + token(_WORD, 24)
    assert Redactor().text(f"post to {hook} daily") == f"post to https://hooks.slack.com/services/{MARK}webhook] daily"


@pytest.mark.req("X-06")
def test_hardly_any_ordinary_text_is_changed() -> None:
    """Links, logs, lock files, data and sources: at most one in a thousand. `script/soak hostile` measures more."""
    count, touched = changed(seed=20260301, count=2400)
    assert count >= 2000
    assert len(touched) <= count / 1000, [each.text[:300] for each in touched[:5]]


@pytest.mark.req("X-06")
def test_secrets_of_every_kind_are_found_wherever_people_leave_them() -> None:
    assert len({kind.made for kind in KINDS}) >= 300
    count, lost = missed(seed=20260301)
    assert count > 10_000
    assert lost == []


@pytest.mark.req("X-06")
def test_a_random_word_without_a_name_is_found_from_32_characters_on() -> None:
    """Letters of both cases, with or without digits. `script/soak hostile` measures more."""
    lost = missed_bare(seed=20260301, count=12_000)
    assert len(lost) <= 12, lost[:5]


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    "text",
    [
        "order V1StGXR8_Z5jdHi6B-myT of today",  # nanoid, 21
        "user PzTWmX9EthXm5N3vdQk4bV8LfGa2 signed in",  # Firebase, 28
        "event 0ujtsYcgvSTl8PAuAdqWYSMnLOv stored",  # KSUID, 27
        "see /usr/lib/x86_64-linux-gnu/libQt5Core for it",
        "packages/Web/API/CanvasRenderingContext2D/bezierCurveTo",
        "GoogleCloudBeyondcorpSecuritygatewaysV1alphaEndpoint",
    ],
)
def test_ids_below_32_characters_and_names_that_can_be_read_stay(text: str) -> None:
    assert Redactor().text(text) == text
