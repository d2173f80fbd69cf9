"""Checks what a profile sends to its device: commands, requests and polls."""

from __future__ import annotations

import re

from common.places import KeyPath
from common.sections import Notes
from devices.profiles.commands import ARGUMENT_MARK, CHECKSUM_MARK
from devices.profiles.language import CommandSpec, Profile

NAME = re.compile(r"[a-z][a-z0-9_]*")
"""The name of a command or a field."""
MIN_REQUEST_INTERVAL_SECONDS = 0.5
"""Minimum seconds between two requests to a device about a round."""


def sending_flaws(profile: Profile) -> Notes:
    """Return what is wrong with the commands and polls of a profile."""
    notes: Notes = []
    for name, command in profile.command.items():
        at = ("command", name)
        if not NAME.fullmatch(name):
            notes.append((at, "is not a command name; use a-z, 0-9 and _, starting with a letter"))
        if not command.send:
            notes.append(((*at, "send"), "is empty; give the bytes to send"))
        if ARGUMENT_MARK not in command.send and (command.min, command.max, command.digits) != (
            None,
            None,
            1,
        ):
            notes.append((at, f"has bounds for an argument, but no {ARGUMENT_MARK} in `send`"))
        if command.when:
            _request(at, command, notes)
        elif (command.after, command.every, command.times) != (0.0, 0.0, 1):
            notes.append((at, 'has times of a request; add `when = "bets_closed"`, or remove them'))
        if command.min is not None and command.max is not None and command.min > command.max:
            notes.append(((*at, "min"), "is more than `max`"))
        if CHECKSUM_MARK in command.send and profile.checksum is None:
            notes.append(((*at, "send"), f"{CHECKSUM_MARK} needs the section [checksum]"))
    for index, poll in enumerate(profile.poll):
        if not poll.send:
            notes.append((("poll", index, "send"), "is empty; give the bytes to send"))
    return notes


def _request(at: KeyPath, command: CommandSpec, notes: Notes) -> None:
    """Check a command that the daemon sends when bets are closed."""
    if ARGUMENT_MARK not in command.send:
        notes.append(((*at, "send"), f"needs {ARGUMENT_MARK}, the number of the round"))
    if command.times > 1 and command.every < MIN_REQUEST_INTERVAL_SECONDS:
        notes.append(
            ((*at, "every"), f"must be {MIN_REQUEST_INTERVAL_SECONDS} or more: it is sent again")
        )
