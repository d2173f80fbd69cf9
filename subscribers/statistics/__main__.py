"""``python -m subscribers.statistics``: statistics of wheels, shoes and second witnesses from an
archive. ``novamas wheel`` starts it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime

import msgspec

from common.command_line import CommandLine, end_process
from common.contract.times import format_utc
from subscribers.statistics.folding import ShoesReport
from subscribers.statistics.health import BiasReport, WheelReport
from subscribers.statistics.reading import StatisticsReader, read_witnesses
from subscribers.statistics.witnesses import WitnessAgreement
from subscribers.surveillance.archive import RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive

_Report = WheelReport | ShoesReport | WitnessAgreement


def main(argv: list[str] | None = None) -> int:
    """Print the reports. Return the exit status: 1 if the archive cannot be read."""
    parser = CommandLine(
        prog="novamas wheel",
        description="Report wheel-bias and shuffle statistics, or those of second witnesses, from "
        "a surveillance archive. They are advice and change no result. "
        "docs/inspector/statistics.md and docs/technician/witness.md explain each figure.",
    )
    parser.add_argument("table", nargs="*", metavar="TABLE", help="only these tables")
    parser.add_argument(
        "--archive", required=True, metavar="PATH", help="a file, or postgresql://..."
    )
    parser.add_argument(
        "--since",
        metavar="TIME",
        help="only events since then: 2026-11-01, or 2026-11-01T06:00 in local time. The bound on "
        "false alarms holds only if the time was not chosen because of the results after it",
    )
    parser.add_argument(
        "--witnesses",
        action="store_true",
        help="only how often each second witness agrees with the results of its table",
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object per line for each report"
    )
    options = parser.parse_args(argv)
    try:
        since = None if options.since is None else time_of(options.since)
    except ValueError:
        parser.error(
            f"--since: {options.since!r} is not a time; write 2026-11-01 or 2026-11-01T06:00"
        )
    try:
        with closing(open_archive(options.archive, read_only=True)) as archive:
            read = _read_witnesses if options.witnesses else _read_wheels
            reports, unread = read(archive, options.table, since)
    except ArchiveError as error:
        print(f"novamas wheel: {error}", file=sys.stderr)  # noqa: T201
        return 1
    if options.json:
        lines = [msgspec.json.encode(report).decode() for report in reports]
    else:
        lines = [line for report in reports for line in _lines(report)]
    if unread:
        print(  # noqa: T201
            f"novamas wheel: {unread} events could not be read and are left out",
            file=sys.stderr,
        )
    if not lines:
        nothing = (
            "no rounds with a second witness" if options.witnesses else "no spins and no shoes"
        )
        print(f"novamas wheel: {nothing} found", file=sys.stderr)  # noqa: T201
    print("\n".join(lines))  # noqa: T201
    return 0


def _read_wheels(
    archive: RecordArchive, tables: Sequence[str], since: str | None
) -> tuple[Sequence[_Report], int]:
    """Return the reports of wheels and shoes, and how many events could not be read."""
    reader = StatisticsReader(archive, tables, since)
    reader.read()
    statistics = reader.statistics
    return (*statistics.wheels(), *statistics.shoes()), statistics.unread


def _read_witnesses(
    archive: RecordArchive, tables: Sequence[str], since: str | None
) -> tuple[Sequence[_Report], int]:
    """Return the reports of second witnesses, and how many events could not be read."""
    statistics = read_witnesses(archive, tables, since)
    return statistics.reports(), statistics.unread


def _lines(report: _Report) -> list[str]:
    """Format a report as text."""
    match report:
        case WheelReport():
            return wheel_lines(report)
        case ShoesReport():
            return shoe_lines(report)
        case WitnessAgreement():
            return witness_lines(report)


def time_of(text: str) -> str:
    """Convert a time entered by a person to the form used in records."""
    time = datetime.fromisoformat(text)
    return format_utc(time.astimezone(UTC).timestamp())


def wheel_lines(wheel: WheelReport) -> list[str]:
    """Format the report of a wheel as text."""
    name = f"{wheel.table} at {wheel.site}" + (f", wheel {wheel.serial}" if wheel.serial else "")
    name += ", simulated" if wheel.simulated else ""
    lines = [
        name,
        (
            f"  {wheel.spins:,} spins, {wheel.since[:16]} to {wheel.until[:16]} UTC; begun: "
            f"{wheel.begun}"
        ),
        f"  bias     {_bias(wheel.bias)}",
    ]
    if wheel.bias.chi_square is not None:
        chi = wheel.bias.chi_square
        lines.append(
            f"           chi-square {chi.value:.1f}, {chi.freedom} degrees of freedom, "
            f"p {chi.p:.3f} (for a single look)"
        )
    change = wheel.change
    evidence = f"evidence {change.evidence:,.0f} of {change.threshold:,.0f}"
    if change.alarm is not None:
        evidence = f"ALARM after {change.alarm:,} spins, shown by {change.shown_by}; now {evidence}"
    lines.append(f"  change   {evidence}")
    for label, item in wheel.measures.items():
        lines.append(
            f"  {label:15}{item.mean:8.2f} ± {item.deviation:.2f}, {item.least:.2f} to "
            f"{item.most:.2f}, {item.count:,} spins"
        )
    if wheel.games_per_hour is not None:
        lines.append(f"  games per hour {wheel.games_per_hour:8.1f}")
    lines += [f"  void     {reason} {count:,}" for reason, count in wheel.voids.items()]
    lines += [
        f"  {group.kind:10}{group.name or 'all'}: {group.spins:,} spins, {_bias(group.bias)}"
        for group in wheel.groups
    ]
    lines.append("  pocket   count   times what is fair")
    lines += [
        f"  {item.number!s:>6}{item.count:8,}   {item.lift.lift:.2f}  "
        f"({item.lift.low:.2f} to {item.lift.high:.2f})"
        for item in wheel.pockets
    ]
    return lines


def shoe_lines(shoes: ShoesReport) -> list[str]:
    """Format the report of a table's shoes as text."""
    alarms = ", ".join(f"{name} after {number}" for name, number in shoes.alarms.items())
    return [
        f"{shoes.table} at {shoes.site}" + (", simulated" if shoes.simulated else ""),
        f"  {shoes.shoes:,} shoes, {shoes.since[:16]} to {shoes.until[:16]} UTC"
        + (f"; ALARM: {alarms}" if alarms else ""),
        (
            f"  order    evidence {shoes.order_evidence:.3g} of {shoes.threshold:,.0f}; "
            f"{shoes.neighbours_kept:,} neighbours kept, {shoes.neighbours_expected:,.1f} expected"
        ),
        f"  ranks    evidence {shoes.ranks_evidence:.3g} of {shoes.threshold:,.0f}",
        "  " + "  ".join(f"{part} {count:,}" for part, count in shoes.counts.items()),
    ]


def witness_lines(witness: WitnessAgreement) -> list[str]:
    """Format the report of a second witness as text."""
    rate, total = witness.rate, witness.total
    name = f"{witness.table} at {witness.site}, witness {witness.witness}"
    columns = [f"  {field.replace('_', ' ')}" for field in total.__struct_fields__]
    rows = [*witness.days.items(), ("all days", total)]
    return [
        name + (", simulated" if witness.simulated else ""),
        f"  {total.rounds:,} rounds, {witness.since[:16]} to {witness.until[:16]} UTC",
        "  agreement  "
        + (
            "unknown: no report could be compared"
            if rate is None
            else f"{rate.rate:.3f} ({rate.low:.3f} to {rate.high:.3f})"
        ),
        f"  longest silence {witness.longest_silence:,} rounds",
        f"  {'day':10}" + "".join(columns),
        *(
            f"  {day:10}"
            + "".join(
                f"{count:{len(column)},}"
                for column, count in zip(columns, msgspec.structs.astuple(counts), strict=True)
            )
            for day, counts in rows
        ),
        *(
            f"  {item.time[:16]} UTC session {item.session} round {item.round}: "
            + item.verdict.replace("_", " ")
            + (", corrected later" if item.corrected else "")
            for item in witness.disagreements
        ),
    ]


def _bias(bias: BiasReport) -> str:
    evidence = f"evidence {bias.evidence:.3g} of {bias.threshold:,.0f}"
    if bias.alarm is not None:
        evidence = f"ALARM after {bias.alarm:,} spins; now {evidence}"
    suspect = bias.suspect
    if suspect is None:
        return evidence
    numbers = " ".join(map(str, suspect.numbers))
    return (
        f"{evidence}; most for {numbers}: {suspect.hits:,} hits, {suspect.fair:,.0f} fair, "
        f"{suspect.lift.lift:.2f} times ({suspect.lift.low:.2f} to {suspect.lift.high:.2f})"
    )


if __name__ == "__main__":
    end_process(main())
