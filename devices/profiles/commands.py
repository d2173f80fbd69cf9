"""Commands of a profile: the bytes to send, with argument and checksum filled in."""

from __future__ import annotations

from devices.profiles.checksums import ChecksumVerifier
from devices.profiles.language import CommandSpec

ARGUMENT_MARK, CHECKSUM_MARK = "{argument}", "{checksum}"


def command_bytes(command: CommandSpec, argument: str, check: ChecksumVerifier | None) -> bytes:
    """Encode a command. Raises ``ValueError`` for an invalid argument."""
    text = command.send
    if ARGUMENT_MARK not in text:
        if argument:
            raise ValueError(f"takes no argument, got {argument!r}")
    else:
        text = text.replace(ARGUMENT_MARK, _format_argument(command, argument))
    if CHECKSUM_MARK not in text:
        return text.encode("latin-1")
    assert check is not None, "is checked when the profile is read"
    before, _, behind = (part.encode("latin-1") for part in text.partition(CHECKSUM_MARK))
    return before + check.expected(before, len(before)) + behind


def _format_argument(command: CommandSpec, argument: str) -> str:
    minimum, maximum = command.min or 0, command.max
    if (
        not (argument.isascii() and argument.isdigit())
        or len(argument) > 18
        or not minimum <= int(argument) <= (maximum or int(argument))
    ):
        bounds = f"from {minimum} to {maximum}" if maximum is not None else f"from {minimum} up"
        raise ValueError(f"takes a whole number {bounds}, got {argument!r}")
    return f"{int(argument):0{command.digits}d}"
