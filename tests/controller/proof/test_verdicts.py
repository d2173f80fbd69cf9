"""The three verdicts: data without a signature, missing or unreadable, is never reported
as proved.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.public import PrivateKey
from nacl.signing import SigningKey

from common.chain.checkpoint import checkpoint_path, key_path, load_key, sign
from common.chain.schema import ChainHead, Record
from common.confidential.boxes import CardCipher
from common.contract.node import Checkpoint
from controller.cli import main
from controller.journal.journal import Journal
from controller.proof.audit import audit
from controller.proof.findings import OTHER_KEY
from controller.proof.outcome import ProofOutcome
from controller.proof.segment import segments
from controller.proof.verify import verify
from tests.controller.proof.test_audit import chain_again, forge
from tests.controller.proof.test_sealing import rewrite, sealed, ten_days, until_cut, verified
from tests.controller.proof.test_verify import archive, change, witnessed
from tests.support.journal.premises import Premises, entries, evening

WRITTEN = '"signature":"'


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit status and the page, or the output of ``--json``."""
    status = main([*words] if "--json" in words else [*words, "--text"])
    return status, capsys.readouterr().out


async def test_each_verdict_has_its_own_exit_status_in_both_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    key = str((await evening(path)).key)
    for command in ("verify", "audit"):
        for words, status, outcome in (
            ([str(path), "--signer", key], 0, "holds"),
            ([str(tmp_path / "none")], 3, "could_not_be_judged"),
        ):
            assert run(capsys, command, *words)[0] == status
            code, output = run(capsys, command, *words, "--json")
            assert (code, json.loads(output)["outcome"]) == (status, outcome)
    change(path, "UPDATE entry SET body = 'other' WHERE position = 9")
    for command in ("verify", "audit"):
        code, output = run(capsys, command, str(path), "--json")
        assert (code, json.loads(output)["outcome"]) == (1, "does_not_hold")
    with pytest.raises(SystemExit, match="2"):
        main(["verify"])


async def test_without_a_key_the_headline_says_that_the_author_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    status, output = run(capsys, "verify", str(path))
    assert (
        status,
        output.count("HOLDS TOGETHER"),
        output.count("Who wrote it is not proved"),
    ) == (0, 1, 1)
    assert "Who wrote it is not proved" in run(capsys, "audit", str(path))[1]


async def test_a_journal_that_was_rewritten_without_the_key_is_not_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    count = len(entries(path))
    position = next(entry.position for entry in entries(path) if b'"number":17' in entry.body)
    forge(path, position, '"number":17', '"number":18')
    checkpoint_path(path).unlink()
    verdict = verify(path, last.key)
    assert (verdict.outcome, verdict.proved, verdict.entries) == (ProofOutcome.NOT_JUDGED, 0, count)
    status, output = run(capsys, "verify", str(path), "--signer", str(last.key))
    assert status == 3
    assert f"0 of {count} entries (0 %) are proved" in output
    assert f"Not proved: entries 1 to {count} ({count} of {count}, 100 %)" in output


async def test_a_checkpoint_without_a_signature_proves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    checkpoint_path(path).write_bytes(
        msgspec.json.encode(msgspec.structs.replace(last, signature=None))
    )
    verdict = verify(path, last.key)
    assert (verdict.outcome, verdict.proved, verdict.unsigned) == (ProofOutcome.NOT_JUDGED, 0, 1)


async def test_entries_after_the_last_checkpoint_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    with closing(Journal(path)) as journal:
        await journal.append(
            Record(table="x", boot="b", seq=0, time="2099", mono_ns=1, before=(("bytes", b"{}"),))
        )
    verdict = verify(path, last.key)
    assert (verdict.outcome, verdict.proved, verdict.entries) == (
        ProofOutcome.NOT_JUDGED,
        last.position,
        last.position + 1,
    )
    assert [(span.first, span.last) for span in verdict.unproved] == [
        (last.position + 1, last.position + 1)
    ]
    output = run(capsys, "verify", str(path), "--signer", str(last.key))[1].replace("\n", " ")
    assert f"{last.position} of {last.position + 1} entries" in output


async def ten_days_of_which_two_left(path: Path) -> None:
    await ten_days(path)
    done = sealed(path)
    with closing(Journal(path)) as journal:
        await until_cut(journal, path, done.cut)
        await statement(journal, [])
    key = load_key(key_path(path))
    checkpoint_path(path).write_bytes(msgspec.json.encode(signed(path, key)))


def signed(path: Path, key: SigningKey) -> Checkpoint:
    with closing(sqlite3.connect(path)) as connection:
        (journal,) = connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
    last = entries(path)[-1]
    return sign(
        key, journal, "b1", "2026-11-10T13:00:00.000000Z", ChainHead(last.position, last.hash)
    )


async def statement(journal: Journal, removed: list[dict[str, Any]]) -> None:
    """The ``boot`` entry in which a daemon records a coming removal."""
    body: dict[str, Any] = {
        "software": "novamas",
        "python": "3",
        "site": "palma",
        "node": "pit",
        "key": None,
        "tables": [],
        "continues": True,
    }
    record = Record(
        table="",
        boot="b1",
        seq=0,
        time="2026-11-10T12:30:00.000000Z",
        mono_ns=1,
        before=(("boot", msgspec.json.encode({**body, "removed": removed})),),
    )
    await journal.append(record)


def removal_recorded(path: Path, journal: Journal, first: int, last: int) -> dict[str, Any]:
    known = {entry.position: entry.hash.hex() for entry in entries(path)}
    segment = {"day": "2026-11-01", "segment": "x", "sha256": "00" * 32}
    return {"journal": journal.id, "first": first, "last": last, "hash": known[last], **segment}


async def test_a_sealed_day_is_missing_unless_the_chain_records_its_removal(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days(path)
    with closing(Journal(path)) as journal:
        statements = [
            removal_recorded(path, journal, 1, 30),
            removal_recorded(path, journal, 31, 60),
        ]
    done = sealed(path)
    with closing(Journal(path)) as journal:
        await until_cut(journal, path, done.cut)
    key = load_key(key_path(path))
    checkpoint_path(path).write_bytes(msgspec.json.encode(signed(path, key)))
    assert verified(path).outcome is ProofOutcome.HOLDS
    segments(path)[0].unlink()
    verdict = verified(path)
    assert (verdict.outcome, [(span.first, span.last) for span in verdict.missing]) == (
        ProofOutcome.NOT_JUDGED,
        [(1, 30)],
    )
    assert verify(path).outcome is ProofOutcome.NOT_JUDGED  # whoever wrote it
    assert audit(path).outcome is not ProofOutcome.HOLDS

    with closing(Journal(path)) as journal:
        await statement(journal, statements[:1])
    assert verified(path).missing != [], "the statement is not signed yet"
    checkpoint_path(path).write_bytes(msgspec.json.encode(signed(path, key)))
    verdict = verified(path)
    assert (verdict.outcome, verdict.missing, [span.last for span in verdict.removed]) == (
        ProofOutcome.HOLDS,
        [],
        [30],
    )
    segments(path)[0].unlink()
    assert [(span.first, span.last) for span in verified(path).missing] == [(31, 60)]
    with closing(Journal(path)) as journal:
        await statement(journal, [{**statements[1], "hash": "00" * 32}])
    checkpoint_path(path).write_bytes(msgspec.json.encode(signed(path, key)))
    assert (
        "do not follow from entry 60, as it was when its day was removed"
        in verified(path).problems[0].what
    )


async def test_a_sealed_day_that_is_not_signed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await ten_days_of_which_two_left(path)
    assert verified(path).outcome is ProofOutcome.HOLDS
    day = segments(path)[0]
    signature = signed_in(day)
    rewrite(day, f'{WRITTEN}{signature}"', '"signature":null')
    verdict = verified(path)
    assert verdict.outcome is ProofOutcome.DOES_NOT_HOLD
    assert "is not signed" in verdict.problems[0].what


def signed_in(day: Path) -> str:
    import gzip

    return gzip.decompress(day.read_bytes()).decode().rpartition(WRITTEN)[2].partition('"')[0]


async def test_a_file_that_is_no_journal_or_unreadable_accuses_no_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    key = str((await evening(path)).key)
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite3"
    text.write_text("no journal")
    checkpoint_path(text).write_bytes(checkpoint_path(path).read_bytes())
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE x (y)")
    for file, why in (
        (text, "not a journal"),
        (other, "an SQLite file, and not a journal"),
        (tmp_path, "not a file"),
        (tmp_path / "none", "no journal"),
        (Path("/proc/self/mem"), "Input/output error"),
    ):
        for command in ("verify", "audit"):
            status, output = run(capsys, command, str(file), "--signer", key)
            assert status == 3
            assert f"COULD NOT BE JUDGED: {file}: {why}" in output
            assert "DOES NOT HOLD" not in output
            assert "not the one to trust" not in output


async def test_a_missing_archive_is_no_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    status, output = run(capsys, "verify", str(path), "--witness", str(tmp_path / "none"))
    assert (status, "No such file" in output) == (3, True)


async def test_the_output_names_checks_that_need_a_witness_with_their_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    for command in ("verify", "audit"):
        output = run(capsys, command, str(path))[1]
        assert "Only a witness can detect" in output
        assert (
            "-t 'novamas/v1/palma/+/event' -t 'novamas/v1/palma/node/+/checkpoint' >> archive.jsonl"
            in output
        )
        assert f"novamas verify {path} --signer PUBLICKEY --witness archive.jsonl" in output
    assert (
        "Only a witness" not in run(capsys, "verify", str(path), "--witness", str(archive(path)))[1]
    )


# The audit


@pytest.mark.parametrize(
    ("old", "new"),
    [('"by":"M. Lasa"', '"by":"J. Roca"'), ('"role":"table_head"', '"role":"inspector"')],
)
async def test_a_name_that_was_changed_is_not_proved(tmp_path: Path, old: str, new: str) -> None:
    """Also where no event has it: it is part of the hashed content."""
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    change(
        path, f"UPDATE entry SET body = CAST(replace(CAST(body AS TEXT), '{old}', '{new}') AS BLOB)"
    )
    made = audit(path)
    assert made.outcome is ProofOutcome.DOES_NOT_HOLD
    assert made.chain.problems


async def test_dates_that_were_moved_are_not_proved(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    change(path, "UPDATE entry SET time = '2020' || substr(time, 5)")
    assert audit(path).outcome is ProofOutcome.DOES_NOT_HOLD
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        chain_again(connection)
    assert audit(path).outcome is ProofOutcome.DOES_NOT_HOLD  # by its own checkpoint
    checkpoint_path(path).unlink()
    assert audit(path, key=last.key).outcome is not ProofOutcome.HOLDS


async def test_sealed_entries_that_were_not_opened_are_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    surveillance = PrivateKey.generate()
    run_of = Premises(
        path,
        game="punto-banca",
        driver="angel-eye",
        cipher=CardCipher(surveillance.public_key, b"s" * 32),
    )
    await run_of.open()
    await run_of.end()
    status, output = run(capsys, "audit", str(path))
    assert status == 3
    assert "COULD NOT BE JUDGED" in output
    assert "audit again with --unseal KEYFILE" in output
    assert "PROVED:" not in output

    wrong, right = tmp_path / "wrong", tmp_path / "right"
    wrong.write_text(PrivateKey.generate().encode().hex())
    right.write_text(surveillance.encode().hex())
    status, output = run(capsys, "audit", str(path), "--unseal", str(wrong))
    assert (status, OTHER_KEY in output, "NOT PROVED" in output) == (3, True, False)
    status, output = run(capsys, "audit", str(path), "--unseal", str(right))
    assert (status, "PROVED:" in output) == (0, True), output
    assert main(["audit", str(path), "--unseal", str(tmp_path / "none")]) == 2


async def test_a_table_that_this_software_cannot_set_up_is_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await evening(path)
    for position in [entry.position for entry in entries(path) if entry.kind == "boot"]:
        forge(path, position, '"driver":"cammegh-ss2"', '"driver":"cammegh-ss9"')
    checkpoint_path(path).unlink()
    made = audit(path)
    assert made.outcome is ProofOutcome.NOT_JUDGED
    assert made.unproved_tables == ["r1"]


# The witness


async def test_a_witness_of_another_node_or_a_forger_accuses_no_one(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    other = sign(SigningKey.generate(), "ab" * 16, "b2", last.time, ChainHead(7, b"x" * 32))
    forged = msgspec.structs.replace(last, hash="00" * 32, signature=None, key=None)
    foreign = sign(
        SigningKey.generate(),
        last.journal,
        "b2",
        last.time,
        ChainHead(last.position + 9, b"x" * 32),
    )
    broken = msgspec.structs.replace(last, hash="00" * 32)
    archived = archive(path, *map(msgspec.to_builtins, (last, other, forged, foreign, broken)))
    verdict = witnessed(path, archived, last.key)
    assert verdict.problems == []
    assert (verdict.outcome, verdict.elsewhere, verdict.disbelieved) == (ProofOutcome.HOLDS, 1, 3)
    assert any("of the archive is not believed: " in note for note in verdict.notes)
    undecided = witnessed(path, archived)  # which key is the true one?
    assert (undecided.outcome, undecided.problems) == (ProofOutcome.NOT_JUDGED, [])
    assert "name the key to trust with --signer" in undecided.unread[0]


async def test_lines_of_an_archive_that_are_no_messages_are_counted_and_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    last = await evening(path)
    archived = archive(path, msgspec.to_builtins(last))
    known = len(archived.read_text().splitlines())
    point = json.dumps(msgspec.to_builtins(last))
    bad = [
        "no json",
        "[" * 100_000,
        "17",
        point.replace(f'"position": {last.position}', '"position": 9223372036854775808'),
        point.replace(f'"position": {last.position}', '"position": ' + "9" * 5000),
        point.replace(f'"position": {last.position}', '"position": 1e400'),
        point.replace(f'"position": {last.position}', '"position": NaN'),
        point.replace(f'"position": {last.position}', '"position": true'),
        json.dumps({"payload": "{"}),
        "\x00\xff",
    ]
    odd = ["", '{"type":"\\ud800","table":"t","boot":"b","seq":true}', '{"payload":""}']
    with archived.open("ab") as file:
        file.write("".join(f"{line}\n" for line in [*bad, *odd]).encode("utf-8", "replace"))
        file.write(b"\xff\xfe\n")
    verdict = witnessed(path, archived, last.key)
    assert verdict.outcome is ProofOutcome.HOLDS
    named = ", ".join(str(known + 1 + index) for index in range(5))
    assert any(
        f"{len(bad) + 1} lines of the archive" in note and f"line {named}, ..." in note
        for note in verdict.notes
    ), verdict.notes
