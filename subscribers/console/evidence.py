"""What was heard of a table that a person needs to decide: its latest irregularities, and why a
round is unresolved. A fold over its events, without clock or I/O.
"""

from __future__ import annotations

import msgspec

from controller.contract.events import Irregularity, RoundUnresolved

KEPT = 40
"""The latest irregularities of a table that are kept."""


class Evidence(msgspec.Struct, frozen=True):
    """One table."""

    irregularities: tuple[Irregularity, ...] = ()
    """Oldest first."""
    unresolved: tuple[RoundUnresolved, ...] = ()

    def asked(self, session: int, number: int, asks: tuple[str, ...]) -> Irregularity | None:
        """The irregularity for which the table asks this, in a round or in none."""
        return next(
            (
                each
                for each in reversed(self.irregularities)
                if each.session == session
                and each.round in (0, number)
                and set(asks) & set(each.asks)
            ),
            None,
        )

    def why(self, session: int, number: int) -> RoundUnresolved | None:
        """Why a round is unresolved."""
        return next(
            (
                each
                for each in reversed(self.unresolved)
                if (each.session, each.round) == (session, number)
            ),
            None,
        )


def heard(evidence: Evidence, leaf: str, body: bytes) -> Evidence:
    """With a message on the table's topic ``leaf``; what is no evidence changes nothing."""
    if leaf != "event" or not (b'"irregularity"' in body or b'"round.unresolved"' in body):
        return evidence
    try:
        event = msgspec.json.decode(body, type=Irregularity | RoundUnresolved)
    except (ValueError, RecursionError):  # another event that has the word in it
        return evidence
    if isinstance(event, RoundUnresolved):
        return msgspec.structs.replace(evidence, unresolved=(*evidence.unresolved, event)[-KEPT:])
    irregularities = (*evidence.irregularities, event)[-KEPT:]
    return msgspec.structs.replace(evidence, irregularities=irregularities)
