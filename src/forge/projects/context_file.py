"""Team context in `context.md`: people edit it, and only `update_org_context` writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from forge.projects.records import Read, Records

FILE = "context.md"
_PUBLIC, _INTERNAL = "Public Context", "Internal Context"
_COMPANY = re.compile(r"# +(.+?)(?: +#+)? *")
_SECTION = re.compile(r"## +(public|internal) +context *:? *#* *", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclass(frozen=True, slots=True)
class OrgContext:
    company: str = ""
    public_context: str = ""
    internal_context: str = ""

    def to_markdown(self) -> str:
        parts = [
            f"# {self.company}\n" if self.company else "",
            f"## {_PUBLIC}\n{self.public_context}\n" if self.public_context else "",
            f"## {_INTERNAL}\n{self.internal_context}\n" if self.internal_context else "",
        ]
        return "\n".join(part for part in parts if part)


def parse(text: str | None) -> OrgContext:
    """The three sections. Text outside of them is internal: a person wrote it down for the team."""
    company, fenced = "", False
    public: list[str] = []
    internal: list[str] = []
    into = internal
    for line in (text or "").splitlines():
        fenced ^= bool(_FENCE.match(line))
        if not fenced and not company and (head := _COMPANY.fullmatch(line)):
            company = head[1]
        elif not fenced and (section := _SECTION.fullmatch(line)):
            into = public if section[1].lower() == "public" else internal
        else:
            into.append(line)
    return OrgContext(company, "\n".join(public).strip(), "\n".join(internal).strip())


def read(records: Records) -> OrgContext:
    """As the file is now: call it before every turn."""
    return parse(records.read(FILE))


def update_org_context(
    records: Records,
    *,
    company: str | None = None,
    public_context: str | None = None,
    internal_context: str | None = None,
    step: str | None = None,
) -> OrgContext:
    """Change the parts that are given; the others stay as they are in the file."""

    def change(read: Read) -> dict[str, str | bytes | None]:
        now = parse(read(FILE))
        given = {"company": company, "public_context": public_context, "internal_context": internal_context}
        new = replace(now, **{key: value.strip() for key, value in given.items() if value is not None})
        return {FILE: new.to_markdown()} if new != now else {}

    records.update(change, "context: team context updated", step=step)
    return read(records)
