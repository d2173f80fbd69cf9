"""Derives the checks of an acceptance from its notes. A step that was not done counts as not done,
never as passed.

`novamas commission --verify` derives them again and compares them with the signed protocol, so the
texts of checks must not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from common.contract.retained import Identity
from controller.commissioning.protocol import (
    AcceptanceCheck,
    AnswerNote,
    AnyNote,
    Expected,
    Outcome,
    PhaseNote,
    Plate,
    Provoked,
    RecordingSummary,
    Verdict,
)

MAX_LATENCY_MS = 1000.0
"""Maximum milliseconds from the arrival of a result's bytes to the result; more is not live."""
MAX_LISTED_VALUES = 12
"""Maximum number of values listed in a check."""


def judge(
    expected: Expected,
    notes: Sequence[AnyNote],
    configured: Identity,
    recordings: Sequence[RecordingSummary],
) -> tuple[AcceptanceCheck, ...]:
    """Return the checks in the order of the steps."""
    answers = [note for note in notes if isinstance(note, AnswerNote)]
    return (
        _plate([note for note in notes if isinstance(note, Plate)], configured),
        _line(recordings),
        _values(expected, answers),
        *(_phase(phase, notes) for phase in expected.phases),
        *(_fault(fault, notes) for fault in expected.faults),
        _latency(answers),
    )


def verdict(checks: Sequence[AcceptanceCheck]) -> Verdict:
    """Return the verdict: accepted only if everything was done and passed."""
    outcomes = {check.outcome for check in checks}
    if "failed" in outcomes:
        return "not accepted"
    return "incomplete" if "not done" in outcomes else "accepted"


def missing(expected: Expected, notes: Sequence[AnyNote]) -> tuple[str, ...]:
    """Return the numbers or cards not yet compared with the device."""
    seen = {note.seen for note in notes if isinstance(note, AnswerNote)}
    return tuple(value for value in expected.values if value not in seen)


def _plate(plates: Sequence[Plate], configured: Identity) -> AcceptanceCheck:
    name = "plate"
    if not plates:
        return AcceptanceCheck(name=name, outcome="not done", what="nobody read the plate")
    plate, differences = plates[-1], []
    for key in ("maker", "model", "serial"):
        read, configured_value = getattr(plate, key), getattr(configured, key)
        if configured_value is None:
            continue
        if read.strip().casefold() != configured_value.strip().casefold():
            differences.append(f"{key} {read or '(none)'}, configured {configured_value}")
    if differences:
        return AcceptanceCheck(name=name, outcome="failed", what="; ".join(differences))
    if configured.serial is None:
        return AcceptanceCheck(
            name=name,
            outcome="not done",
            what=f"serial {plate.serial or '(none)'}: none is configured to compare it with",
        )
    return AcceptanceCheck(
        name=name, outcome="passed", what=f"{plate.maker} {plate.model} {plate.serial}"
    )


def _line(recordings: Sequence[RecordingSummary]) -> AcceptanceCheck:
    frames = sum(recording.frames for recording in recordings)
    damaged = sum(recording.damaged for recording in recordings)
    what = (
        f"{frames} frames, {damaged} damaged, "
        f"{sum(recording.bytes for recording in recordings)} bytes"
    )
    return AcceptanceCheck(name="line", outcome="passed" if frames else "failed", what=what)


def _values(expected: Expected, answers: Sequence[AnswerNote]) -> AcceptanceCheck:
    name = "all numbers" if expected.kind == "wheel" else "all cards"
    differing = Counter(
        f"{answer.seen}: the device said {answer.reported or 'nothing'}"
        for answer in answers
        if answer.reported != answer.seen
    )
    if differing:
        lines = [
            f"{what} ({count} times)" if count > 1 else what for what, count in differing.items()
        ]
        return AcceptanceCheck(name=name, outcome="failed", what=_listed(lines, "; "))
    remaining = missing(expected, answers)
    what = (
        f"{len(expected.values) - len(remaining)} of {len(expected.values)}, {len(answers)} answers"
    )
    if remaining:
        return AcceptanceCheck(
            name=name, outcome="not done", what=f"{what}; left: {_listed(remaining, ', ')}"
        )
    unasked = sum(answer.unasked for answer in answers)
    more = f"; {unasked} more results, to which nobody answered" if unasked else ""
    return AcceptanceCheck(name=name, outcome="passed", what=what + more)


def _phase(phase: str, notes: Sequence[AnyNote]) -> AcceptanceCheck:
    comparisons = [note for note in notes if isinstance(note, PhaseNote) and note.phase == phase]
    name = f"phase {phase}"
    if not comparisons:
        return AcceptanceCheck(name=name, outcome="not done", what="nobody compared it")
    last = comparisons[-1]
    if not last.reported:
        return AcceptanceCheck(name=name, outcome="failed", what="the device did not report it")
    outcome: Outcome = "passed" if last.right else "failed"
    return AcceptanceCheck(
        name=name,
        outcome=outcome,
        what="the person saw the same" if last.right else "the person did not see it so",
    )


def _fault(fault: str, notes: Sequence[AnyNote]) -> AcceptanceCheck:
    attempts = [note for note in notes if isinstance(note, Provoked) and note.fault == fault]
    name = f"fault {fault}"
    if not attempts:
        return AcceptanceCheck(name=name, outcome="not done", what="nobody provoked it")
    last = attempts[-1]
    if not last.reported:
        return AcceptanceCheck(name=name, outcome="failed", what="the device did not report it")
    reports = ", ".join(last.reported)
    if not last.over:
        return AcceptanceCheck(
            name=name, outcome="failed", what=f"{reports}; its end was not reported"
        )
    return AcceptanceCheck(name=name, outcome="passed", what=reports)


def _latency(answers: Sequence[AnswerNote]) -> AcceptanceCheck:
    latencies = [answer.ms for answer in answers if answer.ms is not None]
    if not latencies:
        return AcceptanceCheck(name="latency", outcome="not done", what="no result was measured")
    what = (
        f"{len(latencies)} results: median {median(latencies):.1f} ms, longest "
        f"{max(latencies):.1f} ms from the arrival of the bytes to the result"
    )
    return AcceptanceCheck(
        name="latency",
        outcome="passed" if max(latencies) <= MAX_LATENCY_MS else "failed",
        what=what,
    )


def _listed(values: Sequence[str], between: str) -> str:
    more = len(values) - MAX_LISTED_VALUES
    return between.join(values[:MAX_LISTED_VALUES]) + (f" and {more} more" if more > 0 else "")
