"""Files that release 0.3.0 wrote are read, proved and continued.

`tests/journals/0.3.0` has an evening of a roulette table, one of punto y banca whose cards are
sealed for surveillance, and the ledger of two jackpots, each as `sqlite3 FILE .dump` prints it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from nacl.public import PrivateKey

from common.confidential.boxes import CardCipher, open_sealed
from controller.proof.audit import Unseal, audit
from subscribers.carrousel import verification
from subscribers.carrousel.ledger_state import JackpotLedgerState
from tests.subscribers.carrousel.played import opened
from tests.support.journal.premises import Premises, entries

WRITTEN = Path(__file__).parents[2] / "journals" / "0.3.0"
SURVEILLANCE = PrivateKey(bytes(range(32)))
CIPHER = CardCipher(SURVEILLANCE.public_key, b"s" * 32)


def unseal(body: bytes) -> bytes:
    return bytes(open_sealed(body, SURVEILLANCE).body)


def restored(name: str, folder: Path) -> Path:
    """Write the file that was dumped."""
    path = folder / f"{name}.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript((WRITTEN / f"{name}.sql").read_text())
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("name", "opener", "events"),
    [("roulette", None, 19), ("punto-banca", unseal, 6)],
)
def test_every_reading_and_event_of_a_journal_is_proved(
    name: str, opener: Unseal | None, events: int, tmp_path: Path
) -> None:
    found = audit(restored(name, tmp_path), opener)
    assert found.differences == []
    assert found.derived
    assert found.proved_events == found.events == events
    assert found.proved_readings == found.readings > 20


async def test_a_roulette_table_goes_on(tmp_path: Path) -> None:
    path = restored("roulette", tmp_path)
    end = entries(path)[-1].position
    run = Premises(path, at=9.0)
    run.receive(*[b"*X;6;004; 0;0;000;0"] * 4)
    run.spin(5, 23, 0)
    await run.end()
    results = [
        (entry.position, msgspec.json.decode(entry.body))
        for entry in entries(path)
        if entry.kind == "event" and b'"round.result"' in entry.body
    ]
    assert [(body["session"], body["round"], body["outcome"]["number"]) for _, body in results] == [
        (1, 1, 17),
        (1, 2, 32),
        (1, 3, 0),
        (1, 4, 23),
    ]
    assert results[-1][0] > end
    assert audit(path).proves


async def test_a_table_with_sealed_cards_goes_on(tmp_path: Path) -> None:
    path = restored("punto-banca", tmp_path)
    run = Premises(path, at=900.0, game="punto-banca", driver="angel-eye", cipher=CIPHER)
    await run.end()
    found = audit(path, unseal)
    assert found.differences == []
    assert found.proved_events == found.events


def test_a_ledger_holds_and_goes_on(tmp_path: Path) -> None:
    path = restored("ledger", tmp_path)
    before = verification.verify(path)
    assert before.findings == []
    with opened(path) as floor:
        floor.states = {
            name: msgspec.json.decode(state, type=JackpotLedgerState)
            for name, state in floor.store.states().items()
        }
        floor.clock += 86_400.0
        floor.seqs = dict.fromkeys(("poker-1",), 1_000)
        floor.rounds = {"poker-1": 100}
        floor.play("j", "poker-1")
        floor.hear("j")
        floor.commit()
    after = verification.verify(path)
    assert after.findings == []
    assert after.entries > before.entries
