"""How often each second witness of a table agrees with its results: a fold over events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Literal

import msgspec

from common.contract.event_fields import WitnessStatement
from subscribers.statistics.interval import interval
from subscribers.surveillance.archive import ArchiveRecord

WITNESS_EVENT_TYPES = (
    "session.opened",
    "round.result",
    "round.unresolved",
    "witness.reported",
    "result.corrected",
)
"""Types of events that are read."""
PRIOR_RATE, PRIOR_ROUNDS = 0.5, 2.0
"""Mixture of the interval of the rate: uniform, since no rate is expected of a witness."""

Verdict = Literal[
    "agreed_before", "agreed_after", "disagreed_before", "disagreed_after", "decided", "silent"
]
"""What a witness reported of a round, before or after its result. ``decided``: it reported before,
and did not stop the round, but a person was asked for the result.
"""


class AgreementCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Rounds by what a witness reported of them."""

    rounds: int = 0
    agreed_before: int = 0
    agreed_after: int = 0
    disagreed_before: int = 0
    disagreed_after: int = 0
    decided: int = 0
    silent: int = 0


class AgreementRate(msgspec.Struct, frozen=True):
    """Share of the rounds that agreed among those that agreed or disagreed, and the bounds of its
    true value, which are valid after every round at once.
    """

    rate: float
    low: float
    high: float


class WitnessDisagreement(msgspec.Struct, frozen=True):
    """A round of which a witness reported something else. ``corrected``: a person corrected its
    result later.
    """

    time: str
    session: int
    round: int
    verdict: Verdict
    corrected: bool


class WitnessAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Report on a second witness of a table."""

    site: str
    table: str
    witness: str
    simulated: bool
    since: str
    until: str
    total: AgreementCounts
    rate: AgreementRate | None
    """None if the witness neither agreed nor disagreed in any round."""
    longest_silence: int
    """Consecutive rounds without a report."""
    days: dict[str, AgreementCounts]
    """By the UTC day of the result."""
    disagreements: tuple[WitnessDisagreement, ...]


class _Event(msgspec.Struct, frozen=True):
    """The fields of an event that are read here."""

    type: str
    boot: str = ""
    seq: int = 0
    time: str = ""
    simulated: bool = False
    session: int = 0
    round: int = 0
    why: str = ""
    witnesses: tuple[WitnessStatement, ...] = ()
    confirmed_by: str | None = None
    device: str = ""
    agrees: bool | None = None


class _Round:
    """A round with a result, or one that a witness stopped."""

    def __init__(self, event: _Event) -> None:
        self.first = event
        self.corrected = False
        self.verdicts: dict[str, Verdict] = {}


_RoundKey = tuple[tuple[str, int] | None, int, int]
"""The event that opened the session, if it was read; session and round."""


class _TableRounds:
    """The rounds of a table, in their order. A journal that was replaced may count its sessions
    from 1 again: the event that opened a session distinguishes them.
    """

    def __init__(self) -> None:
        self.rounds: dict[_RoundKey, _Round] = {}
        self._opened: dict[int, tuple[str, int]] = {}
        self._seen: set[tuple[str, int]] = set()
        self._asked: set[_RoundKey] = set()

    def on_event(self, event: _Event) -> None:
        """Handle an event; one that comes twice counts once."""
        id_ = event.boot, event.seq
        if id_ in self._seen:
            return
        self._seen.add(id_)
        if event.type == "session.opened":
            self._opened[event.session] = id_
            return
        key = self._opened.get(event.session), event.session, event.round
        round_ = self.rounds.get(key)
        match event.type:
            case "round.unresolved":
                self._asked.add(key)
                if event.why == "witnesses_disagree":
                    self._stop(key, event)
            case "round.result":
                self._end(key, event)
            case "witness.reported" if round_ is not None and event.agrees is not None:
                if round_.verdicts.get(event.device) != "disagreed_before":
                    verdict: Verdict = "agreed_after" if event.agrees else "disagreed_after"
                    round_.verdicts[event.device] = verdict
            case "result.corrected" if round_ is not None:
                round_.corrected = True

    def _stop(self, key: _RoundKey, event: _Event) -> None:
        """Count the witnesses whose report stopped the round."""
        for statement in event.witnesses:
            if statement.agrees is False:
                round_ = self.rounds.setdefault(key, _Round(event))
                round_.verdicts[statement.device] = "disagreed_before"

    def _end(self, key: _RoundKey, event: _Event) -> None:
        """Count what the witnesses had reported when the result was published."""
        if not event.witnesses:
            return
        is_asked = key in self._asked or event.confirmed_by is not None
        round_ = self.rounds.setdefault(key, _Round(event))
        for statement in event.witnesses:
            verdict: Verdict = "silent"
            if statement.agrees is not None:
                verdict = "agreed_before" if statement.agrees and not is_asked else "decided"
            round_.verdicts.setdefault(statement.device, verdict)


class WitnessStatistics:
    """Agreement of the witnesses of all tables. Records that cannot be read are counted in
    ``unread`` and skipped.
    """

    def __init__(self) -> None:
        self.unread = 0
        self._tables: dict[tuple[str, str], _TableRounds] = {}

    def on_event(self, record: ArchiveRecord) -> None:
        """Handle an event. The events of one table must come in their order."""
        try:
            event = msgspec.json.decode(record.body, type=_Event)
        except (ValueError, RecursionError):
            self.unread += 1
            return
        self._tables.setdefault((record.site, record.table), _TableRounds()).on_event(event)

    def reports(self) -> list[WitnessAgreement]:
        """Return the report of each witness of each table."""
        return [
            _report(site, table, witness, list(rounds.rounds.values()))
            for (site, table), rounds in self._tables.items()
            for witness in sorted({w for r in rounds.rounds.values() for w in r.verdicts})
        ]


def _report(site: str, table: str, witness: str, rounds: list[_Round]) -> WitnessAgreement:
    known = [(each, each.verdicts[witness]) for each in rounds if witness in each.verdicts]
    by_day: dict[str, list[Verdict]] = {}
    for each, verdict in known:
        by_day.setdefault(each.first.time[:10], []).append(verdict)
    total = _counts(verdict for _, verdict in known)
    silences = groupby(verdict == "silent" for _, verdict in known)
    return WitnessAgreement(
        site=site,
        table=table,
        witness=witness,
        simulated=any(each.first.simulated for each, _ in known),
        since=known[0][0].first.time,
        until=known[-1][0].first.time,
        total=total,
        rate=_rate(total),
        longest_silence=max(
            (len(list(run)) for is_silent, run in silences if is_silent), default=0
        ),
        days={day: _counts(verdicts) for day, verdicts in by_day.items()},
        disagreements=tuple(
            WitnessDisagreement(
                each.first.time, each.first.session, each.first.round, verdict, each.corrected
            )
            for each, verdict in known
            if verdict in ("disagreed_before", "disagreed_after")
        ),
    )


def _counts(verdicts: Iterable[Verdict]) -> AgreementCounts:
    counts: Counter[str] = Counter(verdicts)
    return AgreementCounts(rounds=counts.total(), **counts)


def _rate(total: AgreementCounts) -> AgreementRate | None:
    agreed = total.agreed_before + total.agreed_after
    compared = agreed + total.disagreed_before + total.disagreed_after
    if compared == 0:
        return None
    bounds = interval(agreed, compared, PRIOR_RATE, prior_spins=PRIOR_ROUNDS)
    low, high = bounds.low * PRIOR_RATE, bounds.high * PRIOR_RATE
    return AgreementRate(agreed / compared, low, high)
