"""Frames of ccTalk: destination, number of data bytes, source, header, data, checksum.

With the simple checksum the sum of all bytes is 0 modulo 256. With the CRC (CRC-CCITT over all
other bytes, initial value 0), the low byte is in the place of the source and the high byte at the
end. Source: the generic specification of ccTalk, part 1, which is public.
"""

from __future__ import annotations

from binascii import crc_hqx
from collections.abc import Container

import msgspec

HOST_ADDRESS = 1
"""Address of the requesting side."""
ACK, NAK, BUSY = 0, 5, 6
"""Headers of answers."""
MAX_DATA_BYTES = 64
"""Maximum number of data bytes of an answer."""
MIN_FRAME_BYTES = 5
"""Size of a frame without data."""

SIMPLE_POLL = 254
MANUFACTURER = 246
CATEGORY = 245
PRODUCT = 244
MODIFY_INHIBITS = 231
REQUEST_INHIBITS = 230
READ_CREDITS = 229
MODIFY_MASTER_INHIBIT = 228
COIN_ID = 184

REQUESTS: dict[int, tuple[int, int | None]] = {
    SIMPLE_POLL: (0, 0),
    MANUFACTURER: (0, None),
    CATEGORY: (0, None),
    PRODUCT: (0, None),
    MODIFY_INHIBITS: (2, 0),
    REQUEST_INHIBITS: (0, 2),
    READ_CREDITS: (0, 11),
    MODIFY_MASTER_INHIBIT: (1, 0),
    COIN_ID: (1, 6),
}
"""Header of each request that the driver sends -> its number of data bytes, and that of the answer;
None: a text of any length.
"""


class CcTalkFrame(msgspec.Struct, frozen=True):
    """A complete frame with a correct checksum. ``source``: None with the CRC, which replaces
    it.
    """

    to: int
    source: int | None
    header: int
    data: bytes
    raw: bytes


def write_frame(to: int, source: int, header: int, data: bytes = b"", crc: bool = False) -> bytes:
    """Build a frame.

    >>> write_frame(2, 1, 245).hex(" ")
    '02 00 01 f5 08'
    >>> write_frame(40, 1, 254, crc=True).hex(" ")
    '28 00 b6 fe 21'
    """
    if crc:
        check = crc_hqx(bytes((to, len(data), header)) + data, 0)
        return bytes((to, len(data), check & 0xFF, header)) + data + bytes((check >> 8,))
    body = bytes((to, len(data), source, header)) + data
    return body + bytes((-sum(body) & 0xFF,))


def read_frame(data: bytes, begin: int, addresses: Container[int], crc: bool) -> CcTalkFrame | bool:
    """Parse a frame at ``begin``: an echoed request to one of ``addresses``, or an answer from one
    of them. True: it may be a frame, but more bytes are needed; False: it is not a frame.
    """
    head = data[begin : begin + MIN_FRAME_BYTES - 1]
    is_request = head[0] != HOST_ADDRESS
    if is_request and head[0] not in addresses:
        return False
    if len(head) > 1 and head[1] > MAX_DATA_BYTES:
        return False
    if (
        len(head) > 2
        and not crc
        and (head[2] != HOST_ADDRESS if is_request else head[2] not in addresses)
    ):
        return False
    if len(head) < MIN_FRAME_BYTES - 1:
        return True
    to, size, source, header = head
    if is_request and (header not in REQUESTS or REQUESTS[header][0] != size):
        return False
    if not is_request and header not in (ACK, NAK, BUSY):
        return False
    raw = data[begin : begin + MIN_FRAME_BYTES + size]
    if len(raw) < MIN_FRAME_BYTES + size:
        return True
    payload = raw[4:-1]
    if raw != write_frame(to, source, header, payload, crc):
        return False
    return CcTalkFrame(to, None if crc else source, header, payload, raw)
