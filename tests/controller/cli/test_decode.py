"""``novamas decode``: readings from a recording, and clear errors for anything else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from controller.cli import main
from devices.recording_writer import RecordingWriter
from devices.shoe.barcode_cards import PACK
from tests.support.programs import running

GOOD = "# device: a wheel\n# framing: line\n0.0 < *X;2;002;32;0;174;1\n0.5 < *X;2;002;32;0;174;1\n"


def test_readings_are_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wheel.rec"
    file.write_text(GOOD + "9.5 < *X;2;002;32;0;174;1\n")
    assert (
        main(["decode", "cammegh-ss2", str(file), "--device", "wheel", "--stale-after", "3"]) == 0
    )
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {reading["device"] for reading in lines} == {"wheel"}
    assert [reading["type"] for reading in lines if reading["type"].startswith("link.")][:3] == [
        "link.up",
        "link.stale",
        "link.up",
    ]
    assert [reading["at"] for reading in lines if reading["type"] == "link.stale"] == [3.5]


def test_a_changed_recording_is_refused_with_its_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wheel.rec"
    file.write_text(GOOD + "soon < x\n1.0 < *X;2;0")
    assert main(["decode", "cammegh-ss2", str(file)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    first, second, refused = captured.err.splitlines()
    assert first.startswith(f"{file}:5: time 'soon'")
    assert second.startswith(f"{file}:6: the last line has no line end")
    assert refused.startswith(f"novamas: {file}:5: time 'soon'")
    assert refused.endswith(
        "use the file as it was recorded, or the lines above this one alone: `head -n 4`"
    )


def test_an_unfinished_last_line_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wheel.rec"
    file.write_text(GOOD + "1.0 < *X;2;0")
    assert main(["decode", "cammegh-ss2", str(file)]) == 0
    captured = capsys.readouterr()
    assert "link.up" in captured.out
    assert captured.err.startswith(f"{file}:5: ")


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG\r\n\x1a\n\0\0", b"hello\n", b"# device: a wheel\n"]
)
def test_a_file_that_is_no_recording_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    assert main(["decode", "cammegh-ss2", str(file)]) == 1
    assert f"novamas: {file}: not a recording, or empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody"], "no driver 'nobody'; there are: "),
        (["cammegh-ss2"], "lost.rec: No such file"),
        (["cammegh-ss2", "--option", "pockets"], "'pockets': expected KEY=VALUE"),
        (
            ["cammegh-ss2", "--option", "pocket=38"],
            "option pocket: unknown key; did you mean `pockets`?",
        ),
        (
            ["cammegh-ss2", "--option", "pockets=many"],
            "option pockets: expected one of 37, 38, 39, 40, got 'many'",
        ),
    ],
)
def test_a_wrong_call_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["decode", words[0], str(tmp_path / "lost.rec"), *words[1:]]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "gap", ["restart", "the link was opened again here", "3 chunks are missing here"]
)
def test_halves_before_and_after_a_gap_are_not_joined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], gap: str
) -> None:
    file = tmp_path / "shoe.rec"
    writer = RecordingWriter(file, {"driver": "barcode-serial"})
    writer.write(1e9, b"S2\r\nH1")
    if gap == "restart":
        writer.close()
        writer = RecordingWriter(file, {"driver": "barcode-serial"})
    else:
        writer.remark(gap)
    writer.write(1e9 + 0.1, b"0\r\n")
    writer.close()
    assert main(["decode", "barcode-serial", str(file)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    known = [reading["card"] for reading in lines if reading.get("card")]
    assert known == ["2s"]
    [lost] = [reading["reason"] for reading in lines if reading["type"] == "link.lost"]
    assert lost == ("recording was started again here" if gap == "restart" else gap)


CODES = {f"{number}": card for number, card in enumerate(sorted(PACK), 100)}


@pytest.mark.parametrize(
    "written",
    [
        json.dumps(CODES),
        json.dumps(CODES, separators=(",", ":")),
        "{" + ", ".join(f'"{code}" = "{card}"' for code, card in CODES.items()) + "}",
    ],
)
def test_a_table_is_accepted_as_toml_and_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str
) -> None:
    file = tmp_path / "shoe.rec"
    file.write_text("# framing: line\n0.0 < 117\n1.5 < 130\n")
    assert main(["decode", "barcode-serial", str(file), "--option", f"cards={written}"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    drawn = [reading["card"] for reading in lines if reading["type"] == "card.drawn"]
    assert drawn == [CODES["117"], CODES["130"]]


def test_a_duplicate_code_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = '{"117": "Ah", "117": "2h"}'
    words = ["decode", "barcode-serial", str(tmp_path / "x"), "--option", f"cards={twice}"]
    assert main(words) == 1
    assert "option cards: '117' is given twice" in capsys.readouterr().err


@pytest.mark.usefixtures("programs")
def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    """``novamas decode ... | head -n 1``."""
    file = tmp_path / "wheel.rec"
    file.write_text(
        GOOD
        + "".join(
            f"{second}.0 < *X;2;{second % 255:03};32;0;174;1\n" for second in range(1, 20_000)
        )
    )
    novamas = Path(sys.executable).with_name("novamas")
    with running(
        [novamas, "decode", "cammegh-ss2", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"link.up" in process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_not_every_line_of_a_file_that_is_no_recording_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "photo.jpg"
    path.write_text("no chunk\n" * 1000)
    assert main(["decode", "cammegh-ss2", str(path)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 22
    assert lines[20] == f"{path}: and 980 more such lines"
    assert lines[21].startswith(f"novamas: {path}: not a recording")
