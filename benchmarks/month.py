"""Cost of verifying a month of one roulette table: 43,200 rounds, with all received bytes.

The month runs on a simulated clock; the decoder, the table and the journal are real. Each day is
sealed when it is over, as by the daemon.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
from nacl.signing import SigningKey

from benchmarks.usage import largest_of
from common.chain.checkpoint import key_path, make_key, public, sign, write_checkpoint
from common.chain.schema import Kind, Record
from common.contract.commands import SessionOpen
from common.contract.notation import Input, write
from common.contract.retained import About
from common.contract.times import format_utc
from controller.games.games import make_game
from controller.journal.reader import JournalReader
from controller.journal.setup import Boot, ClockState, DeviceSetup, TableSetup, table_start
from controller.journal.store import JournalStore
from controller.proof.sealing import DAY_SECONDS, seal
from controller.tables.byte_trace import FLUSH_INTERVAL_SECONDS, ByteTrace
from controller.tables.table import Table
from devices.calls import BytesReceived, LinkOpened, apply_call
from devices.drivers import driver
from devices.watch import Watch

MONTH_START = 1_793_491_200.0
"""2026-11-01."""
DAYS, ROUNDS = 30, 1440
"""Days of the month, and rounds of each: one per minute."""
LINES_PER_STATE = {2: 36, 3: 16, 4: 52, 5: 16}
"""Status lines in each state of a round, one every half second."""
TABLE = TableSetup(
    id="ruleta-1",
    game="roulette-french",
    decree="ARA02",
    devices=(DeviceSetup(id="wheel", driver="cammegh-ss2", stale_after=5.0),),
)
RUN = "b0000001"


def number_of(spin: int) -> int:
    """Return the number of a spin: each number in turn."""
    return spin * 7 % 37


def status_lines(
    rounds: int, after: int = 0, number_of: Callable[[int], int] = number_of
) -> Iterator[tuple[float, bytes]]:
    """Yield the lines of ``rounds`` rounds with their times in seconds, ``after`` earlier
    rounds.
    """
    lines = 0
    shown = f"{number_of(after):2d}" if after else "  "
    for spin in range(after + 1, after + rounds + 1):
        number, count = f"{number_of(spin):2d}", (spin - 1) % 256 + 1
        for state, pushes in LINES_PER_STATE.items():
            if state == 5:
                yield lines / 2 - 0.01, f"{number}\r\n".encode()
                shown = number
            for push in range(pushes):
                speed = 165 + push % 3
                line = f"*X;{state};{count:03d};{shown};0;{speed:03d};{spin % 2}\r\n"
                yield lines / 2, line.encode()
                lines += 1


class MonthTable:
    """The table, its wheel, and records not yet stored."""

    def __init__(self) -> None:
        found = driver("cammegh-ss2")
        self.watch = Watch(found.make("wheel", found.options()), "wheel", 5.0)
        self.trace = ByteTrace("wheel", compact=True)
        self.table = self.make_table(None)
        self.waiting: list[Record] = []

    def make_table(self, saved: bytes | None) -> Table:
        """Return the table at its start, or resumed from its saved state."""
        return Table(
            "palma",
            TABLE.id,
            TABLE.game,
            TABLE.decree,
            make_game(TABLE.game, TABLE.decree, {}),
            RUN,
            saved=saved,
            about=About(devices={"wheel": "cammegh-ss2"}),
        )

    def at_midnight(self) -> bytes:
        """Return the saved state of the table when a day begins."""
        return self.table.saved()

    def on_call(self, call: LinkOpened | BytesReceived) -> None:
        """Process bytes of the wheel, as the runner does."""
        self.trace.add(call)
        for reading in apply_call(self.watch, call):
            self.step(reading, call.at)

    def step(self, input_: Input, at: float) -> None:
        """Step the table, and add the record."""
        now, mono_ns = format_utc(MONTH_START + at), round(at * 1e9)
        events = self.table.handle(input_, now, mono_ns).events
        sent = self.trace.pop_entry()
        self._add_record(
            at,
            input=write(input_),
            events=tuple(map(write, events)),
            saved=self.table.saved(),
            before=() if sent is None else (("bytes", sent),),
        )

    def flush(self, at: float) -> None:
        """Store bytes that led to no reading."""
        if (sent := self.trace.pop_entry()) is not None:
            self.note("bytes", sent, at)

    def note(self, kind: Kind, body: bytes, at: float) -> None:
        """Store an entry that is not an input."""
        self._add_record(at, before=((kind, body),))

    def boot(self, key: str, at: float) -> None:
        """Store the entries of a daemon's start and of the beginning of a day."""
        body = Boot(
            software="novamas 0",
            python="3",
            site="palma",
            node="nodo",
            key=key,
            tables=(TABLE,),
            continues=at > 0,
            clock=ClockState(
                counted=int(at), believed=format_utc(MONTH_START + at), confirmed=True
            ),
        )
        made = Record(
            table="",
            boot=RUN,
            seq=0,
            time=format_utc(MONTH_START + at),
            mono_ns=round(at * 1e9),
            before=(("boot", msgspec.json.encode(body)),),
        )
        self.waiting.append(made)

    def _add_record(self, at: float, **content: object) -> None:
        made = Record(
            table=TABLE.id,
            boot=RUN,
            seq=self.table.seq,
            time=format_utc(MONTH_START + at),
            mono_ns=round(at * 1e9),
            **content,  # type: ignore[arg-type]
        )
        self.waiting.append(made)


def make(path: Path, sent: Iterable[tuple[float, bytes]], month: MonthTable) -> str:
    """Write the journal of a wheel's bytes. Return the public key of its checkpoints."""
    key = make_key(key_path(path))
    store, day, flushed, at = JournalStore(path), 0, 0.0, 0.0
    month.boot(public(key), at)
    month.note("state", table_start("boot", None), at)
    for gap in month.table.gap(at):
        month.step(gap, at)
    month.on_call(LinkOpened(at))
    month.step(SessionOpen(at=at, by="Ana", role="inspector"), at)
    for at, line in sent:
        if at - flushed >= FLUSH_INTERVAL_SECONDS:
            flushed = at
            month.flush(at)
            if at // DAY_SECONDS != day:
                day = int(at // DAY_SECONDS)
                _store(store, month.waiting)
                month.boot(public(key), at)
                month.note("state", table_start("day", month.at_midnight()), at)
                _seal(path, store, key, at)
        month.on_call(BytesReceived(at, line))
    month.flush(at)
    _store(store, month.waiting)
    with closing(JournalReader(path)) as reader:
        write_checkpoint(
            sign(key, reader.id(), RUN, format_utc(MONTH_START + at), store.head), path
        )
    store.end()
    return public(key)


def _store(store: JournalStore, waiting: list[Record]) -> None:
    store.write(waiting, {})
    store.write([], {"mqtt": store.head.position})
    waiting.clear()


def _seal(path: Path, store: JournalStore, key: SigningKey, at: float) -> None:
    """Seal finished days; those of the last week also remain in the journal."""
    now = format_utc(MONTH_START + at)
    done = seal(path, key, RUN, now, int(at), store.head.position, keep_days=10 * 365)
    while store.remove(done.cut):
        pass
    store.move_log()


def measure(path: Path, command: str, *options: str) -> tuple[float, float, float]:
    """Return elapsed seconds, seconds of CPU, and megabytes of the largest process, for a command
    of ``novamas`` on this journal.
    """
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    program = [sys.executable, "-m", "controller.cli", command, str(path), *options]
    max_memory = 0.0
    with subprocess.Popen(program, stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            max_memory = max(max_memory, largest_of(running.pid))
            time.sleep(0.1)
    spent, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, cpu, max_memory


def main(days: int, journal: Path | None) -> None:
    """Measure and print."""
    print(f"Proofs of {days} days of one table, {days * ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as folder:
        path = journal or Path(folder) / "journal.sqlite3"
        if not path.exists():
            make(path, status_lines(days * ROUNDS), MonthTable())
        print(f"{'':<10}{'seconds':>10}{'CPU s':>10}{'MB':>8}")
        for command in ("verify", "audit"):
            spent, cpu, max_memory = measure(path, command)
            print(f"{command:<10}{spent:>10.1f}{cpu:>10.1f}{max_memory:>8.0f}")
