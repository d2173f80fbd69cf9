"""Commands: what a profile sends to change the device, with argument and check word filled in."""

from __future__ import annotations

from devices.profiles.checksums import Check
from devices.profiles.language import Command

ARGUMENT, CHECKSUM = "{argument}", "{checksum}"


def written(command: Command, argument: str, check: Check | None) -> bytes:
    """The bytes of a command. Raises ``ValueError`` for an argument that it does not take."""
    text = command.send
    if ARGUMENT not in text:
        if argument:
            raise ValueError(f"takes no argument, not {argument!r}")
    else:
        text = text.replace(ARGUMENT, _argument(command, argument))
    if CHECKSUM not in text:
        return text.encode("latin-1")
    assert check is not None, "is looked at when the profile is read"
    before, _, behind = (part.encode("latin-1") for part in text.partition(CHECKSUM))
    return before + check.written(before, len(before)) + behind


def _argument(command: Command, argument: str) -> str:
    least, most = command.min or 0, command.max
    if (
        not (argument.isascii() and argument.isdigit())
        or len(argument) > 18
        or not least <= int(argument) <= (most or int(argument))
    ):
        bounds = f"from {least} to {most}" if most is not None else f"from {least} on"
        raise ValueError(f"takes a whole number {bounds}, not {argument!r}")
    return f"{int(argument):0{command.digits}d}"
