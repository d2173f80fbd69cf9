"""Settings that every table with a wheel has, and what may follow from a breach in a round."""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from common.contract.commands import VoidReason

Policy = Literal["warn", "ask", "void"]
"""What follows from a breach: report it, ask a person about the result, or void the spin."""


class WheelSettings(Protocol):
    """The settings that a wheel's moves read. Each breach is a setting too, under the same name."""

    @property
    def phases(self) -> Literal["device", "person"]:
        """Who opens and closes the bets: the wheel, or a person with ``bets.open`` and
        ``bets.close``.
        """
        ...

    @property
    def last_rounds_count(self) -> Literal["valid", "all"]:
        """Which of the announced last balls count: those with a result, or void ones as well."""
        ...


class WheelBreach(msgspec.Struct, frozen=True):
    """A breach in the rulebook. ``reason``: why the spin is void if the policy requires it.
    ``law``: the law that is broken; without one, the law that voids the spin.
    """

    reason: VoidReason
    law: str | None = None
