"""Team context in `context.md`: people edit it, and only `update_org_context` writes it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from forge.projects import state

if TYPE_CHECKING:
    from forge.projects.records import Read, Records

FILE = "context.md"
_PUBLIC, _INTERNAL = "Public Context", "Internal Context"
_DOMAIN = re.compile(r"(?:\*\*)?Domain:(?:\*\*)? +(.+?) *", re.IGNORECASE)
_COMPANY = re.compile(r"# +(.+?)(?: +#+)? *")
_SECTION = re.compile(r"## +(public|internal) +context *:? *#* *", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class OrgContext:
    company: str = ""
    public_context: str = ""
    internal_context: str = ""
    domain: str = ""

    def to_markdown(self) -> str:
        parts = [
            f"# {self.company}\n" if self.company else "",
            f"Domain: {self.domain}\n" if self.domain else "",
            f"## {_PUBLIC}\n{self.public_context}\n" if self.public_context else "",
            f"## {_INTERNAL}\n{self.internal_context}\n" if self.internal_context else "",
        ]
        return "\n".join(part for part in parts if part)


def parse(text: str | None) -> OrgContext:
    """Name, domain and the two sections. Text outside of them is internal: a person wrote it down for the team."""
    company, domain, fenced = "", "", False
    public: list[str] = []
    internal: list[str] = []
    into = internal
    for line in (text or "").splitlines():
        fenced ^= bool(_FENCE.match(line))
        if not fenced and not company and (head := _COMPANY.fullmatch(line)):
            company = head[1]
        elif not (fenced or domain or any((*internal, *public))) and (named := _DOMAIN.fullmatch(line)):
            domain = named[1]
        elif not fenced and (section := _SECTION.fullmatch(line)):
            into = public if section[1].lower() == "public" else internal
        else:
            into.append(line)
    return OrgContext(company, "\n".join(public).strip(), "\n".join(internal).strip(), domain)


def with_context(saved: state.SavedState, context: OrgContext) -> state.SavedState:
    """The state with the team context in it; without one, as it is."""
    if context == OrgContext():
        return saved
    return replace(saved, values={**saved.values, "org_context": {**saved.values["org_context"], **asdict(context)}})


def read(records: Records) -> OrgContext:
    """As the file is now: call it before every turn."""
    return parse(records.read(FILE))


def update_org_context(
    records: Records,
    *,
    company: str | None = None,
    domain: str | None = None,
    public_context: str | None = None,
    internal_context: str | None = None,
    step: str | None = None,
) -> OrgContext:
    """Change the parts that are given; the others stay as they are in the file. `state.json` has the same."""

    def change(read: Read) -> dict[str, str | bytes | None]:
        now = parse(read(FILE))
        given = {
            "company": company,
            "domain": domain,
            "public_context": public_context,
            "internal_context": internal_context,
        }
        new = replace(now, **{key: value.strip() for key, value in given.items() if value is not None})
        if new == now:
            return {}
        saved = with_context(state.loaded(read(state.FILE)), new)
        return {FILE: new.to_markdown(), state.FILE: state.formatted(saved, now=datetime.now(UTC))}

    records.update(change, "context: team context updated", step=step)
    return read(records)
