"""Every address that lists or reads, on a repository with a branch for each kind of damage."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.support.api_server import House
from tests.support.damage import DAMAGED, GOOD, damage
from tests.support.soak.hostile.interference import RAW_WORDS

pytestmark = pytest.mark.req("G-01", "G-08", "X-02", "X-04")

LISTINGS = {
    "": (),
    "/branches": (*GOOD, *DAMAGED),
    "/branches?details=true": (*GOOD, *DAMAGED),
    "/graph": GOOD,
    "/graph?abandoned=true": GOOD,
    "/kept-branches": (),
    "/kept-branches?abandoned=true": (),
    "/merges/indicators?target=main": ("good", "zebra"),
    "/operations": (),
    "/sessions": (),
    "/commits": ("first",),
    "/commits?grep=first": ("first",),
    "/files?branch=main": ("a.txt",),
}
READS = (
    "/branches/{}",
    "/commits?rev={}",
    "/commits?rev={}&grep=hello",
    "/commits/{}",
    "/files?branch={}",
    "/files/a.txt?branch={}",
    "/files/sub/blob-gone.txt?branch={}",
    "/folders?branch={}&path=",
    "/folders?branch={}&path=sub",
    "/paths?branch={}",
    "/blame?path=a.txt&rev={}",
    "/blame?path=sub/blob-gone.txt&rev={}",
    "/diffs?old=main&new={}",
    "/diffs?old={}&new=main",
    "/patches?path=sub/blob-gone.txt&old=main&new={}",
    "/merges/indicators?target={}",
    "/session?branch={}",
    "/session/context?branch={}",
    "/session/turns?branch={}",
    "/tools?branch={}",
)


@pytest.fixture(scope="module")
def address(house: House) -> str:
    id_ = house.repository({"a.txt": "hello\n"})
    with house.client() as client:
        damage(Path(client.get(f"/api/repositories/{id_}").json()["path"]))
    return f"/api/repositories/{id_}"


def clear(answer: httpx.Response) -> httpx.Response:
    assert answer.status_code < 500 or answer.json()["code"] not in ("internal", "unexpected"), answer.text
    assert not [raw for raw in (*RAW_WORDS, "Traceback") if raw in answer.text], answer.text
    return answer


@pytest.mark.parametrize("path", LISTINGS)
def test_one_damaged_branch_hides_no_other(client: httpx.Client, address: str, path: str) -> None:
    answer = clear(client.get(address + path))
    assert answer.status_code == 200, answer.text
    assert [name for name in LISTINGS[path] if name not in answer.text] == []


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("path", READS)
def test_reading_a_damaged_branch_works_or_says_what_is_wrong(
    client: httpx.Client, address: str, path: str, name: str
) -> None:
    answer = clear(client.get(address + path.format(name)))
    assert answer.status_code == 200 or answer.json()["code"], answer.text
    assert answer.status_code != 422, f"the test asks wrongly: {answer.text}"


@pytest.mark.parametrize("name", [*DAMAGED, "good"])
def test_searching_a_damaged_branch_works_or_says_what_is_wrong(client: httpx.Client, address: str, name: str) -> None:
    answer = clear(client.post(f"{address}/searches", json={"pattern": "hello", "branch": name}))
    assert answer.status_code == 200 or answer.json()["code"], answer.text
    assert answer.status_code != 422, f"the test asks wrongly: {answer.text}"
    order = {"kind": "merge", "target": "main", "sources": [name]}
    preview = clear(client.post(f"{address}/merges/preview", json=order))
    assert preview.status_code == 200 or preview.json()["code"], preview.text
    assert preview.status_code != 422, f"the test asks wrongly: {preview.text}"
