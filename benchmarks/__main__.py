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
    latency,
    month,
    restart,
    scale,
    site,
    stages,
    starts,
    statistics,
    status_line,
    web,
)
from benchmarks.engines import ENGINES
from benchmarks.processes import machine, many_files


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    chosen = parser.add_subparsers(dest="measurement", metavar="MEASUREMENT")
    chosen.add_parser("decoding", help="status lines per second that the codec decodes")
    one = chosen.add_parser(
        "latency", help="from the wire to a subscriber, and four programs beside it"
    )
    one.add_argument("--rounds", type=int, default=1000, help="results of each program in a run")
    one.add_argument("--runs", type=int, default=3)
    one.add_argument("--beside", nargs="*", choices=latency.OTHERS, default=latency.OTHERS)
    one = chosen.add_parser("line", help="CPU of a status line that leads to nothing")
    one.add_argument("--tables", type=int, default=50)
    one.add_argument("--seconds", type=float, default=60.0)
    one = chosen.add_parser(
        "stages", help="what each stage of a result takes, by the daemon's health"
    )
    one.add_argument("--rounds", type=int, default=1000)
    one = chosen.add_parser("scale", help="many tables in one daemon, at their true pace")
    one.add_argument("--tables", type=int, nargs="+", default=[1, 50, 200, 500, 1000])
    one.add_argument(
        "--minutes", type=float, default=2.0, help="measured for each number of tables"
    )
    one = chosen.add_parser("burst", help="every wheel gives its result at once")
    one.add_argument("--tables", type=int, default=200)
    one.add_argument("--bursts", type=int, default=5)
    one = chosen.add_parser("catch_up", help="a broker comes back after hours")
    one.add_argument("--tables", type=int, default=100)
    one.add_argument("--entries", type=int, default=500_000)
    one = chosen.add_parser("restart", help="start over a large journal")
    one.add_argument("--tables", type=int, default=100)
    one.add_argument("--entries", type=int, default=1_000_000)
    one.add_argument("--starts", type=int, default=3)
    one = chosen.add_parser("start", help="CPU of the start of commands and services")
    one.add_argument("--runs", type=int, default=9)
    one = chosen.add_parser("disk", help="disk, log and memory of a table, closed and open")
    one.add_argument("--minutes", type=float, default=10.0, help="measured, and scaled to a day")
    one = chosen.add_parser("month", help="verify and audit a month of one table")
    one.add_argument("--days", type=int, default=month.DAYS)
    one.add_argument("--journal", type=Path, help="where to keep it, and find it the next time")
    one = chosen.add_parser("web", help="from an event at the broker to a picture at a browser")
    one.add_argument("--browsers", type=int, nargs="+", default=[1, 200])
    one.add_argument("--rounds", type=int, default=300)
    one = chosen.add_parser("carrousel", help="from a coin to the ledger and the meter")
    one.add_argument("--coins", type=int, default=50_000, help="of the burst")
    one.add_argument("--rate", type=int, default=200, help="coins a second after that")
    one.add_argument("--seconds", type=float, default=60.0)
    one = chosen.add_parser("statistics", help="false alarms and power of the watch of wheels")
    one.add_argument("--wheels", type=int, default=1000, help="fair wheels")
    one.add_argument("--spins", type=int, default=30_000, help="of each fair wheel")
    one.add_argument("--tables", type=int, default=20, help="of each kind of shoe and of change")
    one.add_argument("--plot", type=Path, help="an SVG file to draw the power into")
    one = chosen.add_parser("archive", help="into the archive of surveillance and out of it")
    one.add_argument("--records", type=int, default=100_000)
    one = chosen.add_parser(
        "brokers", help="from a message to its acknowledgement at Mosquitto, NATS and RabbitMQ"
    )
    one.add_argument("--messages", type=int, default=2000)
    one.add_argument("--runs", type=int, default=3)
    one = chosen.add_parser(
        "site", help="tables over four daemons with every consumer, and a power cut"
    )
    one.add_argument("--tables", type=int, nargs="+", default=[1000])
    one.add_argument("--broker", nargs="+", choices=[*ENGINES], default=[*ENGINES])
    one.add_argument("--minutes", type=float, default=2.0, help="measured before the power cut")
    one.add_argument("--browsers", type=int, default=50, help="each with pictures of 20 tables")
    one.add_argument(
        "--games-per-hour", type=int, default=scale.GAMES_PER_HOUR, help="of each wheel"
    )
    one.add_argument("--postgres", action="store_true", help="the archive in PostgreSQL")
    parser.set_defaults(rounds=1000, runs=3, beside=latency.OTHERS)
    arguments = parser.parse_args()
    print(machine(), flush=True)
    many_files()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that started programs end too
    try:
        measure(arguments)
    except TimeoutError as error:
        sys.exit(f"benchmarks: {error}")


MEASUREMENTS: Mapping[str, Callable[[Any], None]] = {
    "decoding": lambda _: decoding.main(),
    "latency": lambda given: latency.main(given.rounds, given.runs, given.beside),
    "line": lambda given: status_line.main(given.tables, given.seconds),
    "stages": lambda given: stages.main(given.rounds),
    "scale": lambda given: scale.main(given.tables, given.minutes),
    "burst": lambda given: burst.main(given.tables, given.bursts),
    "catch_up": lambda given: catch_up.main(given.tables, given.entries),
    "restart": lambda given: restart.main(given.tables, given.entries, given.starts),
    "start": lambda given: starts.main(given.runs),
    "disk": lambda given: disk.main(given.minutes),
    "month": lambda given: month.main(given.days, given.journal),
    "web": lambda given: web.main(given.browsers, given.rounds),
    "carrousel": lambda given: carrousel.main(given.coins, given.rate, given.seconds),
    "statistics": lambda given: statistics.main(
        given.wheels, given.spins, given.tables, given.plot
    ),
    "archive": lambda given: archive.main(given.records),
    "brokers": lambda given: brokers.main(given.messages, given.runs),
    "site": lambda given: site.main(
        given.broker,
        given.tables,
        given.minutes,
        given.browsers,
        given.games_per_hour,
        postgres=given.postgres,
    ),
}
"""Measurements by name, called with their options."""


def measure(arguments: argparse.Namespace) -> None:
    """Run the chosen measurements. Raises ``TimeoutError`` if a program does not respond."""
    for name in (arguments.measurement,) if arguments.measurement else ("decoding", "latency"):
        MEASUREMENTS[name](arguments)


if __name__ == "__main__":
    main()
