"""Files that callers come back for: whole or not there, in bounded room, for a bounded time."""

import os
import stat
import time
from pathlib import Path

import pytest

from api.settings import Files
from api.shelf import Parcel, Shelf

MIB = 1 << 20


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(Files(folder=tmp_path / "kept", most_bytes=MIB, age_s=60))


def kept(shelf: Shelf, data: bytes = b"sound", beside: bytes | None = None) -> Parcel:
    parcel = shelf.parcel(".wav")
    parcel.write(data)
    parcel.finish(beside=beside)
    return parcel


def found(shelf: Shelf, parcel: Parcel) -> bytes | None:
    path = shelf.find(parcel.name)
    return path.read_bytes() if path else None


def age(shelf: Shelf, parcel: Parcel, by_s: float) -> None:
    path = shelf.find(parcel.name)
    assert path
    then = time.time() - by_s
    os.utime(path, (then, then))


def files(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "kept").iterdir())


def test_a_file_is_found_when_it_is_whole_and_not_before(shelf: Shelf, tmp_path: Path) -> None:
    parcel = shelf.parcel(".mp3")
    parcel.write(b"so")
    parcel.write(b"und")
    assert found(shelf, parcel) is None
    parcel.finish([(0, b"S")], beside=b"{}")
    assert found(shelf, parcel) == b"Sound"
    assert files(tmp_path) == sorted([parcel.name, f"{parcel.name}.json"])
    parcel.discard()
    assert found(shelf, parcel) == b"Sound"


def test_what_is_not_finished_leaves_nothing(shelf: Shelf, tmp_path: Path) -> None:
    parcel = shelf.parcel(".mp3")
    parcel.write(b"so")
    parcel.discard()
    parcel.write(b"und")
    parcel.finish()
    assert files(tmp_path) == []


def test_nobody_else_on_the_machine_can_read_them(shelf: Shelf, tmp_path: Path) -> None:
    path = shelf.find(kept(shelf).name)
    assert path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700


def test_names_cannot_be_guessed_and_lead_nowhere_else(shelf: Shelf, tmp_path: Path) -> None:
    assert len({shelf.parcel(".mp3").name for _ in range(100)}) == 100
    (tmp_path / "secret.txt").write_text("x")
    name = kept(shelf).name
    for wrong in (
        "",
        ".",
        "..",
        "../secret.txt",
        "secret.txt",
        f"../kept/{name}",
        f"{name}/",
        name + "\n",
        name[1:],
    ):
        assert shelf.find(wrong) is None


def test_an_old_file_is_not_found_and_goes_with_the_next_sweep(shelf: Shelf, tmp_path: Path) -> None:
    old, fresh = kept(shelf), kept(shelf)
    age(shelf, old, 61)
    assert found(shelf, old) is None
    shelf.sweep()
    assert files(tmp_path) == [fresh.name]


def test_the_oldest_make_room(shelf: Shelf) -> None:
    parcels = [kept(shelf, bytes(MIB // 4)) for _ in range(3)]
    for at, parcel in enumerate(parcels):
        age(shelf, parcel, 30 - at)
    last = kept(shelf, bytes(MIB // 2))
    shelf.sweep()
    assert [found(shelf, parcel) is not None for parcel in (*parcels, last)] == [False, True, True, True]


def test_one_that_is_too_large_is_given_up_and_harms_no_answer(shelf: Shelf, tmp_path: Path) -> None:
    parcel = shelf.parcel(".wav")
    for _ in range(10):
        parcel.write(bytes(MIB))
    assert parcel.is_lost
    parcel.finish()
    assert files(tmp_path) == []
    assert found(shelf, kept(shelf)) == b"sound"


def test_what_a_worker_left_when_it_was_killed_goes_when_it_is_old(shelf: Shelf, tmp_path: Path) -> None:
    left = shelf.parcel(".mp3")
    left.write(b"so")
    path = tmp_path / "kept" / f"{left.name}.part"
    shelf.sweep()
    assert path.exists()
    os.utime(path, (0, 0))
    shelf.sweep()
    assert not path.exists()
    left.discard()


def test_without_a_folder_nothing_is_kept_or_found() -> None:
    shelf = Shelf(Files())
    parcel = kept(shelf)
    assert parcel.is_lost
    assert shelf.find(parcel.name) is None
    shelf.sweep()


def test_two_shelves_in_one_folder_serve_each_others(shelf: Shelf, tmp_path: Path) -> None:
    other = Shelf(Files(folder=tmp_path / "kept", most_bytes=MIB, age_s=60))
    assert found(other, kept(shelf)) == b"sound"
