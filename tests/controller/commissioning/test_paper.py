"""The printed copy of a protocol: in the language of the site, and with what the signed file has in
English.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace
from nacl.signing import SigningKey

from common.contract.messages.messages import LANGUAGES, text
from common.contract.retained import Identity
from controller.cli import main
from controller.commissioning.judgement import judge, verdict
from controller.commissioning.paper import as_pdf, as_text, title
from controller.commissioning.protocol import (
    AnswerNote,
    AnyNote,
    Expected,
    PhaseNote,
    Plate,
    Protocol,
    Provoked,
    RecordingSummary,
    write_signed,
)
from tests.support.pdf import pdf_text

AT = "2026-03-20T20:00:00.000000Z"
HOUSE = ("Casino Mayor, S.A.", "NIF A-12345678")
FAULTS = ("cable", "ball", "sensor", "unread", "cut card")
PHASES = ("bets_open", "no_more_bets", "launched", "settling", "settled")
EXPECTED = Expected(kind="wheel", values=("0", "1", "2"), phases=PHASES, faults=FAULTS)
IDENTITY = Identity(maker="Acme", serial="A117")
RECORDED = RecordingSummary(file="run-1.rec", sha256="ab" * 32, bytes=9, frames=1, damaged=0)
PLATE = Plate(at=AT, maker="Acme", model="Rota", serial="A117")


def answer(
    seen: str, reported: str | None, ms: float | None = 0.25, unasked: int = 0
) -> AnswerNote:
    return AnswerNote(at=AT, seen=seen, reported=reported, ms=ms, unasked=unasked)


PASSED: tuple[AnyNote, ...] = (
    PLATE,
    *(answer(value, value, unasked=1) for value in EXPECTED.values),
    *(PhaseNote(at=AT, phase=phase, reported=True, right=True) for phase in PHASES),
    *(Provoked(at=AT, fault=fault, reported=("link.lost",), over=True) for fault in FAULTS),
)
FAILED: tuple[AnyNote, ...] = (
    replace(PLATE, serial=""),
    answer("1", None),
    answer("1", None),
    answer("2", "0", 5000.0),
    PhaseNote(at=AT, phase="bets_open", reported=False),
    PhaseNote(at=AT, phase="no_more_bets", reported=True),
    Provoked(at=AT, fault="cable", reported=("link.lost", "link.stale"), over=False),
    Provoked(at=AT, fault="ball", reported=(), over=True),
)


def protocol(*notes: AnyNote, expected: Expected = EXPECTED) -> Protocol:
    checks = judge(expected, notes, IDENTITY, (RECORDED,))
    return Protocol(
        site="palma",
        table="r1",
        game="roulette-french",
        decree="EUS96",
        device="wheel",
        driver="cammegh-ss2",
        evidence="documented",
        link="/dev/ttyUSB0",
        configured=IDENTITY,
        usb={},
        software="novamas",
        by="J. Soler",
        person=None,
        ended=AT,
        expected=expected,
        notes=notes,
        recordings=(RECORDED,),
        checks=checks,
        verdict=verdict(checks),
    )


def test_the_english_texts_of_signed_protocols_stay_as_they_are() -> None:
    """Else `--verify` refuses every protocol that was signed before."""
    assert [(check.name, check.what) for check in protocol(*PASSED).checks] == [
        ("plate", "Acme Rota A117"),
        ("line", "1 frames, 0 damaged, 9 bytes"),
        ("all numbers", "3 of 3, 3 answers; 3 more results, to which nobody answered"),
        *((f"phase {phase}", "the person saw the same") for phase in PHASES),
        *((f"fault {fault}", "link.lost") for fault in FAULTS),
        (
            "latency",
            "3 results: median 0.2 ms, longest 0.2 ms from the arrival of the bytes to the result",
        ),
    ]
    failed = {check.name: check.what for check in protocol(*FAILED).checks}
    assert failed["plate"] == "serial (none), configured A117"
    assert failed["all numbers"] == "1: the device said nothing (2 times); 2: the device said 0"
    assert failed["phase bets_open"] == "the device did not report it"
    assert failed["phase no_more_bets"] == "the person did not see it so"
    assert failed["phase launched"] == "nobody compared it"
    assert failed["fault cable"] == "link.lost, link.stale; its end was not reported"
    assert failed["fault ball"] == "the device did not report it"
    assert failed["fault sensor"] == "nobody provoked it"
    nothing = {check.name: check.what for check in judge(EXPECTED, (), IDENTITY, ())}
    assert nothing["plate"] == "nobody read the plate"
    assert nothing["all numbers"] == "0 of 3, 0 answers; left: 0, 1, 2"
    assert nothing["latency"] == "no result was measured"
    no_serial = judge(EXPECTED, (PLATE,), Identity(), ())[0].what
    assert no_serial == "serial A117: none is configured to compare it with"
    cards = tuple(f"{rank}{suit}" for suit in "cd" for rank in "A23456789TJQK")
    shoe = Expected(kind="shoe", values=cards, phases=(), faults=())
    named = {check.name: check.what for check in judge(shoe, (), IDENTITY, ())}
    assert named["all cards"] == (
        "0 of 26, 0 answers; left: Ac, 2c, 3c, 4c, 5c, 6c, 7c, 8c, 9c, Tc, Jc, Qc and 14 more"
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("notes", [PASSED, FAILED, ()], ids=["passed", "failed", "nothing"])
def test_a_paper_is_in_one_language(language: str, notes: tuple[AnyNote, ...]) -> None:
    """Every English word of a signed protocol is another one on the paper of another language."""
    of = protocol(*notes)
    page = as_text(of, "KEY", "ab" * 32, language, HOUSE)
    printed = "".join(pdf_text(as_pdf(of, "KEY", "ab" * 32, language, HOUSE)).split())
    for line in (HOUSE[0], title(of, language), text(f"game.{of.game}", language)):
        assert line in page
        assert "".join(line.replace("’", "'").split()) in printed
    if language == "en":
        return
    for word in ("device", "nobody", "person", "passed", "failed", "not done", "bets_open", "none"):
        assert f" {word} " not in f" {page} ".replace("\n", " ").replace(",", " ").replace(":", " ")
    english = as_text(of, "KEY", "ab" * 32, "en", HOUSE).splitlines()
    same = {line for line in page.splitlines() if line in english and line}
    assert {line for line in same if not line.startswith((*HOUSE, "software"))} <= {""}


def test_a_shoe_has_its_suits_as_symbols() -> None:
    shoe = Expected(kind="shoe", values=("7h", "Tc"), phases=(), faults=())
    of = protocol(answer("7h", "7h"), answer("Tc", "?"), expected=shoe)
    assert "7♥, 10♣ (aparato: ?)" in as_text(of, "KEY", "ab" * 32, "es")


def test_the_name_of_the_output_decides_its_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signed = write_signed(protocol(*FAILED), SigningKey.generate())
    file = tmp_path / "protocol.json"
    file.write_bytes(signed)
    (tmp_path / "run-1.rec").unlink(missing_ok=True)
    for name, language in (("p.pdf", None), ("p.txt", None), ("p-en.txt", "en")):
        chosen = ["--language", language] if language else []
        words = ["commission", "--verify", str(file), "--output", str(tmp_path / name), *chosen]
        assert main(words) == 0, capsys.readouterr().err
    assert (tmp_path / "p.pdf").read_bytes().startswith(b"%PDF")
    basque = (tmp_path / "p.txt").read_text()
    assert basque.startswith("wheel gailuaren onarpena, r1 mahaia\nEZ DA ONARTU\n")
    assert sha256(signed).hexdigest() in basque
    assert (tmp_path / "p-en.txt").read_text().startswith("Acceptance of wheel, table r1\n")
