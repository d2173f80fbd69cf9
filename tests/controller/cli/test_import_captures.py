"""``novamas import``: a capture of another program becomes a recording that decodes like the bytes
in it.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from controller.cli import main
from controller.cli.decode import decode, make_codec
from devices.captures import RAW_CHUNK_BYTES
from devices.recording import Chunk, read_recording
from devices.watch import Watch
from tests.devices.test_evidence import words
from tests.devices.test_recordings import RECORDINGS

START = 1_700_000_000.0


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("form", ["hex", "raw"])
def test_a_capture_of_every_driver_gives_its_readings(
    path: Path, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, made = tmp_path / "capture", tmp_path / "made.rec"
    heard = [chunk for chunk in read_recording(path) if not chunk.sent]
    first = heard[0].at
    if form == "raw":
        data = b"".join(chunk.data for chunk in heard)
        file.write_bytes(data)
        heard = [
            Chunk(first, data[begin : begin + RAW_CHUNK_BYTES])
            for begin in range(0, len(data), RAW_CHUNK_BYTES)
        ]
    else:
        file.write_text(
            "".join(f"({START + chunk.at:.6f}) {chunk.data.hex(' ')}\n" for chunk in heard)
        )
    driver, *options = words(path)
    assert main(["import", form, str(file), str(made), "--driver", driver, *options]) == 0
    errors = capsys.readouterr().err
    assert ("none in the capture" in errors) == (form == "raw")
    assert main(["decode", driver, str(made), *options]) == 0
    codec = make_codec(driver, "device", options[1::2])
    watch = Watch(codec, "device", 5.0)
    expected = [
        msgspec.json.encode(reading).decode()
        for reading in decode(
            watch,
            [msgspec.structs.replace(chunk, at=round(chunk.at - first, 6)) for chunk in heard],
        )
    ]
    assert capsys.readouterr().out.splitlines() == expected
    header = read_recording(made).header
    assert header["imported"].startswith(f"capture ({form}), sha256 ")
    assert ("none in the capture" in header["times"]) == (form == "raw")
    assert header["check"] == "crc32"


def test_a_text_log_of_a_scanner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, made = tmp_path / "putty.log", tmp_path / "made.rec"
    file.write_text("18:03:02.1 S2\n18:03:05.1 HT\n")
    assert main(["import", "text", str(file), str(made), "--driver", "barcode-serial"]) == 0
    assert "2 frames, 0 damaged; times: of each line" in capsys.readouterr().err
    assert main(["decode", "barcode-serial", str(made)]) == 0
    out = capsys.readouterr().out
    assert re.findall(r'"card":"(..)"', out) == ["2s", "Th"]
    assert read_recording(made).header["line-ends"].startswith("crlf, put back")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hex", "c", "r", "--driver", "no"], "no driver 'no'"),
        (["hex", "c"], "novamas import hex FILE RECORDING --driver DRIVER"),
        (["hex", "c", "r"], "novamas import hex FILE RECORDING --driver DRIVER"),
        (["hex", "c", "c", "--driver", "saturn"], "c already exists; not overwritten"),
        (["hex", "c", "r", "--driver", "saturn"], "c: line 2: 'zz' is not hexadecimal"),
        (["text", "lost", "r", "--driver", "saturn"], "lost: cannot be read"),
        (["text", "a.rec", "r", "--driver", "saturn"], "a.rec: is a recording already"),
        (["deck-mate-1", "a.rec"], "a.rec: is a recording already"),
    ],
)
def test_a_wrong_call_is_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c").write_text("02\nzz\n")
    Path("a.rec").write_text("# device: x\n# framing: raw\n0.0 < x\n")
    assert main(["import", *words]) == 1
    assert message in capsys.readouterr().err
    assert not Path("r").exists()
