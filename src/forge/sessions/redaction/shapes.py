"""Secrets whose form gives them away: key formats of providers, private keys, webhook addresses.

Each shape names a text that every secret of that form holds. Few texts hold any of these, and looking for them is far
cheaper than trying the shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, groupby
from typing import NamedTuple

from forge.sessions.redaction.words import is_named

_B64URL = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"


class _Prefixed(NamedTuple):
    """A key format that a provider documents; its name goes into the mark, so that a reader knows what was there."""

    name: str
    start: str
    rest: re.Pattern[str]


class _Holding(NamedTuple):
    """A format that is known by what is in its middle: any of the hints."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _shape(name: str, starts: str, rest: str) -> tuple[_Prefixed, ...]:
    return tuple(_Prefixed(name, start, re.compile(rest)) for start in starts.split())


def _holding(name: str, hints: str | tuple[str, ...], pattern: str) -> _Holding:
    return _Holding(name, (hints,) if isinstance(hints, str) else hints, re.compile(pattern))


# `rest` follows one of `starts`. Lengths are lower bounds: providers lengthen their keys.
_FORMATS = (
    _shape("anthropic-key", "sk-ant-", rf"{_B64URL}{{16,}}"),
    _shape("openrouter-key", "sk-or-", rf"(?:v\d-)?{_B64URL}{{16,}}"),
    _shape("openai-key", "sk-", rf"(?:proj-|svcacct-|admin-)?{_B64URL}{{20,}}"),
    _shape("groq-key", "gsk_", rf"{_ALNUM}{{40,}}"),
    _shape("xai-key", "xai-", rf"{_ALNUM}{{40,}}"),
    _shape("perplexity-key", "pplx-", rf"{_ALNUM}{{32,}}"),
    _shape("replicate-token", "r8_", rf"{_ALNUM}{{36,}}"),
    _shape("nvidia-key", "nvapi-", rf"{_B64URL}{{40,}}"),
    _shape("tavily-key", "tvly-", rf"{_B64URL}{{24,}}"),
    _shape("langsmith-key", "lsv2_pt_ lsv2_sk_", rf"{_HEX}{{32}}_{_HEX}{{8,}}"),
    _shape("huggingface-token", "hf_ api_org_", rf"{_ALNUM}{{30,}}"),
    _shape("pinecone-key", "pcsk_", rf"{_ALNUM}{{4,8}}_{_ALNUM}{{30,}}"),
    _shape("google-key", "AIza", rf"{_B64URL}{{35}}"),
    _shape("google-token", "ya29. 1//0", rf"{_B64URL}{{20,}}"),
    _shape("google-secret", "GOCSPX-", rf"{_B64URL}{{24,}}"),
    _shape("forge-key", "fk_", rf"{_B64URL}{{40,}}"),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{30,}}"),
    _shape("github-token", "github_pat_", r"[A-Za-z0-9_]{22,}"),
    _shape(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- gloas- glcbt- glft- glimt- glagent- glsoat- glffct- glrtr- GR1348941",
        rf"{_B64URL}{{18,}}",
    ),
    _shape("bitbucket-token", "ATBB ATCTT3xFfG", r"[A-Za-z0-9_=-]{28,}"),
    _shape("atlassian-token", "ATATT3x", r"[A-Za-z0-9_=-]{40,}"),
    _shape("slack-token", "xoxa- xoxb- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xapp-", r"[A-Za-z0-9%.-]{10,}"),
    _shape("aws-key", "AKIA ASIA AROA AIDA ABIA ACCA", r"[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _shape("aws-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz ABSK", r"[A-Za-z0-9+/=]{60,}"),
    _shape("stripe-key", "rk_live_ sk_live_ pk_live_ rk_test_ sk_test_ pk_test_ whsec_", rf"{_ALNUM}{{16,}}"),
    _shape("square-token", "sq0atp- sq0csp- sq0idp- EAAAE EAAAl", rf"{_B64URL}{{20,}}"),
    _shape("paypal-token", "access_token$production$ access_token$sandbox$", rf"{_ALNUM}{{12,}}\${_HEX}{{32}}"),
    _shape("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", r"[0-9A-Fa-f]{32}"),
    _shape("npm-token", "npm_", rf"{_ALNUM}{{30,}}"),
    _shape("pypi-token", "pypi-", rf"{_B64URL}{{50,}}"),
    _shape("rubygems-key", "rubygems_", rf"{_HEX}{{40,}}"),
    _shape("crates-token", "cio", rf"{_ALNUM}{{32}}(?!{_ALNUM})"),
    _shape("nuget-key", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    _shape("docker-token", "dckr_pat_ dckr_oat_", rf"{_B64URL}{{24,}}"),
    _shape("clojars-token", "CLOJARS_", r"[a-z0-9]{50,}"),
    _shape("hashicorp-token", "hvs. hvb. hvr.", rf"{_B64URL}{{24,}}"),
    _shape("pulumi-token", "pul-", rf"{_HEX}{{40}}"),
    _shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{60,}}"),
    _shape("heroku-key", "HRKU-", rf"{_B64URL}{{30,}}"),
    _shape("flyio-token", "fo1_ fm1a_ fm1r_ fm2_", r"[A-Za-z0-9+/_=-]{40,}"),
    _shape("netlify-token", "nfp_ nfc_ nfo_ nfb_ nfu_", rf"{_ALNUM}{{36,}}"),
    _shape("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", rf"{_ALNUM}{{24,}}"),
    _shape("supabase-token", "sbp_ sb_secret_", r"[A-Za-z0-9_]{30,}"),
    _shape("planetscale-token", "pscale_tkn_ pscale_oauth_ pscale_pw_", r"[A-Za-z0-9_.=-]{32,}"),
    _shape("neon-key", "napi_", rf"{_ALNUM}{{40,}}"),
    _shape("databricks-token", "dapi dkea", rf"{_HEX}{{32}}(?:-\d)?(?![0-9A-Za-z])"),
    _shape("cloudflare-key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,}}"),
    _shape("tailscale-key", "tskey-", rf"[a-z]+-{_ALNUM}{{8,}}-{_ALNUM}{{16,}}"),
    _shape("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9._]{40,}"),
    _shape("infisical-token", "st.", rf"{_HEX}{{24}}\.{_HEX}{{32}}\.{_HEX}{{32}}"),
    _shape("onepassword-token", "ops_ey", rf"{_B64URL}{{60,}}=*"),
    _shape("onepassword-key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{5,11}(?:-[A-Z0-9]{5}){3,4}"),
    _shape("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{50,}"),
    _shape("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", r"[A-Za-z0-9+/_=]{40,}"),
    _shape("grafana-token", "glc_ glsa_", r"[A-Za-z0-9+/_=]{32,}"),
    _shape("newrelic-key", "NRAK- NRIQ- NRII- NRJS- NRAA- NRRA-", r"[A-Za-z0-9_-]{15,}"),
    _shape("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    _shape("posthog-key", "phx_ phs_", rf"{_ALNUM}{{40,}}"),
    _shape("launchdarkly-key", "sdk- mob- api-", rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    _shape("sourcegraph-token", "sgp_ sgd_ slk_", rf"(?:[0-9a-zA-Z]+_)?{_HEX}{{40,}}"),
    _shape("linear-token", "lin_api_ lin_oauth_", rf"{_ALNUM}{{32,}}"),
    _shape("notion-token", "ntn_ secret_", rf"{_ALNUM}{{40,}}"),
    _shape("airtable-token", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    _shape("asana-token", "1/ 2/", r"\d{12,}(?:/\d{12,})?:[0-9a-f]{32}"),
    _shape("figma-token", "figd_ figo_ figu_ figdr_", rf"{_B64URL}{{36,}}"),
    _shape("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    _shape("contentful-token", "CFPAT-", rf"{_B64URL}{{40,}}"),
    _shape("dropbox-token", "sl.", r"(?:B[A-Za-z0-9_-]|u\.)[A-Za-z0-9_-]{80,}"),
    _shape("mailgun-key", "key-", rf"{_HEX}{{32}}(?![0-9A-Za-z])"),
    _shape("sendgrid-key", "SG.", rf"{_B64URL}{{16,32}}\.{_B64URL}{{30,}}"),
    _shape("resend-key", "re_", rf"{_ALNUM}{{8}}_{_ALNUM}{{20,}}"),
    _shape("brevo-key", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    _shape("mailersend-token", "mlsn.", rf"{_HEX}{{60,}}"),
    _shape("twilio-key", "SK", rf"{_HEX}{{32}}(?![0-9A-Za-z])"),
    _shape("facebook-token", "EAA", rf"{_ALNUM}{{80,}}"),
    _shape("instagram-token", "IGQV IGAA", rf"{_B64URL}{{80,}}"),
    _shape("twitch-token", "oauth:", r"[a-z0-9]{30}(?![A-Za-z0-9])"),
    _shape("linkedin-token", "AQV AQX", rf"{_B64URL}{{120,}}"),
    _shape("salesforce-token", "00D", r"[A-Za-z0-9]{9,15}![A-Za-z0-9._]{60,}"),
    _shape("hubspot-token", "pat-na1- pat-na2- pat-eu1-", rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    _shape("intercom-token", "dG9rO", r"[A-Za-z0-9+/]{40,}=*"),
    _shape("easypost-key", "EZAK EZTK", rf"{_ALNUM}{{54}}"),
    _shape("shippo-token", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    _shape("duffel-token", "duffel_live_ duffel_test_", rf"{_B64URL}{{40,}}"),
    _shape("flutterwave-key", "FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-", rf"{_ALNUM}{{12,}}(?:-X)?"),
    _shape("razorpay-key", "rzp_live_ rzp_test_", rf"{_ALNUM}{{14,}}"),
    _shape("plaid-token", "access-sandbox- access-development- access-production-", rf"{_HEX}{{8}}-[0-9a-f-]{{27}}"),
    _shape("alibaba-key", "LTAI", rf"{_ALNUM}{{12,20}}(?!{_ALNUM})"),
    _shape("tencent-key", "AKID", rf"{_ALNUM}{{32}}(?!{_ALNUM})"),
    _shape("yandex-key", "AQVN YCAJE YCM", rf"{_B64URL}{{20,}}"),
    _shape("yandex-token", "t1.", r"[A-Za-z0-9_-]{2,}[.=][A-Za-z0-9_=.-]{80,}"),
    _shape("ibm-key", "ApiKey-", rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    _shape("scaleway-key", "SCW", r"[A-Z0-9]{17}(?![A-Za-z0-9])"),
    _shape("buildkite-token", "bkua_ bkct_", rf"{_ALNUM}{{36,}}"),
    _shape("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_]{40,}"),
    _shape("codeclimate-token", "sqp_ squ_ sqa_", rf"{_HEX}{{40}}"),
    _shape("jfrog-token", "AKCp cmVmdGtuOj", rf"{_ALNUM}{{50,}}"),
    _shape("postman-key", "PMAK- PMAT-", rf"{_ALNUM}{{24,}}(?:-{_ALNUM}{{30,}})?"),
    _shape("readme-key", "rdme_", r"[a-z0-9]{60,}"),
    _shape("prefect-key", "pnu_ pnb_", rf"{_ALNUM}{{36}}"),
    _shape("dbt-token", "dbtc_ dbtu_", rf"{_B64URL}{{40,}}"),
    _shape("fastly-token", "fastly_", rf"{_B64URL}{{30,}}"),
    _shape("frameio-token", "fio-u-", r"[A-Za-z0-9_=-]{60,}"),
    _shape("lob-key", "live_ test_", rf"{_HEX}{{35}}(?![0-9A-Za-z])"),
    _shape("mapbox-token", "sk.eyJ tk.eyJ", rf"{_B64URL}{{40,}}\.{_B64URL}{{16,}}"),
    _shape("rapyd-key", "rak_ rsk_", rf"{_HEX}{{40,}}"),
    _shape("ory-token", "ory_pat_ ory_at_ ory_rt_ ory_st_", rf"{_ALNUM}{{32,}}"),
    _shape("clerk-key", "sk_clerk_", rf"{_ALNUM}{{24,}}"),
    _shape("onfido-token", "api_live. api_sandbox. api_live_ api_sandbox_", r"[A-Za-z0-9._-]{30,}"),
    _shape("sumup-key", "sup_sk_", rf"{_ALNUM}{{24,}}"),
    _shape("chroma-key", "ck-", rf"{_ALNUM}{{40,}}"),
    _shape("trigger-key", "tr_dev_ tr_prod_ tr_stg_ tr_pat_", rf"{_ALNUM}{{20,}}"),
    _shape("inngest-key", "signkey-prod- signkey-test- signkey-branch-", rf"{_HEX}{{32,}}"),
    _shape("polar-token", "polar_oat_ polar_pat_ polar_at_", rf"{_ALNUM}{{30,}}"),
    _shape("elevenlabs-key", "sk_", rf"{_HEX}{{48}}(?![0-9A-Za-z])"),
    _shape("fireworks-key", "fw_ fpk_", rf"{_ALNUM}{{20,}}"),
    _shape("voyage-key", "pa-", rf"{_B64URL}{{40,}}"),
    _shape("weights-key", "wandb_v1_", rf"{_B64URL}{{40,}}"),
)
_PREFIXED = tuple(chain.from_iterable(_FORMATS))
_UUID = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"
_PRIVATE = r"(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?"
# The group `secret` is what goes; without one, all of it.
_HOLDING = (
    _holding(
        "private-key",
        "BEGIN ",
        rf"-----BEGIN {_PRIVATE}-----(?:[\s\S]{{0,20000}}?-----END {_PRIVATE}-----|[A-Za-z0-9+/=\s\\n]*)",
    ),
    _holding(
        "private-key",
        "BEGIN SSH2 ",
        r"---- BEGIN SSH2 [A-Z ]*PRIVATE KEY ----[\s\S]{0,20000}?---- END SSH2 [A-Z ]*----",
    ),
    _holding("private-key", "Private-Lines: ", r"Private-Lines: \d+\n(?P<secret>(?:[A-Za-z0-9+/=]+\n?)+)"),
    # The same without its armour: the first bytes of the encodings, and of what OpenSSH writes.
    _holding(
        "private-key",
        ("MII", "MHcCAQEEI", "MIGkAgEB", "MIHcAgEB", "MIGHAgEA", "MIG2AgEA", "MIHuAgEA", "MC4CAQAw"),
        r"(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{2}(?:IBAAKC|gIBAAKC|wIBADAN|QIBADAN|gIBADAN|AIBAAKC)|MHcCAQEEI|MIGkAgEBBD|"
        r"MIHcAgEBBEI|MIGHAgEAMB|MIG2AgEAMB|MIHuAgEAMB|MC4CAQAwBQYDK2V)[A-Za-z0-9+/\s]{30,}={0,2}",
    ),
    _holding("private-key", "b3BlbnNzaC1rZXktdjE", r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/\s]{60,}={0,2}"),
    _holding("private-key", '"kty"', r'"(?:d|k)"\s*:\s*"(?P<secret>[A-Za-z0-9_-]{20,})"'),
    _holding("jwt", "eyJ", rf"(?<![A-Za-z0-9])eyJ{_B64URL}{{8,}}\.eyJ{_B64URL}{{8,}}\.{_B64URL}{{8,}}"),
    _holding("jwt", "eyJ", rf"(?<![A-Za-z0-9])eyJ{_B64URL}{{8,}}(?:\.{_B64URL}{{8,}}){{3,4}}"),
    _holding("telegram-token", ":AA", rf"(?<!\w)(?:bot)?\d{{8,10}}:AA{_B64URL}{{32,}}"),
    _holding("firebase-key", ":APA91b", rf"{_B64URL}{{11}}:APA91b{_B64URL}{{100,}}"),
    _holding("terraform-token", ".atlasv1.", rf"{_ALNUM}{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{50,}}"),
    _holding("mailchimp-key", "-us", rf"(?<![0-9A-Za-z]){_HEX}{{32}}-us\d{{1,2}}(?![0-9A-Za-z])"),
    _holding("maxmind-key", "_mmk", rf"{_ALNUM}{{6}}_{_ALNUM}{{29}}_mmk"),
    _holding("azure-secret", "Q~", r"(?<![\w~.-])[\w~.-]{3}[78]Q~[\w~.-]{31,34}(?![\w~.-])"),
    _holding("okta-token", "SSWS ", rf"SSWS (?P<secret>00{_B64URL}{{40}})"),
    _holding("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"(?<![\w+/])A{21}[A-Za-z0-9]+(?:%[0-9A-F]{2}[A-Za-z0-9]+)+"),
    _holding(
        "webhook", "hooks.slack", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[\w/]{16,})"
    ),
    _holding("webhook", "/api/webhooks/", rf"/api/webhooks/(?P<secret>\d{{15,}}/{_B64URL}{{30,}})"),
    _holding("webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{40,})"),
    _holding("webhook", "outlook.office", r"outlook\.office(?:365)?\.com/webhook/(?P<secret>[\w@/-]{40,})"),
    _holding("webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/(?:catch|standard)/(?P<secret>[\w/-]{8,})"),
    _holding(
        "webhook", "maker.ifttt.com/", r"maker\.ifttt\.com/trigger/[^\s/]+/(?:json/)?with/key/(?P<secret>[\w-]{20,})"
    ),
    _holding("webhook", "hook.", r"hook\.(?:[a-z]{2}\d\.)?(?:make|integromat)\.com/(?P<secret>[a-z0-9]{30,})"),
    _holding("webhook", "/bot/v2/hook/", rf"/open-apis/bot/v2/hook/(?P<secret>{_UUID})"),
    _holding("webhook", "hc-ping.com/", rf"hc-ping\.com/(?P<secret>{_UUID}|{_B64URL}{{22}})"),
    _holding("webhook", "/integrations/generic/", rf"/integrations/generic/\d+/alert/(?P<secret>{_UUID})"),
    _holding(
        "webhook", "/hooks/", r"/hooks/(?P<secret>[A-Za-z0-9]{17,24}/[A-Za-z0-9]{40,}|(?=[a-z]*\d)[a-z0-9]{26}(?!\w))"
    ),
)
# Nothing in it is rare enough to look for.
_DISCORD = _holding(
    "discord-token", (), rf"(?<![A-Za-z0-9_-])[MNO]{_B64URL}{{22,27}}\.{_B64URL}{{6}}\.{_B64URL}{{27,40}}"
)
# Where a start is the start of another one, the shorter one is looked for.
_STARTS = re.compile(
    "(?<![A-Za-z0-9])(?:"
    + "|".join(
        re.escape(first) + "(?:" + "|".join(re.escape(start[1:]) for start in sorted(starts)) + ")"
        for first, starts in groupby(sorted({shape.start for shape in _PREFIXED}), key=lambda start: start[0])
    )
    + ")"
)
# Each format has so many characters in one piece.
_LONG = re.compile(r"[^\s\"'`<>(){}\[\],;|]{16,}")


def long_words(text: str) -> str:
    """Each piece of the text that is long enough to be a secret of some format, once, in lines."""
    return "\n".join(set(_LONG.findall(text)))


def spans(text: str, long: str) -> Iterator[tuple[int, int, str]]:
    """Where the secrets of known formats begin and end, and what they are. `long` are the long words of the text."""
    if starts := set(_STARTS.findall(long)):
        for shape in _PREFIXED:
            if shape.start in starts or shape.start.startswith(tuple(starts)):
                yield from _prefixed(shape, text)
    for each in _HOLDING:
        if any(hint in text for hint in each.hints):
            yield from _held(each, text)
    if _DISCORD.pattern.search(long):
        yield from _held(_DISCORD, text)


def _held(shape: _Holding, text: str) -> Iterator[tuple[int, int, str]]:
    group = "secret" if "secret" in shape.pattern.groupindex else 0
    return ((*found.span(group), shape.name) for found in shape.pattern.finditer(text))


def _prefixed(shape: _Prefixed, text: str) -> Iterator[tuple[int, int, str]]:
    at = text.find(shape.start)
    while at >= 0:
        rest = shape.rest.match(text, at + len(shape.start))
        alone = at == 0 or not (text[at - 1].isalnum() and text[at - 1].isascii())
        if rest is not None and alone and not _is_identifier(shape.start, rest[0]):
            yield at, rest.end(), shape.name
        at = text.find(shape.start, at + len(shape.start))


def _is_identifier(start: str, rest: str) -> bool:
    """Whether a short prefix only begins a name, as in `sk-loading-indicator` or `fk_orders_of_customers`."""
    return len(start) <= 4 and bool(re.search("[_-]", rest)) and is_named(rest, share=0.75)
