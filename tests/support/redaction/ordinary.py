"""Ordinary texts without a secret: messages with links, logs, lock files, data, and sources of installed packages."""

from __future__ import annotations

import base64
import random
import re
import uuid
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

from forge.sessions.redaction import Redactor
from tests.support.redaction.kinds import fill

# `<url:44>` is as in the formats of secrets: random characters of an alphabet.
_LINKS = """
https://docs.google.com/document/d/1<url:43>/edit?usp=sharing
https://docs.google.com/spreadsheets/d/1<url:43>/edit#gid=<dig:9>
https://docs.google.com/presentation/d/1<url:43>/edit#slide=id.g<hex:10>_0_<dig:2>
https://docs.google.com/forms/d/e/1FAIpQLS<url:49>/viewform
https://drive.google.com/file/d/1<url:32>/view?usp=sharing&resourcekey=0-<url:22>
https://drive.google.com/drive/folders/1<url:32>
docs.google.com/document/d/1<url:43>
https://www.notion.so/team/Product-Roadmap-<hex:32>
https://www.notion.so/<hex:32>?v=<hex:32>&pvs=4
https://example.notion.site/Plan-<hex:32>
https://www.figma.com/design/<an:22>/App?node-id=<dig:4>-<dig:5>&t=<an:16>-1
https://www.figma.com/proto/<an:22>/Flow?page-id=0%3A1&scaling=min-zoom
https://github.com/psf/Requests/blob/<hex:40>/src/requests/Sessions.py#L10-L42
https://github.com/python/cpython/commit/<hex:40>
https://github.com/a/B/actions/runs/<dig:10>/job/<dig:11>
https://github.com/user-attachments/assets/{uuid}
https://raw.githubusercontent.com/a/B/<hex:40>/img/Logo<dig:2>.png
https://gitlab.com/a/b/-/merge_requests/<dig:3>/diffs?commit_id=<hex:40>
https://example.atlassian.net/browse/ABC-<dig:4>
https://example.atlassian.net/wiki/spaces/ENG/pages/<dig:9>/Design
https://miro.com/app/board/uXjV<url:8>=/
https://www.dropbox.com/scl/fi/<low:20>/Report.pdf?rlkey=<low:25>&dl=0
https://1drv.ms/w/s!A<url:20>?e=<an:6>
https://example.sharepoint.com/:w:/r/sites/Team/_layouts/15/Doc.aspx?sourcedoc=%7B{uuid}%7D&file=Plan.docx
https://www.youtube.com/watch?v=<url:11>&list=PL<url:32>&si=<url:16>
https://www.loom.com/share/<hex:32>?sid={uuid}
https://example.slack.com/archives/C<UP:10>/p<dig:16>
https://linear.app/team/issue/ENG-<dig:3>/fix-the-login-page
https://trello.com/c/<an:8>/12-ship-it
https://airtable.com/app<an:14>/tbl<an:14>/viw<an:14>
https://calendar.google.com/calendar/event?eid=<an:60>&ctz=Europe/Berlin
https://www.google.com/maps/place/Berlin/@52.5,13.4,17z/data=!3m1!4b1!4m6!3m5!1s0x<hex:16>:0x<hex:16>
https://www.amazon.com/dp/B0<UP:8>/ref=sr_1_1?crid=<UP:13>&dib=eyJ2IjoiMSJ9.<url:80>&qid=<dig:10>
https://files.pythonhosted.org/packages/<hex:2>/<hex:2>/<hex:60>/ruff-0.4.1-py3-none-manylinux_2_17_x86_64.whl
https://registry.npmjs.org/@babel/core/-/core-7.24.<dig:1>.tgz
https://cdn.example.org/assets/main.<url:20>.chunk.js
https://d111111abcdef8.cloudfront.net/static/<an:40>/Poster.webp
https://example.s3.eu-central-1.amazonaws.com/uploads/{uuid}/<an:32>.png
https://huggingface.co/a/b/resolve/<hex:40>/model-00001-of-00002.safetensors
https://www.typescriptlang.org/play/?#code/<url:160>
https://mermaid.live/edit#pako:eNp<url:200>
https://play.golang.org/p/<url:11>
https://colab.research.google.com/drive/1<url:32>?usp=sharing
https://example.org/news?utm_source=mail&utm_campaign=spring_2026&gclid=Cj0KCQ<url:70>
https://example.org/?fbclid=IwAR<url:60>
https://grafana.example.org/d/<an:9>/Service-Overview?orgId=1&from=now-6h&var-pod=api-<hex:10>-<low:5>
https://sentry.example.org/organizations/a/issues/<dig:10>/events/<hex:32>/
https://console.aws.amazon.com/ecs/v2/clusters/Prod/tasks/<hex:32>?region=eu-west-1
https://web.archive.org/web/<dig:14>/https://example.org/Page_2.html
https://arxiv.org/abs/24<dig:2>.<dig:5>v2
https://open.spotify.com/playlist/<an:22>?si=<hex:16>
https://zoom.us/j/<dig:11>
https://meet.google.com/abc-defg-hij?authuser=0
https://teams.microsoft.com/l/meetup-join/19%3ameeting_<an:48>%40thread.v2/0?context=%7b%22Tid%22%3a%22{uuid}%22%7d
https://forms.gle/<an:17>
https://outlook.office.com/mail/id/AAQkAG<url:60>%3D
https://mail.google.com/mail/u/0/#inbox/FMfcgz<an:30>
https://x.com/someone/status/<dig:19>?s=20&t=<url:22>
https://www.linkedin.com/posts/someone_topic-activity-<dig:19>-<url:4>
postgresql://localhost:5432/forge
ssh://git@example.org:22/a/b.git
git@github.com:example/Project-2.git
"""
_MESSAGES = (
    "Please read {link} before Thursday; the part on budgets is in section 4.",
    "See [the plan]({link}) and tell me what is missing.",
    '<a href="{link}">the page</a>',
    "Sources:\n- {link}\n- {link}\n",
    "{link}",
    '{{"title": "Plan", "url": "{link}", "likes": 3}}',
    "2026-02-03T10:11:12Z GET {link} 200 in 31 ms",
)
_LINES = """
commit <hex:40> (HEAD -> main, origin/main)
index <hex:7>..<hex:7> 100644
Merge: <hex:10> <hex:10>
<hex:64>  dist/forge-1.0.0.tar.gz
id {uuid} belongs to order {uuid}
      "integrity": "sha512-<b64:86>==",
  resolution: {integrity: sha512-<b64:86>==}
  integrity sha1-<b64:27>=
    {{ url = "https://files.pythonhosted.org/packages/<hex:60>/a.whl", hash = "sha256:<hex:64>", size = 12 }},
checksum = "<hex:64>"
github.com/pkg/errors v0.9.1 h1:<b64:43>=
github.com/pkg/errors v0.9.1/go.mod h1:<b64:43>=
    "contentHash": "<b64:86>==",
      "narHash": "sha256-<b64:43>=",
forge/git/vfs.py,sha256=<url:43>,1873
FROM python:3.12@sha256:<hex:64>
Successfully built <hex:12>
ETag: "<hex:32>-12"
x-amz-id-2: <b64:75>=
x-amzn-requestid: {uuid}
X-Amzn-Trace-Id: Root=1-<hex:8>-<hex:24>
traceparent: 00-<hex:32>-<hex:16>-01
cf-ray: <hex:16>-FRA
Message-ID: <CA<url:40>@mail.gmail.com>
Content-Security-Policy: script-src 'sha256-<b64:43>=' 'nonce-<b64:22>=='
pod/api-7d<hex:8>-<low:5>   1/1   Running   0   3d
arn:aws:iam::<dig:12>:role/service-role/AmazonSageMaker-ExecutionRole-<dig:8>T<dig:6>
arn:aws:ecs:eu-west-1:<dig:12>:task/Production/<hex:32>
SHA256:<b64:43> ada@example.org (ED25519)
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b64:43> ada@example.org
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ<b64:490>= ada@example.org
PublicKey = <b64:43>=
public_key: "<b64:43>="
pubkey256 = '<b64:43>='
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA<b64:340>QIDAQAB
![logo](data:image/png;base64,iVBORw0KGgo<b64:200>=)
background: url("data:font/woff2;base64,d09GMgABAAAAA<b64:300>")
<img src="data:image/svg+xml;base64,PHN2Zy<b64:120>">
const icon = "iVBORw0KGgoAAAANSUhEUg<b64:180>=";
const photo = '/9j/4AAQSkZJRgABAQ<b64:300>';
//# sourceMappingURL=data:application/json;charset=utf-8;base64,eyJ2ZXJzaW9uIjozfQ<b64:90>
"mappings":"AAAA,SAASA,<an:6>,CAAC,<an:5>;AACA,<an:4>"
"id": "chatcmpl-<an:29>", "object": "chat.completion"
"id": "msg_01<an:22>", "type": "message"
"documentId": "1<url:43>"
The file is 1<url:43> in Drive
"nextPageToken": "<url:60>"
"cursor": "<b64:48>"
"request_id": "req_011C<an:20>"
"videoId": "<url:11>", "playlistId": "PL<url:32>"
_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJRKiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_
undefined symbol: _ZN5boost10filesystem6detail11directory_iteratorEPNS_6system10error_codeE
/home/ada/.cache/huggingface/hub/models--a--B/snapshots/<hex:40>/model.safetensors
/nix/store/<low:32>-python3-3.12.1/bin/python3
C:\\Users\\Ada\\AppData\\Local\\Temp\\tmp<an:8>\\Report2026Final.docx
node_modules/.pnpm/@babel+core@7.24.0_<hex:32>/node_modules/@babel/core
dist/assets/index-<url:8>.js  142.10 kB │ gzip: 45.62 kB
class TestTheLongestNameThatAnybodyGaveToACaseInPython3AndSha256WithRsa2048: ...
BetaCodeExecutionTool20260521ParamWithWebSearch20250305Response
max_tokens=4096, input_tokens: 200000, output_tokens=1_500
total_tokens: 12345/200000 (6.2 %)
token = tokenizer.next_token(source, kind=TokenKind.IDENTIFIER2)
password: str | None = Field(default=None, min_length=8)
api_key = os.environ["FORGE_API_KEY"]
apiKey: process.env.OPENAI_API_KEY!,
secret = secrets.token_urlsafe(32)
TOKEN=$(gcloud auth print-access-token)
password: ${{{{ secrets.DB_PASSWORD }}}}
token_url: https://example.org/oauth2/v2.0/token
secretName: api-tls-2026
"js-tokens": "^9.0.0", "csrf-tokens": "4.1.0-beta.2"
tokenizers==0.15.2rc1
postgresql://user:password@localhost:5432/app
The password must have 8-64 characters and one digit.
Enter your API key: sk-...
Set FORGE_TOKEN to the token that `forge key new` shows.
if (token !== previousToken) return refreshAccessToken(sessionStorage.getItem("refreshToken2"));
!function(e,t){{"object"==typeof exports?t(exports):t((e=e||self).React={{}})}}(this,function(e){{var t=1;return t}});
a{{color:#<hex:6>;background:#<hex:6>}}.Button_root__<an:5>{{margin:0}}
ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/
The meeting is on 2026-03-0<dig:1> at 10:<dig:2>; call +49 30 <dig:7>.
Invoice RE-2026-<dig:5>: 1,2<dig:2>.00 EUR, IBAN DE<dig:20>
BTC 0.0<dig:3> · 0x<hex:40>
version 3.<dig:2>.<dig:1> (build <hex:8>, 2026-01-1<dig:1>T10:00:00Z)
"""
_BLOCKS = ("CERTIFICATE", "PUBLIC KEY", "PGP PUBLIC KEY BLOCK", "CERTIFICATE REQUEST", "PGP SIGNATURE")


class Ordinary(NamedTuple):
    origin: str
    text: str


def ordinary(seed: int, count: int) -> Iterator[Ordinary]:
    """So many texts that nobody would call secret, a third of them from the sources of installed packages."""
    chance = random.Random(seed)
    links, lines = _LINKS.strip().splitlines(), _LINES.strip("\n").splitlines()
    made: list[Callable[[], Ordinary]] = [
        lambda: Ordinary("link", _message(chance, links)),
        lambda: Ordinary("line", _made(chance.choice(lines).replace("{{", "{").replace("}}", "}"), chance)),
        lambda: Ordinary("block", _block(chance)),
        lambda: Ordinary("lines", "\n".join(_made(chance.choice(lines), chance) for _ in range(8))),
    ]
    for number in range(count * 2 // 3):
        yield made[(0, 1, 0, 1, 3, 0, 1, 2)[number % 8]]()
    yield from _sources(chance, count - count * 2 // 3)


def _message(chance: random.Random, links: list[str]) -> str:
    return re.sub("{link}", lambda _: _made(chance.choice(links), chance), chance.choice(_MESSAGES)).replace("{{", "{")


def _made(form: str, chance: random.Random) -> str:
    return fill(form.replace("{uuid}", str(uuid.UUID(int=chance.getrandbits(128), version=4))), chance)


def _block(chance: random.Random) -> str:
    label, body = chance.choice(_BLOCKS), base64.b64encode(chance.randbytes(700)).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])


# Dependencies of the project; what they show as a password of a user in an address is meant to be found.
_PACKAGES = (
    "fastapi",
    "starlette",
    "pydantic",
    "httpx",
    "click",
    "anyio",
    "uvicorn",
    "pytest",
    "hypothesis",
    "rich",
    "jinja2",
)


def _sources(chance: random.Random, count: int) -> Iterator[Ordinary]:
    """Parts of files that are installed, forty lines each."""
    parts = []
    for package in _PACKAGES:
        try:
            files = distribution(package).files or []
        except ModuleNotFoundError:
            continue
        for file in sorted(files, key=str):
            if file.suffix not in {".py", ".md", ".txt", ".toml"} and file.name not in {"RECORD", "METADATA"}:
                continue
            try:
                lines = Path(file.locate()).read_text("utf-8").splitlines()
            except (OSError, UnicodeDecodeError):
                continue
            for start in range(0, len(lines), 40):
                text = "\n".join(lines[start : start + 40])
                if not re.search(r"://[^\s/]*:[^\s/]*@", text):
                    parts.append(Ordinary(f"{package} {file.name} {start + 1}", text))
    yield from chance.sample(parts, min(count, len(parts)))


def changed(seed: int, count: int) -> tuple[int, list[Ordinary]]:
    """How many texts there were, and which of them were changed."""
    redactor = Redactor()
    total, found = 0, []
    for each in ordinary(seed, count):
        total += 1
        if redactor.text(each.text) != each.text:
            found.append(each)
    return total, found
