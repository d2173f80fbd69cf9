"""``python -m subscribers.statistics``: wheel-bias and shuffle statistics from an archive.
``novamas wheel`` starts it.
"""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import UTC, datetime

import msgspec

from common.command_line import CommandLine, end_process
from common.contract.times import format_utc
from subscribers.statistics.folding import ShoesReport
from subscribers.statistics.health import BiasReport, WheelReport
from subscribers.statistics.reading import StatisticsReader
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive


def main(argv: list[str] | None = None) -> int:
    """Print the reports. Return the exit status: 1 if the archive cannot be read."""
    parser = CommandLine(
        prog="novamas wheel",
        description="Report wheel-bias and shuffle statistics from a surveillance archive. They "
        "are advice and change no result. docs/inspector/statistics.md explains each figure.",
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
        "--json", action="store_true", help="one JSON object per line for each wheel and shoe"
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
            reader = StatisticsReader(archive, options.table, since)
            reader.read()
    except ArchiveError as error:
        print(f"novamas wheel: {error}", file=sys.stderr)  # noqa: T201
        return 1
    wheels, shoes = reader.statistics.wheels(), reader.statistics.shoes()
    if options.json:
        lines = [msgspec.json.encode(report).decode() for report in (*wheels, *shoes)]
    else:
        lines = [line for wheel in wheels for line in wheel_lines(wheel)]
        lines += [line for report in shoes for line in shoe_lines(report)]
    if reader.statistics.unread:
        print(  # noqa: T201
            f"novamas wheel: {reader.statistics.unread} events could not be read and are left out",
            file=sys.stderr,
        )
    if not lines:
        print("novamas wheel: no spins and no shoes found", file=sys.stderr)  # noqa: T201
    print("\n".join(lines))  # noqa: T201
    return 0


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
