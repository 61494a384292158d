"""What is installed where commands of a project run: asked inside the same sandbox that runs its tests."""

from __future__ import annotations

import tempfile
from pathlib import Path

from forge.sandbox import Limits, SandboxFailed, SandboxUnavailable, run

_SECONDS = 20
_PROGRAMS = (
    "python3",
    "node",
    "npm",
    "go",
    "cargo",
    "java",
    "mvn",
    "gradle",
    "ruby",
    "php",
    "gcc",
    "make",
    "git",
)
_PACKAGES = 150
_AROUND = "\"'(),"
_ASK = f"""
for name in {" ".join(_PROGRAMS)}; do
  if path=$(command -v $name 2>/dev/null); then
    case $name in
      go) version=$(go version 2>/dev/null);; java) version=$(java -version 2>&1);; npm|mvn|gradle) version=;;
      *) version=$($name --version 2>/dev/null);;
    esac
    echo "program $name $(echo "$version" | head -n 1)"
  else
    echo "lacks $name"
  fi
done
python3 -c 'from importlib.metadata import distributions
for one in distributions(): print("package", one.metadata["Name"], one.version)' 2>/dev/null
"""
_NO_NETWORK = "Commands run in a sandbox without network: what is not listed cannot be installed."


def installed(*, plain: bool) -> str:
    """Programs with their versions, what of the usual ones is not there, and Python packages."""
    with tempfile.TemporaryDirectory(prefix="forge-look-") as place:
        try:
            result = run(["sh", "-c", _ASK], Path(place), Limits(seconds=_SECONDS), plain=plain)
        except (SandboxUnavailable, SandboxFailed) as e:
            return f"No command can run on this machine: {e.message}"
    words = [line.split(None, 1) for line in result.stdout_text.splitlines() if " " in line]
    by_kind: dict[str, list[str]] = {"program": [], "lacks": [], "package": []}
    for kind, rest in words:
        by_kind.get(kind, []).append(_shortened(kind, rest))
    packages = sorted(set(by_kind["package"]), key=str.casefold)
    more = f" and {len(packages) - _PACKAGES} more" if len(packages) > _PACKAGES else ""
    lines = [
        _NO_NETWORK,
        f"Installed programs: {', '.join(by_kind['program']) or 'none found'}.",
        f"Not installed: {', '.join(by_kind['lacks'])}." if by_kind["lacks"] else "",
        f"Python packages: {', '.join(packages[:_PACKAGES]) or 'none'}{more}.",
    ]
    return "\n".join(filter(None, lines))


def _shortened(kind: str, rest: str) -> str:
    """`python3 Python 3.11.2` says the name twice."""
    name, _, told = rest.partition(" ")
    if kind == "package":
        return f"{name} {told}".strip()
    figures = next((word for word in told.split() if any(letter.isdigit() for letter in word)), "")
    return f"{name} {figures.strip(_AROUND)}".strip()
