"""The meter of a jackpot on an LED sign: the bytes of the Alpha protocol.

Source: Alpha Sign Communications Protocol, Adaptive Micro Systems, form 9708-8061. A packet is
NULs, by which the sign finds the speed; SOH, the type of the sign and its address; STX, a command
and its data; ETX and the sum of all bytes from STX to ETX as four digits; EOT.

A TEXT file is drawn anew when it is written, and blinks. So one is written once, and calls a STRING
file that holds the value: that can be written without a blink. A priority TEXT file takes the whole
sign until it is written empty. Every byte here has seven bits, for signs with parity.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import msgspec

from controller.contract.jackpot import JackpotAward, JackpotState
from controller.contract.messages.messages import text, word
from subscribers.meter import Meter, silence, title
from subscribers.money import money

NUL, SOH, STX, ETX, EOT = b"\x00", b"\x01", b"\x02", b"\x03", b"\x04"
AUTOBAUD = NUL * 5
ANY_SIGN_TYPE, ALL_ADDRESSES = b"Z", b"00"
"""The type of any sign, and the address of all on the line."""

WRITE_TEXT, WRITE_STRING, WRITE_SPECIAL = b"A", b"G", b"E"
MEMORY = b"$"
TEXT_FILE, STRING_FILE, PRIORITY = b"A", b"b", b"0"
"""The labels of our files. Priority TEXT is always there; nobody configures it."""
LAYOUT = b"\x1b\x20"
"""ESC and the position: the middle line, which every sign has. The mode follows."""
HOLD, FLASH = b"b", b"c"
CALL_STRING = b"\x10"
FIXED_WIDTH = b"\x1e1"
"""Each character takes the same room, so that digits do not move."""

MAX_STRING_BYTES = 125
"""The most bytes of a STRING file and of priority TEXT. A sign empties a STRING file that is
written longer.
"""
TEXT_FILE_BYTES = 256
EXTENDED = b"\x08"
"""Before a character from 80H on, as one of seven bits."""
FIRST_EXTENDED, LAST_EXTENDED = 0x80, 0xA8
"""The characters that signs have as code page 437 does. They have no reliable euro sign."""
BLANK_VALUE = "--"
"""What is shown while the jackpot is not in play, or nothing of it is current."""


class SignContent(msgspec.Struct, frozen=True):
    """What a sign is to show. ``title``: the words before the value; ``value``: or
    :data:`BLANK_VALUE`; ``hit``: a hit that takes the whole sign, or None.
    """

    title: str
    value: str
    hit: str | None = None


def sign_content(meter: Meter, no_broker: str | None, now: str, language: str) -> SignContent:
    """What a sign shows of a jackpot at this moment. ``no_broker``: since when the broker is not
    heard; None: it is.
    """
    state, named = meter.state, title(meter, language)
    if state is None or silence(meter, no_broker, now) is not None or not state.in_play:
        return SignContent(named, BLANK_VALUE)
    value = _amount(state.value, state, language)
    return SignContent(
        named, value, None if state.won is None else _hit(state.won, state, language)
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
    """With the currency's code: signs have no sign for the euro."""
    return money(amount, state.currency, language, symbols={})


def packet(command: bytes) -> bytes:
    """A command on its way to every sign on the line."""
    body = STX + command + ETX
    total = f"{sum(body) & 0xFFFF:04X}".encode()
    return AUTOBAUD + SOH + ANY_SIGN_TYPE + ALL_ADDRESSES + body + total + EOT


def encode_characters(said: str) -> list[bytes]:
    """A text as a sign writes it, character by character. What it has not is written without its
    accent, or as a question mark.
    """
    return [_encode_character(each) for each in said.replace("\u00a0", " ")]


def _encode_character(each: str) -> bytes:
    if " " <= each < "~":
        return each.encode()
    code = each.encode("cp437", "replace")
    if len(code) == 1 and FIRST_EXTENDED <= code[0] <= LAST_EXTENDED:
        return EXTENDED + bytes((code[0] - 0x60,))
    plain = unicodedata.normalize("NFKD", each)[:1]
    return plain.encode() if " " <= plain < "~" else b"?"


def encode_truncated(said: str, most: int = MAX_STRING_BYTES) -> bytes:
    """As much of a text as there is room for, whole characters only."""
    found = b""
    for each in encode_characters(said):
        if len(found) + len(each) > most:
            break
        found += each
    return found


def clear_packet() -> bytes:
    """The sign forgets all files. A sign shows nothing of a new table of files otherwise."""
    return packet(WRITE_SPECIAL + MEMORY)


def configure_packet() -> bytes:
    """The table of files: one TEXT, shown always, and one STRING."""
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


def title_packet(named: str) -> bytes:
    """The TEXT file: the title, then the value, wherever that is written from now on."""
    call = CALL_STRING + STRING_FILE
    room = TEXT_FILE_BYTES - len(LAYOUT + HOLD + FIXED_WIDTH + b" " + call)
    said = encode_truncated(named, room)
    return packet(
        WRITE_TEXT + TEXT_FILE + LAYOUT + HOLD + FIXED_WIDTH + said + (b" " if said else b"") + call
    )


def value_packet(value: str) -> bytes:
    """The STRING file: the value. A sign does not blink for it."""
    return packet(WRITE_STRING + STRING_FILE + encode_truncated(value))


def hit_packet(hit: str | None) -> bytes:
    """Priority TEXT, which flashes; or its end, at which the value is shown again."""
    if hit is None:
        return packet(WRITE_TEXT + PRIORITY)
    said = encode_truncated(hit, MAX_STRING_BYTES - len(LAYOUT + FLASH))
    return packet(WRITE_TEXT + PRIORITY + LAYOUT + FLASH + said)


def update_packets(before: SignContent | None, after: SignContent) -> Sequence[bytes]:
    """The packets after which a sign that shows ``before`` shows ``after``; ``before`` None: it was
    just configured, or is written anew. A value comes before the hit that is shown over it.
    """
    told: list[bytes] = []
    if before is None or before.title != after.title:
        told.append(title_packet(after.title))
    if before is None or before.value != after.value:
        told.append(value_packet(after.value))
    if before is None or before.hit != after.hit:
        told.append(hit_packet(after.hit))
    return told
