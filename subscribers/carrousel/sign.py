"""The meter of a jackpot on an LED sign: encoding for the Alpha protocol.

Source: Alpha Sign Communications Protocol, Adaptive Micro Systems, form 9708-8061. A packet is
NULs, from which the sign detects the speed; SOH, the type of the sign and its address; STX, a
command and its data; ETX and the sum of all bytes from STX to ETX as four hexadecimal digits; EOT.

A sign redraws a TEXT file when it is written, and blinks. So a TEXT file is written once and refers
to a STRING file with the value, which can be written without blinking. A priority TEXT file takes
the whole sign until it is written empty. All bytes have seven bits, for signs with parity.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import msgspec

from common.contract.jackpot import JackpotAward, JackpotState
from common.contract.messages.messages import text, word
from subscribers.feed.meter import Meter, silence, title
from subscribers.money import money

NUL, SOH, STX, ETX, EOT = b"\x00", b"\x01", b"\x02", b"\x03", b"\x04"
AUTOBAUD = NUL * 5
ANY_SIGN_TYPE, ALL_ADDRESSES = b"Z", b"00"
"""Type code for any sign, and the address of all signs on the line."""

WRITE_TEXT, WRITE_STRING, WRITE_SPECIAL = b"A", b"G", b"E"
MEMORY = b"$"
TEXT_FILE, STRING_FILE, PRIORITY = b"A", b"b", b"0"
"""Labels of the files used here. Priority TEXT always exists and is not configured."""
LAYOUT = b"\x1b\x20"
"""ESC and the position: the middle line, which every sign has. The mode follows."""
HOLD, FLASH = b"b", b"c"
CALL_STRING = b"\x10"
FIXED_WIDTH = b"\x1e1"
"""All characters have the same width, so that digits do not move."""

MAX_STRING_BYTES = 125
"""Maximum size of a STRING file and of priority TEXT. A sign empties a STRING file if more is
written.
"""
TEXT_FILE_BYTES = 256
EXTENDED = b"\x08"
"""Prefix that encodes a character from 80H on in seven bits."""
FIRST_EXTENDED, LAST_EXTENDED = 0x80, 0xA8
"""The characters that signs have as in code page 437. They have no reliable euro sign."""
BLANK_VALUE = "--"
"""Shown while the jackpot is not in play, or its meter is not current."""


class SignContent(msgspec.Struct, frozen=True):
    """Content of a sign. ``title``: the words before the value; ``value``: an amount or
    :data:`BLANK_VALUE`; ``hit``: a hit that takes the whole sign, or None.
    """

    title: str
    value: str
    hit: str | None = None


def sign_content(meter: Meter, no_broker: str | None, now: str, language: str) -> SignContent:
    """Return what a sign shows of a jackpot now. ``no_broker``: since when the broker is
    unreachable, or None.
    """
    state, title_text = meter.state, title(meter, language)
    if state is None or silence(meter, no_broker, now) is not None or not state.in_play:
        return SignContent(title_text, BLANK_VALUE)
    value = _amount(state.value, state, language)
    return SignContent(
        title_text, value, None if state.won is None else _hit(state.won, state, language)
    )


def _hit(award: JackpotAward, state: JackpotState, language: str) -> str:
    value = (
        text("jackpot.no_amount", language)
        if award.value is None
        else _amount(award.value, state, language)
    )
    hand, table = word("hand", award.hand, language), award.table
    return f"{value} {hand} {text('jackpot.table', language, table=table)}"


def _amount(amount: int, state: JackpotState, language: str) -> str:
    """Format an amount with its currency code: signs have no euro sign."""
    return money(amount, state.currency, language, symbols={})


def packet(command: bytes) -> bytes:
    """Return the packet that sends a command to every sign on the line."""
    body = STX + command + ETX
    total = f"{sum(body) & 0xFFFF:04X}".encode()
    return AUTOBAUD + SOH + ANY_SIGN_TYPE + ALL_ADDRESSES + body + total + EOT


def encode_characters(text: str) -> list[bytes]:
    """Encode a text, character by character. A character that signs lack loses its accent, or
    becomes a question mark.
    """
    return [_encode_character(character) for character in text.replace("\u00a0", " ")]


def _encode_character(character: str) -> bytes:
    if " " <= character < "~":
        return character.encode()
    code = character.encode("cp437", "replace")
    if len(code) == 1 and FIRST_EXTENDED <= code[0] <= LAST_EXTENDED:
        return EXTENDED + bytes((code[0] - 0x60,))
    plain = unicodedata.normalize("NFKD", character)[:1]
    return plain.encode() if " " <= plain < "~" else b"?"


def encode_truncated(text: str, max_bytes: int = MAX_STRING_BYTES) -> bytes:
    """Encode as many whole characters of a text as fit."""
    encoded = b""
    for character in encode_characters(text):
        if len(encoded) + len(character) > max_bytes:
            break
        encoded += character
    return encoded


def clear_packet() -> bytes:
    """Return the packet that deletes all files: a sign shows nothing of a new file
    table otherwise.
    """
    return packet(WRITE_SPECIAL + MEMORY)


def configure_packet() -> bytes:
    """Return the packet with the file table: one TEXT file, always shown, and one STRING file."""
    always, none = b"FFFF", b"0000"
    files = (
        TEXT_FILE
        + b"AU%04X" % TEXT_FILE_BYTES
        + always
        + STRING_FILE
        + b"BL%04X" % MAX_STRING_BYTES
        + none
    )
    return packet(WRITE_SPECIAL + MEMORY + files)


def title_packet(title: str) -> bytes:
    """Return the packet with the TEXT file: the title, then a reference to the value."""
    call = CALL_STRING + STRING_FILE
    max_bytes = TEXT_FILE_BYTES - len(LAYOUT + HOLD + FIXED_WIDTH + b" " + call)
    encoded = encode_truncated(title, max_bytes)
    return packet(
        WRITE_TEXT
        + TEXT_FILE
        + LAYOUT
        + HOLD
        + FIXED_WIDTH
        + encoded
        + (b" " if encoded else b"")
        + call
    )


def value_packet(value: str) -> bytes:
    """Return the packet with the STRING file: the value. A sign does not blink for it."""
    return packet(WRITE_STRING + STRING_FILE + encode_truncated(value))


def hit_packet(hit: str | None) -> bytes:
    """Return the packet with the priority TEXT, which flashes; or, without a hit, its end."""
    if hit is None:
        return packet(WRITE_TEXT + PRIORITY)
    encoded = encode_truncated(hit, MAX_STRING_BYTES - len(LAYOUT + FLASH))
    return packet(WRITE_TEXT + PRIORITY + LAYOUT + FLASH + encoded)


def update_packets(before: SignContent | None, after: SignContent) -> Sequence[bytes]:
    """Return the packets that change a sign from ``before`` to ``after``; all of them if ``before``
    is None. The value precedes a hit shown over it.
    """
    packets: list[bytes] = []
    if before is None or before.title != after.title:
        packets.append(title_packet(after.title))
    if before is None or before.value != after.value:
        packets.append(value_packet(after.value))
    if before is None or before.hit != after.hit:
        packets.append(hit_packet(after.hit))
    return packets
