"""Check words: against published check values of ``123456789``, and their positions in a frame."""

from __future__ import annotations

import anycrc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.profiles.checksums import NAMED_CRCS, ChecksumVerifier, checksum_function
from devices.profiles.language import ChecksumSpec, CrcSpec
from tests.support.for_each import for_each

DIGITS = b"123456789"
PUBLISHED = {
    "crc8-smbus": 0xF4,
    "crc8-maxim-dow": 0xA1,
    "crc16-xmodem": 0x31C3,
    "crc16-modbus": 0x4B37,
    "crc16-ccitt-false": 0x29B1,
    "crc16-kermit": 0x2189,
    "crc16-x-25": 0x906E,
    "crc32": 0xCBF43926,
    "crc32-bzip2": 0xFC891918,
}
"""From the catalogue of parametrised CRC algorithms."""


@for_each(("kind", "word"), PUBLISHED.items())
def test_published_values(kind: str, word: int) -> None:
    assert checksum_function(ChecksumSpec(kind=kind))(DIGITS) == word


def test_the_whole_catalogue_is_right_here() -> None:
    """The library is compiled: it may be wrong on one machine and right on another."""
    wrong = [
        name
        for name, model in anycrc.models.items()
        if model.width % 8 == 0
        and checksum_function(ChecksumSpec(kind=name.lower()))(DIGITS) != model.check
    ]
    assert wrong == []
    assert len(NAMED_CRCS) > 80


def test_plain_sums() -> None:
    assert checksum_function(ChecksumSpec(kind="xor"))(DIGITS) == 0x31
    assert checksum_function(ChecksumSpec(kind="sum"))(DIGITS) == 477
    assert (checksum_function(ChecksumSpec(kind="lrc"))(DIGITS) + sum(DIGITS)) % 256 == 0


def test_one_by_its_parameters() -> None:
    modbus = CrcSpec(
        width=16, polynomial=0x8005, initial=0xFFFF, reflected_in=True, reflected_out=True
    )
    assert (
        checksum_function(ChecksumSpec(kind="crc", crc=modbus))(DIGITS) == PUBLISHED["crc16-modbus"]
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("crc17", "did you mean crc1.*"),
        ("", "there are xor, sum, lrc, crc, and CRCs by name"),
        ("crc", r"add the section \[checksum.crc\]"),
    ],
)
def test_one_that_there_is_not(kind: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        checksum_function(ChecksumSpec(kind=kind))


@for_each(
    ("checksum", "frame"),
    [
        (ChecksumSpec(kind="xor", at=-2, first=1), b"\x02G\x0344"),
        (ChecksumSpec(kind="crc16-xmodem", at=-4, first=1, short=1), b"$123456789*31C3"),
        (ChecksumSpec(kind="crc16-xmodem", at=-4, first=1, short=1), b"$123456789*31c3"),
        (ChecksumSpec(kind="crc16-modbus", at=-2, encoding="little"), DIGITS + b"\x37\x4b"),
        (ChecksumSpec(kind="crc16-xmodem", field=2, separator="|", short=1), b"123|456|2C4D|ST"),
        (ChecksumSpec(kind="sum", at=-2, first=0, encoding="big", keep=0x3F, set=0x40), b"\x0102\x02SR1\x03\x7e\x04"),
        (ChecksumSpec(kind="sum", at=-2, first=0, encoding="big", keep=0x3F, set=0x40), b"\x0104\x02RC03\x03\x62\x04"),
    ],
)  # fmt: skip
def test_its_position(checksum: ChecksumSpec, frame: bytes) -> None:
    if checksum.field is not None:
        right = ChecksumVerifier(checksum).expected(frame, 8)
        frame = frame.replace(b"2C4D", right)
    assert ChecksumVerifier(checksum).holds(frame)
    for at, byte in enumerate(frame):
        damaged = frame[:at] + bytes((byte ^ 1,)) + frame[at + 1 :]
        covered = frame[checksum.first : ChecksumVerifier(checksum).position(frame)]
        if checksum.first <= at < checksum.first + len(covered) - checksum.short:
            assert not ChecksumVerifier(checksum).holds(damaged)


@given(
    st.sampled_from(["xor", "sum", "lrc", *NAMED_CRCS]),
    st.binary(max_size=12),
    st.integers(-12, 12),
)
def test_a_frame_that_is_too_short_has_no_check_and_breaks_nothing(
    kind: str, frame: bytes, at: int
) -> None:
    for encoding in ("hex", "big"):
        check = ChecksumVerifier(
            ChecksumSpec(
                kind=kind, at=at, encoding="hex" if encoding == "hex" else "big", keep=0xFF
            )
        )
        assert check.holds(frame) in (True, False)
