"""``novamas commission``: correct wheels and shoes, wrong ones, and people who leave."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from common.contract.retained import Identity
from controller.cli import main
from controller.commissioning.judgement import judge, verdict
from controller.commissioning.protocol import (
    AnswerNote,
    AnyNote,
    Expected,
    ParameterNote,
    PhaseNote,
    Plate,
    Protocol,
    Provoked,
    RecordingSummary,
    read_signed,
)
from devices.wheel.cammegh_ss2_parameters import PARAMETERS
from tests.controller.commissioning.commissioned import Person, key
from tests.support.daemon.process import Wheel
from tests.support.devices.asked_wheel import SPEED, SimulatedWheel
from tests.support.devices.parts import Pty
from tests.support.for_each import for_each

CARDS = [rank + suit for suit in "cdhs" for rank in "A23456789TJQK"]

Start = Callable[..., Person]


@pytest.fixture
def person(programs: None, tmp_path: Path, ending: ExitStack) -> Start:
    def start(*words: str) -> Person:
        made = Person(tmp_path, "r1", "novamas.toml", *key(tmp_path), *words)
        ending.callback(made.close)
        return made

    return start


@pytest.fixture
def wheel(tmp_path: Path, ending: ExitStack) -> Wheel:
    made = Wheel(tmp_path / "wheel")
    ending.callback(made.close)
    configure(tmp_path, "roulette-french", "cammegh-ss2", made.url)
    with (tmp_path / "novamas.toml").open("a") as file:
        file.write("options = { period = 0.1 }\n")
    return made


def configure(folder: Path, game: str, driver: str, url: str) -> None:
    (folder / "novamas.toml").write_text(f"""
[site]
id = "palma"

[people]
required = "accept-the-risk"

[surveillance]
public_key = "{"ab" * 32}"

[[table]]
id = "r1"
game = "{game}"
decree = "ARA02"

[[table.device]]
id = "device"
driver = "{driver}"
link = "{url}"
maker = "Acme"
model = "Rota"
serial = "A117"
stale_after = 60.0
""")


def protocol(folder: Path) -> Protocol:
    found = folder / "commission-r1-device" / "protocol.json"
    assert (found.with_name("protocol.pdf")).read_bytes().startswith(b"%PDF")
    return read_signed(found.read_bytes())[1]


def outcomes(of: Protocol) -> dict[str, str]:
    return {check.name: check.outcome for check in of.checks}


def plate(at: Person) -> None:
    at.answer("maker: ", "Acme")
    at.answer("model: ", "Rota")
    at.answer("serial number: ", "a117")


def spin(wheel: Wheel, count: int, shown: int) -> None:
    for state in (2, 3, 4, 5):
        wheel.show(state, count, str(shown) if state == 5 else "")


def spins(at: Person, wheel: Wheel, numbers: range, reads: dict[int, int]) -> None:
    """The ball falls into each pocket, and the wheel reports what it reads."""
    for number in numbers:
        at.asked("number: ")
        spin(wheel, number + 1, reads.get(number, number))
        at.type(str(number))
        if reads.get(number, number) != number:
            at.answer("enter it again: ", str(number))


def test_a_correct_wheel_and_a_person_who_leaves(
    wheel: Wheel, person: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = person()
    plate(at)
    at.asked("The device is understood.")
    spins(at, wheel, range(12), {})
    at.asked("[12 of 37]")
    assert at.interrupt() == 130
    at = person()
    spins(at, wheel, range(12, 20), {})
    at.asked("[20 of 37]")
    at.kill()
    assert not (tmp_path / "commission-r1-device" / "protocol.json").exists()
    at = person()
    spins(at, wheel, range(20, 37), {})
    for state, phase in ((2, "bets open"), (4, "no more bets")):
        at.answer(f"report {phase}: ", "")
        at.asked("Listening to the device.")
        for before in range(state):
            wheel.show(before + 1 if before else 6, 40, "36")
        wheel.show(state, 40, "36")
        at.answer("Is that right? (y/n) ", "y")
    at.answer("Enter when it is done: ", "")
    wheel.unplug()
    at.asked("The device: link.lost.")
    wheel.plug()
    at.answer("Enter when it is done: ", "")
    at.answer("Start a spin and take the ball out", "")
    wheel.show(2, 41, "36")
    wheel.show(3, 41, "36")
    wheel.show(3, 41, "36", warning="2")
    at.asked("The device: wheel.fault ball_with_rotor.")
    wheel.show(3, 41, "36")
    at.type("")
    at.answer("Cover a sensor of the ball. Press Enter when it is done: ", "")
    wheel.show(3, 41, "36", warning="4")
    at.asked("The device: wheel.fault sensor.")
    wheel.show(3, 41, "36")
    at.answer("Enter when it is done: ", "")
    assert at.ended() == 0, at.drawn
    found = protocol(tmp_path)
    assert found.verdict == "accepted"
    assert set(outcomes(found).values()) == {"passed"}
    assert len(found.recordings) == 3
    assert sum(each.frames for each in found.recordings) > 37 * 4
    file = tmp_path / "commission-r1-device" / "protocol.json"
    capsys.readouterr()
    assert main(["commission", "--verify", str(file)]) == 0
    assert "as it was signed" in capsys.readouterr().out
    recording = file.with_name(found.recordings[1].file)
    recording.write_bytes(recording.read_bytes() + b"9 < x\n")
    assert main(["commission", "--verify", str(file)]) == 1
    assert "is not the recording of this acceptance" in capsys.readouterr().err
    file.write_bytes(file.read_bytes().replace(b'"said":"17"', b'"said":"18"'))
    assert main(["commission", "--verify", str(file)]) == 1
    assert "the signature is wrong" in capsys.readouterr().err


def test_a_wheel_that_misreads_one_pocket(wheel: Wheel, person: Start, tmp_path: Path) -> None:
    """A check not done is recorded as not done, and a second look does not hide a mistake."""
    at = person()
    plate(at)
    spins(at, wheel, range(20), {})
    at.asked("number: ")
    spin(wheel, 21, 14)
    at.type("20")
    at.answer("enter it again: ", "20")
    at.asked("NOT THE SAME. You: 20; the device: 14.")
    at.asked("number: ")
    spin(wheel, 22, 21)
    at.type("22")  # the person was wrong
    at.answer("enter it again: ", "21")
    at.asked("The device: 21. The same.")
    at.answer("number: ", "39")
    at.asked("is not a value of this device")
    at.answer("number: ", "skip")
    for _ in range(2):
        at.answer("then wait for the device", "skip")
    for _ in range(3):
        at.answer("Enter when it is done: ", "skip")
    assert at.ended() == 1
    found = protocol(tmp_path)
    assert found.verdict == "not accepted"
    assert outcomes(found) == {
        "plate": "passed",
        "line": "passed",
        "all numbers": "failed",
        "phase bets_open": "not done",
        "phase no_more_bets": "not done",
        "fault cable": "not done",
        "fault ball": "not done",
        "fault sensor": "not done",
        "latency": "passed",
    }
    assert found.checks[2].what == "20: the device said 14"
    assert [(note.seen, note.first) for note in found.notes if isinstance(note, AnswerNote)][
        -1
    ] == (
        "21",
        "22",
    )


def test_a_shoe_that_swaps_two_codes(person: Start, tmp_path: Path, ending: ExitStack) -> None:
    shoe = Pty(tmp_path)
    ending.callback(shoe.unplug)
    configure(tmp_path, "punto-banca", "bee-tek", f"{shoe.url}?baud=9600")
    swapped = {"7h": "8h", "8h": "7h"}
    at = person()
    plate(at)
    at.asked("The device sends only when something happens.")
    for card in CARDS:
        at.asked("card: ")
        read = swapped.get(card, card)
        shoe.say(f" [Game]<Card:{read[0]}{read[1].upper()}> \r\n".encode())
        at.type(card.replace("T", "10").upper())
        if card in swapped:
            at.answer("enter it again: ", card)
    for _ in range(3):
        at.answer("Enter when it is done: ", "skip")
    assert at.ended() == 1
    found = protocol(tmp_path)
    check = next(each for each in found.checks if each.name == "all cards")
    assert (check.outcome, check.what) == (
        "failed",
        "7h: the device said 8h; 8h: the device said 7h",
    )


def test_a_commissioning_that_cannot_run_is_explained(
    wheel: Wheel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*key(tmp_path), "--out", str(tmp_path / "out")]
    file = str(tmp_path / "novamas.toml")
    assert main(["commission", "r2", file, *words]) == 1
    assert "no table 'r2'; there are: r1" in capsys.readouterr().err
    assert main(["commission", "r1", file]) == 2
    assert "give --key FILE" in capsys.readouterr().err
    wheel.unplug()
    assert main(["commission", "r1", file, *words]) == 1
    assert "A running daemon keeps its devices open" in capsys.readouterr().err
    wheel.plug()
    (tmp_path / "protocol").write_bytes(b"{}")
    assert main(["commission", "--verify", str(tmp_path / "protocol")]) == 1
    assert "is not a protocol of an acceptance" in capsys.readouterr().err


EXPECTED = Expected(kind="wheel", values=("0", "1"), phases=("bets_open",), faults=("cable",))
AT = "2026-03-20T20:00:00.000000Z"
RECORDED = (RecordingSummary(file="run-1.rec", sha256="", bytes=9, frames=1, damaged=0),)
NOTES = (
    Plate(at=AT, maker="Acme", model="Rota", serial="A117"),
    AnswerNote(at=AT, seen="0", reported="0", ms=0.2),
    AnswerNote(at=AT, seen="1", reported="1", ms=0.4),
    PhaseNote(at=AT, phase="bets_open", reported=True, right=True),
    Provoked(at=AT, fault="cable", reported=("link.lost",), over=True),
)
IDENTITY = Identity(serial="A117")


def test_no_check_passes_unseen() -> None:
    """Each note removed makes its check, and the whole, not done."""
    assert verdict(judge(EXPECTED, NOTES, IDENTITY, RECORDED)) == "accepted"
    for left_out in NOTES:
        checks = judge(
            EXPECTED, [each for each in NOTES if each is not left_out], IDENTITY, RECORDED
        )
        assert [check.outcome for check in checks].count("not done") == 1
        assert verdict(checks) == "incomplete"
    assert verdict(judge(EXPECTED, NOTES, Identity(), RECORDED)) == "incomplete"
    assert verdict(judge(EXPECTED, NOTES, IDENTITY, ())) == "not accepted"


@for_each(
    "wrong",
    [
        Plate(at=AT, maker="Acme", model="Rota", serial="A118"),
        AnswerNote(at=AT, seen="1", reported="0", ms=0.1),
        AnswerNote(at=AT, seen="1", reported=None),
        AnswerNote(at=AT, seen="1", reported="1", ms=5000.0),
        PhaseNote(at=AT, phase="bets_open", reported=True, right=False),
        PhaseNote(at=AT, phase="bets_open", reported=False),
        Provoked(at=AT, fault="cable", reported=(), over=True),
        Provoked(at=AT, fault="cable", reported=("link.lost",), over=False),
    ],
    ids=lambda note: json.dumps(str(note))[:60],
)
def test_a_wrong_protocol_fails(wrong: Plate | AnswerNote | PhaseNote | Provoked) -> None:
    assert verdict(judge(EXPECTED, (*NOTES, wrong), IDENTITY, RECORDED)) == "not accepted"


def parameter_checks(*notes: ParameterNote) -> list[tuple[str, str]]:
    asked = msgspec.structs.replace(EXPECTED, parameters=("z", "m"))
    checks = judge(asked, (*NOTES, *notes), IDENTITY, RECORDED)
    return [(check.outcome, check.what) for check in checks if check.name == "parameters"]


def test_the_parameters_of_a_wheel_that_is_asked() -> None:
    z, m = (ParameterNote(at=AT, parameter=name, value=v) for name, v in (("z", "37"), ("m", "2")))
    assert parameter_checks(z, m) == [("passed", "z 37; m 2")]
    assert parameter_checks(z) == [("not done", "left: m")]
    silent = msgspec.structs.replace(m, value=None)
    assert parameter_checks(z, silent) == [("not done", "left: m")]
    wrong = msgspec.structs.replace(m, value="20000.0", expected="0 to 5")
    assert parameter_checks(z, wrong) == [("failed", "m 20000.0, expected 0 to 5")]
    assert parameter_checks(z, wrong, m) == [("passed", "z 37; m 2")]  # set right, and read again
    assert "parameters" not in [
        check.name for check in judge(EXPECTED, NOTES, IDENTITY, RECORDED)
    ]  # of a wheel that is not asked


def test_a_wheel_states_its_parameters_to_the_person(
    person: Start, tmp_path: Path, ending: ExitStack
) -> None:
    simulated = SimulatedWheel(tmp_path / "wheel", ending)
    configure(tmp_path, "roulette-french", "cammegh-ss2", f"serial://{simulated.link}?baud=9600")
    with (tmp_path / "novamas.toml").open("a") as file:
        file.write(f"commands = true\noptions = {{ period = {0.5 / SPEED} }}\n")
    simulated.fault("parameter 20000")
    at = person()
    plate(at)
    at.asked("m 20000.0: expected 0 to 5")
    at.asked("number: ")
    assert at.interrupt() == 130
    lines = (tmp_path / "commission-r1-device" / "progress.jsonl").read_bytes().splitlines()
    stated = [
        note
        for note in (msgspec.json.decode(line, type=AnyNote) for line in lines)
        if isinstance(note, ParameterNote)
    ]
    assert {note.parameter for note in stated} == set(PARAMETERS)
    assert {note.parameter: note.expected for note in stated if note.expected} == {"m": "0 to 5"}
