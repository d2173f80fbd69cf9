"""``python -m benchmarks``: decoding speed and latency; with a subcommand, a single measurement.

Prints measurements and ratios. docs/engineer/performance.md explains how to read them.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import (
    archive,
    brokers,
    burst,
    carrousel,
    catch_up,
    decoding,
    disk,
    kiosk,
    latency,
    month,
    restart,
    scale,
    site,
    stages,
    starts,
    statistics,
    status_line,
    streams,
    web,
)
from benchmarks.engines import ENGINES
from benchmarks.processes import machine, many_files


def main() -> None:
    """Measure and print."""
    arguments = command_line().parse_args()
    print(machine(), flush=True)
    many_files()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that started programs end too
    try:
        measure(arguments)
    except TimeoutError as error:
        sys.exit(f"benchmarks: {error}")


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    chosen = parser.add_subparsers(dest="measurement", metavar="MEASUREMENT")
    chosen.add_parser("decoding", help="status lines per second that the codec decodes")
    command = chosen.add_parser(
        "latency", help="from the wire to a subscriber, and five programs beside it"
    )
    command.add_argument(
        "--rounds", type=int, default=1000, help="results of each program in a run"
    )
    command.add_argument("--runs", type=int, default=3)
    command.add_argument(
        "--beside", nargs="*", choices=latency.OTHER_PROGRAMS, default=latency.OTHER_PROGRAMS
    )
    command.add_argument("--against", metavar="COMMIT", help="another commit, beside this one")
    command.add_argument(
        "--whole", action="store_true", help="rounds of ordinary length: 80 lines, 4 s each"
    )
    command = chosen.add_parser("line", help="CPU of a status line that leads to nothing")
    command.add_argument("--tables", type=int, default=50)
    command.add_argument("--seconds", type=float, default=60.0)
    command = chosen.add_parser(
        "stages", help="what each stage of a result takes, by the daemon's health"
    )
    command.add_argument("--rounds", type=int, default=1000)
    command = chosen.add_parser("scale", help="many tables in one daemon, at their true pace")
    command.add_argument("--tables", type=int, nargs="+", default=[1, 50, 200, 500, 1000])
    command.add_argument(
        "--minutes", type=float, default=2.0, help="measured for each number of tables"
    )
    command = chosen.add_parser("burst", help="every wheel gives its result at once")
    command.add_argument("--tables", type=int, default=200)
    command.add_argument("--bursts", type=int, default=5)
    command = chosen.add_parser("catch_up", help="a broker comes back after hours")
    command.add_argument("--tables", type=int, default=100)
    command.add_argument("--entries", type=int, default=500_000)
    command = chosen.add_parser("restart", help="start over a large journal")
    command.add_argument("--tables", type=int, default=100)
    command.add_argument("--entries", type=int, default=1_000_000)
    command.add_argument("--starts", type=int, default=3)
    command = chosen.add_parser("start", help="CPU of the start of commands and services")
    command.add_argument("--runs", type=int, default=9)
    command = chosen.add_parser("disk", help="disk, log and memory of a table, closed and open")
    command.add_argument(
        "--minutes", type=float, default=10.0, help="measured, and scaled to a day"
    )
    command = chosen.add_parser("month", help="verify and audit a month of one table")
    command.add_argument("--days", type=int, default=month.DAYS)
    command.add_argument(
        "--journal", type=Path, help="where to store the journal, to reuse it the next time"
    )
    _add_subscriber_measurements(chosen)
    parser.set_defaults(
        rounds=1000, runs=3, beside=latency.OTHER_PROGRAMS, against=None, whole=False
    )
    return parser


def _add_subscriber_measurements(chosen: argparse._SubParsersAction[Any]) -> None:
    command = chosen.add_parser("kiosk", help="main thread, elements and heap of the displays")
    command.add_argument("--seconds", type=float, default=30.0, help="of each page")
    command = chosen.add_parser("web", help="from an event at the broker to a picture at a browser")
    command.add_argument("--browsers", type=int, nargs="+", default=[1, 200])
    command.add_argument("--rounds", type=int, default=300)
    command = chosen.add_parser("streams", help="from an event at the broker to an HTTP stream")
    command.add_argument("--streams", type=int, nargs="+", default=[1, 100, 1000])
    command.add_argument("--events", type=int, default=300)
    command = chosen.add_parser("carrousel", help="from a coin to the ledger and the meter")
    command.add_argument("--coins", type=int, default=50_000, help="of the burst")
    command.add_argument("--rate", type=int, default=200, help="coins a second after that")
    command.add_argument("--seconds", type=float, default=60.0)
    command = chosen.add_parser("statistics", help="false alarms and power of the watch of wheels")
    command.add_argument("--wheels", type=int, default=1000, help="fair wheels")
    command.add_argument("--spins", type=int, default=30_000, help="of each fair wheel")
    command.add_argument(
        "--tables", type=int, default=20, help="of each kind of shoe and of change"
    )
    command.add_argument("--plot", type=Path, help="an SVG file to draw the power into")
    command = chosen.add_parser("archive", help="into the archive of surveillance and out of it")
    command.add_argument("--records", type=int, default=100_000)
    command = chosen.add_parser(
        "brokers", help="from a message to its acknowledgement at Mosquitto, NATS and RabbitMQ"
    )
    command.add_argument("--messages", type=int, default=2000)
    command.add_argument("--runs", type=int, default=3)
    command = chosen.add_parser(
        "site", help="tables over four daemons with every consumer, and a power cut"
    )
    command.add_argument("--tables", type=int, nargs="+", default=[1000])
    command.add_argument("--broker", nargs="+", choices=[*ENGINES], default=[*ENGINES])
    command.add_argument("--minutes", type=float, default=2.0, help="measured before the power cut")
    command.add_argument("--browsers", type=int, default=50, help="each with pictures of 20 tables")
    command.add_argument(
        "--games-per-hour", type=int, default=scale.GAMES_PER_HOUR, help="of each wheel"
    )
    command.add_argument("--postgres", action="store_true", help="the archive in PostgreSQL")


MEASUREMENTS: Mapping[str, Callable[[Any], None]] = {
    "decoding": lambda _: decoding.main(),
    "latency": lambda options: latency.main(
        options.rounds, options.runs, options.beside, options.against, whole=options.whole
    ),
    "line": lambda options: status_line.main(options.tables, options.seconds),
    "stages": lambda options: stages.main(options.rounds),
    "scale": lambda options: scale.main(options.tables, options.minutes),
    "burst": lambda options: burst.main(options.tables, options.bursts),
    "catch_up": lambda options: catch_up.main(options.tables, options.entries),
    "restart": lambda options: restart.main(options.tables, options.entries, options.starts),
    "start": lambda options: starts.main(options.runs),
    "disk": lambda options: disk.main(options.minutes),
    "month": lambda options: month.main(options.days, options.journal),
    "kiosk": lambda options: kiosk.main(options.seconds),
    "web": lambda options: web.main(options.browsers, options.rounds),
    "streams": lambda options: streams.main(options.streams, options.events),
    "carrousel": lambda options: carrousel.main(options.coins, options.rate, options.seconds),
    "statistics": lambda options: statistics.main(
        options.wheels, options.spins, options.tables, options.plot
    ),
    "archive": lambda options: archive.main(options.records),
    "brokers": lambda options: brokers.main(options.messages, options.runs),
    "site": lambda options: site.main(
        options.broker,
        options.tables,
        options.minutes,
        options.browsers,
        options.games_per_hour,
        postgres=options.postgres,
    ),
}
"""Measurements by name, called with their options."""


def measure(arguments: argparse.Namespace) -> None:
    """Run the chosen measurements. Raises ``TimeoutError`` if a program does not respond."""
    for name in (arguments.measurement,) if arguments.measurement else ("decoding", "latency"):
        MEASUREMENTS[name](arguments)


if __name__ == "__main__":
    main()
