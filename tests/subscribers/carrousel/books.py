"""A jackpot and its postings in memory: facts in, balances out. The state goes through JSON after
each fact, as it does in the ledger.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from common.contract.command_fields import Role, Signature
from common.contract.jackpot import JackpotAward, JackpotOrder
from common.contract.times import format_utc
from subscribers.carrousel.accounts import END_OF_TIME, Cause, Transaction
from subscribers.carrousel.facts import (
    CaughtUp,
    Fact,
    NotWon,
    OrderGiven,
    PlayStaked,
    PlayStatus,
    RoundVoided,
    ServedBy,
    Staked,
    TermsGiven,
    Won,
)
from subscribers.carrousel.jackpot import JackpotView, apply_fact, initial_state, view
from subscribers.carrousel.ledger_state import FactOutcome, JackpotLedgerState, LedgerNotice
from subscribers.carrousel.stakes import REMEMBERED_ROUNDS

JACKPOT = "norte"
DIRECTOR = Signature(id="d1", name="M. Lasa", role="director", token="")
INSPECTOR = Signature(id="i1", name="A. Vila", role="inspector", token="")
HEAD = Signature(id="h1", name="J. Oca", role="table_head", token="")
_STATE = msgspec.json.Decoder(JackpotLedgerState)
AnyHand = TypeVar("AnyHand", Won, NotWon)


def at(seconds: float) -> str:
    """Return a time of the evening."""
    return format_utc(1_774_000_000 + seconds)


def terms(
    decree: str = "BAL05",
    tables: Sequence[str] = ("a", "b"),
    percentage: tuple[int, int] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return terms as the configuration writes them."""
    own = {"BAL05": (9, 10), "ARA02": (1, 1), "EUS96": (4, 5)}
    given = {
        "number": "J-7/2026",
        "date": "2026-01-15",
        "authority": "Joko Zuzendaritza",
        "percentage": percentage or own[decree],
        "tables": tuple(tables),
    }
    base: dict[str, Any] = {
        "jackpot": JACKPOT,
        "decree": decree,
        "games": ("poker-no-draw",),
        "currency": "EUR",
        "authorisation": given,
    }
    return {**base, **more}


class Books:
    """A jackpot. Tables ``a`` and ``b`` belong to one node unless another is given."""

    def __init__(
        self,
        given: dict[str, Any] | None = None,
        *,
        nodes: bool = True,
        rounds: int = REMEMBERED_ROUNDS,
    ) -> None:
        self.state = initial_state(JACKPOT)
        self.transactions: list[Transaction] = []
        self.notices: list[LedgerNotice] = []
        self.last: FactOutcome
        self._held: list[tuple[Cause, str, int]] = []
        self._numbers: Counter[str] = Counter()
        given = terms() if given is None else given
        self.take(TermsGiven(time=at(0), terms=given))
        assert not self.notices, self.notices
        for table in given["authorisation"]["tables"] if nodes and given["authorisation"] else ():
            self.take(ServedBy(table=table, node="n1", clock_bound=0.0, rounds=rounds))
            self.take(PlayStatus(time=at(0), table=table, why=None))

    def take(self, fact: Fact) -> FactOutcome:
        """Apply a fact."""
        self.last = apply_fact(self.state, fact, self.held)
        for made in self.last.transactions:
            for posting in made.postings:
                if posting.account in ("meter", "reserve"):
                    self._held.append((made.at, posting.account, posting.amount))
        self.transactions += self.last.transactions
        self.notices += self.last.notices
        self.state = _STATE.decode(msgspec.json.encode(self.last.state))
        assert self.state == self.last.state
        assert self.meter >= 0
        assert self.reserve >= 0
        return self.last

    def held(self, account: Literal["meter", "reserve"], before: Cause) -> int:
        return sum(amount for when, name, amount in self._held if name == account and when < before)

    # What tables do

    def cause(self, table: str, seconds: float) -> Cause:
        self._numbers[table] += 1
        return Cause(time=at(seconds), table=table, boot="b1", seq=self._numbers[table])

    def stake(
        self, table: str, seconds: float, amount: int = 100, box: int = 1, **of: int
    ) -> FactOutcome:
        return self.take(
            Staked(
                cause=self.cause(table, seconds),
                session=1,
                round=of.get("round", 1),
                box=f"box:{box}",
                amount=amount,
                coin=True,
            )
        )

    def win(
        self,
        table: str,
        seconds: float,
        share: tuple[int, int] | None,
        box: int = 1,
        hand: str = "straight_flush",
        bound: float | None = 0.0,
        **of: int,
    ) -> FactOutcome:
        won = self.hand(Won, table, seconds, share, box, hand, **of)
        return self.take(replace(won, time_bound=bound))

    def unwin(
        self,
        table: str,
        seconds: float,
        share: tuple[int, int] | None,
        box: int = 1,
        hand: str = "straight_flush",
        **of: int,
    ) -> FactOutcome:
        return self.take(self.hand(NotWon, table, seconds, share, box, hand, **of))

    def hand(
        self,
        kind: type[AnyHand],
        table: str,
        seconds: float,
        share: tuple[int, int] | None,
        box: int,
        hand: str,
        **of: int,
    ) -> AnyHand:
        return kind(
            cause=self.cause(table, seconds),
            session=1,
            round=of.get("round", 1),
            box=f"box:{box}",
            hand=hand,
            cards=("9s", "8s", "7s", "6s", "5s"),
            share=share,
        )

    def end(self, table: str, seconds: float, amount: int = 100, **of: int) -> FactOutcome:
        return self.take(
            PlayStaked(
                cause=self.cause(table, seconds),
                session=1,
                round=of.get("round", 1),
                amount=amount,
                slots=amount,
            )
        )

    def void(self, table: str, seconds: float, **of: int) -> FactOutcome:
        return self.take(
            RoundVoided(cause=self.cause(table, seconds), session=1, round=of.get("round", 1))
        )

    def hear(self, seconds: float, *tables: str) -> None:
        given = self.state.terms
        assert given is not None
        assert given.authorisation is not None
        for table in tables or given.authorisation.tables:
            self.take(CaughtUp(table=table, time=at(seconds)))

    def order(
        self, seconds: float, order: JackpotOrder, *signed: Signature, two: bool = True
    ) -> FactOutcome:
        persons = signed or ((INSPECTOR, DIRECTOR) if two else (INSPECTOR,))
        return self.take(OrderGiven(time=at(seconds), order=order, signed=persons))

    # The ledger's entries

    @property
    def meter(self) -> int:
        return self.held("meter", END_OF_TIME)

    @property
    def reserve(self) -> int:
        return self.held("reserve", END_OF_TIME)

    def balance(self, account: str, part: str | None = None) -> int:
        """Return the balance of an account, or of one part of it."""
        return sum(
            posting.amount
            for made in self.transactions
            for posting in made.postings
            if posting.account == account and part in (None, posting.part)
        )

    def told(self, seconds: float = 3600) -> JackpotView:
        return view(self.state, at(seconds))

    def awards(self) -> list[JackpotAward]:
        """Return all remembered awards, oldest first."""
        return list(reversed(self.told().last))

    def values(self) -> list[tuple[str, int | None, str]]:
        """Return box, value and status of each award."""
        return [
            (f"{award.table}/{award.box}", award.value, award.status) for award in self.awards()
        ]


def who(role: Role) -> dict[str, Any]:
    """Return the fields that say who gives an order."""
    return {"by": "A. Vila", "role": role}


BY = who("inspector")
