"""Verification: the chain, the checkpoints, the witness."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from common.chain.checkpoint import (
    checkpoint_path,
    key_path,
    last_checkpoint,
    signature_problem,
)
from common.contract.node import Checkpoint
from controller.cli import main
from controller.proof.verdict import Verdict
from controller.proof.verify import verify
from controller.proof.witness import Witness
from tests.controller.proof.test_audit import chain_again, forge
from tests.support.journal.premises import Premises, entries, evening

FORGOTTEN = "UPDATE saved SET position = (SELECT max(position) FROM entry)"
"""Things that a forger who cuts a journal off has to change too."""


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def archive(path: Path, *extra: object) -> Path:
    """A subscriber's archive: every event, some twice, in any order, some marked historical; and
    other messages.
    """
    lines = [json.loads(entry.body) for entry in entries(path) if entry.kind == "event"]
    lines += [{**line, "historical": True} for line in lines[::3]]
    lines += [{"topic": "novamas/v1/palma/r1/event", "payload": line} for line in lines[::4]]
    lines += [{"topic": "x", "payload": json.dumps(line)} for line in lines[:3]]
    lines += [
        {"id": 7, "ok": True, "events": lines[2:4]},
        {"status": "online", "boot": "x"},
        *extra,
    ]
    random.Random(7).shuffle(lines)
    written = path.with_name("archive.jsonl")
    written.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return written


def witnessed(path: Path, archived: Path, key: str | None = None) -> Verdict:
    witness = Witness(archived)
    verdict = verify(path, key, witness.checkpoints.values(), witness.on_entry)
    witness.add_evidence(verdict)
    return verdict


async def test_an_unchanged_journal_verifies(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    verdict = verify(path, last.key)
    assert verdict.problems == []
    assert (verdict.entries, verdict.head, verdict.through) == (
        len(entries(path)),
        last.position,
        last.position,
    )


async def test_a_journal_in_use_can_be_verified(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    run = Premises(path)
    run.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
    await run.open()
    assert verify(path).holds
    await run.end()


@pytest.mark.parametrize(
    ("statements", "position", "what"),
    [
        (["UPDATE entry SET body = 'other' WHERE position = 9"], 9, "hash does not hold"),
        (["UPDATE entry SET time = '2020' WHERE position = 9"], 9, "hash does not hold"),
        (["DELETE FROM entry WHERE position = 9"], 9, "entry 9 missing"),
        (["DELETE FROM entry WHERE position = 1"], 1, "entry 1 missing"),
        (["UPDATE entry SET previous = zeroblob(32) WHERE position = 9"], 9, "does not follow"),
        (["UPDATE meta SET value = 'other' WHERE key = 'id'"], 1, "does not follow"),
        (
            [
                "UPDATE entry SET position = -1 WHERE position = 8",
                "UPDATE entry SET position = 8 WHERE position = 9",
                "UPDATE entry SET position = 9 WHERE position = -1",
            ],
            8,
            "does not follow",
        ),
    ],
)
async def test_the_first_bad_entry_is_named(
    tmp_path: Path, statements: list[str], position: int, what: str
) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    change(path, *statements)
    first = verify(path).problems[0]
    assert first.position == position
    assert what in first.what


async def test_a_cut_off_end_is_missed_by_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    change(path, f"DELETE FROM entry WHERE position > {last.position - 2}")
    assert "cut off after entry" in verify(path).problems[0].what
    checkpoint_path(path).unlink()
    change(path, FORGOTTEN)
    assert verify(path).holds  # the journal alone cannot show it; the published checkpoint does:
    assert "cut off after entry" in verify(path, last.key, [last]).problems[0].what


async def test_a_journal_that_was_rewritten_as_a_whole_is_found(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    position = next(entry.position for entry in entries(path) if b'"number":17' in entry.body)
    forge(path, position, '"number":17', '"number":18')
    assert "it was rewritten" in verify(path).problems[0].what
    forged = msgspec.structs.replace(last, hash=entries(path)[-1].hash.hex())
    checkpoint_path(path).write_bytes(msgspec.json.encode(forged))
    assert "its signature does not hold" in verify(path).problems[0].what


async def test_another_key_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    assert "not the one to trust" in verify(path, "ab" * 32).problems[0].what


async def test_a_witness_confirms(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    made = witnessed(path, archive(path, msgspec.to_builtins(last)), last.key)
    assert made.problems == []
    assert made.witnessed == sum(entry.kind == "event" for entry in entries(path))


@pytest.mark.parametrize(
    ("tamper", "what"),
    [
        (
            lambda path, at: forge(path, at, '"number":17', '"number":18'),
            "was published with other content",
        ),
        (
            lambda path, at: change(path, f"DELETE FROM entry WHERE position >= {at}"),
            "was published and is not in the journal",
        ),
    ],
)
async def test_a_witness_contradicts_even_the_holder_of_the_key(
    tmp_path: Path, tamper: Callable[[Path, int], None], what: str
) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    archived = archive(path)
    position = next(
        entry.position
        for entry in entries(path)
        if entry.kind == "event" and b'"number":17' in entry.body
    )
    tamper(path, position)
    change(path, FORGOTTEN)
    checkpoint_path(path).unlink()
    assert verify(path).holds
    assert what in witnessed(path, archived).problems[0].what


async def test_an_archive_that_contradicts_itself_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    event = next(
        json.loads(entry.body) for entry in entries(path) if b'"round.result"' in entry.body
    )
    archived = archive(path, {**event, "number": 5})
    archived.write_text(archived.read_text() + "no json\n")
    found = witnessed(path, archived)
    assert any("is in the archive twice" in problem.what for problem in found.problems)
    assert any(
        "1 lines of the archive are not messages of a daemon" in note for note in found.notes
    )


async def test_the_command_prints_one_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    assert main(["verify", str(path), "--text", "--signer", str(last.key)]) == 0
    output = capsys.readouterr().out
    assert "HOLDS" in output
    assert str(last.key) in output
    change(path, "UPDATE entry SET body = 'other' WHERE position = 9")
    assert main(["verify", str(path), "--text", "--witness", str(archive(path))]) == 1
    assert "DOES NOT HOLD. First: entry 9 " in capsys.readouterr().out
    assert main(["verify", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"][0]["position"] == 9
    with pytest.raises(SystemExit, match="2"):
        main(["verify", str(path), "--signer", "me"])


async def test_a_file_that_cannot_be_read_to_its_end_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 4096):
        path.write_bytes(whole[:size] + bytes(4096) + whole[size + 4096 :])
        assert not verify(path).holds


async def test_keys_are_made_once_stored_privately_and_their_loss_is_reported(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    run = Premises(path)
    first = await run.end()
    key = key_path(path)
    assert key.stat().st_mode & 0o777 == 0o600
    assert signature_problem(first, frozenset({str(first.key)})) is None
    again = Premises(path)
    assert again.alerts == {}
    assert (await again.end()).key == first.key
    good = key.read_text()

    key.write_text("nonsense")
    run = Premises(path)
    assert "not a signing key" in str(run.alerts["journal-key"].detail)
    assert good.strip() not in str(run.alerts)
    await run.open()  # the tables do not wait for the key
    assert run.upkeep.checkpoint().signature is None
    key.write_text(good)
    assert run.upkeep.checkpoint().key == first.key
    assert run.alerts == {}
    await run.end()

    key.unlink()
    run = Premises(path)
    assert str(first.key) in str(run.alerts["journal-key-changed"].detail)
    second = await run.end()
    assert second.key != first.key
    assert verify(path).holds
    assert not verify(path, first.key).holds


async def test_a_journal_that_was_cut_is_known_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    change(path, f"DELETE FROM entry WHERE position > {last.position - 2}")
    run = Premises(path)
    assert "entries are missing" in str(run.alerts["journal-cut"].detail)
    await run.end()
    assert isinstance(last_checkpoint(path), Checkpoint)
    shutil.rmtree(tmp_path)


def test_chaining_again_is_what_the_journal_does(tmp_path: Path) -> None:
    """The forger of these tests chains as the journal does."""
    import asyncio

    path = tmp_path / "journal.sqlite3"
    asyncio.run(_evening(path))
    before = entries(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        chain_again(connection)
    assert entries(path) == before


async def _evening(path: Path) -> None:
    await evening(path)
