"""Which paths may enter a repository. Checked once, here, before anything is written."""

from __future__ import annotations

import re
import unicodedata

from forge.git.errors import InvalidPath

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 2048

_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
# Characters that HFS+ ignores in names: with them `.git` can be spelled invisibly.
_IGNORED = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]")
_SHORT_GIT = re.compile(r"git~[0-9]+", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def checked(path: str) -> str:
    """`path` itself if a new file may have this name on every platform; else `InvalidPath`."""
    readable(path)
    for name in path.split("/"):
        complaint = _name_complaint(name)
        if complaint:
            raise _invalid(path, complaint)
    return path


def readable(path: str) -> str:
    """`path` itself if it can name a file in some tree, however oddly named; else `InvalidPath`."""
    if not isinstance(path, str):
        raise InvalidPath(f"A path is text, not {type(path).__name__}.")
    if not path:
        raise InvalidPath("The path is empty.", hint="Name a file, such as src/app.py.")
    if "\0" in path:
        raise _invalid(path, "it contains a NUL character")
    if path.startswith("/"):
        raise _invalid(path, "it is absolute; paths start at the root of the repository")
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH_BYTES:
        raise _invalid(path, f"it is longer than {MAX_PATH_BYTES} bytes")
    for name in path.split("/"):
        if name in ("", ".", ".."):
            raise _invalid(path, f"`{name}` is not a name" if name else "it has an empty part")
        if is_git_directory(name):
            raise _invalid(path, "it leads into a git directory")
    return path


def is_git_directory(name: str) -> bool:
    """Whether some file system would take `name` for `.git`."""
    plain = _IGNORED.sub("", unicodedata.normalize("NFKC", name)).split(":", 1)[0].rstrip(". ")
    return plain.casefold() == ".git" or _SHORT_GIT.fullmatch(plain) is not None


def folded(name: str) -> str:
    """The name as a file system sees it that ignores case and Unicode spelling."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _name_complaint(name: str) -> str:
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    if size > MAX_NAME_BYTES:
        return f"a part of it is longer than {MAX_NAME_BYTES} bytes"
    if _CONTROL.search(name):
        return "it contains a control character"
    if _IGNORED.search(name):
        return "it contains an invisible character"
    if "\\" in name:
        return "it contains a backslash; use / between folders"
    if ":" in name:
        return "it contains a colon, which Windows cannot store"
    if name.endswith((".", " ")) or name.startswith(" "):
        return "a part of it begins with a space or ends with a space or a dot"
    if _DEVICES.fullmatch(name):
        return f"`{name}` is a device name on Windows"
    return ""


def _invalid(path: str, why: str) -> InvalidPath:
    shown = path if len(path) <= 80 else f"{path[:77]}..."
    return InvalidPath(f"{shown!r} is not a usable path: {why}.", hint="Choose another name for the file.")
