"""Evidence of results: events name readings, and `export` and `audit` find them in the journal."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nacl.public import PrivateKey

from common.confidential.bodies import is_sealed
from common.confidential.boxes import CardCipher, open_sealed
from common.contract.commands import Command
from common.contract.events import DataLate, Frame, RoundResult, TrenteOutcome
from common.contract.notation import read_event, write
from common.contract.retained import About
from common.contract.sealed import Sealed
from common.readings import CardDrawn
from controller.cli import main
from controller.games.games import make_game
from controller.proof import references
from controller.proof.audit import Unseal, audit
from controller.proof.references import REASON_NOT_STORED, REASON_TOO_FAR, ReadingRange
from controller.tables.table import Table
from tests.controller.proof.test_audit import chain_again, forge
from tests.support.games.play import make_command
from tests.support.games.trente_play import BLACK_WINS, RED_WINS
from tests.support.journal.premises import Premises, entries

SURVEILLANCE = PrivateKey.generate()
CIPHER = CardCipher(SURVEILLANCE.public_key, b"s" * 32)
PUNTO_BANCA = "Ac 7d Kc 4d Kd 5s"
"""The first is burned, and one more; then a coup."""


def unseal(body: bytes) -> bytes:
    return bytes(open_sealed(body, SURVEILLANCE).body)


def premises(path: Path, game: str, at: float = 100.0) -> Premises:
    return Premises(path, at=at, game=game, driver="barcode-serial", cipher=CIPHER)


async def send(run: Premises, command: str, role: str = "table_head", **fields: Any) -> None:
    given = make_command(command, run.now, role, **fields)
    assert isinstance(given, Command)
    await run.runner.execute(given)


async def start(run: Premises) -> None:
    draw(run, "As")  # the table is closed; it shows that the scanner is there
    await run.open()
    await send(run, "shoe.start", shoe="S1")


def draw(run: Premises, cards: str) -> None:
    """Cards pass the scanner, each as the letter of its suit and its rank."""
    for card in cards.split():
        run.now += 2.0
        run.receive(f"{card[1].upper()}{card[0]}".encode())


async def bets(run: Premises) -> None:
    await send(run, "bets.open", "croupier")
    await send(run, "bets.close", "croupier")


async def two_runs(path: Path) -> None:
    """A coup of trente et quarante, and one that begins before a restart and ends after it."""
    run = premises(path, "trente-et-quarante")
    await start(run)
    await bets(run)
    draw(run, BLACK_WINS)
    await bets(run)
    draw(run, RED_WINS[:5])
    await run.end()
    run = premises(path, "trente-et-quarante", at=5.0)
    draw(run, RED_WINS[6:])
    await send(run, "round.confirm", winner="red")
    await run.end()


async def sealed_coup(path: Path) -> None:
    run = premises(path, "punto-banca")
    await start(run)
    draw(run, PUNTO_BANCA[:5])
    await bets(run)
    draw(run, PUNTO_BANCA[6:])
    await send(run, "cards.turn")
    await run.end()


def exported(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["export", *words]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def results(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        line
        for line in lines
        if line["kind"] == "event" and line["body"]["type"] in ("round.result", "round.unresolved")
    ]


async def test_export_shows_the_evidence_of_a_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    await two_runs(path)
    lines = exported(capsys, str(path))
    there = {line["position"]: line for line in lines}
    first, *others = results(lines)
    assert first["body"]["frames"] == []
    assert [each["reading"] for each in first["rests_on"]] == first["body"]["readings"]
    cards = [each["body"]["card"] for each in first["rests_on"]]
    assert (
        cards
        == BLACK_WINS.split()
        == [card for hand in first["body"]["outcome"]["hands"] for card in hand["cards"]]
    )
    for line in (first, *others):
        for each in line["rests_on"]:
            entry = there[each["position"]]
            assert entry["kind"] == "input"
            assert entry["body"] == each["body"] if "body" in each else "sealed" in entry["body"]
            assert entry["position"] < line["position"]
    boots = {there[each["position"]]["boot"] for each in others[-1]["rests_on"]}
    assert len(boots) == 2, "a round that was begun before a restart"


async def test_export_marks_sealed_entries_as_sealed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "journal.sqlite3"
    await sealed_coup(path)
    lines = exported(capsys, str(path), "--round", "1")
    there = {line["position"]: line for line in lines}
    [result] = results(lines)
    assert len(result["rests_on"]) == 4
    assert all(each.keys() == {"reading", "position", "sealed"} for each in result["rests_on"])
    found = [entries(path)[each["position"] - 1] for each in result["rests_on"]]
    assert all(is_sealed(entry.body) for entry in found)
    assert [each["reading"] for each in result["rests_on"]] == [
        msgspec.json.decode(entry.body, type=Sealed).reading for entry in found
    ]
    cards = [json.loads(unseal(entry.body))["card"] for entry in found]
    assert cards == PUNTO_BANCA.split()[2:]
    assert {there[entry.position]["position"] for entry in found} <= set(there)


async def test_no_event_of_dealt_cards_has_a_frame(tmp_path: Path) -> None:
    for number, play in enumerate((two_runs, sealed_coup)):
        path = tmp_path / f"{number}.sqlite3"
        await play(path)
        events = [read_event(entry.body) for entry in entries(path) if entry.kind == "event"]
        assert any(getattr(event, "readings", ()) for event in events)
        assert not any(
            getattr(event, "frames", ()) for event in events if not isinstance(event, DataLate)
        )


async def test_a_reading_that_is_not_stored_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.sqlite3"
    await two_runs(path)
    monkeypatch.setattr(references, "MAX_LOOKUP_READINGS", 3)
    [first, *_] = results(exported(capsys, str(path)))
    assert [each.get("missing") for each in first["rests_on"]] == [REASON_TOO_FAR] * 5 + [None] * 3
    monkeypatch.undo()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        [[position]] = connection.execute(
            "SELECT position FROM entry WHERE CAST(body AS TEXT) LIKE ?",
            (f'%"reading":{first["body"]["readings"][1]}}}',),
        ).fetchall()
        connection.execute("DELETE FROM entry WHERE position <= ?", (position,))
    [first, *_] = results(exported(capsys, str(path)))
    assert [each.get("missing") for each in first["rests_on"]] == [REASON_NOT_STORED] * 2 + [
        None
    ] * 6
    made = audit(path)
    events = (json.loads(entry.body) for entry in entries(path) if entry.kind == "event")
    assert made.named == sum(len(event.get("readings", ())) for event in events)
    assert made.unkept == 2
    main(["audit", str(path), "--text"])
    assert "2 readings that events name are not stored" in capsys.readouterr().out


@pytest.mark.parametrize("key", [unseal, None])
async def test_an_audit_follows_every_reading_that_is_named(
    tmp_path: Path, key: Unseal | None
) -> None:
    for number, play in enumerate((two_runs, sealed_coup)):
        path = tmp_path / f"{number}.sqlite3"
        await play(path)
        made = audit(path, key)
        assert made.differences == []
        assert made.named > 0
        assert made.unkept == 0
        assert made.proves is (key is not None)


@pytest.mark.parametrize(
    ("kind", "old", "new", "what"),
    [
        ("event", '"readings":[', '"readings":[1,', "this event does not follow"),
        ("input", '"reading":7', '"reading":9', "the reading has the number 9, and the one before"),
        ("input", ',"reading":7', "", "the reading has no number"),
    ],
)
async def test_a_reading_that_was_forged_is_found(
    tmp_path: Path, kind: str, old: str, new: str, what: str
) -> None:
    path = tmp_path / "journal.sqlite3"
    await two_runs(path)
    assert audit(path, unseal).proves
    position = next(
        entry.position
        for entry in entries(path)
        if entry.kind == kind and old.encode() in entry.body
    )
    forge(path, position, old, new)
    made = audit(path, unseal)
    assert what in made.differences[0].what
    assert made.differences[0].position >= position


async def test_without_the_key_too_a_reading_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await sealed_coup(path)
    result = next(entry for entry in entries(path) if b"round.result" in entry.body)
    named = json.loads(result.body)["readings"]
    forge(path, result.position, json.dumps(named, separators=(",", ":")), "[99]")
    [found] = audit(path).differences
    assert (found.position, found.what.split(",")[0]) == (result.position, "it names reading 99")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        [[position]] = connection.execute(
            "SELECT position FROM entry WHERE CAST(body AS TEXT) LIKE ?",
            (f'%"reading":{named[1]}}}%',),
        ).fetchall()
        connection.execute("DELETE FROM entry WHERE position = ?", (position,))
        connection.execute(
            "UPDATE entry SET position = position - 1 WHERE position > ?", (position,)
        )
        chain_again(connection)
    first, *_ = audit(path).differences
    assert first.what == f"the reading has the number {named[2]}, and the one before it {named[0]}"


def test_one_process_and_several_find_the_same() -> None:
    alone, first, second = ReadingRange(), ReadingRange(), ReadingRange()
    for part, numbers, names in ((first, (5, 6), (4, 5)), (second, (7, 8), (3, 6, 8))):
        for number in numbers:
            alone.add_reading(number)
            part.add_reading(number)
        alone.add_references(names)
        part.add_references(names)
    first.add(second)
    assert (first.first, first.below) == (alone.first, alone.below) == (5, [4, 3])


def table(saved: bytes | None = None, boot: str = "b1", game: str = "trente-et-quarante") -> Table:
    return Table(
        site="palma",
        id="r1",
        game_id=game,
        decree="ARA02",
        game=make_game(game, "ARA02", {}),
        boot=boot,
        saved=saved,
        about=About(devices={"shoe": "driver"}),
    )


def test_readings_are_counted_through_restarts_and_rebuilt_tables() -> None:
    first = table()
    for at in (1.0, 2.0):
        first.handle(CardDrawn(at=at, device="shoe", card="7h"), "now", 0)
    assert (first.readings, table(first.saved(), boot="b2").readings) == (2, 2)
    other = table(first.saved(), game="punto-banca")
    assert (other.readings, other.sound) == (2, False), "it is another game, and starts over"
    wheel = table(game="roulette-french")
    wheel.handle(CardDrawn(at=1.0, device="shoe", card="7h"), "now", 0)
    assert wheel.readings == 0, "a wheel's results have frames"


def test_a_state_saved_with_frames_is_read() -> None:
    play = table()
    given: list[tuple[str, dict[str, Any]]] = [
        *(("session.open", {}), ("shoe.start", {"shoe": "S1"})),
        *(("bets.open", {}), ("bets.close", {})),
    ]
    for command, fields in given:
        play.handle(make_command(command, **fields), "now", 0)
    for card in BLACK_WINS.split()[:-1]:
        play.handle(CardDrawn(at=1.0, device="shoe", frame=f"CARD {card}", card=card), "now", 0)
    new = json.loads(play.saved())
    old = json.loads(play.saved())
    del old["readings"]
    for card in old["state"]["current"]["cards"]:
        del card["reading"]
        card["frame"] = {"at": 1.0, "frame": f"CARD {card['card']}", "device": "shoe"}
    old["state"]["entries"] = [
        {"round": 0, "kind": "unresolved", "frames": [{"at": 1.0, "frame": "CARD 7h"}]}
    ]
    kept = json.loads(table(json.dumps(old).encode()).saved())
    assert kept["readings"] == 0
    assert kept["state"]["entries"] == [{"round": 0, "kind": "unresolved"}]
    cards = [
        {**card, "reading": number}
        for number, card in enumerate(kept["state"]["current"]["cards"], 1)
    ]
    assert cards == new["state"]["current"]["cards"]


def test_a_result_that_was_saved_with_frames_is_shown_without() -> None:
    play = table()
    saved = json.loads(play.saved())
    frame = Frame(at=1.0, frame="CARD 7h", device="shoe")
    outcome = TrenteOutcome(
        winner="black", hands=(), marks=(), refaits=0, choices=(), last_of_session=False
    )
    saved["result"] = json.loads(write(RoundResult(outcome=outcome, frames=(frame,))))
    shown = table(json.dumps(saved).encode()).retained()["result"]
    assert shown is not None
    assert json.loads(shown)["frames"] == []
