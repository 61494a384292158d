"""Which paths may enter a repository. Checked once, here, before anything is written."""

from __future__ import annotations

import re
import unicodedata

from forge.git.errors import InvalidPath

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 2048
MAX_FOLDERS = 128

_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\..*)?", re.IGNORECASE)
# Characters that HFS+ ignores in names: with them `.git` can be spelled invisibly.
_IGNORED = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]")
_SHORT_GIT = re.compile(r"git~[0-9]+", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Unseen, or turning the text around them: with them one name can pass for another on a screen.
_INVISIBLE = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*]')


def checked(path: str) -> str:
    """`path` itself if a new file may have this name on every platform; else `InvalidPath`."""
    readable(path)
    if path.count("/") > MAX_FOLDERS:
        raise _invalid(path, f"it is more than {MAX_FOLDERS} folders deep")
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
    """Whether some file system would take `name`, or a part of it between backslashes, for `.git`."""
    if name.isascii() and "git" not in name.lower():
        return False
    shown = _IGNORED.sub("", unicodedata.normalize("NFKC", name))
    plain = (part.split(":", 1)[0].rstrip(". ") for part in shown.split("\\"))
    return any(part.casefold() == ".git" or _SHORT_GIT.fullmatch(part) for part in plain)


def is_visible(name: str) -> bool:
    """Whether `name` is Unicode that shows as what it is: nothing hidden, nothing that moves the cursor."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return not _CONTROL.search(name) and not _INVISIBLE.search(name)


def shown(name: str) -> str:
    """The name without the characters that nobody sees; some file systems ignore them."""
    return _INVISIBLE.sub("", name)


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
    if _INVISIBLE.search(name):
        return "it contains an invisible character"
    if "\\" in name:
        return "it contains a backslash; use / between folders"
    if found := _NOT_ON_WINDOWS.search(name):
        return f"it contains `{found[0]}`, which Windows cannot store"
    if name.endswith((".", " ")) or name.startswith(" "):
        return "a part of it begins with a space or ends with a space or a dot"
    if _DEVICES.fullmatch(name):
        return f"`{name}` is a device name on Windows"
    return ""


def _invalid(path: str, why: str) -> InvalidPath:
    shown = path if len(path) <= 80 else f"{path[:77]}..."
    return InvalidPath(f"{shown!r} is not a usable path: {why}.", hint="Choose another name for the file.")
