"""Signed commands that were taken already: each is followed once."""

from __future__ import annotations

from collections.abc import Iterable

from controller.contract.refusals import RejectedError

CAPACITY = 100_000
"""The most commands remembered at once. Those of one table come at 100 a second at most and are
remembered for minutes.
"""
WIDTH = 60
"""Seconds of one group: commands are forgotten by groups, not one by one."""


class Seen:
    """The ``jti`` of each command that has not expired yet, by its person.

    It asks no clock. ``since``: commands that were signed at this time (seconds since 1970) or
    before count as taken: what came before it is not known any more. Expired ones drop out; what
    would have been valid until a time that dropped out counts as taken too, so that a clock that is
    set back brings nothing to life again.
    """

    def __init__(self, since: float = 0.0) -> None:
        self._since = since
        self._groups: dict[int, set[tuple[str, str]]] = {}
        self._count = 0
        self._dropped = 0

    def __len__(self) -> int:
        return self._count

    def take(self, person: str, jti: str, issued: float, until: float, now: float) -> None:
        """Remember a command that is valid until that time. Rejects it if it was taken before."""
        self._drop(now)
        if issued <= self._since:
            seconds = int(self._since - issued) + 1
            raise RejectedError("signed_before_start", seconds=seconds)
        group = int(until // WIDTH)
        if group < self._dropped or (person, jti) in self._groups.get(group, ()):
            raise RejectedError("signed_already")
        if self._count >= CAPACITY:
            raise RejectedError("signed_too_many")
        self._add(group, person, jti)

    def restore(self, taken: Iterable[tuple[str, str, float]], now: float) -> None:
        """Remember what was taken before the start: of each command its person, ``jti`` and until
        when it is valid. Commands that were valid until before ``now`` count as taken.
        """
        self._drop(now)
        for person, jti, until in taken:
            group = int(until // WIDTH)
            if group >= self._dropped and (person, jti) not in self._groups.get(group, ()):
                self._add(group, person, jti)

    def _add(self, group: int, person: str, jti: str) -> None:
        self._groups.setdefault(group, set()).add((person, jti))
        self._count += 1

    def _drop(self, now: float) -> None:
        """Forget the groups whose last moment is past."""
        first = int(now // WIDTH)
        if first > self._dropped:
            self._dropped = first
            for group in [group for group in self._groups if group < first]:
                self._count -= len(self._groups.pop(group))
