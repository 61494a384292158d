"""Documents of Google Drive become files; the token comes from a signed grant, and failures become reasons."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import google.oauth2.credentials
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from forge.connectors import ConnectorMisconfigured, ConnectorUnavailable
from forge.connectors.google_drive import GoogleDrive, document_id, google_drive
from tests.support.connector_servers import EMAIL, DriveFile, DriveServer, Said, drive_error

ID = "1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms"
URL = f"https://docs.google.com/document/d/{ID}/edit?tab=t.0#heading=h.1"
DOCUMENT = "application/vnd.google-apps.document"
SHEET = "application/vnd.google-apps.spreadsheet"
SLIDES = "application/vnd.google-apps.presentation"
USER = {"type": "authorized_user", "client_id": "id", "client_secret": "geheim-geheim", "refresh_token": "1//refresh"}


@pytest.fixture
def credentials(drive_server: DriveServer, tmp_path: Path) -> Path:
    path = tmp_path / "account.json"
    path.write_text(json.dumps(drive_server.service_account()))
    return path


@pytest.fixture
def drive(drive_server: DriveServer, credentials: Path) -> GoogleDrive:
    return google_drive({"enabled": True, "credentials_path": str(credentials), "base_url": drive_server.url})


@pytest.mark.req("P-03")
@pytest.mark.parametrize(
    ("file", "name", "content"),
    [
        (DriveFile(DOCUMENT, {"text/markdown": b"# Plan"}), f"gdrive_{ID}.md", b"# Plan"),
        (DriveFile(DOCUMENT, {"text/plain": b"Plan"}), f"gdrive_{ID}.md", b"Plan"),
        (DriveFile(SHEET, {"text/csv": b"a,b\n1,2\n"}), f"gdrive_{ID}.csv", b"a,b\n1,2\n"),
        (DriveFile(SLIDES, {"text/plain": b"One slide"}), f"gdrive_{ID}.md", b"One slide"),
        (DriveFile("text/plain", {"": b"notes"}), f"gdrive_{ID}.md", b"notes"),
        (DriveFile("application/json", {"": b"{}"}), f"gdrive_{ID}.md", b"{}"),
        (DriveFile("application/pdf", {"": b"%PDF" * 1_500_000}), f"gdrive_{ID}.pdf", b"%PDF" * 1_500_000),
    ],
)
@pytest.mark.asyncio
async def test_documents_are_saved_in_a_form_that_is_read(
    drive: GoogleDrive, drive_server: DriveServer, tmp_path: Path, file: DriveFile, name: str, content: bytes
) -> None:
    drive_server.files[ID] = file
    pulled = await drive.pull(URL, tmp_path / "resources")
    assert (pulled.saved, pulled.failed) == ((name,), ())
    assert (tmp_path / "resources" / name).read_bytes() == content
    assert [asked.path for asked in drive_server.asked].count("/token") == 1


@pytest.mark.asyncio
async def test_a_shortcut_leads_to_its_document(drive: GoogleDrive, drive_server: DriveServer, tmp_path: Path) -> None:
    target = {"shortcutDetails": {"targetId": "the-real-one"}}
    drive_server.files[ID] = DriveFile("application/vnd.google-apps.shortcut", more=target)
    drive_server.files["the-real-one"] = DriveFile(DOCUMENT, {"text/markdown": b"here"})
    pulled = await drive.pull(ID, tmp_path)
    assert pulled.saved == (f"gdrive_{ID}.md",)


@pytest.mark.req("P-03")
@pytest.mark.asyncio
async def test_a_person_s_stored_credentials_work_too(
    drive_server: DriveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library takes Google's own endpoint, whatever the file says.
    monkeypatch.setattr(google.oauth2.credentials, "_GOOGLE_OAUTH2_TOKEN_ENDPOINT", drive_server.token_uri)
    (tmp_path / "user.json").write_text(json.dumps(USER))
    drive_server.files[ID] = DriveFile(DOCUMENT, {"text/markdown": b"mine"})
    made = google_drive({"credentials_path": str(tmp_path / "user.json"), "base_url": drive_server.url})
    assert (await made.pull(URL, tmp_path)).saved == (f"gdrive_{ID}.md",)
    assert "geheim" not in repr(made)


@pytest.mark.req("P-03")
@pytest.mark.asyncio
async def test_a_key_that_google_does_not_know_is_refused(
    drive: GoogleDrive, drive_server: DriveServer, tmp_path: Path
) -> None:
    drive_server.files[ID] = DriveFile(DOCUMENT, {"text/markdown": b"secret"})
    drive_server.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pulled = await drive.pull(URL, tmp_path / "resources")
    assert pulled.failed == (f"{URL}: Google does not accept the credentials",)
    assert not (tmp_path / "resources").exists()


@pytest.mark.req("P-03")
@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (None, f"it does not exist, or it is not shared with {EMAIL}"),
        (DriveFile("application/vnd.google-apps.folder"), "a folder of Google Drive cannot be pulled; name a document"),
        (DriveFile("video/mp4"), "its format is not read (video/mp4)"),
        (DriveFile("text/plain", more={"size": "50000001"}), "it is larger than 50 MB"),
        (DriveFile("text/plain", {"": b"  \n"}), "it is empty"),
        (DriveFile(SHEET), "Google answered with status 400"),
    ],
)
@pytest.mark.asyncio
async def test_what_cannot_be_pulled_is_told_with_its_reason(
    drive: GoogleDrive, drive_server: DriveServer, tmp_path: Path, file: DriveFile | None, reason: str
) -> None:
    if file:
        drive_server.files[ID] = file
    assert (await drive.pull(URL, tmp_path)).failed == (f"{URL}: {reason}",)


@pytest.mark.req("P-03")
@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (drive_error(403, "insufficientFilePermissions", "no"), f"{EMAIL} may not read it"),
        (drive_error(403, "exportSizeLimitExceeded", "no"), "it is larger than Google exports"),
        (drive_error(403, "accessNotConfigured", "no"), "the Drive API is not enabled in the project"),
        (Said(418, b"<html>"), "Google answered with status 418"),
        (Said(200, b"no JSON"), "Google answered with something unexpected"),
    ],
)
@pytest.mark.asyncio
async def test_answers_of_google_become_reasons(
    drive: GoogleDrive, drive_server: DriveServer, tmp_path: Path, failure: Said, reason: str
) -> None:
    drive_server.failures += [Said(body={"access_token": "ya29.x", "expires_in": 3600}), failure]
    pulled = await drive.pull(URL, tmp_path)
    assert pulled.failed[0].startswith(f"{URL}: {reason}")
    assert "PRIVATE KEY" not in pulled.failed[0]


@pytest.mark.asyncio
async def test_a_busy_google_is_asked_again(
    drive: GoogleDrive,
    drive_server: DriveServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("random.random", lambda: 0.0)  # the library waits for a random part of some seconds
    drive_server.files[ID] = DriveFile(DOCUMENT, {"text/markdown": b"here"})
    granted = drive_server.answer
    busy = [drive_error(429, "rateLimitExceeded", "slow down"), drive_error(503, "backendError", "later")]
    monkeypatch.setattr(
        drive_server, "answer", lambda asked: busy.pop() if busy and asked.path != "/token" else granted(asked)
    )
    assert (await drive.pull(URL, tmp_path)).saved == (f"gdrive_{ID}.md",)
    assert len(drive_server.asked) == 5
    assert capfd.readouterr() == ("", ""), "the library prints nothing"


@pytest.mark.req("P-03")
@pytest.mark.asyncio
async def test_a_silent_google_and_a_missing_one_are_failures(
    drive_server: DriveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.random", lambda: 0.0)
    silence = threading.Event()
    drive_server.failures += [Said(wait=silence)] * 20
    info = drive_server.service_account()
    pulled = await GoogleDrive(info, drive_server.url, request_seconds=0.05).pull(URL, tmp_path)
    silence.set()
    assert pulled.failed == (f"{URL}: Google did not answer in time",)
    gone = info | {"token_uri": "http://127.0.0.1:1/token"}
    pulled = await GoogleDrive(gone, drive_server.url).pull(URL, tmp_path)
    assert pulled.failed[0].startswith(f"{URL}: Google cannot be reached")


@pytest.mark.req("P-03")
@pytest.mark.parametrize(
    "target",
    [
        URL,
        f"docs.google.com/spreadsheets/d/{ID}",
        f"https://docs.google.com/document/u/1/d/{ID}/",
        f"https://docs.google.com/presentation/d/{ID}/edit#slide=id.p",
        f"https://drive.google.com/file/d/{ID}/view?usp=sharing",
        f"https://drive.google.com/open?id={ID}",
        ID,
    ],
)
def test_document_ids_are_found_in_every_shape_of_address(target: str) -> None:
    assert GoogleDrive({}).takes(target)
    assert document_id(target) == ID


@pytest.mark.parametrize(
    "target", ["https://example.org/docs.google.com/", "https://docs.google.com.evil.example/", "0" * 32, "word", ""]
)
def test_other_addresses_are_left_to_others(target: str) -> None:
    assert not GoogleDrive({}).takes(target)


@pytest.mark.asyncio
async def test_an_address_without_an_id_is_a_failure(tmp_path: Path) -> None:
    target = "https://docs.google.com/document/d/e/2PACX-1vQ/pub"
    assert (await GoogleDrive({}).pull(target, tmp_path)).failed == (f"{target}: the address has no document id in it",)


@pytest.mark.req("P-17")
@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (None, "cannot be read: no such file or directory"),
        ("{", "is not JSON"),
        ("[]", "neither a service account's key nor"),
        ('{"type": "service_account", "client_email": "a@b"}', "neither a service account's key nor"),
        ('{"installed": {"client_id": "x"}}', "names a program, not an account"),
    ],
)
def test_unusable_credentials_stop_the_start(tmp_path: Path, content: str | None, hint: str) -> None:
    path = tmp_path / "account.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConnectorMisconfigured) as caught:
        google_drive({"enabled": True, "credentials_path": str(path)})
    assert caught.value.message == "Connector 'google_drive' is enabled but missing required credentials."
    assert hint in caught.value.hint


@pytest.mark.req("P-17")
@pytest.mark.parametrize("options", [{"enabled": True}, {"credentials_path": ""}])
def test_no_credentials_stop_the_start(options: dict[str, Any]) -> None:
    with pytest.raises(ConnectorMisconfigured) as caught:
        google_drive(options)
    assert caught.value.message == "Connector 'google_drive' is enabled but missing required credentials."
    assert "credentials_path" in caught.value.hint


def test_missing_libraries_are_named(credentials: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.connectors.google_drive.find_spec", lambda _: None)
    with pytest.raises(ConnectorUnavailable) as caught:
        google_drive({"credentials_path": str(credentials)})
    assert "forge-workspace[google-drive]" in caught.value.hint


@pytest.mark.asyncio
async def test_a_damaged_key_is_a_failure(drive_server: DriveServer, tmp_path: Path) -> None:
    info = drive_server.service_account() | {"private_key": "-----BEGIN PRIVATE KEY-----\ngarbage"}
    pulled = await GoogleDrive(info, drive_server.url).pull(URL, tmp_path)
    assert pulled.failed == (f"{URL}: the credentials file is damaged",)
