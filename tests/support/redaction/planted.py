"""Secrets in the places where people leave them: files of variables, JSON, commands, addresses, headers, code, logs."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from forge.sessions.redaction import Redactor
from tests.support.redaction.kinds import BLOCKS, KINDS, Kind, fill, value

# `{name}` is how the secret is called there, `{value}` the secret.
_ASSIGNED = {
    "env file": "DEBUG=1\n{NAME}={value}\nPORT=8080\n",
    "quoted env file": '{NAME}="{value}"\n',
    "shell": "export {NAME}='{value}' && make deploy",
    "powershell": '$env:{NAME} = "{value}"',
    "docker": "docker run -e {NAME}={value} image",
    "dockerfile": "ENV {NAME}={value}",
    "json": '{{"service": "x", "{name}": "{value}", "on": true}}',
    "json in json": '{{"body": "{{\\"{name}\\": \\"{value}\\"}}"}}',
    "yaml": "service:\n  {name}: {value}\n  port: 80\n",
    "quoted yaml": "{name}: '{value}'  # do not share\n",
    "toml": '[service]\n{name} = "{value}"\n',
    "ini": "[service]\n{name} = {value}\n",
    "python": 'client = Client({name}="{value}", retries=3)',
    "javascript": "const {camel} = '{value}';",
    "javascript object": "  {camel}: '{value}',",
    "go": '{camel} := "{value}"',
    "php": "'{name}' => '{value}',",
    "terraform": '  {name} = "{value}"',
    "log": "2026-03-01 10:00:00 INFO started with {name}={value} on port 80",
    "sentence": "The {name} is: {value}",
    "xml": '<add {name}="{value}" />',
    "flag": "tool --{kebab} {value} --verbose",
    "flag with sign": "tool --{kebab}={value}",
}
_ANYWHERE = {
    "alone": "{value}",
    "sentence": "please use {value} for now",
    "bearer": "curl -H 'Authorization: Bearer {value}' https://example.org",
    "argument": 'connect("{value}")',
    "list": "- {value}\n- b\n",
    "log": "2026-03-01 10:00:00 DEBUG sending {value}",
    "code span": "`{value}`",
    "table": "| key | {value} |",
}
_PARAMETER = "GET https://example.org/v1/items?limit=5&{name}={value}&page=2 200"


class Planted(NamedTuple):
    kind: str
    carrier: str
    text: str
    secret: str


def planted(seed: int, rounds: int = 1) -> Iterator[Planted]:
    """Every kind in every carrier that fits it, `rounds` times."""
    chance = random.Random(seed)
    for _ in range(rounds):
        for kind in KINDS:
            yield from _of(kind, value(kind, chance))
        for label, made in BLOCKS.items():
            yield from _block(label, made(chance))


def _of(kind: Kind, secret: str) -> Iterator[Planted]:
    essence = _essence(secret)
    carriers = {**(_ANYWHERE if kind.known else {}), **({} if "://" in secret else _ASSIGNED)}
    for carrier, form in carriers.items():
        text = form.format(**_names(kind.name), value=secret)
        yield Planted(kind.name, carrier, text, essence)
        if carrier in ("env file", "alone") and len(text) >= 24:
            wrapped = base64.b64encode(text.encode()).decode()
            yield Planted(kind.name, f"base64 of {carrier}", f"decode {wrapped}", wrapped)
    # Beside a name that tells nothing, what looks random in an address is an id.
    if "://" not in secret and not re.search(r"[^\w.~-]", secret) and not kind.name.startswith("RANDOM_"):
        yield Planted(kind.name, "address", _PARAMETER.format(name=kind.name.lower(), value=secret), essence)


def _block(label: str, block: str) -> Iterator[Planted]:
    line = block.split("\n")[3]
    yield Planted(label, "file", f"before\n{block}\nafter", line)
    yield Planted(label, "indented", "key: |\n" + "\n".join(f"  {part}" for part in block.split("\n")), line)
    escaped = block.replace("\n", "\\n")
    yield Planted(label, "json", f'{{"private_key": "{escaped}"}}', line)
    yield Planted(label, "cut off", block[:300], line)
    wrapped = base64.b64encode(block.encode()).decode()
    yield Planted(label, "base64", f"data: {wrapped}", wrapped[60:200])


def _names(name: str) -> dict[str, str]:
    first, *rest = name.lower().split("_")
    camel = first + "".join(part.capitalize() for part in rest)
    return {"NAME": name, "name": name.lower(), "camel": camel, "kebab": name.lower().replace("_", "-")}


def _essence(secret: str) -> str:
    """The part of an address that is secret: a password, a parameter or the end of its path."""
    if "://" not in secret:
        return secret
    if user := re.search(r"://[^/@?]*?([^:/@]+)@", secret):
        return user[1]
    if parameter := re.search(r"(?i)(?:signature|sig|token|key|code)=([^&]{10,})", secret):
        return parameter[1]
    return max(re.split(r"[/@]", secret.split("://", 1)[1].partition("/")[2]), key=len)


def missed(seed: int, rounds: int = 1) -> tuple[int, list[Planted]]:
    """How many were planted, and which of them were not found."""
    redactor = Redactor()
    count, found = 0, []
    for each in planted(seed, rounds):
        count += 1
        if each.secret in redactor.text(each.text):
            found.append(each)
    return count, found


# Alphabets of random words that are told from ids and hashes by their mixture; see docs/sessions.md.
MIXED = ("an", "url", "b64", "b58")
_LENGTHS = (32, 36, 40, 43, 48, 64, 86)


def missed_bare(seed: int, count: int) -> list[str]:
    """Which of so many random words, with neither a name nor a known format, were not found in a text."""
    redactor, chance, found = Redactor(), random.Random(seed), []
    for number in range(count):
        word = fill(f"<{MIXED[number % len(MIXED)]}:{chance.choice(_LENGTHS)}>", chance)
        text = chance.choice(tuple(_ANYWHERE.values())).format(value=word)
        if word in redactor.text(text):
            found.append(text)
    return found
