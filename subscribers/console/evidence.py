"""Evidence for a person's decision at a table: its latest irregularities, and why a round is
unresolved. Folded from its events. No clock, no I/O.
"""

from __future__ import annotations

import msgspec

from common.contract.events import Irregularity, RoundUnresolved

MAX_EVIDENCE = 40
"""Maximum number of irregularities, and of unresolved rounds, stored per table."""


class TableEvidence(msgspec.Struct, frozen=True):
    """The evidence of one table."""

    irregularities: tuple[Irregularity, ...] = ()
    """Oldest first."""
    unresolved: tuple[RoundUnresolved, ...] = ()

    def find_irregularity(
        self, session: int, number: int, asks: tuple[str, ...]
    ) -> Irregularity | None:
        """Return the latest irregularity for which the table asks one of these commands, in this
        round or in none.
        """
        return next(
            (
                irregularity
                for irregularity in reversed(self.irregularities)
                if irregularity.session == session
                and irregularity.round in (0, number)
                and set(asks) & set(irregularity.asks)
            ),
            None,
        )

    def find_unresolved(self, session: int, number: int) -> RoundUnresolved | None:
        """Return the event that made a round unresolved."""
        return next(
            (
                event
                for event in reversed(self.unresolved)
                if (event.session, event.round) == (session, number)
            ),
            None,
        )


def add_evidence(evidence: TableEvidence, leaf: str, body: bytes) -> TableEvidence:
    """Add a message on the table's topic ``leaf``; other messages change nothing."""
    if leaf != "event" or not (b'"irregularity"' in body or b'"round.unresolved"' in body):
        return evidence
    try:
        event = msgspec.json.decode(body, type=Irregularity | RoundUnresolved)
    except (ValueError, RecursionError):  # another event that contains the word
        return evidence
    if isinstance(event, RoundUnresolved):
        return msgspec.structs.replace(
            evidence, unresolved=(*evidence.unresolved, event)[-MAX_EVIDENCE:]
        )
    irregularities = (*evidence.irregularities, event)[-MAX_EVIDENCE:]
    return msgspec.structs.replace(evidence, irregularities=irregularities)
