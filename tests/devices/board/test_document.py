"""``docs/engineer/board.md`` says what the codecs understand: its words, its fields, its examples
and its program.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from common.readings import ShufflerStateName
from devices.board.codec import BoardCodec
from devices.board.report import CLOCK_WRAP_MS, MAX_LINE_BYTES, SEQUENCE_NUMBERS, check, read_report
from devices.dice.dice_board import DiceBoard
from devices.shuffler.shuffler_board import STATES, ShufflerBoard
from devices.slot.slot_board import SlotBoard
from devices.wheel.boule_board import BouleBoard
from devices.wheel.fortune_board import FortuneBoard
from tests.support import contract
from tests.support.devices.board_pens import make
from tests.support.for_each import for_each

TEXT = (contract.DOCS / "engineer" / "board.md").read_text()
SECTIONS = contract.sections("engineer/board.md")
BOARDS: dict[str, type[BoardCodec]] = {
    board.kind: board for board in (BouleBoard, FortuneBoard, DiceBoard, ShufflerBoard, SlotBoard)
}
EXAMPLES = [row[0].encode("ascii") for row in contract.table(SECTIONS["Examples"])]


def tables(section: str) -> list[list[list[str]]]:
    """The tables of a section."""
    return [
        contract.table(part)
        for part in re.findall(r"(?:^\|.*\n)+", SECTIONS[section], re.MULTILINE)
    ]


@pytest.mark.parametrize("kind", BOARDS)
def test_every_word_and_every_field_is_described(kind: str) -> None:
    words, fields = tables(kind)
    assert {word for word, _, _ in words} == set(BOARDS[kind].words)
    named = {
        "die" if name == "dice" and kind == "dice" else name
        for shape in BOARDS[kind].words.values()
        for name in shape.groupindex
    }
    assert {name for name, *_ in fields} == named
    for word, order, _ in words:
        shape = [
            name if (kind, name) != ("dice", "dice") else "die"
            for name in BOARDS[kind].words[word].groupindex
        ]
        assert re.findall(r"[a-z_]+", order) == shape


def test_every_kind_is_named() -> None:
    assert set(
        re.findall(r"`(\w+)`", next(row[1] for row in tables("The line")[0] if row[0] == "kind"))
    ) == set(BOARDS)


def test_every_state_of_a_shuffler_is_named() -> None:
    (row,) = (row for row in tables("shuffler")[1] if row[0] == "state")
    assert (
        set(re.findall(r"\w+", row[1])) - {"or"} == set(STATES) == set(get_args(ShufflerStateName))
    )


@for_each("line", EXAMPLES, ids=bytes.decode)
def test_an_example_is_understood(line: bytes) -> None:
    report = read_report(line)
    assert report is not None
    assert len(line) + 2 <= MAX_LINE_BYTES
    codec = make(f"{report.kind}-board")
    codec.feed(line + b"\r\n", 1.0)
    assert (codec.counters.frames, codec.counters.damaged, codec.counters.unknown) == (1, 0, 0)


def test_there_is_an_example_of_every_word() -> None:
    shown = {
        (report.kind, report.word) for report in map(read_report, EXAMPLES) if report is not None
    }
    assert shown >= {(kind, word) for kind, board in BOARDS.items() for word in board.words}


def test_the_numbers_of_the_format() -> None:
    assert f"`123456789` gives `{check(b'123456789'):04X}`" in TEXT
    assert f"0 again after {SEQUENCE_NUMBERS - 1}." in TEXT
    assert f"0 again after {CLOCK_WRAP_MS - 1}." in TEXT
    assert f"at most {MAX_LINE_BYTES} bytes" in TEXT


@pytest.mark.usefixtures("programs")
def test_the_program_for_the_check_is_right(tmp_path: Path) -> None:
    """The function of the document, compiled unchanged."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    (program,) = re.findall(r"```c\n(.*?)```", TEXT, re.DOTALL)
    bodies = [line[1:-5] for line in EXAMPLES] + [b"123456789", b"NB,\xff"]
    if compiler is None:  # the identical function in a language that is always there
        assert [_as_written(program, body) for body in bodies] == [check(body) for body in bodies]
        return
    main = (
        "int main(int n, char **w) "
        '{ for (int i = 1; i < n; i++) printf("%u\\n", check(w[i], strlen(w[i]))); }\n'
    )
    (tmp_path / "check.c").write_text(
        f"#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n{program}{main}"
    )
    subprocess.run([compiler, "-o", str(tmp_path / "check"), str(tmp_path / "check.c")], check=True)
    completed = subprocess.run(
        [str(tmp_path / "check"), *map(bytes, bodies)], capture_output=True, check=True
    ).stdout
    assert [int(line) for line in completed.split()] == [check(body) for body in bodies]


def _as_written(program: str, body: bytes) -> int:
    """The effect of the program's lines, whose format was checked before."""
    assert "crc ^= (uint16_t)(uint8_t)*text++ << 8;" in program
    assert "crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;" in program
    crc = 0
    for byte in body:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc
