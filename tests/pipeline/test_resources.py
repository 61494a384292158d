"""What lies in `resources/` is read, looked at, or named with the reason why not."""

from __future__ import annotations

import io
import os
import socket
import zlib
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from forge.pipeline import pdf
from forge.pipeline.answerer import Picture
from forge.pipeline.messages import BrainDumpTooShort, check, links, words
from forge.pipeline.resources import Resource, ResourceKind, ResourceRefused, Skipped, add, read

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 20
GIF = b"GIF89a" + b"\0" * 20
WEBP = b"RIFF\x00\x00\x00\x00WEBP" + b"\0" * 20
ROOT = os.geteuid() == 0


def pdf_of(*contents: bytes, pages: int | None = None) -> bytes:
    """A PDF with these content streams, one a page; with `pages`, that many pages share the first."""
    font = b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    streams = {}
    for content in contents:
        packed = zlib.compress(content, 9)
        objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed))
        streams[len(objects)] = content
    shown = [next(iter(streams))] * pages if pages else list(streams)
    kids = []
    for number in shown:
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources %b /Contents %d 0 R >>" % (font, number)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%b] >>" % (len(kids), b" ".join(kids))
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))


def saying(text: str) -> bytes:
    return b"BT /F1 12 Tf 72 720 Td (%b) Tj ET" % text.encode()


def encrypted(data: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(password, "owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def put(directory: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@pytest.mark.req("P-03")
def test_text_and_code_are_read_in_the_usual_encodings(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "a.md": "# Café".encode(),
            "b.txt": "\ufeffBig".encode(),
            "c.txt": "Ünder".encode("utf-16"),
            "d.csv": "a;b".encode("utf-16-le"),
            "e.txt": "Straße".encode("latin-1"),
            "src/f.py": b"print()",
            "Makefile": b"all:",
            "notes.xyz": b"known by its content",
            "g.svg": b"<svg/>",
        },
    )
    found = read(tmp_path, vision=False)
    assert found.skipped == ()
    assert sorted(found.texts, key=lambda each: each.path) == [
        Resource("Makefile", ResourceKind.CODE, "all:", 4),
        Resource("a.md", ResourceKind.TEXT, "# Café", 7),
        Resource("b.txt", ResourceKind.TEXT, "Big", 6),
        Resource("c.txt", ResourceKind.TEXT, "Ünder", 12, "read as UTF-16"),
        Resource("d.csv", ResourceKind.TEXT, "a;b", 6, "read as UTF-16"),
        Resource("e.txt", ResourceKind.TEXT, "Straße", 6, "read as Latin-1: it is not UTF-8"),
        Resource("g.svg", ResourceKind.TEXT, "<svg/>", 6),
        Resource("notes.xyz", ResourceKind.TEXT, "known by its content", 20),
        Resource("src/f.py", ResourceKind.CODE, "print()", 7),
    ]


@pytest.mark.req("P-03")
def test_what_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    resources = tmp_path / "resources"
    put(
        resources,
        {
            ".gitkeep": b"",
            ".env": b"KEY=1",
            ".hidden/x.txt": b"x",
            "blank.txt": b" \n",
            "empty.txt": b"",
            "letter.docx": b"PK\x03\x04",
            "film.mp4": b"\0\0",
            "noise.xyz": b"\xfd\x80\xff",
            "noise.txt": b"a\0b\xff",
            "big.txt": b"x" * 1_000_001,
        },
    )
    put(tmp_path, {"secret.txt": b"secret", "elsewhere/x.txt": b"x"})
    (resources / "inside.txt").symlink_to("sub/real.txt")
    put(resources, {"sub/real.txt": b"real"})
    (resources / "out.txt").symlink_to(tmp_path / "secret.txt")
    (resources / "gone.txt").symlink_to("nowhere.txt")
    (resources / "linked").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(resources / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(resources / "socket.txt"))
        found = read(resources, vision=False, max_file_size_mb=1)
    assert {each.path: each.reason for each in found.skipped} == {
        ".env": "hidden file",
        ".hidden/": "hidden folder",
        "big.txt": "larger than 1 MB (1,000,001 bytes)",
        "blank.txt": "empty file",
        "empty.txt": "empty file",
        "film.mp4": "unsupported format: mp4 (video)",
        "gone.txt": "cannot be opened: no such file or directory",
        "letter.docx": "broken Word document: it cannot be read",
        "linked/": "symbolic link to a folder",
        "noise.txt": "unsupported format: not text, not a PDF and not an image",
        "noise.xyz": "unsupported format: not text, not a PDF and not an image",
        "out.txt": "symbolic link that leads out of the resources",
        "pipe.txt": "not a regular file",
        "socket.txt": "cannot be opened: no such device or address",
    }
    assert [each.path for each in found.texts] == ["inside.txt", "sub/real.txt"]


@pytest.mark.skipif(ROOT, reason="root may read everything")
def test_a_file_without_permission_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"a.txt": b"a"})
    (tmp_path / "a.txt").chmod(0)
    assert read(tmp_path, vision=False).skipped == (Skipped("a.txt", "cannot be opened: permission denied"),)


def test_no_directory_is_nothing(tmp_path: Path) -> None:
    found = read(tmp_path / "resources", vision=True)
    assert (found.texts, found.pictures, found.skipped) == ((), (), ())


def test_names_of_any_bytes_can_be_shown(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"x")
    assert [each.path for each in read(tmp_path, vision=False).texts] == ["caf\ufffd.txt"]


@pytest.mark.req("P-03")
def test_pictures_go_to_agents_that_can_see(tmp_path: Path) -> None:
    put(tmp_path, {"a.png": PNG, "b.JPG": JPEG, "c.gif": GIF, "d.webp": WEBP, "e.jpeg": PNG, "f.png": b"<html>"})
    found = read(tmp_path, vision=True)
    assert [(each.path, each.media_type) for each in found.pictures] == [
        ("a.png", "image/png"),
        ("b.JPG", "image/jpeg"),
        ("c.gif", "image/gif"),
        ("d.webp", "image/webp"),
        ("e.jpeg", "image/png"),
    ]
    assert found.pictures[0] == Picture("a.png", "image/png", PNG)
    assert found.skipped == (Skipped("f.png", "not an image, whatever its name says"),)
    blind = read(tmp_path, vision=False)
    assert blind.pictures == ()
    assert {each.reason for each in blind.skipped} == {"image: the agent cannot look at images"}
    assert len(blind.skipped) == 6


def test_pictures_have_a_limit_together(tmp_path: Path) -> None:
    put(tmp_path, {"a.png": PNG + b"\0" * 15_000_000, "b.png": PNG + b"\0" * 15_000_000, "c.png": PNG})
    found = read(tmp_path, vision=True)
    assert [each.path for each in found.pictures] == ["a.png", "c.png"]
    assert found.skipped == (Skipped("b.png", "no room: all images together may have 20 MB"),)


@pytest.mark.req("P-03")
def test_the_text_of_a_pdf_is_read_and_a_scanned_one_is_skipped(tmp_path: Path) -> None:
    text = pdf_of(saying("First page"), saying("Second page"))
    put(
        tmp_path,
        {
            "a.pdf": text,
            "b.pdf": pdf_of(b"q 1 0 0 1 0 0 cm Q"),
            "c.pdf": encrypted(text, "geheim"),
            "d.pdf": encrypted(text, ""),
            "e.pdf": b"%PDF-1.7 torn off",
        },
    )
    found = read(tmp_path, vision=False)
    assert [(each.path, each.kind, each.text, each.note) for each in found.texts] == [
        ("a.pdf", ResourceKind.PDF, "First page\n\nSecond page", ""),
        ("d.pdf", ResourceKind.PDF, "First page\n\nSecond page", ""),
    ]
    reasons = {each.path: each.reason for each in found.skipped}
    assert reasons["b.pdf"] == "scanned PDF: no text in it"
    assert reasons["c.pdf"] == "encrypted PDF: it needs a password"
    assert reasons["e.pdf"].startswith("broken PDF: it cannot be read")


@pytest.mark.req("P-03")
def test_a_hostile_pdf_is_given_up_in_time() -> None:
    slow = pdf_of(saying("x") * 50_000, pages=400)
    assert len(slow) < 200_000
    found = pdf.extract(slow, pdf.Bounds(seconds=1.5, characters=10**9))
    assert found == pdf.Extract(reason="PDF given up: reading it takes longer than 1.5 seconds")


def test_long_pdfs_are_read_in_part() -> None:
    three = pdf_of(saying("one"), saying("two"), saying("three"))
    assert pdf.extract(three, pdf.Bounds(pages=2)) == pdf.Extract(
        "one\n\ntwo", "only the first 2 of 3 pages were read", pages=(0, 5)
    )
    assert pdf.extract(three, pdf.Bounds(characters=4)) == pdf.Extract(
        "one\n\nt", "only the first 2 of 3 pages were read", pages=(0, 5)
    )


def test_a_page_that_swells_is_left_out_and_the_others_are_read() -> None:
    torn = pdf_of(saying("one"), b" " * 100_000_000, saying("three"))
    assert pdf.extract(torn) == pdf.Extract("one\n\nthree", "1 of 3 pages is broken", pages=(0, 5, 5))


@pytest.mark.req("P-03")
def test_what_exceeds_the_budget_is_cut_from_the_longest(tmp_path: Path) -> None:
    put(tmp_path, {"a.txt": b"a" * 1_000, "b.txt": b"b" * 50, "c.txt": b"c" * 600, "d.txt": b"d" * 10})
    found = read(tmp_path, vision=False, text_budget=460)
    assert [(each.path, len(each.text), each.note) for each in found.texts] == [
        ("a.txt", 200, "cut: the first 200 of 1,000 characters"),
        ("b.txt", 50, ""),
        ("c.txt", 200, "cut: the first 200 of 600 characters"),
        ("d.txt", 10, ""),
    ]


def test_there_is_an_end_to_the_number_of_files(tmp_path: Path) -> None:
    put(tmp_path, {f"{number:04}.txt": b"x" for number in range(1_002)})
    found = read(tmp_path, vision=False)
    assert len(found.texts) == 1_000
    assert found.skipped == (Skipped(".", "more than 1000 files: the rest is left out"),)


@pytest.mark.req("P-03")
def test_a_person_s_file_is_copied_under_a_free_name(tmp_path: Path) -> None:
    source = tmp_path / "notes.tar.gz"
    source.write_bytes(b"one")
    resources = tmp_path / "project" / "resources"
    assert add(resources, source) == "notes.tar.gz"
    source.write_bytes(b"two")
    assert add(resources, source) == "notes.tar-2.gz"
    (resources / "notes.tar-3.gz").symlink_to(tmp_path / "outside")
    assert add(resources, source) == "notes.tar-4.gz"
    assert (resources / "notes.tar.gz").read_bytes() == b"one"
    assert (resources / "notes.tar-2.gz").read_bytes() == b"two"
    assert not (tmp_path / "outside").exists()
    assert len(list(resources.iterdir())) == 4, "nothing else is left there"


@pytest.mark.req("P-03")
def test_what_is_no_file_or_too_large_is_refused(tmp_path: Path) -> None:
    put(tmp_path, {"big.txt": b"x" * 1_000_001, ".env": b"KEY=1", "empty.txt": b""})
    os.mkfifo(tmp_path / "pipe")
    resources = tmp_path / "resources"
    for source, said in [
        (tmp_path, "a folder, not a file"),
        (tmp_path / "pipe", "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "missing.txt", "cannot be read: no such file or directory"),
        (tmp_path / "big.txt", "larger than 1 MB"),
        (tmp_path / "empty.txt", "empty file"),
        (tmp_path / ".env", "is a hidden file"),
    ]:
        with pytest.raises(ResourceRefused, match=said) as caught:
            add(resources, source, max_file_size_mb=1)
        assert caught.value.code == "resource_refused"
        assert caught.value.hint
    assert not resources.exists()


@pytest.mark.req("P-03")
def test_a_brain_dump_needs_ten_words_in_its_messages() -> None:
    assert check(["a plan for a wedding", "in June with fifty guests"]) == 10
    with pytest.raises(BrainDumpTooShort, match="7 words; at least 10") as caught:
        check(["a plan - for -- a wedding", "in June !"])
    assert caught.value.message == "The brain dump has 7 words; at least 10 are needed."
    assert check(["two words"], minimum=2) == 2
    assert words(["計画を立てる", "It's 5 o'clock", ""]) == 9


@pytest.mark.req("P-03")
def test_links_are_found_without_the_sentence_around_them() -> None:
    text = (
        "See https://notion.so/a-1, (https://docs.google.com/document/d/x/edit), [this](http://a.example/b_(c)) and "
        "<HTTPS://d.example>. Again: https://notion.so/a-1! Not ftp://x or https:// or notion.so/x. **https://e.example/**"
    )
    assert links(text) == (
        "https://notion.so/a-1",
        "https://docs.google.com/document/d/x/edit",
        "http://a.example/b_(c)",
        "HTTPS://d.example",
        "https://e.example/",
    )
