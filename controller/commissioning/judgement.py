"""Derives the checks of an acceptance from its notes. A step that was not done counts as not done,
never as passed.

`novamas commission --verify` derives them again in English and compares them with the signed
protocol, so the English texts of checks must not change. Papers have them in the language of the
site.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from common.contract.messages.messages import ENGLISH
from common.contract.messages.messages import text as message
from common.contract.retained import Identity
from controller.commissioning.protocol import (
    AcceptanceCheck,
    AnswerNote,
    AnyNote,
    Expected,
    Outcome,
    ParameterNote,
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
    language: str = ENGLISH,
) -> tuple[AcceptanceCheck, ...]:
    """Return the checks in the order of the steps. A signed protocol has them in English."""
    answers = [note for note in notes if isinstance(note, AnswerNote)]
    return (
        _plate([note for note in notes if isinstance(note, Plate)], configured, language),
        _line(recordings, language),
        *_parameters(expected, notes, language),
        _values(expected, answers, language),
        *(_phase(phase, notes, language) for phase in expected.phases),
        *(_fault(fault, notes, language) for fault in expected.faults),
        _latency(answers, language),
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


def _text(key: str, language: str, **fields: object) -> str:
    return message(f"acceptance.{key}", language, **fields)


def _check(name: str, outcome: Outcome, what: str) -> AcceptanceCheck:
    return AcceptanceCheck(name=name, outcome=outcome, what=what)


def _plate(plates: Sequence[Plate], configured: Identity, language: str) -> AcceptanceCheck:
    name, empty = _text("plate", language), _text("empty", language)
    if not plates:
        return _check(name, "not done", _text("no_plate", language))
    plate, differences = plates[-1], []
    for key in ("maker", "model", "serial"):
        read, configured_value = getattr(plate, key), getattr(configured, key)
        if configured_value is None:
            continue
        if read.strip().casefold() != configured_value.strip().casefold():
            what = _text(key, language)
            differences.append(
                _text(
                    "plate_differs",
                    language,
                    what=what,
                    read=read or empty,
                    configured=configured_value,
                )
            )
    if differences:
        return _check(name, "failed", "; ".join(differences))
    if configured.serial is None:
        return _check(name, "not done", _text("no_serial", language, serial=plate.serial or empty))
    return _check(name, "passed", f"{plate.maker} {plate.model} {plate.serial}")


def _line(recordings: Sequence[RecordingSummary], language: str) -> AcceptanceCheck:
    frames = sum(recording.frames for recording in recordings)
    what = _text(
        "frames",
        language,
        frames=frames,
        damaged=sum(recording.damaged for recording in recordings),
        bytes=sum(recording.bytes for recording in recordings),
    )
    return _check(_text("line", language), "passed" if frames else "failed", what)


def _parameters(
    expected: Expected, notes: Sequence[AnyNote], language: str
) -> Iterator[AcceptanceCheck]:
    """Check the parameters of a device that is asked for them; no check for any other device."""
    if not expected.parameters:
        return
    name = _text("parameters", language)
    stated = {note.parameter: note for note in notes if isinstance(note, ParameterNote)}
    wrong = [
        _text(
            "parameter_wrong",
            language,
            parameter=note.parameter,
            value=note.value or _text("nothing", language),
            expected=note.expected,
        )
        for note in stated.values()
        if note.expected is not None
    ]
    silent = [
        parameter
        for parameter in expected.parameters
        if (note := stated.get(parameter)) is None or note.value is None
    ]
    if wrong:
        yield _check(name, "failed", "; ".join(wrong))
    elif silent:
        listed = _text("remaining", language, values=_listed(silent, ", ", language))
        yield _check(name, "not done", listed)
    else:
        values = [f"{parameter} {stated[parameter].value}" for parameter in expected.parameters]
        yield _check(name, "passed", "; ".join(values))


def _values(expected: Expected, answers: Sequence[AnswerNote], language: str) -> AcceptanceCheck:
    name = _text("numbers" if expected.kind == "wheel" else "cards", language)
    nothing = _text("nothing", language)
    differing = Counter(
        _text("value_differs", language, seen=answer.seen, reported=answer.reported or nothing)
        for answer in answers
        if answer.reported != answer.seen
    )
    if differing:
        lines = [
            _text("times", language, what=what, count=count) if count > 1 else what
            for what, count in differing.items()
        ]
        return _check(name, "failed", _listed(lines, "; ", language))
    remaining, total = missing(expected, answers), len(expected.values)
    what = _text(
        "answered", language, done=total - len(remaining), total=total, answers=len(answers)
    )
    if remaining:
        listed = _listed(remaining, ", ", language)
        return _check(name, "not done", f"{what}; {_text('remaining', language, values=listed)}")
    unasked = sum(answer.unasked for answer in answers)
    more = f"; {_text('unasked', language, count=unasked)}" if unasked else ""
    return _check(name, "passed", what + more)


def _phase(phase: str, notes: Sequence[AnyNote], language: str) -> AcceptanceCheck:
    comparisons = [note for note in notes if isinstance(note, PhaseNote) and note.phase == phase]
    name = _text("phase", language, phase=_text(f"phase_{phase}", language))
    if not comparisons:
        return _check(name, "not done", _text("not_compared", language))
    last = comparisons[-1]
    if not last.reported:
        return _check(name, "failed", _text("not_reported", language))
    return _check(
        name,
        "passed" if last.right else "failed",
        _text("seen_same" if last.right else "seen_otherwise", language),
    )


def _fault(fault: str, notes: Sequence[AnyNote], language: str) -> AcceptanceCheck:
    attempts = [note for note in notes if isinstance(note, Provoked) and note.fault == fault]
    word = _text(f"fault_{fault.replace(' ', '_')}", language)
    name = _text("fault", language, fault=word)
    if not attempts:
        return _check(name, "not done", _text("not_provoked", language))
    last = attempts[-1]
    if not last.reported:
        return _check(name, "failed", _text("not_reported", language))
    reports = ", ".join(last.reported)
    if not last.over:
        return _check(name, "failed", _text("no_end", language, reports=reports))
    return _check(name, "passed", _text("reported", language, reports=reports))


def _latency(answers: Sequence[AnswerNote], language: str) -> AcceptanceCheck:
    latencies = [answer.ms for answer in answers if answer.ms is not None]
    name = _text("latency", language)
    if not latencies:
        return _check(name, "not done", _text("not_measured", language))
    what = _text(
        "latencies",
        language,
        count=len(latencies),
        median=_decimal(median(latencies), language),
        longest=_decimal(max(latencies), language),
    )
    return _check(name, "passed" if max(latencies) <= MAX_LATENCY_MS else "failed", what)


def _decimal(value: float, language: str) -> str:
    return f"{value:.1f}" if language == ENGLISH else f"{value:.1f}".replace(".", ",")


def _listed(values: Sequence[str], between: str, language: str) -> str:
    more = len(values) - MAX_LISTED_VALUES
    return between.join(values[:MAX_LISTED_VALUES]) + (
        f" {_text('more', language, count=more)}" if more > 0 else ""
    )
