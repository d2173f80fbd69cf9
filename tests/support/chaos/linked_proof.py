"""Whether a floor of linked tables keeps playing, how it is brought to rest, and whether its ledger
then equals, to the cent, what the gazettes make of the tables' journals.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from common.contract.times import format_utc
from controller.journal.reader import JournalReader
from tests.support.carrousel.law import (
    Coin,
    Law,
    aragon,
    balears,
    euskadi,
    reckon,
    shares,
)
from tests.support.carrousel.law import (
    Play as PlayOfLaw,
)
from tests.support.carrousel.ledger_order import NEVER, Moment, moments
from tests.support.chaos.linked_daemon import Play
from tests.support.chaos.linked_floor import GAMES, SEEDS, LinkedFloor, decided
from tests.support.chaos.poker_script import script
from tests.support.chaos.report import tell
from tests.support.waiting import until


def keeps_playing(floor: LinkedFloor, since: float) -> bool:
    """Whether the controller has published since, and most tables are in play."""
    states = [floor.state(decree) for decree in floor.decrees]
    tables = [table["in_play"] for state in states for table in state.get("tables", {}).values()]
    fresh = all(state.get("time", "") > format_utc(since) for state in states)
    return fresh and sum(tables) >= 0.7 * sum(map(len, floor.decrees.values()))


def rest(floor: LinkedFloor) -> None:
    """Play stops; everything is published, paid, and at rest."""
    floor.plays(msgspec.structs.replace(floor.play, on=False))
    until("all rounds are ended", lambda: not _rounds_open(floor), floor.diagnosis, 600.0)
    until(
        "all coins are published",
        lambda: staked(floor) == published_stakes(floor),
        floor.diagnosis,
        600.0,
    )
    assert floor.persons is not None
    until("all is paid", lambda: floor.persons and floor.persons.idle, floor.diagnosis, 600.0)
    assert floor.controller.stop() == 0
    for pit in floor.pits:
        assert pit.stop() == 0
    assert "Traceback" not in floor.controller.log()


def _rounds_open(floor: LinkedFloor) -> bool:
    return any(table.open for pit in floor.pits for table in tables_of(pit.journal).values())


def staked(floor: LinkedFloor) -> dict[str, int]:
    """The stakes in the tables' journals, less the void ones, by decree."""
    found: Counter[str] = Counter()
    for pit in floor.pits:
        for name, table in tables_of(pit.journal).items():
            found[pit.tables[name]] += staked_at(table)
    return dict(found)


def staked_at(table: TableOfJournal) -> int:
    """The stakes of a table, less the void ones."""
    standing = (round_ for round_ in table.rounds.values() if round_.void is None)
    return sum(sum(each.amounts.values()) for each in standing)


def published_stakes(floor: LinkedFloor) -> dict[str, int]:
    """The stakes of a table in the ledger."""
    with closing(sqlite3.connect(f"file:{floor.controller.ledger}?mode=ro", uri=True)) as ledger:
        rows = ledger.execute(
            "SELECT jackpot, -sum(amount) FROM posting WHERE account = 'stakes' GROUP BY jackpot"
        ).fetchall()
    return {jackpot.upper(): amount for jackpot, amount in rows}


# Counts from the tables' journals


class Happened(msgspec.Struct):
    """A round, as its table's journal has it. ``coins``: when each fell, its box and amount."""

    coins: list[tuple[Moment, str, int]] = []
    amounts: dict[str, int] = {}
    won: Moment | None = None
    """The first award."""
    ended: Moment | None = None
    void: Moment | None = None
    corrected: Moment | None = None
    """The first award that the correction has changed; the correction itself if there is none."""

    @property
    def moments(self) -> list[Moment]:
        """All of them."""
        found = (self.won, self.ended, self.void, self.corrected, *(at for at, _, _ in self.coins))
        return [at for at in found if at is not None]


class TableOfJournal(msgspec.Struct):
    rounds: dict[tuple[int, int], Happened] = {}
    latest: Moment = NEVER
    correction: Moment = NEVER
    """The latest one."""
    open: bool = False


class _Event(msgspec.Struct):
    type: str
    table: str
    boot: str
    seq: int
    time: str
    session: int = 0
    round: int = 0
    bet: str = ""
    who: str = ""
    amount: int = 0
    withdrawn: bool = False


_event = msgspec.json.Decoder(_Event)
KINDS = (
    b'"bet.placed"',
    b'"award.qualified"',
    b'"jackpot.staked"',
    b'"round.',
    b'"result.corrected"',
)
ENDS = ("round.result", "round.void", "round.unresolved")


def tables_of(journal: Path) -> dict[str, TableOfJournal]:
    """What happened at the tables of a daemon. A later event of a table happened later, regardless
    of its clock.
    """
    with closing(JournalReader(journal)) as reader:
        return happened(entry.body for entry in reader.entries() if entry.kind == "event")


def happened(events: Iterable[bytes]) -> dict[str, TableOfJournal]:
    """The times of these events."""
    tables: dict[str, TableOfJournal] = defaultdict(TableOfJournal)
    for body in events:
        note_event(tables, body)
    return tables


def note_event(tables: dict[str, TableOfJournal], body: bytes) -> None:
    """Add an event to what happened at its table."""
    if not any(kind in body[:40] for kind in KINDS):
        return
    event = _event.decode(body)
    table = tables[event.table]
    # a later event of a table happened later, regardless of its clock
    at = max(table.latest[0], event.time), event.table, event.boot, event.seq
    table.latest = at
    if event.type == "round.opened":
        table.open = True
    elif event.type in ENDS:
        table.open = False
    round_ = table.rounds.setdefault((event.session, event.round), Happened())
    if event.type == "bet.placed" and event.bet == "jackpot":
        added = event.amount - round_.amounts.get(event.who, 0)
        round_.coins.append((at, event.who, added))
        round_.amounts[event.who] = event.amount
    elif event.type == "award.qualified":
        round_.won = round_.won or at
        if round_.corrected is not None and round_.corrected == table.correction:
            round_.corrected = at
    elif event.type == "jackpot.staked":
        round_.ended = at
    elif event.type == "round.void":
        round_.void = at
    elif event.type == "result.corrected":
        round_.corrected = table.correction = at


def _order(
    ledger: sqlite3.Connection, jackpot: str, tables: Iterable[TableOfJournal]
) -> Callable[[Moment], int]:
    """Return what gives each of these events its place, as the ledger had to count it."""
    counted = moments(ledger, jackpot)
    places: dict[Moment, tuple[Moment, bool]] = {}
    for table in tables:
        places[table.latest] = counted.get(table.latest[1:], table.latest), True
        for round_ in table.rounds.values():
            for at in round_.moments:  # a hit has what counts before it, not what counts with it
                places[at] = counted.get(at[1:], at), at != round_.won
    numbers = {place: number for number, place in enumerate(sorted(set(places.values())))}
    return lambda at: numbers[places[at]]


def _law(decree: str, tables: int) -> Law:
    seed = SEEDS[decree] * tables
    if decree == "EUS96":
        return euskadi(Fraction(*GAMES[decree][1]), seed, discards=True)
    return balears(seed) if decree == "BAL05" else aragon(seed)


# The end


def prove(floor: LinkedFloor, play: Play, kills: Counter[str]) -> None:
    persons = floor.persons
    assert persons is not None
    assert floor.parrot is not None
    tables: dict[str, TableOfJournal] = {}
    for pit in floor.pits:
        tables |= tables_of(pit.journal)
    with closing(sqlite3.connect(f"file:{floor.controller.ledger}?mode=ro", uri=True)) as ledger:
        cents = hits = coins = 0
        for decree, names in floor.decrees.items():
            of_decree = {name: tables[name] for name in names}
            awards = {
                number: award
                for (jackpot, number), award in persons.awards.items()
                if jackpot == decree.lower()
            }
            found = compare(ledger, decree, of_decree, play, awards, tell)
            coins, hits, cents = coins + found[0], hits + found[1], cents + found[2]
        paid, receipts = payments(ledger)
    tell(
        f"{coins} coins, {hits} hits, {paid} payments; {kills.total()} kills {dict(kills)}; "
        f"{floor.parrot.said['event']} events and {floor.parrot.said['order']} orders repeated"
    )
    tell(f"orders {dict(persons.orders)}, refused {dict(persons.refused)}")
    tell(f"difference {cents} cents, {paid - receipts} payments twice")
    program = (sys.executable, "-m", "controller.cli", "carrousel", "verify")
    verified = subprocess.run(
        [*program, str(floor.controller.ledger)], check=False, capture_output=True, text=True
    )
    tell(verified.stdout.strip() + verified.stderr.strip())
    assert verified.returncode == 0
    assert cents == 0


def payments(ledger: sqlite3.Connection) -> tuple[int, int]:
    """How many payments are in the ledger, and how many of them were ordered by commands that
    differ in both signatures.
    """
    rows = ledger.execute(
        "SELECT fact FROM entry WHERE position IN "
        "(SELECT position FROM posting WHERE what = 'payment')"
    ).fetchall()
    tokens = [[each["token"] for each in msgspec.json.decode(fact)["signed"]] for (fact,) in rows]
    assert all(len(token) == 2 for token in tokens)
    return len(rows), min(len({token[0] for token in tokens}), len({token[1] for token in tokens}))


def compare(
    ledger: sqlite3.Connection,
    decree: str,
    tables: dict[str, TableOfJournal],
    play: Play,
    awards: Mapping[int, Mapping[str, Any]],
    report: Callable[[str], None],
) -> tuple[int, int, int]:
    """Compare the ledger of a decree's jackpot with what the law makes of its tables' journals.
    Return the coins, the hits and the cents of difference. ``awards``: by number, as published.
    """
    jackpot = decree.lower()
    law, when = _law(decree, len(tables)), _order(ledger, jackpot, tables.values())
    plays: list[PlayOfLaw] = []
    gave: dict[tuple[str, int, str], int] = {}
    where: dict[tuple[str, int], tuple[int, int]] = {}
    for name, table in tables.items():
        for (session, number), happened in table.rounds.items():
            dealt = script(
                play.seed, name, decree, session, number,
                hits=play.hits, coins=play.coins[decree],
            )  # fmt: skip
            staked = {box for box, amount in happened.amounts.items() if amount}
            void = happened.void is not None
            dealt_out = happened.ended is not None and not void
            made, right = (
                dealt.made(staked, corrected=corrected) if dealt_out else ()
                for corrected in (False, True)
            )
            ends = when(happened.void or happened.won or happened.ended or table.latest)
            parts = shares(law, right if happened.corrected else made)
            shared = any(part is not None for part in parts.values())
            for box, part in parts.items():
                if part is None:
                    gave[name, ends, box] = decided(number, box, shared=shared)
            where[name, ends] = (session, number)
            plays.append(
                PlayOfLaw(
                    name, ends,
                    tuple(Coin(when(at), box, amount) for at, box, amount in happened.coins), made,
                    void=void, corrected=happened.corrected and when(happened.corrected),
                    right=right,
                )
            )  # fmt: skip
    wanted = reckon(law, plays, gave)
    sums = dict(
        ledger.execute(
            "SELECT account, sum(amount) FROM posting WHERE jackpot = ? GROUP BY account",
            (jackpot,),
        ).fetchall()
    )
    paid = {
        int(part): amount
        for part, amount in ledger.execute(
            "SELECT part, sum(amount) FROM posting WHERE jackpot = ? AND account = 'paid' "
            "GROUP BY part", (jackpot,),
        )
    }  # fmt: skip
    prizes = {
        (prize.table, *where[prize.table, prize.ends], prize.box): prize.cents
        if prize.cents is not None
        else gave[prize.table, prize.ends, prize.box]
        for prize in wanted.prizes
    }
    got: Counter[tuple[str, int, int, str]] = Counter()
    for number, amount in paid.items():
        of = awards[number]
        got[of["table"], of["session"], of["round"], of["box"]] += amount
    wrong = {
        key: (prizes.get(key, 0), got.get(key, 0))
        for key in prizes.keys() | got.keys()
        if prizes.get(key, 0) != got.get(key, 0)
    }
    cents = (
        sum(abs(one - other) for one, other in wrong.values())
        + abs(wanted.meter - sums.get("meter", 0))
        + abs(wanted.house - sums.get("house", 0))
        + abs(wanted.seeded + sums.get("seed", 0))
        + abs(sums.get("award", 0))
    )
    for key, (one, other) in sorted(wrong.items())[:10]:
        report(f"{key}: the gazette says {one}, the ledger {other}")
    hits = len({(table, round_) for table, _, round_, _ in prizes})
    kinds = Counter(
        " ".join(f"{m.hand}{'*' if m.discarded else ''}" for m in each.made)
        for each in plays
        if each.made and not each.void
    )
    coins = sum(len(each.coins) for each in plays)
    report(
        f"{decree}: {coins} coins, {len(plays)} rounds, {sum(p.void for p in plays)} void, "
        f"{hits} hits "
        f"{dict(kinds)}, {sum(each.corrected is not None for each in plays)} "
        f"corrected; meter {wanted.meter} and {sums.get('meter')}, house {wanted.house} and "
        f"{sums.get('house')}, seed {wanted.seeded} and {-sums.get('seed', 0)}, paid "
        f"{sum(prizes.values())} and {sum(got.values())}"
    )
    return coins, hits, cents
