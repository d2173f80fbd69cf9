"""``novamas profile``, and the other commands that accept one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from controller.cli import main
from tests.support.devices.described import FOLDER
from tests.support.for_each import for_each

RECORDINGS = FOLDER.parent / "recordings"
ROTA = str(FOLDER / "acme-rota.toml")
SPINS = RECORDINGS / "acme-rota-spins.txt"
GOLDEN = SPINS.with_suffix(".readings.jsonl").read_text()


def test_a_recording_is_understood(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "test", ROTA, str(SPINS)]) == 0
    captured = capsys.readouterr()
    assert captured.out == GOLDEN
    assert captured.err == "300 bytes: 25 frames, 3 damaged, 2 unknown, 7 late; 26 readings\n"


def test_decode_accepts_a_profile_instead_of_a_driver(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["decode", f"profile:{ROTA}", str(SPINS)]) == 0
    assert capsys.readouterr().out == GOLDEN


def test_replay_accepts_a_profile(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--driver", f"profile:{ROTA}", "--game", "roulette-french", "--decree", "ARA02"]
    assert main(["replay", str(SPINS), *words]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["candidate"] for event in events if event["type"] == "round.unresolved"] == [
        17,
        0,
    ]  # a fault, and a silence


def test_a_recording_without_any_frame_fails(capsys: pytest.CaptureFixture[str]) -> None:
    wheel = RECORDINGS / "cammegh-ss2-double-zero.txt"
    assert main(["profile", "test", ROTA, str(wheel)]) == 1
    assert f"novamas: {ROTA}: no frame of {wheel} was understood" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["check", "test"])
def test_a_mistake_in_a_profile_is_reported_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    file = tmp_path / "rota.toml"
    text = (
        Path(ROTA)
        .read_text()
        .replace(
            'pocket = { at = 3, width = 2, encoding = "decimal", min = 0, max = 36 }',
            "pocket = { at = 7, width = 2 }",
        )
    )
    file.write_text(text)
    assert main(["profile", action, str(file), *([str(SPINS)] if action == "test" else [])]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    line = text[: text.index("pocket =")].count("\n") + 1
    assert (
        f"{file}:{line}: message[1].fields.pocket.at: ends beyond the message, which has 8 bytes\n"
        in captured.err
    )


def test_a_message_that_no_frame_matches_is_reported_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rota.toml"
    first = '[[message]]\nname = "anything"\n\n'
    text = Path(ROTA).read_text()
    file.write_text(text.replace("[[message]]\n", first + "[[message]]\n", 1))
    assert main(["profile", "check", str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = file.read_text().splitlines()
    second = [number for number, line in enumerate(lines, 1) if line == "[[message]]"][1]
    assert (
        f"{file}:{second}: message[1]: no frame was found that matches this message; "
        "'anything' matches the frames that were tried\n"
    ) in captured.err


def test_a_sound_profile_is_summarised(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "check", ROTA]) == 0
    assert (
        capsys.readouterr().out
        == "ok: acme-rota, Acme Rota: wheel; baud=19200&parity=E; commands: start, speed\n"
    )


@for_each(
    ("words", "message"),
    [
        (["profile", "check", "lost.toml"], "lost.toml: cannot be read: No such file"),
        (["profile", "test", ROTA], "profile test needs a recording"),
        (["profile", "test", ROTA, "lost.rec"], "lost.rec: No such file"),
        (["decode", "profile", str(SPINS)], "profile needs a file: profile:FILE"),
        (["decode", "cammegh-ss2:x", str(SPINS)], "no driver 'cammegh-ss2:x'"),
        (["decode", "profile:lost.toml", str(SPINS)], "lost.toml: cannot be read"),
    ],
)
def test_a_wrong_call_is_reported(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(words) == 1
    assert message in capsys.readouterr().err


def test_line_settings_that_no_port_has_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rota.toml"
    file.write_text(Path(ROTA).read_text().replace("parity=E", "parity=X"))
    assert main(["profile", "check", str(file)]) == 1
    assert f"{file}: line: parity=X" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            'kind = "xor"',
            'kind = "sum"',
            (
                "25 would be with [checksum] kind = 'xor', from = 1, encoding = 'hex'; compare "
                "that with the maker's document"
            ),
        ),
        (
            "from = 1 ",
            "from = 0 ",
            (
                "25 would be with [checksum] kind = 'xor', from = 1, encoding = 'hex'; compare "
                "that with the maker's document"
            ),
        ),
        ("at = -2 ", "at = -3 ", "would be; check [checksum]"),
        ('end = "\\u0003"', 'end = "\\u0004"', "; check [framing] and the messages"),
    ],
)
def test_the_place_to_look_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, message: str
) -> None:
    file = tmp_path / "rota.toml"
    text = Path(ROTA).read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    assert main(["profile", "test", str(file), str(SPINS)]) == 1
    assert f"no frame of {SPINS} was understood" in (errors := capsys.readouterr().err)
    assert message in errors


FAULTS = RECORDINGS / "cammegh-ss2-faults.txt"
SHOWN = "17 17 0 26 5 9 8 14 21 3 36"


def test_a_profile_is_proposed_from_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "new", str(FAULTS), "--shown", SHOWN]) == 0
    out = capsys.readouterr().out
    assert "lines ended by '\\r\\n': 1085 of 1085 frames\n" in out
    assert "the number in decimal digits: 11 of 11 spins\n" in out
    assert "cammegh-ss2-faults.toml: written, with 11 open questions" in out
    file = "cammegh-ss2-faults.toml"
    assert main(["profile", "test", file, str(FAULTS)]) == 0
    readings = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    numbers = [reading["number"] for reading in readings if reading["type"] == "wheel.number"]
    assert numbers == [int(number) for number in SHOWN.split()]
    assert main(["profile", "check", file]) == 0
    checked = capsys.readouterr().out.splitlines()
    assert checked[0].startswith("ok: cammegh-ss2-faults")
    line = next(line for line in checked if "double zero" in line)
    at = int(line.split(":")[1])
    assert "double zero" in Path(file).read_text().splitlines()[at - 1]
    assert len(checked) == 12
    assert main(["profile", "new", str(FAULTS), "--shown", SHOWN]) == 1
    assert f"{file}: already exists" in capsys.readouterr().err


def test_too_few_numbers_give_a_profile_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rota.toml"
    words = ["profile", "new", str(SPINS), "--output", str(file)]
    assert main([*words, "--shown", "17,0"]) == 1
    captured = capsys.readouterr()
    assert "checksum xor: 25 of 28 frames\n" in captured.out
    assert "it gives no number: 2 spins prove no field; record more; at least 3" in captured.err
    assert main(["profile", "check", str(file)]) == 0
    assert "missing: no number can be decoded" in capsys.readouterr().out


def test_a_terminal_asks_what_the_wheel_showed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"17 99\n{SHOWN}\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["profile", "new", str(FAULTS), "--output", str(tmp_path / "p.toml")]) == 0
    out = capsys.readouterr().out
    assert "99 is no pocket; expected numbers from 0 to 36, or 00\n" in out
    assert "11 of 11 spins" in out


@for_each(
    ("words", "code", "message"),
    [
        ([str(FAULTS), "--shown", "17,38"], 2, "38 is no pocket; expected numbers from 0 to 36"),
        ([str(FAULTS), "other.toml"], 1, "profile new takes one file, the recording"),
        (["lost.rec"], 1, "lost.rec: No such file"),
        ([str(RECORDINGS / "zvonimir-king-echo.txt")], 1, "Is the speed right? `novamas identify`"),
    ],
)
def test_a_proposal_that_cannot_be_made_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if code == 2:
        with pytest.raises(SystemExit):
            main(["profile", "new", *words])
    else:
        assert main(["profile", "new", *words]) == code
    assert message in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []
