"""Remembers signed commands, so that each is executed once."""

from __future__ import annotations

from collections.abc import Iterable

from common.contract.refusals import RejectedError

MAX_COMMANDS = 100_000
"""Maximum commands remembered at once. A table accepts up to 100 a second, and they are remembered
for minutes.
"""
GROUP_SECONDS = 60
"""Commands are forgotten in groups that expire in the same interval of this length."""


class SeenCommands:
    """The ``jti`` of each command that has not expired yet, with its person. Uses no clock.

    ``since``: commands signed at this time (seconds since 1970) or before are rejected, because
    earlier ones are no longer known. Expired commands are forgotten; a command that would expire in
    a forgotten interval is rejected too, so that setting the clock back does not make old commands
    valid again.
    """

    def __init__(self, since: float = 0.0) -> None:
        self._since = since
        self._groups: dict[int, set[tuple[str, str]]] = {}
        self._count = 0
        self._dropped = 0

    def __len__(self) -> int:
        return self._count

    def add(self, person: str, jti: str, issued: float, until: float, now: float) -> None:
        """Remember a command that is valid until ``until``. Raises :class:`RejectedError` if it was
        seen before.
        """
        self._drop(now)
        if issued <= self._since:
            seconds = int(self._since - issued) + 1
            raise RejectedError("signed_before_start", seconds=seconds)
        group = int(until // GROUP_SECONDS)
        if group < self._dropped or (person, jti) in self._groups.get(group, ()):
            raise RejectedError("signed_already")
        if self._count >= MAX_COMMANDS:
            raise RejectedError("signed_too_many")
        self._add(group, person, jti)

    def restore(self, commands: Iterable[tuple[str, str, float]], now: float) -> None:
        """Remember commands of earlier runs, each as person, ``jti`` and end of validity. Commands
        that expired before ``now`` are rejected anyway.
        """
        self._drop(now)
        for person, jti, until in commands:
            group = int(until // GROUP_SECONDS)
            if group >= self._dropped and (person, jti) not in self._groups.get(group, ()):
                self._add(group, person, jti)

    def _add(self, group: int, person: str, jti: str) -> None:
        self._groups.setdefault(group, set()).add((person, jti))
        self._count += 1

    def _drop(self, now: float) -> None:
        """Forget the groups that have expired."""
        first = int(now // GROUP_SECONDS)
        if first > self._dropped:
            self._dropped = first
            for group in [group for group in self._groups if group < first]:
                self._count -= len(self._groups.pop(group))
