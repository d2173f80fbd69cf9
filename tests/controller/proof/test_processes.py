"""Several processes find the same in a journal as a single one, whatever was done to it."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from benchmarks.month import MonthTable, make, status_lines
from controller.cli import main
from controller.proof import pieces, processes
from controller.proof import verify as verification
from controller.proof.audit import audit
from controller.proof.evidence import Evidence
from controller.proof.findings import Audit
from controller.proof.outcome import ProofOutcome
from controller.proof.segment import folder
from controller.proof.verify import verify
from tests.conftest import cases
from tests.controller.proof.test_audit import chain_again

pytestmark = pytest.mark.usefixtures("programs")

DAY, NIGHTS, ROUNDS = 86_400, 4, 12


def evenings() -> Iterator[tuple[float, bytes]]:
    """A wheel that is switched on for some minutes around each midnight."""
    for night in range(NIGHTS):
        for after, line in status_lines(ROUNDS, night * ROUNDS):
            yield (night + 1) * DAY - ROUNDS * 30 + after, line


class Forger(MonthTable):
    """A table that continues after the second midnight with another last number than it had, so
    that all later entries match.
    """

    midnights = 0

    def at_midnight(self) -> bytes:
        self.midnights += 1
        if self.midnights == 2:
            saved = self.table.saved()
            forged = re.sub(rb'("kind":"result","spin":\d+,"number":)\d+', rb"\g<1>36", saved)
            assert forged != saved
            self.table = self.make_table(forged)
        return self.table.saved()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("month") / "journal.sqlite3"
    make(path, evenings(), MonthTable())
    return path


@pytest.fixture
def sealed(kept: Path, tmp_path: Path) -> Path:
    """A journal with sealed days."""
    shutil.copytree(kept.parent, tmp_path / "month")
    return tmp_path / "month" / kept.name


@pytest.fixture
def live(sealed: Path) -> Path:
    """A journal of which no day was sealed yet."""
    shutil.rmtree(folder(sealed))
    sealed.with_name(f"{sealed.name}.checkpoint").unlink()
    return sealed


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "MIN_PARALLEL_ENTRIES", 1)


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often a process had to take over another's piece."""
    told: list[int] = []
    go_on = processes._Process.extend

    def count(process: processes._Process) -> None:
        told.append(process.end)
        go_on(process)

    monkeypatch.setattr(processes._Process, "extend", count)
    return told


def alike(path: Path, jobs: int = 3) -> Audit:
    """The audit of that journal, which is the same in one process and in several."""
    assert len(pieces.shares(Evidence(path), pieces.cut(Evidence(path)), jobs)) == jobs
    encode = msgspec.json.encode
    assert encode(verify(path, jobs=jobs)) == encode(verify(path))
    made = audit(path, jobs=jobs)
    assert encode(made) == encode(audit(path))
    return made


def test_days_are_proved_at_once(sealed: Path, more: list[int]) -> None:
    made = alike(sealed)
    assert made.differences == []
    assert made.proved_readings == made.readings > 100
    assert made.proved_events == made.events > 100
    assert len(made.runs) == 1
    assert made.chain.segments == NIGHTS
    assert not more, "each knew what was true"


def test_unsealed_days_are_proved_at_once(live: Path, more: list[int]) -> None:
    made = alike(live, NIGHTS)
    assert made.derived == made.derivable
    assert not more


def test_a_wrong_guess_is_overruled(
    live: Path, more: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "LEAD_ENTRIES_PER_TABLE", 0)
    made = alike(live)
    assert made.derived == made.derivable
    assert more


@pytest.mark.parametrize("jobs", [2, 3, 4])
def test_a_day_that_begins_with_another_state_is_found(tmp_path: Path, jobs: int) -> None:
    path = tmp_path / "journal.sqlite3"
    make(path, evenings(), Forger())
    made = alike(path, jobs)
    assert made.outcome is ProofOutcome.DOES_NOT_HOLD
    assert "continued from another state than its own" in made.differences[0].what


def states(connection: sqlite3.Connection) -> list[int]:
    found = connection.execute("SELECT position FROM entry WHERE kind = 'state' ORDER BY position")
    return [position for (position,) in found]


def change(kind: str, old: str, new: str) -> Callable[[sqlite3.Connection, int], None]:
    """Change the first such entry after a position, and rebuild the chain."""

    def forge(connection: sqlite3.Connection, after: int) -> None:
        position, body = connection.execute(
            "SELECT position, CAST(body AS TEXT) FROM entry WHERE position >= ? AND kind = ? "
            "AND instr(CAST(body AS TEXT), ?) ORDER BY position LIMIT 1",
            (after, kind, old),
        ).fetchone()
        connection.execute(
            "UPDATE entry SET body = CAST(? AS BLOB) WHERE position = ?",
            (body.replace(old, new), position),
        )
        chain_again(connection)

    return forge


def drop(connection: sqlite3.Connection, after: int) -> None:
    connection.execute("DELETE FROM entry WHERE position = ?", (after - 2,))


def touch(connection: sqlite3.Connection, after: int) -> None:
    connection.execute(
        "UPDATE entry SET time = replace(time, 'T', 'U') WHERE position = ?", (after,)
    )


def rot(connection: sqlite3.Connection, after: int) -> None:
    connection.execute("UPDATE entry SET hash = 'x' WHERE position = ?", (after + 5,))


FORGERIES = (
    change("state", '"open":true', '"open":false'),
    change("event", '"round.result"', '"round.void"'),
    change("bytes", ";2;", ";3;"),
    change("input", '"phase":"settled"', '"phase":"idle"'),
    drop,
    touch,
    rot,
)
MIDNIGHTS_PER_FORGERY = cases(2, 1)
"""Each forgery is made at one in this many midnights, in turn."""


@pytest.mark.parametrize(
    ("forge", "midnight"),
    [
        (forge, midnight)
        for number, forge in enumerate(FORGERIES)
        for midnight in (1, 2, 3, 4)[number % MIDNIGHTS_PER_FORGERY :: MIDNIGHTS_PER_FORGERY]
    ],
)
def test_any_forgery_is_reported_alike(
    live: Path, forge: Callable[[sqlite3.Connection, int], None], midnight: int
) -> None:
    with closing(sqlite3.connect(live, isolation_level=None)) as connection:
        forge(connection, states(connection)[midnight] - 1)
    encode = msgspec.json.encode
    found = verify(live, jobs=3), audit(live, jobs=3)
    assert encode(found) == encode((verify(live), audit(live)))
    assert found[1].outcome is ProofOutcome.DOES_NOT_HOLD


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"stale_after":5.0', '"stale_after":6.0'),
        ('"decree":"ARA02"', '"decree":"ARA02","settings":{"last_rounds_count":"all"}'),
        ('"tables":[', '"tables":[],"n":['),
        ('"continues":true', '"continues":false'),
    ],
)
def test_a_run_with_a_changed_entry_in_between(live: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(live, isolation_level=None)) as connection:
        change("boot", old, new)(connection, states(connection)[3] - 1)
    assert msgspec.json.encode(audit(live, jobs=3)) == msgspec.json.encode(audit(live))


def test_a_missing_sealed_day_is_reported_alike(sealed: Path) -> None:
    days = sorted(folder(sealed).iterdir())
    days[1].unlink()
    with closing(sqlite3.connect(sealed, isolation_level=None)) as connection:
        connection.execute("DELETE FROM entry WHERE position <= 400")
    assert msgspec.json.encode(audit(sealed, jobs=2)) == msgspec.json.encode(audit(sealed))


def test_a_process_that_is_killed_is_replaced(live: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = msgspec.json.encode(audit(live))
    begun = processes._Process.__init__

    def kill(process: processes._Process, *given: object) -> None:
        begun(process, *given)  # type: ignore[arg-type]
        process._process.kill()
        process._process.join()

    monkeypatch.setattr(processes._Process, "__init__", kill)
    assert msgspec.json.encode(audit(live, jobs=3)) == expected


def test_the_command_line_sets_the_number_of_processes(
    sealed: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pages = []
    for jobs in ("1", "3"):
        assert main(["audit", str(sealed), "--text", "--jobs", jobs]) == 0
        pages.append(capfd.readouterr())
    assert pages[0] == pages[1]
    assert pages[0].err == ""
    with pytest.raises(SystemExit):
        main(["verify", str(sealed), "--jobs", "0"])
    assert "0 is not a whole number from 1 up" in capfd.readouterr().err
