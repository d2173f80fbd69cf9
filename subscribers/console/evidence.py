"""Evidence for a person's decision at a table: its latest irregularities, why a round is
unresolved, what second witnesses and the wheel's own log have of it, and when its phase began.
Folded from its messages. No clock, no I/O.
"""

from __future__ import annotations

import msgspec

from common.contract.events import Irregularity, RoundUnresolved, WheelDifference, WitnessReported

MAX_EVIDENCE = 40
"""Maximum number of irregularities, of unresolved rounds, of witnesses' reports and of differences
of the wheel's log, stored per table.
"""


_EVENT_TAGS = (
    b'"irregularity"',
    b'"round.unresolved"',
    b'"witness.reported"',
    b'"wheel.difference"',
)


class PhaseStart(msgspec.Struct, frozen=True, kw_only=True):
    """The phase of a table, and when it began."""

    session: int
    round: int
    phase: str
    since: str | None = None
    """UTC, ISO 8601; None for the first phase received, which may have begun earlier."""


class TableEvidence(msgspec.Struct, frozen=True):
    """The evidence of one table."""

    irregularities: tuple[Irregularity, ...] = ()
    """Oldest first."""
    unresolved: tuple[RoundUnresolved, ...] = ()
    reports: tuple[WitnessReported, ...] = ()
    logs: tuple[WheelDifference, ...] = ()
    phase: PhaseStart | None = None

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

    def find_reports(self, session: int, number: int) -> tuple[WitnessReported, ...]:
        """Return the latest report of each second witness about a round."""
        reports = {
            report.device: report
            for report in self.reports
            if (report.session, report.round) == (session, number)
        }
        return tuple(reports.values())

    def find_log(self, session: int, number: int) -> WheelDifference | None:
        """Return what the wheel's own log has for an unresolved round."""
        return next(
            (
                event
                for event in reversed(self.logs)
                if event.session == session
                and number in event.rounds
                and event.what in ("unresolved", "ambiguous")
            ),
            None,
        )


def add_evidence(evidence: TableEvidence, leaf: str, body: bytes) -> TableEvidence:
    """Add a message on the table's topic ``leaf``; other messages change nothing."""
    if leaf == "state":
        return _with_phase(evidence, body)
    if leaf != "event" or not any(tag in body for tag in _EVENT_TAGS):
        return evidence
    try:
        event = msgspec.json.decode(
            body, type=Irregularity | RoundUnresolved | WitnessReported | WheelDifference
        )
    except (ValueError, RecursionError):  # another event that contains the word
        return evidence
    if isinstance(event, RoundUnresolved):
        return msgspec.structs.replace(
            evidence, unresolved=(*evidence.unresolved, event)[-MAX_EVIDENCE:]
        )
    if isinstance(event, WitnessReported):
        return msgspec.structs.replace(evidence, reports=(*evidence.reports, event)[-MAX_EVIDENCE:])
    if isinstance(event, WheelDifference):
        return msgspec.structs.replace(evidence, logs=(*evidence.logs, event)[-MAX_EVIDENCE:])
    irregularities = (*evidence.irregularities, event)[-MAX_EVIDENCE:]
    return msgspec.structs.replace(evidence, irregularities=irregularities)


class _ShownPhase(msgspec.Struct):
    session: int
    round: int
    phase: str


class _StatePhase(msgspec.Struct):
    """The fields of ``state`` that are used here."""

    time: str
    shown: _ShownPhase


def _with_phase(evidence: TableEvidence, body: bytes) -> TableEvidence:
    try:
        state = msgspec.json.decode(body, type=_StatePhase)
    except (ValueError, RecursionError):  # the table is then shown as not current
        return evidence
    shown, known = state.shown, evidence.phase
    phase = PhaseStart(session=shown.session, round=shown.round, phase=shown.phase)
    if known is not None:
        if msgspec.structs.replace(known, since=None) == phase:
            return evidence
        phase = msgspec.structs.replace(phase, since=state.time)
    return msgspec.structs.replace(evidence, phase=phase)
