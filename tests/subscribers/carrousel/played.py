"""A ledger written by the rules: two jackpots, two tables, hits, payments, a transfer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

from common.contract.command_fields import Role, Signature
from common.contract.jackpot import AwardPay, Fraction, JackpotOrder, MeterAdjust, PoolTransfer
from common.contract.times import format_utc
from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.checkpoints import sign_head, signing_key
from subscribers.carrousel.facts import (
    CaughtUp,
    Fact,
    OrderGiven,
    PlayStaked,
    ServedBy,
    Staked,
    TermsGiven,
    Won,
)
from subscribers.carrousel.jackpot import apply_fact, initial_state
from subscribers.carrousel.ledger_state import FactOutcome, JackpotLedgerState
from subscribers.carrousel.store import LedgerStore

NOON = 1_774_000_800.0
"""2026-03-20T10:00:00Z."""
TABLES = ("poker-1", "poker-2")
ROYAL = ("As", "Ks", "Qs", "Js", "10s")


def terms(jackpot: str, tables: tuple[str, ...]) -> dict[str, object]:
    return {
        "jackpot": jackpot,
        "decree": "BAL05",
        "games": ["poker-no-draw"],
        "currency": "EUR",
        "seed": 50_000,
        "authorisation": {
            "number": "J-17/2026",
            "date": "2026-01-15",
            "authority": "Direcció General",
            "percentage": [9, 10],
            "tables": tables,
        },
    }


def signed(name: str, role: Role) -> Signature:
    return Signature(id=name.lower(), name=name, role=role, token="e30.e30.c2ln")


TWO = (signed("Ane Núñez", "inspector"), signed("Jordi Plaça", "table_head"))
DIRECTOR = (signed("Ane Núñez", "inspector"), signed("Àngels Coll", "director"))


Hands = tuple[tuple[str, str, Fraction], ...]
"""Box, hand, and what it takes."""


class Floor:
    """Tables and persons, and the ledger of what they do. ``clock``: seconds since 1970."""

    def __init__(self, store: LedgerStore) -> None:
        self.store = store
        self.states: dict[str, JackpotLedgerState] = {}
        self.clock = NOON
        self.seqs: dict[str, int] = {}
        self.rounds: dict[str, int] = {}

    def now(self) -> str:
        return format_utc(self.clock)

    def take(self, jackpot: str, fact: Fact) -> FactOutcome:
        """Apply a fact, and the facts that it causes at other jackpots."""
        self.clock += 0.25
        state = self.states.get(jackpot) or initial_state(jackpot)
        taken = apply_fact(state, fact, partial(self.store.balance_before, jackpot))
        assert self.store.append(jackpot, self.now(), fact, taken.transactions) == "new"
        self.states[jackpot] = taken.state
        for each in taken.onward:
            self.take(each.jackpot, each)
        return taken

    def commit(self) -> None:
        self.store.commit({name: msgspec.json.encode(each) for name, each in self.states.items()})

    def cause(self, table: str) -> Cause:
        self.clock += 1
        self.seqs[table] = self.seqs.get(table, 0) + 1
        return Cause(self.now(), table, "b1", self.seqs[table])

    def open(self, jackpot: str, tables: tuple[str, ...] = TABLES) -> None:
        self.take(jackpot, TermsGiven(time=self.now(), terms=terms(jackpot, tables)))
        for table in tables:
            self.take(jackpot, ServedBy(table=table, node="node-1", clock_bound=0.5))

    def play(
        self,
        jackpot: str,
        table: str,
        boxes: int = 6,
        won: tuple[tuple[str, str, Fraction], ...] = (),
    ) -> None:
        """Play a round: coins of one euro, then winning hands, then its end."""
        number = self.rounds[table] = self.rounds.get(table, 0) + 1
        round_ = {"session": 1, "round": number}
        for box in range(1, boxes + 1):
            coin = Staked(
                cause=self.cause(table), **round_, box=f"box:{box}", amount=100, coin=True
            )
            self.take(jackpot, coin)
        for box_, hand, share in won:
            self.take(
                jackpot,
                Won(cause=self.cause(table), **round_, box=box_, hand=hand, cards=ROYAL,
                    share=share),
            )  # fmt: skip
        end = PlayStaked(cause=self.cause(table), **round_, amount=100 * boxes, slots=100 * boxes)
        self.take(jackpot, end)

    def hear(self, jackpot: str, tables: tuple[str, ...] = TABLES) -> None:
        """Let all tables report that nothing more is there."""
        self.clock += 10
        for table in tables:
            self.take(jackpot, CaughtUp(table=table, time=self.now()))

    def order(
        self, jackpot: str, order: JackpotOrder, persons: tuple[Signature, ...] = TWO
    ) -> FactOutcome:
        self.clock += 30
        return self.take(jackpot, OrderGiven(time=self.now(), order=order, signed=persons))


@contextmanager
def opened(path: Path) -> Iterator[Floor]:
    store = LedgerStore(path)
    try:
        yield Floor(store)
    finally:
        store.close()


def evening(path: Path) -> None:
    """Write the ledger of an evening with every kind of event, and sign its head."""
    with opened(path) as floor:
        floor.open("j")
        floor.open("k", ("poker-3",))
        floor.play("j", "poker-1")
        floor.play("k", "poker-3", 4)
        floor.play("j", "poker-2", won=(("box:2", "straight_flush", (1, 10)),))
        floor.hear("j")
        floor.order("j", AwardPay(paid=0, by="Ane Núñez", role="inspector", award=1, amount=2000))
        floor.play("j", "poker-1", 5)
        floor.commit()
        due = floor.states["j"].hits[0].awards[0]
        assert due.value is not None
        floor.order(
            "j",
            AwardPay(paid=2000, by="Ane Núñez", role="inspector", award=1, amount=due.value - 2000),
        )
        floor.play("j", "poker-2", won=(("box:1", "royal_flush", (1, 1)),))
        floor.hear("j")
        floor.order(
            "k", PoolTransfer(generation=1, by="A", role="director", to="j", amount=125), DIRECTOR
        )
        floor.order(
            "j",
            MeterAdjust(generation=1, by="A", role="director", amount=-7, note="test"),
            DIRECTOR,
        )
        floor.commit()
        sign_head(floor.store, signing_key(path), "boot-1", floor.now())
