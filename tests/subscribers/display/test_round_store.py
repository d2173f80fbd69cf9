"""The store of rounds bears any round, and any damage to its file: what cannot be written is in
memory, and what has gone wrong is logged once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from subscribers.display import round_store
from subscribers.display.round_store import RoundStore
from subscribers.display.rounds import PlayedRound

TABLE, FILE = "ruleta-1", "rounds.sqlite3"
FILES = (FILE, f"{FILE}-wal")
"""The stored rounds. The third file, ``-shm``, is memory that its processes share."""
BEGIN, END = "2026-03-20T00:00:00Z", "2026-03-21T00:00:00Z"


def result(number: int, minute: int = 0, session: int = 1) -> PlayedRound:
    return PlayedRound(
        session=session, round=number, kind="result", time=f"2026-03-20T10:{minute:02}:00Z"
    )


def overwritten(folder: Path) -> None:
    for path in (folder / name for name in FILES):
        path.write_bytes(b"no database " * 2000)


def cut(folder: Path) -> None:
    for path in (folder / name for name in FILES):
        with path.open("r+b") as file:
            file.truncate(100)


def foreign(folder: Path) -> None:
    with sqlite3.connect(folder / FILE) as file:
        file.execute("DROP TABLE rounds")


def no_rounds(folder: Path) -> None:
    with sqlite3.connect(folder / FILE) as file:
        file.execute("UPDATE rounds SET body = 'x'")


@pytest.mark.parametrize("damage", [overwritten, cut, foreign, no_rounds])
def test_it_bears_a_file_that_is_damaged_while_it_is_open(
    damage: Callable[[Path], None], tmp_path: Path
) -> None:
    log: list[tuple[str, str]] = []
    store = RoundStore(tmp_path, lambda what, why: log.append((what, why)))
    store.store(TABLE, result(1))
    damage(tmp_path)
    for number in range(2, 30):
        store.store(TABLE, result(number, number))
        assert store.latest(TABLE, 1) == (result(number, number),)
        assert store.between(TABLE, BEGIN, END)[-1] == result(number, number)
        assert store.times(TABLE)
    assert len(log) <= 1
    store.close()
    again = RoundStore(tmp_path)
    again.store(TABLE, result(31))
    assert again.latest(TABLE, 1) == (result(31),)


@pytest.mark.parametrize("number", [1 << 63, 10**30, -(10**30)])
def test_it_bears_numbers_of_any_size(number: int, tmp_path: Path) -> None:
    log: list[tuple[str, str]] = []
    store = RoundStore(tmp_path, lambda what, why: log.append((what, why)))
    store.store(TABLE, result(number))
    store.store(TABLE, result(1, 1, session=number))
    for honest in range(1, 10):
        store.store(TABLE, result(honest, honest))
    assert len(log) == 1
    assert {result(number), *map(result, range(1, 10), range(1, 10))} < {*store.latest(TABLE, 99)}
    assert store.trouble is None
    store.close()
    assert len(RoundStore(tmp_path).latest(TABLE, 99)) == 9


def test_what_could_not_be_written_is_written_once_that_is_possible(tmp_path: Path) -> None:
    log: list[tuple[str, str]] = []
    store = RoundStore(tmp_path, lambda what, why: log.append((what, why)))
    with sqlite3.connect(tmp_path / FILE) as file:
        file.execute(
            "CREATE TRIGGER full BEFORE INSERT ON rounds BEGIN SELECT RAISE(FAIL, 'full'); END"
        )
    told = [result(number, number) for number in range(1, 6)]
    for each in told:
        store.store(TABLE, each)
    assert [why for _, why in log] == ["IntegrityError: full"]
    assert store.trouble == "IntegrityError: full"
    assert store.latest(TABLE, 3) == (*told[-3:],)
    assert store.between(TABLE, BEGIN, END) == (*told,)
    assert store.times(TABLE) == [told[0].time]
    with sqlite3.connect(tmp_path / FILE) as file:
        file.execute("DROP TRIGGER full")
    store.store(TABLE, result(6, 6))
    assert store.trouble is None
    store.close()
    assert RoundStore(tmp_path).latest(TABLE, 99) == (*told, result(6, 6))


def test_it_bears_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log: list[tuple[str, str]] = []
    store = RoundStore(tmp_path / "file" / "state", lambda what, why: log.append((what, why)))
    store.store(TABLE, result(1))
    store.store(TABLE, result(2))
    assert len(log) == 1
    assert store.trouble is not None
    assert store.latest(TABLE, 9) == (result(1), result(2))
    store.close()


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_store, "MAX_UNWRITTEN", 3)
    log: list[tuple[str, str]] = []
    store = RoundStore(tmp_path, lambda what, why: log.append((what, why)))
    for number in range(5):
        store.store(TABLE, result(10**30 + number))
    assert [each.round - 10**30 for each in store.latest(TABLE, 9)] == [2, 3, 4]
