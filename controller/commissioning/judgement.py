"""What the notes of an acceptance come to: one check for each thing that has to be seen.

What was not done is not done: nothing passes because nobody looked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from controller.commissioning.protocol import (
    Answer,
    AnyNote,
    Check,
    Expected,
    Outcome,
    Phase,
    Plate,
    Provoked,
    Recorded,
    Verdict,
)
from controller.contract.retained import Identity

LONGEST_MS = 1000.0
"""From the arrival of a result's bytes to the result: more is no live result."""
SHOWN = 12
"""Values that are named one by one."""


def judge(
    expected: Expected,
    notes: Sequence[AnyNote],
    configured: Identity,
    recordings: Sequence[Recorded],
) -> tuple[Check, ...]:
    """The checks, in the order in which a person is led through them."""
    answers = [note for note in notes if isinstance(note, Answer)]
    return (
        _plate([note for note in notes if isinstance(note, Plate)], configured),
        _line(recordings),
        _values(expected, answers),
        *(_phase(phase, notes) for phase in expected.phases),
        *(_fault(fault, notes) for fault in expected.faults),
        _latency(answers),
    )


def verdict(checks: Sequence[Check]) -> Verdict:
    """The whole: accepted only if everything was done and passed."""
    outcomes = {check.outcome for check in checks}
    if "failed" in outcomes:
        return "not accepted"
    return "incomplete" if "not done" in outcomes else "accepted"


def missing(expected: Expected, notes: Sequence[AnyNote]) -> tuple[str, ...]:
    """The numbers or cards that nobody has held against the device yet."""
    seen = {note.said for note in notes if isinstance(note, Answer)}
    return tuple(value for value in expected.values if value not in seen)


def _plate(found: Sequence[Plate], configured: Identity) -> Check:
    name = "plate"
    if not found:
        return Check(name=name, outcome="not done", what="nobody read the plate")
    plate, wrong = found[-1], []
    for key in ("maker", "model", "serial"):
        told, set_ = getattr(plate, key), getattr(configured, key)
        if set_ is None:
            continue
        if told.strip().casefold() != set_.strip().casefold():
            wrong.append(f"{key} {told or '(none)'}, configured {set_}")
    if wrong:
        return Check(name=name, outcome="failed", what="; ".join(wrong))
    if configured.serial is None:
        return Check(
            name=name,
            outcome="not done",
            what=f"serial {plate.serial or '(none)'}: none is configured to compare it with",
        )
    return Check(name=name, outcome="passed", what=f"{plate.maker} {plate.model} {plate.serial}")


def _line(recordings: Sequence[Recorded]) -> Check:
    frames = sum(each.frames for each in recordings)
    damaged = sum(each.damaged for each in recordings)
    what = f"{frames} frames, {damaged} damaged, {sum(each.bytes for each in recordings)} bytes"
    return Check(name="line", outcome="passed" if frames else "failed", what=what)


def _values(expected: Expected, answers: Sequence[Answer]) -> Check:
    name = "all numbers" if expected.kind == "wheel" else "all cards"
    wrong = Counter(
        f"{answer.said}: the device said {answer.told or 'nothing'}"
        for answer in answers
        if answer.told != answer.said
    )
    if wrong:
        told = [f"{what} ({count} times)" if count > 1 else what for what, count in wrong.items()]
        return Check(name=name, outcome="failed", what=_named(told, "; "))
    left = missing(expected, answers)
    what = f"{len(expected.values) - len(left)} of {len(expected.values)}, {len(answers)} answers"
    if left:
        return Check(name=name, outcome="not done", what=f"{what}; left: {_named(left, ', ')}")
    unasked = sum(answer.unasked for answer in answers)
    more = f"; {unasked} more results, to which nobody answered" if unasked else ""
    return Check(name=name, outcome="passed", what=what + more)


def _phase(phase: str, notes: Sequence[AnyNote]) -> Check:
    found = [note for note in notes if isinstance(note, Phase) and note.phase == phase]
    name = f"phase {phase}"
    if not found:
        return Check(name=name, outcome="not done", what="nobody compared it")
    last = found[-1]
    if not last.told:
        return Check(name=name, outcome="failed", what="the device did not say it")
    outcome: Outcome = "passed" if last.right else "failed"
    return Check(
        name=name,
        outcome=outcome,
        what="the person saw the same" if last.right else "the person did not see it so",
    )


def _fault(fault: str, notes: Sequence[AnyNote]) -> Check:
    found = [note for note in notes if isinstance(note, Provoked) and note.fault == fault]
    name = f"fault {fault}"
    if not found:
        return Check(name=name, outcome="not done", what="nobody provoked it")
    last = found[-1]
    if not last.told:
        return Check(name=name, outcome="failed", what="the device told nothing of it")
    told = ", ".join(last.told)
    if not last.over:
        return Check(name=name, outcome="failed", what=f"{told}; its end was not told")
    return Check(name=name, outcome="passed", what=told)


def _latency(answers: Sequence[Answer]) -> Check:
    found = [answer.ms for answer in answers if answer.ms is not None]
    if not found:
        return Check(name="latency", outcome="not done", what="no result was measured")
    what = (
        f"{len(found)} results: median {median(found):.1f} ms, longest {max(found):.1f} ms from "
        "the arrival of the bytes to the result"
    )
    return Check(
        name="latency", outcome="passed" if max(found) <= LONGEST_MS else "failed", what=what
    )


def _named(values: Sequence[str], between: str) -> str:
    more = len(values) - SHOWN
    return between.join(values[:SHOWN]) + (f" and {more} more" if more > 0 else "")
