"""Defects of second witnesses that are put into the program: the checkers must find each."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from common.readings import WheelNumber
from controller.tables import table as tables
from controller.tables import witnesses
from controller.tables.table import Table
from controller.tables.witness_memory import WitnessMemory


def witness_gives_results(patch: pytest.MonkeyPatch) -> None:
    """A number of a witness reaches the game, as one of the table's own device does."""
    on_reading = Table._on_reading

    def as_any_device(table: Table, reading: Any) -> Any:
        known, table._witnesses = table._witnesses, {}
        try:
            return on_reading(table, reading)
        finally:
            table._witnesses = known

    patch.setattr(Table, "_on_reading", as_any_device)


def disagreement_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """A result is published whatever a witness has reported before it."""
    patch.setattr(tables, "contradicted", lambda _memory, reading: reading)


def silence_contradicts(patch: pytest.MonkeyPatch) -> None:
    """A round without a report of a witness waits for a person."""
    contradicted = witnesses.contradicted

    def or_silent(memory: WitnessMemory, reading: Any) -> Any:
        if isinstance(reading, WheelNumber) and not memory.reports.get(memory.live):
            return replace(reading, conflict=(int(reading.number) + 1) % 37)
        return contradicted(memory, reading)

    patch.setattr(tables, "contradicted", or_silent)


def report_counts_at_once(patch: pytest.MonkeyPatch) -> None:
    """A report counts for the round in play however soon after the one before it comes."""

    def round_of(memory: WitnessMemory, *_: object) -> int:
        return memory.live or memory.ended

    patch.setattr(witnesses, "round_of", round_of)


def own_numbers_are_ignored(patch: pytest.MonkeyPatch) -> None:
    """A report that repeats the one of an earlier round counts for the present one."""
    patch.setattr(witnesses, "_is_of_another_round", lambda *_: False)


def repeated_report_counts_twice(patch: pytest.MonkeyPatch) -> None:
    """A report that comes twice leads to two events."""
    on_report = witnesses.on_report

    def forgetful(memory: WitnessMemory, *rest: Any) -> Any:
        after, events = on_report(replace(memory, reports={}), *rest)
        return replace(after, reports=memory.reports | after.reports), events

    patch.setattr(witnesses, "on_report", forgetful)
