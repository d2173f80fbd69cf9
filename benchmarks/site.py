"""A whole site: many tables over four daemons at their true pace, one broker, and every consumer as
a process. Measures the load of each process, the latency of results, and the recovery after a power
failure of the whole site.

As in :mod:`benchmarks.scale`, each wheel sends two lines a second, and by default a result every 45
seconds. The devices keep running through the power failure.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.engines import ENGINES, Engine
from benchmarks.figures import milliseconds, percentile, row
from benchmarks.processes import running
from benchmarks.scale import MAX_LATENCY_SECONDS, Times, latencies, playing, table_of
from benchmarks.site_programs import DAEMONS, Programs, SiteLayout, lay_out, shares
from benchmarks.site_standing import (
    TOPICS,
    ArchivedEvents,
    JournalledEvents,
    boots,
    in_play,
    meter_boot,
    screens_are_ready,
    states_are_right,
)
from benchmarks.subscriber import OPENING, ROOT, Subscriber
from benchmarks.usage import Usage, cpu, usage
from common.contract.times import parse_utc
from tests.support.surveillance.postgres import Postgres

OUTAGE_SECONDS = 10.0
"""Seconds without power."""
READY_TIMEOUT_SECONDS = 600.0
"""Maximum seconds until everything is ready."""
CHECK_INTERVAL_SECONDS = 0.25
"""Seconds between two checks of what is ready."""
WINDOW_SECONDS = 5.0
"""Seconds over which a 99th percentile is taken, to see when it is normal again."""
NORMAL_FACTOR = 2.0
"""A 99th percentile is normal up to this factor times the highest one before the cut."""
AFTER_SECONDS = 60.0
"""Seconds measured after everything is ready again."""

_TIME = re.compile(rb'"time":"([^"]+)"')


class ResultListener:
    """Records the arrival and delay of results and events. It connects as soon as possible."""

    def __init__(self, engine: Engine) -> None:
        self.results: Times = defaultdict(list)
        self.arrivals: list[float] = []
        """Arrival of each event, ascending."""
        self.late: list[float] = []
        """Seconds since the event happened."""
        end = time.monotonic() + READY_TIMEOUT_SECONDS
        while True:
            with contextlib.suppress(OSError):
                self.subscriber = Subscriber(engine.ports[-1], TOPICS, self._note, qos=0)
                return
            engine.check()
            if time.monotonic() > end:
                raise TimeoutError("the broker does not listen")
            time.sleep(CHECK_INTERVAL_SECONDS)

    def _note(self, topic: str, body: bytes, now: float) -> None:
        if not topic.endswith("/event"):
            return
        if b'"round.result"' in body:
            self.results[table_of(topic)].append(now)
        if (happened := _TIME.search(body)) is not None:
            self.arrivals.append(now)
            self.late.append(time.time() - parse_utc(happened[1].decode()))

    def windows(self, since: float, until: float) -> list[float]:
        """Return the 99th percentile of the delay of events in each window."""
        count = int((until - since) / WINDOW_SECONDS)
        edges = [
            bisect_left(self.arrivals, since + number * WINDOW_SECONDS)
            for number in range(count + 1)
        ]
        return [
            percentile(self.late[first:last], 99) for first, last in pairwise(edges) if last > first
        ]


class ReadySeconds(NamedTuple):
    """Seconds from the start of all programs; None: not in time."""

    states: float | None = None
    """Until the state of every table is correct."""
    screens: float | None = None
    """Until the web server receives every table."""
    jackpot: float | None = None
    """Until the jackpot is in play at all its tables."""
    recorder: float | None = None
    """Until the archive has every event from before the cut."""
    normal: float | None = None
    """Until events are as timely as before."""


class SiteFigures(NamedTuple):
    """Figures for one number of tables. ``spent``: by process, CPU seconds per second, and its
    usage.
    """

    first: ReadySeconds
    sessions: float
    spent: dict[str, tuple[float, Usage]]
    before: tuple[list[float], int]
    """Seconds from the wire to the subscriber, and number of missing results."""
    second: ReadySeconds
    after: tuple[list[float], int]
    events: int
    lost: int
    """Events in the journals that are missing from the archive at the end."""
    meter: tuple[int, int]
    """The jackpot's meter, and the sum of the coins in the journals."""


def measure(
    kind: str, tables: int, seconds: float, browsers: int, pace: int, *, postgres: bool
) -> SiteFigures:
    """Measure one site, from its first start through a power failure. ``pace``: games an hour."""
    joined = 3600 / pace + 5.0  # a game that is joined in its midst has no result
    shown: Times = defaultdict(list)
    wheels, slots = (sum(counts) for counts in zip(*shares(tables), strict=True))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="novamas-site-")))
        database = stack.enter_context(server()) if postgres else None
        engine = ENGINES[kind](folder, stack)
        devices, links = stack.enter_context(playing(wheels, shown, slots, pace))
        where = None if database is None else database.database()
        site = lay_out(folder, engine.ports, engine.protocol, tables, links, where)
        programs = Programs(folder)
        stack.callback(programs.close)
        started = start(engine, programs, site, database)
        listening = listen(engine, stack)
        journalled, archived = JournalledEvents(site.journals), ArchivedEvents(site.archive)
        first = wait_until_ready(
            started, programs, ready_conditions(site, listening, (set(), None))
        )
        opened = time.monotonic()
        listening.subscriber.prepare(wheels, lambda: None, READY_TIMEOUT_SECONDS)
        open_linked(listening.subscriber, site.linked)
        sessions = time.monotonic() - opened
        looking = stack.enter_context(browsing(site, browsers))
        pids = {**engine.pids, **programs.pids, "devices": devices.pid, "browsers": looking,
                "measuring": os.getpid()}  # fmt: skip
        time.sleep(joined)
        since, used = time.monotonic(), {name: cpu(pid) for name, pid in pids.items()}
        time.sleep(seconds)
        programs.check()
        until = time.monotonic()
        spent = {
            name: ((cpu(pid) - used[name]) / (until - since), usage(pid))
            for name, pid in pids.items()
        }
        before = results(shown, listening, since, until)
        usual = max(listening.windows(since, until), default=float("nan"))
        former = boots(listening.subscriber), meter_boot(listening.subscriber)
        engine.cut()
        programs.cut()
        if database is not None:
            database.kill()
        time.sleep(OUTAGE_SECONDS)
        journalled.update()
        started = start(engine, programs, site, database)
        listening = listen(engine, stack)
        second = wait_until_ready(
            started,
            programs,
            {
                **ready_conditions(site, listening, former),
                "recorder": lambda: archived.has(journalled.events),
            },
        )
        time.sleep(joined)
        since = time.monotonic()
        time.sleep(AFTER_SECONDS)
        until = time.monotonic()
        after = results(shown, listening, since, until)
        second = second._replace(normal=seconds_until_normal(started, until, listening, usual))
        journalled.update()
        complete(journalled, archived)
        value = int(listening.subscriber.body(f"{ROOT}/jackpot/linked/state")["value"])
        return SiteFigures(
            first, sessions, spent, before, second, after,
            len(journalled.events), len(journalled.events - archived.events),
            (value, journalled.coins),
        )  # fmt: skip


@contextlib.contextmanager
def server() -> Iterator[Postgres]:
    """Run PostgreSQL with synchronous commits."""
    made = Postgres(fsync="on")
    try:
        made.start()
        yield made
    finally:
        made.close()


def start(engine: Engine, programs: Programs, site: SiteLayout, database: Postgres | None) -> float:
    """Start everything at once. Return the time."""
    started = time.monotonic()
    engine.start()
    programs.start(site.commands)
    if database is not None:
        database.start()
    return started


def listen(engine: Engine, stack: ExitStack) -> ResultListener:
    """Connect a listener to one port of the broker."""
    made = ResultListener(engine)
    stack.enter_context(made.subscriber)
    return made


def ready_conditions(
    site: SiteLayout, listening: ResultListener, before: tuple[set[bytes], bytes | None]
) -> dict[str, Callable[[], bool]]:
    """Return the conditions of readiness. ``before``: runs of daemons and controller before the
    cut.
    """
    tables = [*(f"table-{number}" for number in range(1, site.wheels + 1)), *site.linked]
    runs, controller = before
    return {
        "states": lambda: states_are_right(listening.subscriber, tables, runs),
        "screens": lambda: screens_are_ready(site.web),
        "jackpot": lambda: in_play(listening.subscriber, site.linked, controller),
    }


def wait_until_ready(
    started: float, programs: Programs, checks: Mapping[str, Callable[[], bool]]
) -> ReadySeconds:
    """Wait until all conditions are met; return when each was."""
    found: dict[str, float] = {}
    while len(found) < len(checks) and time.monotonic() < started + READY_TIMEOUT_SECONDS:
        programs.check()
        for name in checks.keys() - found.keys():
            if checks[name]():
                found[name] = time.monotonic() - started
        time.sleep(CHECK_INTERVAL_SECONDS)
    return ReadySeconds(**found)


def open_linked(subscriber: Subscriber, linked: Sequence[str]) -> None:
    """Open a session and the bets at each linked table, so that coins count."""
    money = OPENING.replace("}", ', "minimum": 1000, "currency": "EUR"}')
    subscriber.client.subscribe(f"{ROOT}/+/state", 1)
    for command, body, phase in (
        ("session-open", money, b'"phase":"waiting"'),
        ("bets-open", OPENING, b'"phase":"bets_open"'),
    ):
        subscriber.command(
            command, body, linked, partial(_shows, subscriber, phase), READY_TIMEOUT_SECONDS
        )


def _shows(subscriber: Subscriber, phase: bytes, table: str) -> bool:
    """True if a table is in this phase."""
    return phase in subscriber.latest.get(f"{ROOT}/{table}/state", b"")


@contextlib.contextmanager
def browsing(site: SiteLayout, browsers: int) -> Iterator[int]:
    """Run browsers, each with the pictures of twenty tables."""
    tables = [f"table-{number}" for number in range(1, site.wheels + 1)]
    words = (str(site.web), str(browsers), str(min(20, len(tables))), *tables)
    with running(sys.executable, "-m", "benchmarks.browsers", *words) as process:
        yield process.pid


def results(
    shown: Times, listening: ResultListener, since: float, until: float
) -> tuple[list[float], int]:
    """Return the seconds from the wire to this process, after waiting for the last results."""
    with contextlib.suppress(TimeoutError):
        listening.subscriber.wait(
            "the last results",
            lambda: not latencies(shown, listening.results, since, until)[1],
            MAX_LATENCY_SECONDS,
        )
    return latencies(shown, listening.results, since, until)


def seconds_until_normal(
    started: float, until: float, listening: ResultListener, usual: float
) -> float | None:
    """Return the seconds after which every window's 99th percentile is normal."""
    found = listening.windows(started, until)
    wrong = [number for number, value in enumerate(found) if value > NORMAL_FACTOR * usual]
    last = wrong[-1] + 1 if wrong else 0
    return None if last == len(found) else last * WINDOW_SECONDS


def complete(journalled: JournalledEvents, archived: ArchivedEvents) -> None:
    """Wait until the archive has all events of the journals."""
    end = time.monotonic() + READY_TIMEOUT_SECONDS
    while not archived.has(journalled.events) and time.monotonic() < end:
        time.sleep(1.0)


def main(
    kinds: Sequence[str],
    tables: Sequence[int],
    minutes: float,
    browsers: int,
    pace: int,
    *,
    postgres: bool,
) -> None:
    """Measure each number of tables at each broker, and print it."""
    print(
        f"Tables over {DAEMONS} daemons, each two lines a second and a result every "
        f"{3600 / pace:.0f} s, {minutes:g} minutes each; archive in "
        f"{'PostgreSQL' if postgres else 'SQLite'}; {browsers} browsers"
    )
    for kind in kinds:
        for count in tables:
            print(f"\n{kind}, {count:,} tables", flush=True)
            try:
                found = measure(kind, count, minutes * 60, browsers, pace, postgres=postgres)
            except TimeoutError as error:
                print(f"  {error}", flush=True)
                continue
            for line in lines(found):
                print(line, flush=True)


def lines(found: SiteFigures) -> Iterator[str]:
    """Format the figures."""
    yield row("", "core, %", "RSS, MB", "files", "threads")
    for name, (spent, end) in found.spent.items():
        yield row(name, spent * 100, end.rss, end.files, end.threads)
    yield row("wire to listener", "results", "missing", "p50, ms", "p99, ms", "max, ms")
    for name, (late, missing) in (("before", found.before), ("after", found.after)):
        yield row(name, len(late), missing, *milliseconds(late))
    yield row("seconds until", *ReadySeconds._fields)
    for name, ready in (("first start", found.first), ("power is back", found.second)):
        yield row(name, *("-" if value is None else value for value in ready))
    yield row("sessions", found.sessions)
    yield f"  {found.events:,} events in the journals, {found.lost} not in the archive"
    yield f"  the meter has {found.meter[0]:,}, the coins of the journals are {found.meter[1]:,}"
