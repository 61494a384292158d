"""A damaged file is kept by another name, with what SQLite had beside it."""

from __future__ import annotations

from pathlib import Path

from forge.store.damaged_file import set_aside


def test_what_sqlite_keeps_beside_the_file_is_kept_by_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "forge.db"
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f"forge.db{ending}").write_text(f"damaged{ending}")
    kept = set_aside(path)
    assert kept.name.startswith("forge.db.damaged-2")
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {
        f"{kept.name}{ending}": f"damaged{ending}" for ending in ("", "-wal", "-shm")
    }
