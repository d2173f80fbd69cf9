"""Errors and settings common to all serial lines, and the settings that a port does not support."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import termios
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Literal

LINE_ERRORS = (OSError, termios.error, ValueError, NotImplementedError)
"""All errors that opening, setting, reading, writing or closing a line can raise, also while its
adapter is unplugged. ``serial.SerialException`` and ``usb.core.USBError`` are subclasses of
``OSError``; ``termios.error`` is not. ``ValueError`` and ``NotImplementedError`` are raised for
settings that pyserial or libusb cannot pass on.
"""

PTY_MAJORS = range(136, 144)
"""Major device numbers of pseudo-terminals (Linux, Documentation/admin-guide/devices.txt)."""

SPEED_TOLERANCE = 0.03
"""Maximum relative error of a port's speed. A receiver loses the eighth bit at about twice as
much.
"""

Parity = Literal["N", "E", "O", "M", "S"]

_SIZES = {5: termios.CS5, 6: termios.CS6, 7: termios.CS7, 8: termios.CS8}
_CMSPAR = 0o10000000000  # CMSPAR, which the module termios lacks
_PARITY_BITS: dict[Parity, int] = {
    "N": 0,
    "E": termios.PARENB,
    "O": termios.PARENB | termios.PARODD,
    "M": termios.PARENB | termios.PARODD | _CMSPAR,
    "S": termios.PARENB | _CMSPAR,
}
_PARITY_FLAGS = termios.PARENB | termios.PARODD | _CMSPAR
_TCGETS2, _TERMIOS2 = 0x802C542A, "4I20B2I"


def is_pty(fd: int) -> bool:
    """Return whether this is a pseudo-terminal. Unlike a real port, it keeps ``TIOCEXCL`` forever
    if the program that set it is killed.
    """
    return os.major(os.fstat(fd).st_rdev) in PTY_MAJORS


def set_frame(
    fd: int, bytesize: int, parity: Parity, stopbits: str, *, mark: bool = True
) -> tuple[str, ...]:
    """Set the character format of an open line. Return the settings that the port does not support,
    as an address writes them: ``parity=E``.

    With a parity, the system checks it, and with ``mark`` it marks each damaged byte
    (``devices/links/marks.py``) instead of passing it on. Raises ``termios.error`` if the port is
    gone.
    """
    iflag, oflag, cflag, *rest = termios.tcgetattr(fd)
    iflag &= ~(termios.INPCK | termios.PARMRK | termios.IGNPAR | termios.BRKINT)
    if parity != "N":
        iflag |= termios.INPCK | (termios.PARMRK if mark else 0)
    cflag &= ~(termios.CSIZE | _PARITY_FLAGS | termios.CSTOPB)
    cflag |= _SIZES[bytesize] | _PARITY_BITS[parity] | (termios.CSTOPB if stopbits != "1" else 0)
    refused = False
    # Twice: tcsetattr succeeds if it could apply any of the changes.
    for _ in range(2):
        try:
            termios.tcsetattr(fd, termios.TCSANOW, [iflag, oflag, cflag, *rest])
        except termios.error as error:
            if error.args[0] != errno.EINVAL:
                raise
            refused = True
    # a pseudo-terminal has no line: only an error shows that it does not support parity
    unseen = _PARITY_FLAGS | termios.CSTOPB if is_pty(fd) and not refused else 0
    got = (termios.tcgetattr(fd)[2] & ~unseen) | (cflag & unseen)
    return tuple(
        setting
        for flags, setting in (
            (termios.CSIZE, f"bytesize={bytesize}"),
            (_PARITY_FLAGS, f"parity={parity}"),
            (termios.CSTOPB, f"stopbits={stopbits}"),
        )
        if (got ^ cflag) & flags
    ) + (("stopbits=1.5",) if stopbits == "1.5" and bytesize != 5 and not is_pty(fd) else ())


def settings_not_applied(
    fd: int, *, baud: int, rtscts: bool, lines: Mapping[str, str | None]
) -> Iterator[str]:
    """Yield the other settings that are not in effect on an open port, as an address writes them.
    ``lines``: ``dtr`` and ``rts``, if they are to be set.
    """
    if is_pty(fd):
        return
    if rtscts and not termios.tcgetattr(fd)[2] & termios.CRTSCTS:
        yield "rtscts=1"
    if (speed := receive_speed(fd)) is not None and abs(speed - baud) > SPEED_TOLERANCE * baud:
        yield f"baud={baud} (it runs at {speed})"
    try:
        fcntl.ioctl(fd, termios.TIOCMGET, bytes(4))
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTTY):
            raise
        yield from (f"{name}={state}" for name, state in lines.items() if state is not None)


def receive_speed(fd: int) -> int | None:
    """Return the speed in bits per second at which a port receives. None: unknown to the system."""
    size = struct.calcsize(_TERMIOS2)
    with suppress(OSError):
        *_, received, _ = struct.unpack(_TERMIOS2, fcntl.ioctl(fd, _TCGETS2, bytes(size)))
        return int(received)
    return None
