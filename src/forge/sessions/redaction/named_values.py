"""Values that a name beside them gives away: assignments, flags, headers, parameters and users of addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forge.sessions.redaction.words import is_mixed, is_named, is_number, word_set

_TELLING = word_set(
    "password passwd passphrase passcode pass pwd pw secret secrets token credential credentials apikey apitoken "
    "authtoken accesskey secretkey privatekey psk sas jwt otp pat"
)
# What makes a key one that opens something.
_OPENING = word_set(
    "api access private secret signing encryption account master license write admin app application service auth "
    "client deploy integration storage subscription routing ingest unseal consumer shared security session cookie "
    "webhook server personal rest root recovery user ssh sas host function instrumentation project events global live "
    "sdk hmac aes data cipher seed tls ssl rsa key base"
)
# What a name may end with after the word that tells.
_SUFFIXES = word_set(
    "value values base prod production dev development test testing staging stage live local new old current primary "
    "secondary main default key text string raw plain plaintext env"
)
_PUBLIC = word_set("public pub publishable next page paging pagination continuation continue cursor sync resume")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NAME_BEFORE = re.compile(r"[\w.-]{0,60}$")
_HINTS = ("pass", "pwd", "secret", "token", "credential", "key", "auth", "psk", "_pw", "sas", "jwt", "_pat")
_ASSIGNMENT = r"[\w.-]*(?:\\*[\"'`])?\]?\s*(?P<sign>=>|is:|was:|:=|={1,3}|:{1,2}|<-)\s*"
# Fewer signs, so the value has to look like one: an element, an argument, a flag, a sentence.
_MENTION = r"[\w.-]*(?:(?:\\*[\"'])?\s*[,(]\s*(?=\\*[bru]?[\"'])|>(?=[^\s<]+</)|\s+(?:is|was|are)\s+|\s+(?=['\"]))"
_FLAG = r"[\w-]*\s+"
_VALUE = re.compile(
    r"[bBrRuUfF]{0,2}(?P<quote>\\*[\"'`])(?P<quoted>[^\s\"'`\\]{8,})(?P=quote)|(?P<bare>[^\s\"'`,;(){}<>\[\]\\]{8,})(?P<after>[(\[]?)"
)
_ASSIGNED = {hint: re.compile(hint + _ASSIGNMENT) for hint in _HINTS}
_MENTIONED = {hint: re.compile(hint + _MENTION) for hint in _HINTS}
_FLAGGED = {hint: re.compile(hint + _FLAG) for hint in _HINTS}
_CALLED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+[!?:;.]*")
_DOTS = re.compile(r"\.|::|->|\?\.")
_VARIABLE = re.compile(r"[A-Za-z_$]*\d{0,2}[!?:;]*")
_WORDS = re.compile(r"[._]*[^\W\d_]+(?:[._:/、，-]+[^\W\d_]+)*[._:!?。]*")
_PATH = re.compile(r"/?(?:[a-z]{3,}|[a-z]+[_-][a-z_-]+|\.\w+)/")
_TEMPLATE = re.compile(
    r"\$\{|\{\{|\{[\w.]*\}|%\(|%s|\$\(|<[\w -]+>|\*{3}|x{4}|X{4}|\.{3}|…|your[-_]|[-_]here$|\]\{\d|\][+*]|\\[wds]", re.I
)
_EXAMPLE = re.compile(r"(?:my|test|the)?[-_]?(?:password|secret|token|api[-_]?key)[-_]?\d{0,3}", re.I)
_REFERENCE = ("$", "%", "./", "../", "~/", "{", "file:", "arn:", "sha256:", "sha1:", "sha512-", "sha256-", "sha384-")

_USER = re.compile(r"://[^\s:/?#@\[\]\"']*:(?P<secret>[^\s/@\[\]]{3,})(?=@)")
_TOKEN_USER = re.compile(r"://(?P<secret>[A-Za-z0-9_.~%+-]{16,})(?=@[\w.-])")
_PLACEHOLDER = re.compile(
    r"(?:pass|passwd|password|pwd|pw|secret|token|xyz|abc|foo|bar|user|\*+|\.+|x+|p[@a]ss|\w*\{.*\}|\$\{?\w+\}?|<.*>|%.*%)",
    re.I,
)
_PARAMETER = re.compile(r"[?&#](?P<name>[\w.%-]+)=(?P<secret>[^&\s\"'<>#`)\]}\\]{6,})")
_PARAMETERS = re.compile(
    r"(?:token|passw(?:or)?d|secret|api-?key|access-?key|signature|subscription-?key|license-?key|assertion|samlresponse|"
    r"passphrase|credentials?)$|(?:^|-)(?:sig|pwd|pass|auth|jwt|session(?:-?id)?|ticket|hmac|otp)$"
)
_LOOSE_PARAMETERS = re.compile(r"(?:^|-)(?:key|code)$")
_SCHEME = re.compile(r"(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9+/_.~=:-]{16,})", re.I)
_AUTHORIZATION = re.compile(r"auth(?:orization)?[\"']?\s*[:=]\s*[\"']?\w+\s+(?P<secret>[A-Za-z0-9+/_.~=:-]{16,})", re.I)
_COOKIE = re.compile(
    r"cookie[\"']?\s*[:=]\s*[\"']?(?P<secret>[^\s=;,\"']+=[^\s;,\"']{16,}(?:;\s*[^\s=;,\"']+=[^\s;,\"']+)*)", re.I
)
_HEADERS = (("bearer", _SCHEME), ("basic", _SCHEME), ("auth", _AUTHORIZATION), ("cookie", _COOKIE))
_COMMAND = re.compile(
    r"(?P<before>(?:\s-u|\s--user)[\s=]+[\"']?[\w.@+-]+:|\bsshpass\s+-p\s*[\"']?)(?P<secret>[^\s\"':@]{6,})"
)

# Beside a name, a password of words and digits is one all the same.
_MOSTLY = 0.9

Span = tuple[int, int, str]


def spans_in_addresses(text: str) -> Iterator[Span]:
    """Passwords and tokens of users, and parameters that are secrets."""
    if "://" in text and "@" in text:
        for found in _USER.finditer(text):
            if not _PLACEHOLDER.fullmatch(found["secret"]):
                yield *found.span("secret"), "password"
        for found in _TOKEN_USER.finditer(text):
            if _is_given(found["secret"]):
                yield *found.span("secret"), "password"
    if "=" in text and ("?" in text or "&" in text or "#" in text):
        for found in _PARAMETER.finditer(text):
            if _is_parameter(found["name"], found["secret"]):
                yield *found.span("secret"), "secret"


def _is_parameter(name: str, value: str) -> bool:
    name = name.lower().replace("_", "-")
    if name.endswith(("resourcekey", "page-token", "pagetoken", "nexttoken")) or value.startswith(
        ("$", "{", "%7B", "[", "<")
    ):
        return False
    if _PARAMETERS.search(name):
        return is_mixed(value, share=_MOSTLY) or (len(value) >= 20 and not is_named(value) and not is_number(value))
    return _LOOSE_PARAMETERS.search(name) is not None and len(value) >= 16 and is_mixed(value, share=0.75)


def spans(text: str, lower: str) -> Iterator[Span]:
    """Values of assignments, flags, headers and commands. `lower` is `text` in lower case, of the same length."""
    for hint, header in [each for each in _HEADERS if each[0] in lower]:
        yield from _of_headers(hint, header, text, lower)
    if " -u" in text or "--user" in text or "sshpass" in text:
        for found in _COMMAND.finditer(text):
            if is_mixed(found["secret"]):
                yield *found.span("secret"), "password"
    for hint in [hint for hint in _HINTS if hint in lower]:
        yield from _named(text, lower, _ASSIGNED[hint], sure=True)
        yield from _named(text, lower, _MENTIONED[hint], sure=False)
        if " -" in text or "login " in text:
            yield from _flags(text, lower, _FLAGGED[hint])


def _of_headers(hint: str, header: re.Pattern[str], text: str, lower: str) -> Iterator[Span]:
    at = lower.find(hint)
    while at >= 0:
        found = header.match(text, at)
        if found is not None and _is_value(found["secret"], strict=True) and not is_named(found["secret"]):
            yield *found.span("secret"), "secret"
        at = lower.find(hint, at + len(hint))


def _named(text: str, lower: str, pattern: re.Pattern[str], *, sure: bool) -> Iterator[Span]:
    for found in pattern.finditer(lower):
        value = _VALUE.match(text, found.end())
        if value is None or value["after"]:
            continue
        group = "quoted" if value["quote"] else "bare"
        secret = value[group]
        if "&" in secret and re.match(r"[^&]{0,7}&[\w.-]+=", secret):  # the parameters of an address
            continue
        if sure and not value["quote"] and found["sign"].startswith("=="):  # a comparison, a version
            continue
        strictness = _strictness(_name(text, found))
        if strictness is None or (not sure and not (strictness and _is_given(secret))):
            continue
        if _is_value(secret, strict=strictness):
            yield *value.span(group), "secret"


def _flags(text: str, lower: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    for found in pattern.finditer(lower):
        before = text[max(0, found.start() - 40) : found.start()]
        value = _VALUE.match(text, found.end())
        if value is None or not re.search(r"(?:^|\s)--?[\w-]*$|\blogin\s+\S+\s+$", before):
            continue
        group = "quoted" if value["quote"] else "bare"
        if _strictness(_name(text, found)) and _is_given(value[group]) and _is_value(value[group], strict=True):
            yield *value.span(group), "secret"


def _is_given(value: str) -> bool:
    """Whether a value without a sign before it is one: letters and digits in one piece, or mostly no words."""
    if re.search("[A-Za-z]", value) and re.search("[0-9]", value) and not re.search(r"[._:/-]", value):
        return True
    return is_mixed(value, share=_MOSTLY)


def _name(text: str, found: re.Match[str]) -> str:
    """The whole name that a hint was found in."""
    before = _NAME_BEFORE.search(text, max(0, found.start() - 60), found.start())
    after = re.match(r"[\w.-]*", text[found.start() : found.end()])
    return (before[0] if before else "") + (after[0] if after else "")


def _strictness(name: str) -> bool | None:
    """True for a name that tells of a secret, False for one that may, None for one that does not."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    if not parts or not _PUBLIC.isdisjoint(parts):
        return None
    while len(parts) > 1 and parts[-1] in _SUFFIXES and not (parts[-1] == "key" and parts[-2] in _OPENING):
        parts.pop()
    if parts == ["pass"]:
        return False
    last = parts[-1]
    joined = "".join(parts[-2:])
    if last in _TELLING or joined in _TELLING:
        return True
    if last == "key":
        return True if len(parts) > 1 and parts[-2] in _OPENING else (False if name.isupper() and "_" in name else None)
    if last.endswith(("password", "passwd", "secret", "apikey", "token")):
        return True
    return False if {"password", "secret", "token", "credential", "credentials", "auth"} & set(parts) else None


def _is_value(value: str, *, strict: bool) -> bool:
    """Whether a value beside a telling name is more than a word, a number, a path, a call or a reference."""
    if "[redacted:" in value or len(set(value)) < 6 or "://" in value or value.startswith(_REFERENCE):
        return False
    if is_number(value) or _TEMPLATE.search(value) or _EXAMPLE.fullmatch(value):
        return False
    if _CALLED.fullmatch(value) and all(_VARIABLE.fullmatch(part) or is_named(part) for part in _DOTS.split(value)):
        return False
    if _WORDS.fullmatch(value):
        return is_mixed(value)
    if re.search(r"[\[\](){}<>|]", value) and is_named(value):  # code
        return False
    if (_PATH.match(value) and is_named(value, share=0.4)) or ("/" in value and is_named(value, share=0.75)):
        return False
    return strict or (len(value) >= 16 and is_mixed(value))
