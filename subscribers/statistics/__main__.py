"""``python -m subscribers.statistics``: the health of wheels and shoes, from an archive.

``novamas wheel`` starts it.
"""

from __future__ import annotations

import sys
from contextlib import closing
from datetime import UTC, datetime

import msgspec

from controller.contract.times import utc
from devices.command_line import CommandLine, end_process
from subscribers.statistics.folding import ShoesReport
from subscribers.statistics.health import Bias, WheelReport
from subscribers.statistics.reading import Reader
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive


def main(argv: list[str] | None = None) -> int:
    """Print. Returns the exit status: 1 where the archive cannot be read."""
    parser = CommandLine(
        prog="novamas wheel",
        description="How wheels and shoes behave, from the archive of surveillance. It is advice: "
        "it changes no result. docs/inspector/statistics.md says what each figure means.",
    )
    parser.add_argument("table", nargs="*", metavar="TABLE", help="only these tables")
    parser.add_argument(
        "--archive", required=True, metavar="PATH", help="a file, or postgresql://..."
    )
    parser.add_argument(
        "--since",
        metavar="TIME",
        help="only from then on: 2026-11-01, or 2026-11-01T06:00 in local time. The bound on false "
        "alarms holds if the time was not chosen for what came after it",
    )
    parser.add_argument("--json", action="store_true", help="one object on one line for each")
    given = parser.parse_args(argv)
    try:
        since = None if given.since is None else time_of(given.since)
    except ValueError:
        parser.error(f"--since: {given.since!r} is no time; write 2026-11-01 or 2026-11-01T06:00")
    try:
        with closing(open_archive(given.archive, read_only=True)) as archive:
            reader = Reader(archive, given.table, since)
            reader.read()
    except ArchiveError as error:
        print(f"novamas wheel: {error}", file=sys.stderr)  # noqa: T201
        return 1
    wheels, shoes = reader.statistics.wheels(), reader.statistics.shoes()
    if given.json:
        lines = [msgspec.json.encode(each).decode() for each in (*wheels, *shoes)]
    else:
        lines = [line for wheel in wheels for line in wheel_lines(wheel)]
        lines += [line for each in shoes for line in shoe_lines(each)]
    if reader.statistics.unread:
        print(  # noqa: T201
            f"novamas wheel: {reader.statistics.unread} events could not be read and are left out",
            file=sys.stderr,
        )
    if not lines:
        print("novamas wheel: no spins and no shoes there", file=sys.stderr)  # noqa: T201
    print("\n".join(lines))  # noqa: T201
    return 0


def time_of(said: str) -> str:
    """A time of a person as records have it."""
    at = datetime.fromisoformat(said)
    return utc(at.astimezone(UTC).timestamp())


def wheel_lines(wheel: WheelReport) -> list[str]:
    """A wheel, to read."""
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
    told = f"evidence {change.evidence:,.0f} of {change.threshold:,.0f}"
    if change.alarm is not None:
        told = f"ALARM after {change.alarm:,} spins, shown by {change.shown_by}; now {told}"
    lines.append(f"  change   {told}")
    for name_of, each in wheel.measures.items():
        lines.append(
            f"  {name_of:15}{each.mean:8.2f} ± {each.deviation:.2f}, {each.least:.2f} to "
            f"{each.most:.2f}, {each.count:,} spins"
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
        f"  {each.number!s:>6}{each.count:8,}   {each.lift.lift:.2f}  "
        f"({each.lift.low:.2f} to {each.lift.high:.2f})"
        for each in wheel.pockets
    ]
    return lines


def shoe_lines(shoes: ShoesReport) -> list[str]:
    """The shoes of a table, to read."""
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


def _bias(bias: Bias) -> str:
    told = f"evidence {bias.evidence:.3g} of {bias.threshold:,.0f}"
    if bias.alarm is not None:
        told = f"ALARM after {bias.alarm:,} spins; now {told}"
    found = bias.suspect
    if found is None:
        return told
    numbers = " ".join(map(str, found.numbers))
    return (
        f"{told}; most for {numbers}: {found.hits:,} hits, {found.fair:,.0f} fair, "
        f"{found.lift.lift:.2f} times ({found.lift.low:.2f} to {found.lift.high:.2f})"
    )


if __name__ == "__main__":
    end_process(main())
