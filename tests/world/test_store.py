"""The model of the journal's file does what the real file does: the same operations, drawn by
chance, give the same answers, and the same content after a kill, a power cut or a new start.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from common import clock, randomness
from common.chain.schema import JournalLostError, Record, Row
from controller.journal.reader import JournalReader, first_broken, genesis_of
from controller.journal.store import JournalStore, Replacement
from controller.proof.sealing import end_of_day, end_of_future
from tests.conftest import cases
from tests.world.store import (
    Fate,
    JournalFile,
    JournalFiles,
    ModelReader,
    ModelStore,
    Trouble,
    disk_error,
)

TABLES, BOOTS = ("r1", "r2"), ("b1", "b2")
TIMES = tuple(f"2026-11-2{day}T1{hour}:00:00.000000Z" for day in range(3) for hour in range(2))
NAME = "journal.sqlite3"
PAGE_BYTES = 4096

Answer = tuple[str, Any]
"""Whether an operation raised, and what it returned or raised."""


class RealStore(JournalStore):
    """A store whose commits have a fate."""

    fate: Fate | None = None

    def commit(
        self, new_rows: list[Row], saved: list[tuple[str, bytes, int]], moves: dict[str, int]
    ) -> None:
        fate, self.fate = self.fate, None
        if fate in (None, "stored"):
            super().commit(new_rows, saved, moves)
        if fate is not None:
            raise disk_error(sqlite3.SQLITE_IOERR_FSYNC)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    """Draw what one commit holds."""

    def one(number: int) -> Record:
        is_boot = draw(st.integers(0, 5)) == 0
        events = tuple(b"event %d" % each for each in range(draw(st.integers(0, 2))))
        return Record(
            table="" if is_boot else draw(st.sampled_from(TABLES)),
            boot=draw(st.sampled_from(BOOTS)),
            seq=draw(st.integers(2, 40)),
            time=draw(st.sampled_from(TIMES)),
            mono_ns=number,
            input=None if is_boot else draw(st.sampled_from((b"input", b'{"sealed":"box"}'))),
            events=() if is_boot else events,
            saved=None if is_boot else draw(st.none() | st.just(b"state %d" % number)),
            before=(("boot", BOOT),) if is_boot else (),
        )

    return [one(number) for number in range(draw(st.integers(0, 3)))]


BOOT = b'{"software":"s","python":"p","site":"palma","node":"pit-1","key":null,"tables":[]}'
"""The body of an entry that says which daemon writes."""
MOVES = st.dictionaries(st.sampled_from(("mqtt", "other")), st.integers(0, 30), max_size=1)
FATES = st.sampled_from(("absent", "unflushed", "spoiled", "stored"))


def content(reader: JournalReader) -> dict[str, Any]:
    """Return everything that a reader can answer about a file."""
    head, beginning = reader.head(), reader.beginning()
    around = sorted({0, beginning.position, head.position // 2, head.position})
    return {
        "id": reader.id(),
        "base": reader.base(),
        "aside": reader.meta("aside"),
        "genesis": genesis_of(reader),
        "head": head,
        "beginning": beginning,
        "entries": list(reader.entries()),
        "some": list(reader.entries(head.position // 2, 3)),
        "hashes": [reader.hash_at(at) for at in (*around, head.position + 1)],
        "recomputed": reader.recomputed_hashes(around),
        "latest": [reader.latest(), reader.latest("boot"), reader.latest("event")],
        "days": [reader.day_after(at) for at in around],
        "ends": [end_of_day(reader, at, TIMES[2][:10]) for at in around],
        "future": [end_of_future(reader, at, TIMES[2][:10]) for at in around],
        "publishable": [reader.last_publishable(at) for at in around],
        "inputs": reader.recent_inputs(b"sealed", 9),
        "events": [reader.events_after(at, 5) for at in around],
        "of boot": [reader.events_of_boot(t, b, 7, 4) for t in TABLES for b in BOOTS],
        "since": [reader.events_since(t, b, 7, 4) for t in TABLES for b in (*BOOTS, "none")],
        "cursors": reader.cursors(),
        "saved": (reader.saved_states(), [reader.saved_state(t) for t in TABLES]),
        "saved at": [reader.saved_position(t) for t in (*TABLES, "none")],
        "intact": reader.last_intact(5),
        "broken": (first_broken(reader), reader.damage()),
    }


def facts(new: Replacement | None) -> object:
    """Return what a replacement says, without where its file is."""
    if new is None:
        return None
    with closing(new.reader):
        told = content(new.reader)
    lost = (new.unpublished.lost or "").partition(" of ")[0]
    return new.aside.name, new.unpublished.entries, lost, new.id, new.head, told


class StoreMachine(RuleBasedStateMachine):
    """Drives both stores alike. ``files`` lie: nothing counts as flushed but what was moved into
    the database, so that a power cut may take what a real disk has flushed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(mkdtemp(prefix="store-"))
        self.lives = 0
        self.seed = 0
        self.files = JournalFiles(Trouble(), lies=True)
        self.failing: tuple[list[Record], dict[str, int]] | None = None
        """What must be written next, since its commit has failed."""
        self.is_in_log = False
        """Whether that is in the log all the same."""
        self.real: RealStore
        self.model: ModelStore

    def teardown(self) -> None:
        if hasattr(self, "real"):
            self.real.end()
        shutil.rmtree(self.folder)

    @property
    def path(self) -> Path:
        """Where the real file is in this life."""
        return self.folder / str(self.lives) / NAME

    @property
    def model_path(self) -> Path:
        """Where the model's file is."""
        return self.folder / "model" / NAME

    @property
    def file(self) -> JournalFile:
        """The file of the model."""
        return self.files.files[self.model_path]

    @contextmanager
    def same_chance(self) -> Iterator[Callable[[Callable[[], Any]], Answer]]:
        """Let both sides draw the same ids at the same time."""
        self.seed += 1

        def ask(question: Callable[[], Any]) -> Answer:
            source = clock.Source(
                wall=lambda: 1_800_000_000.0 + self.seed, uptime_ns=lambda: self.seed
            )
            with randomness.use(Random(self.seed).randbytes), clock.use(source):
                try:
                    return "returned", question()
                except (sqlite3.Error, JournalLostError) as error:
                    return "raised", type(error)

        yield ask

    def both(self, question: Callable[[JournalStore], Any]) -> Any:
        """Ask both stores, whose answers must be equal. Return what it was."""
        with self.same_chance() as ask:
            real, model = ask(lambda: question(self.real)), ask(lambda: question(self.model))
        assert real == model
        return real

    @initialize()
    def begin(self) -> None:
        self.path.parent.mkdir()
        self.model_path.parent.mkdir()
        self.open()
        self.move_log()  # a power cut takes no new file: its creation is flushed

    def open(self) -> None:
        """Open both files."""
        with self.same_chance() as ask:
            self.real = ask(lambda: RealStore(self.path))[1]
            self.model = ask(lambda: ModelStore(self.model_path, self.files))[1]
        assert self.real.unpublished.entries == self.model.unpublished.entries
        self.failing = None

    def write(self) -> None:
        """Write what has failed until it is stored."""
        assert self.failing is not None
        records, moves = self.failing
        how, _ = self.both(lambda store: store.write(records, moves))
        if how == "returned":
            self.failing = None

    @rule(new=records(), moves=MOVES)
    def commit(self, new: list[Record], moves: dict[str, int]) -> None:
        if self.failing is None:
            self.failing = new, moves
        self.write()
        assert facts(self.real.replacement) == facts(self.model.replacement)
        self.real.replacement = self.model.replacement = None

    @rule(new=records(), moves=MOVES, fate=FATES)
    def commit_fails(self, new: list[Record], moves: dict[str, int], fate: Fate) -> None:
        if self.failing is not None:
            return
        self.failing = new, moves
        self.real.fate = self.files.trouble.fate = fate
        self.is_in_log = fate in ("unflushed", "spoiled")
        self.write()
        error = disk_error(sqlite3.SQLITE_IOERR)
        assert self.both(lambda store: store.failed(error)) == ("returned", False)

    @rule(share=st.floats(0, 1.2))
    def remove(self, share: float) -> None:
        through = int(self.model.head.position * share)
        self.both(lambda store: store.remove(through))

    @rule(kept_bytes=st.sampled_from((0, 1 << 30)))
    def move_log(self, kept_bytes: int = 0) -> None:
        self.both(lambda store: store.move_log(kept_bytes))

    @rule(at=st.integers(0, 9))
    def another_program_writes(self, at: int) -> None:
        if self.failing is not None:
            return
        with closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            other.execute("REPLACE INTO cursor VALUES ('foreign', ?)", (at,))
        self.file.commit_foreign({"foreign": at})

    @rule()
    def look_for_foreign_writes(self) -> None:
        self.both(lambda store: store.has_foreign_writes())

    @rule()
    def file_is_set_aside(self) -> None:
        if self.failing is not None:
            return
        journal = self.file.meta["id"]
        assert self.both(lambda store: store.examine(journal, "damaged"))[0] == "raised"
        error = JournalLostError("damaged")
        assert self.both(lambda store: store.failed(error)) == ("returned", True)
        self.commit([], {})
        self.move_log()

    @rule()
    def examine(self) -> None:
        self.both(lambda store: store.examine())
        self.both(lambda store: store.examine("another", "damaged"))

    @rule()
    def end(self) -> None:
        self.both(lambda store: store.end())
        self.open()

    @rule(how=st.sampled_from(("kill", "cut log", "cut moving")), seed=st.integers(0, 2**32))
    def machine_stops(self, how: str, seed: int) -> None:
        """The program dies, and perhaps the machine: its files are what a disk had by then."""
        if self.failing is not None and self.is_in_log:
            records, moves = self.failing
            with suppress(sqlite3.Error):
                self.real.write(records, moves)
        self.image(how, Random(seed))
        self.model.kill()
        self.real.end()
        self.lives += 1
        if how == "cut log":
            self.cut_as_the_real_one()
        self.open()

    def image(self, how: str, random: Random) -> None:
        """Copy the files of the present life to those of the next one."""
        into = self.folder / str(self.lives + 1)
        into.mkdir()
        for path in self.path.parent.glob(f"{NAME}*"):
            if not path.name.endswith("-shm"):
                shutil.copyfile(path, into / path.name)
        log = into / f"{NAME}-wal"
        if how == "cut log" and log.exists():
            whole = bytearray(log.read_bytes())
            at = random.randrange(len(whole) + 1)
            if whole[at:] and random.random() < 0.5:
                whole[at] ^= 1 << random.randrange(8)  # torn: the rest of it is there
            else:
                del whole[at:]
            log.write_bytes(whole)
        elif how == "cut moving":
            before = (into / NAME).read_bytes()
            kept_bytes = random.choice((0, 1 << 30))
            self.both(lambda store: store.move_log(kept_bytes))
            after = self.path.read_bytes()
            pages = range(0, len(after), PAGE_BYTES)
            chosen = (before if random.random() < 0.5 else after for _ in pages)
            data = b"".join(
                (source[at : at + PAGE_BYTES] or bytes(PAGE_BYTES))
                for source, at in zip(chosen, pages, strict=True)
            )
            (into / NAME).write_bytes(data)

    def cut_as_the_real_one(self) -> None:
        """Cut the model at the last commit at which it holds what the real one does."""
        with closing(JournalReader(self.path)) as reader:
            held = content(reader)
        self.file.recover()
        for kept in range(self.file.losable, -1, -1):
            self.file.cut(kept)
            if content(ModelReader(self.model_path, self.file, self.files.trouble)) == held:
                return
        raise AssertionError("the real store holds what no cut of the model leaves")

    @invariant()
    def both_hold_the_same(self) -> None:
        if not hasattr(self, "real"):
            return
        with closing(self.real.open_reader()) as real:
            assert content(real) == content(self.model.open_reader())
        assert self.real.head == self.model.head


def test_the_model_does_what_the_real_store_does() -> None:
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(max_examples=cases(15, 2000), stateful_step_count=25, deadline=None),
    )
