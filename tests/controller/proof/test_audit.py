"""The audit: consistent entries are proved, and the first inconsistent entry is shown."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from nacl.public import PrivateKey

from common.chain.schema import entry_hash, genesis
from common.confidential.boxes import CardCipher
from common.readings import LinkUp
from controller.cli import main
from controller.journal.store import JournalStore
from controller.proof.audit import audit
from controller.proof.findings import Audit
from devices.calls import BytesReceived
from tests.support.journal.premises import Premises, entries, evening


def forge(path: Path, position: int, old: str, new: str) -> None:
    """Change an entry and chain everything after it again, as a skilled forger would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        (body,) = connection.execute(
            "SELECT CAST(body AS TEXT) FROM entry WHERE position = ?", (position,)
        ).fetchone()
        assert old in body
        connection.execute(
            "UPDATE entry SET body = CAST(? AS BLOB) WHERE position = ?",
            (body.replace(old, new), position),
        )
        chain_again(connection)


def chain_again(connection: sqlite3.Connection) -> None:
    (journal,) = connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
    previous = genesis(journal)
    rows = connection.execute(
        "SELECT position, table_id, boot, kind, seq, time, mono_ns, CAST(body AS BLOB) FROM entry "
        "ORDER BY position"
    ).fetchall()
    for position, *rest in rows:
        digest = entry_hash(previous, *rest)
        connection.execute(
            "UPDATE entry SET previous = ?, hash = ? WHERE position = ?",
            (previous, digest, position),
        )
        previous = digest


def whole(made: Audit) -> bool:
    return (
        made.proves and made.proved_readings == made.readings and made.proved_events == made.events
    )


async def test_everything_follows_across_a_restart_a_silence_and_a_lost_link(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    made = audit(path)
    assert made.differences == []
    assert whole(made)
    kinds = [json.loads(entry.body)["type"] for entry in entries(path) if entry.kind == "event"]
    assert kinds.count("round.result") == 3
    assert made.commands == 1
    assert [run.software.split()[0] for run in made.runs] == ["novamas", "novamas"]


@pytest.mark.parametrize(
    ("kind", "old", "new", "what"),
    [
        ("event", '"number":17', '"number":18', "this event does not follow"),
        ("input", '"number":17', '"number":18', "this reading of wheel does not follow"),
        ("bytes", ";5;002;17;", ";5;002;18;", "this reading of wheel does not follow"),
        ("event", '"seq":4', '"seq":5', "this event does not follow"),
    ],
)
async def test_a_forged_entry_does_not_follow(
    tmp_path: Path, kind: str, old: str, new: str, what: str
) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    position = next(
        entry.position
        for entry in entries(path)
        if entry.kind == kind and old.encode() in entry.body
    )
    forge(path, position, old, new)
    made = audit(path)
    assert what in made.differences[0].what
    assert made.differences[0].position >= position
    assert not made.proves


async def test_a_state_that_was_forged_between_two_runs_is_found(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    position = [entry.position for entry in entries(path) if entry.kind == "state"][-1]
    forge(path, position, '"round":2', '"round":7')
    assert audit(path).differences[0].what == "the table continued from another state than its own"


async def test_a_removed_event_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    last = [
        entry.position
        for entry in entries(path)
        if entry.kind == "event" and b"round.result" in entry.body
    ][-1]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM entry WHERE position = ?", (last,))
        connection.execute("UPDATE entry SET position = position - 1 WHERE position > ?", (last,))
        chain_again(connection)
    assert "and is not there" in audit(path).differences[0].what


async def test_after_a_file_was_set_aside_events_are_proved_and_readings_reported_as_unproved(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    run = Premises(path)
    run.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
    await run.open()
    run.spin(2, 17)
    await run.runner.drain()
    path.unlink()
    run.spin(3, 32, 17)
    await run.end()
    made = audit(path)
    assert made.differences == []
    assert made.proved_events == made.events > 0
    assert (made.proved_readings, made.unproved) == (
        0,
        {"the beginning of its run is not stored": made.readings},
    )
    again = Premises(path, at=1.0)
    again.receive(*[b"*X;6;003;32;0;000;0"] * 4)
    await again.end()
    assert audit(path).proves


async def test_lost_inputs_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.sqlite3"
    run = Premises(path)
    run.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
    await run.open()
    await run.runner.drain()
    broken = True
    commit = JournalStore.commit

    def failing(store: JournalStore, *what: object) -> None:
        if broken:
            raise OSError("no room")
        commit(store, *what)  # type: ignore[arg-type]

    monkeypatch.setattr(JournalStore, "commit", failing)
    run.journal._capacity = 3
    run.spin(2, 17)
    broken = False
    await run.runner.drain()
    run.spin(3, 32, 17)
    await run.runner.drain()
    await run.end()
    made = audit(path)
    assert made.differences == []
    assert made.proved_events == made.events
    assert sum(made.unproved.values()) == made.readings - made.proved_readings > 0


async def test_a_sealed_table_that_was_restarted_differs_in_nothing(tmp_path: Path) -> None:
    """Without the key of surveillance nothing of it is proved, and nothing is held against it."""
    path = tmp_path / "journal.sqlite3"
    cipher = CardCipher(PrivateKey.generate().public_key, b"s" * 32)
    for _ in range(2):
        run = Premises(path, game="punto-banca", driver="angel-eye", cipher=cipher)
        run.runner.on_readings([LinkUp(at=run.now, device="wheel")])
        await run.end()
    made = audit(path)
    assert made.differences == []
    assert made.unproved.keys() == {"sealed for surveillance"}


async def test_the_command_prints_one_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    assert main(["audit", str(path), "--text"]) == 0
    assert "PROVED: every reading and every event." in capsys.readouterr().out
    copy = tmp_path / "copy.sqlite3"
    shutil.copy(path, copy)
    position = next(
        entry.position
        for entry in entries(path)
        if entry.kind == "event" and b'"number":17' in entry.body
    )
    forge(copy, position, '"number":17', '"number":18')
    assert main(["audit", str(copy), "--text"]) == 1
    output = capsys.readouterr().out
    assert f"NOT PROVED. First at entry {position}" in output
    assert '"number":17' in output
    assert "audit it with that release" not in output
    assert main(["audit", str(copy), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["proves"] is False
    forge(copy, entries(copy)[0].position, '"software":"novamas ', '"software":"novamas 0.0.')
    assert main(["audit", str(copy), "--text"]) == 1
    assert "audit it with that release" in capsys.readouterr().out
    assert main(["audit", str(tmp_path / "none"), "--text"]) == 3
    assert "COULD NOT BE JUDGED: " in capsys.readouterr().out


def packed_minute(path: Path) -> None:
    """A table whose wheel sends each byte by itself, so that its entries are packed."""

    async def play() -> None:
        run = Premises(path)
        run.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
        await run.open()
        for state in (2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5):
            shown = b"17" if state == 5 else b"  "
            line = b"*X;%d;002;%b;0;165;0\r\n" % (state, shown)
            run.now = round(run.now + 0.48, 4)
            for byte in line:
                run.now = round(run.now + 0.001, 4)
                run.handle(BytesReceived(run.now, bytes([byte])))
        await run.end()

    asyncio.run(play())


def repacked(body: bytes, old: bytes, new: bytes) -> bytes:
    """A packed entry with other calls in it."""
    listed = zlib.decompress(base64.b64decode(json.loads(body)["packed"]))
    packed = base64.b64encode(zlib.compress(listed.replace(old, new))).decode()
    return json.dumps({"device": "wheel", "packed": packed}).encode()


def test_a_change_within_a_packed_entry_is_found(tmp_path: Path) -> None:
    """By its hash; and if the chain was rebuilt, because the readings do not follow."""
    path = tmp_path / "journal.sqlite3"
    packed_minute(path)
    assert whole(audit(path))
    made = next(
        entry
        for entry in entries(path)
        if b'"packed"' in entry.body
        and repacked(entry.body, b";5;002;17;", b"") != entry.body
        and b";5;002;17;" in zlib.decompress(base64.b64decode(json.loads(entry.body)["packed"]))
    )
    for old, new in (
        (b";5;002;17;", b";5;002;18;"),
        (b'"run",', b'"run",9'),
        (b"1000,1000", b"1000,9000000"),
    ):
        copy = tmp_path / "copy.sqlite3"
        shutil.copyfile(path, copy)
        body = repacked(made.body, old, new)
        assert body != made.body
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute(
                "UPDATE entry SET body = ? WHERE position = ?", (body, made.position)
            )
            assert not audit(copy).proves
            chain_again(connection)
        assert audit(copy).differences
