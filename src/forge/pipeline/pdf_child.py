"""Runs in a process of its own: reads a PDF from standard input and writes what it says as JSON.

A PDF is a stranger's program for a page. It may loop, swell or break the library that reads it; here it only ends
this process.
"""

from __future__ import annotations

import io
import json
import resource
import sys


def main(library: str, pages: int, characters: int, memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    data = sys.stdin.buffer.read()
    sys.path.append(library)
    try:
        answer = _content(data, pages, characters)
    except MemoryError:
        answer = {"trouble": "memory"}
    except Exception as error:  # noqa: BLE001 - broken files raise whatever they like, and all of it means one thing
        answer = {"trouble": "broken", "detail": f"{type(error).__name__}: {error}"[:200]}
    sys.stdout.buffer.write(json.dumps(answer).encode())


def _content(data: bytes, pages: int, characters: int) -> dict[str, object]:
    from pypdf import PasswordType, PdfReader  # noqa: PLC0415 - found only after its folder was named

    reader = PdfReader(io.BytesIO(data))
    # Many files are encrypted with an empty password, only to say what may be done with them.
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        return {"trouble": "encrypted"}
    parts: list[str] = []
    starts: list[int] = []
    room, read, broken = characters, 0, 0
    for page in reader.pages[:pages]:
        read += 1
        starts.append(sum(len(part) + 2 for part in parts if part))
        try:
            text = page.extract_text()
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - one broken page is no reason to lose the others
            broken += 1
            continue
        # Broken fonts give half characters, which no file can hold.
        parts.append(text[:room].encode("utf-8", "replace").decode().replace("\0", "").strip())
        room -= len(text)
        if room <= 0:
            break
    text = "\n\n".join(filter(None, parts))
    return {"text": text, "pages": len(reader.pages), "read": read, "broken": broken, "starts": starts}


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
