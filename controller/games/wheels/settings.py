"""What the settings of every table with a wheel have in common, and what a breach in a round may
lead to.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from controller.contract.commands import VoidReason

Policy = Literal["warn", "ask", "void"]
"""What follows from a breach: it is reported; the result waits for a person; the spin is null."""


class WheelSettings(Protocol):
    """What the moves of a wheel ask of a table's settings; the breaches are settings under their
    own names besides.
    """

    @property
    def phases(self) -> Literal["device", "person"]:
        """Who says that bets open and close: the wheel, or a person with ``bets.open`` and
        ``bets.close``.
        """
        ...

    @property
    def last_rounds_count(self) -> Literal["valid", "all"]:
        """Which balls the announced last ones are: those with a result, or null ones as well."""
        ...


class WheelBreach(msgspec.Struct, frozen=True):
    """A breach in the rulebook: the reason why the spin is null where the policy says so, and the
    law that is broken; without one, the law that makes the spin null.
    """

    reason: VoidReason
    law: str | None = None
