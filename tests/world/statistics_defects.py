"""Defects of the watch over wheels, for its checker to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from subscribers.statistics.folding import Statistics
from subscribers.statistics.health import HealthFinding
from subscribers.statistics.reading import StatisticsReader
from subscribers.surveillance.archive import ArchiveRecord

read = StatisticsReader.read
on_event = Statistics.on_event


def read_again(patch: pytest.MonkeyPatch) -> None:
    """Each reading begins with the last record of the one before."""

    def from_the_last(reader: StatisticsReader) -> list[HealthFinding]:
        reader._number = max(0, reader._number - 1)
        return read(reader)

    patch.setattr(StatisticsReader, "read", from_the_last)


def position_before_the_end(patch: pytest.MonkeyPatch) -> None:
    """A reading notes that it has read what came while it read."""

    def too_far(reader: StatisticsReader) -> list[HealthFinding]:
        found = read(reader)
        reader._number += 1
        return found

    patch.setattr(StatisticsReader, "read", too_far)


def late_results_are_left_out(patch: pytest.MonkeyPatch) -> None:
    """An event that arrived late is not counted."""

    def only_live(statistics: Statistics, record: ArchiveRecord) -> Iterator[HealthFinding]:
        if b'"historical":true' not in record.body:
            yield from on_event(statistics, record)

    patch.setattr(Statistics, "on_event", only_live)


DEFECTS: Mapping[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    read_again: ("recorder restarted",),
    position_before_the_end: ("recorder restarted",),
    late_results_are_left_out: ("broker down, keeps all", "daemon killed"),
}
"""Each defect, and the faults that show it."""
