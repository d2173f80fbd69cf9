"""Bets reported by a person or a terminal: when they are accepted, their limits, and their record.
The same for all tables.

No device sees chips. A reported bet is refused after no more bets, below the minimum and above the
highest stake.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple, Protocol

from common.contract.commands import BetPlace, BetWithdraw
from common.contract.events import BetPlaced
from common.contract.refusals import RejectedError
from common.contract.shown import Stake as Stake
from controller.games.amounts import Money
from controller.games.guards import FieldCheck, Refused, Row, is_open
from controller.games.roles import AT_THE_TABLE
from controller.rulebooks.law import Law

Highest = dict[str, Money]
"""The highest authorised stake of each bet, in minor units. A bet without an entry is limited by
the decree's maximum.
"""


class Bounds(NamedTuple):
    """The limits of a stake, in minor units; None if unknown."""

    least: int | Fraction | None = None
    most: int | Fraction | None = None


class Band(NamedTuple):
    """The highest stakes that a decree allows an authorisation, as multiples of the table's
    minimum. ``span``: any value from the lowest to the highest multiple, else exactly one of them;
    ``raised``: also anything above. Without multiples any highest stake is allowed.
    """

    multiples: tuple[int | Fraction, ...] = ()
    span: bool = False
    raised: bool = False

    def allows(self, highest: int, minimum: int) -> bool:
        """Whether the decree allows this highest stake with this minimum."""
        if not self.multiples or (self.raised and highest >= max(self.multiples) * minimum):
            return True
        if self.span:
            return min(self.multiples) * minimum <= highest <= max(self.multiples) * minimum
        return any(highest == multiple * minimum for multiple in self.multiples)

    def __str__(self) -> str:
        """As ``50, 100`` or ``40-100``."""
        texts = [str(multiple) for multiple in self.multiples]
        return f"{texts[0]}-{texts[-1]}" if self.span else ", ".join(texts)


class StakedRound(Protocol):
    """The part of a round in progress that concerns bets."""

    @property
    def closed(self) -> bool:
        """Whether bets are closed."""
        ...

    @property
    def bets(self) -> tuple[Stake, ...]:
        """The placed bets."""
        ...


class StakedTable(Protocol):
    """The part of a game's turn that concerns bets."""

    state: Any
    book: Any

    @property
    def number(self) -> int:
        """The round in progress."""
        ...

    def offered(self) -> Mapping[str, Bounds]:
        """The bets on offer and their limits."""
        ...

    def change_current(self, *, bets: tuple[Stake, ...]) -> None:
        """Change the round in progress."""
        ...

    def emit(self, event: BetPlaced) -> None:
        """Add an event."""
        ...


def place_bet(turn: StakedTable, command: BetPlace, kind: str | None = None) -> None:
    """Place a bet within its limits. ``kind``: the offered bet, if its name differs."""
    between, laws = limits_of(kind or command.bet, turn.offered()), turn.book.laws
    within(
        command.bet, command.amount, between, laws.get("bet_limit"), minimum=laws.get("bet_minimum")
    )
    turn.change_current(bets=with_bet(turn.state.current.bets, command))
    turn.emit(bet_event(turn.number, command))


def withdraw_bet(turn: StakedTable, command: BetWithdraw) -> None:
    """Withdraw a bet while bets are open."""
    turn.change_current(bets=without_bet(turn.state.current.bets, command))
    turn.emit(bet_event(turn.number, command))


def on_offer(turn: StakedTable, command: BetPlace | BetWithdraw) -> None:
    """Reject an unknown bet."""
    limits_of(command.bet, turn.offered())


def in_time(turn: Any) -> Refused | None:
    """Bets may be placed; after no more bets the chips are returned."""
    return _closed(turn, "bet_too_late")


def in_time_to_withdraw(turn: Any) -> Refused | None:
    """Bets may be withdrawn; those placed in time stay."""
    return _closed(turn, "bet_withdrawn_too_late")


def _closed(turn: Any, key: str) -> Refused | None:
    current: StakedRound | None = turn.state.current
    if current is None or current.closed:
        return Refused(key, law=turn.book.laws.get("bet_after_close"))
    return None


def is_placed(turn: StakedTable, command: BetWithdraw) -> None:
    """Reject a bet that is not placed."""
    without_bet(turn.state.current.bets, command)


def any_placed(turn: StakedTable) -> bool:
    """Some bet is placed in the round in progress."""
    current = turn.state.current
    return current is not None and bool(current.bets)


def bounds(minimum: int | None, multiples: Iterable[int], highest: int | None = None) -> Bounds:
    """The limits from the table's minimum to the authorised highest stake; without one, to the
    highest multiple of the minimum.
    """
    most = max(multiples, default=None)
    return Bounds(
        minimum,
        highest
        if highest is not None
        else minimum * most
        if minimum is not None and most
        else None,
    )


def within(
    bet: str,
    amount: int | None,
    between: Bounds,
    law: Law | None = None,
    *,
    minimum: Law | None = None,
    box: str | None = None,
) -> None:
    """Reject an amount that is not above 0 or not between the limits. ``minimum``: the law of the
    lower limit; without it ``law`` is that of both. ``box``: the box that the limits are for, where
    several may bet on it.
    """
    least, most = between
    if amount is None:
        return
    if amount <= 0:
        raise RejectedError("amount_above_zero", amount=amount)
    if least is not None and amount < least:
        if box is not None:
            raise RejectedError(
                "box_below_minimum", bet=bet, box=box, least=ceil(least), law=cited(minimum or law)
            )
        raise RejectedError(
            "bet_below_minimum", bet=bet, least=ceil(least), law=cited(minimum or law)
        )
    if most is not None and amount > most:
        if box is not None:
            raise RejectedError(
                "box_above_maximum", bet=bet, box=box, most=int(most), law=cited(law)
            )
        raise RejectedError("bet_above_maximum", bet=bet, most=int(most), law=cited(law))


def cited(law: Law | None) -> str | None:
    """The law as a refusal cites it, if there is one."""
    return law.cited if law else None


def refuse_unlawful(highest: Highest, bands: Mapping[str, Band]) -> None:
    """Raise ``ValueError`` for a highest stake of an unknown bet, or for highest stakes that the
    decree allows with no minimum.
    """
    if wrong := [name for name in highest if name not in bands]:
        raise ValueError(
            f"highest: there is no bet {', '.join(wrong)}; there are: {', '.join(bands)}"
        )
    held = {bet: bands[bet] for bet in highest if bands[bet].multiples}
    minimums = {
        minimum
        for bet, band in held.items()
        for multiple in band.multiples
        for minimum in (floor(highest[bet] / multiple), ceil(highest[bet] / multiple))
        if minimum > 0
    }
    if held and not any(
        all(band.allows(highest[bet], minimum) for bet, band in held.items())
        for minimum in minimums
    ):
        # without amounts: the file has them as 5.00, in a currency that games do not know
        texts = ", ".join(f"{bet} ({band})" for bet, band in held.items())
        raise ValueError(f"highest: the decree allows no minimum with the stakes of {texts}")


def require_lawful(
    highest: Highest, bands: Mapping[str, Band], minimum: int, law: Law | None
) -> None:
    """Reject a minimum with which the decree does not allow a highest stake."""
    for bet, most in highest.items():
        if not bands[bet].allows(most, minimum):
            raise RejectedError(
                "highest_of_bet", bet=bet, highest=most, times=str(bands[bet]), law=cited(law)
            )


def limits_of(bet: str, offered: Mapping[str, Bounds]) -> Bounds:
    """The limits of a bet. Raises ``RejectedError`` for an unknown bet."""
    found = offered.get(bet)
    if found is None:
        raise RejectedError("unknown_bet", bet=bet, bets=tuple(offered))
    return found


def with_bet(bets: tuple[Stake, ...], command: BetPlace) -> tuple[Stake, ...]:
    """The bets with this one. It replaces an earlier one of the same player and name."""
    others = (bet for bet in bets if (bet.who, bet.bet) != (command.who, command.bet))
    return (*others, Stake(command.who, command.bet, command.amount))


def merged(bets: tuple[Stake, ...], later: tuple[Stake, ...]) -> tuple[Stake, ...]:
    """Both sets of bets; a later bet replaces an earlier one of the same name."""
    replaced = {(bet.who, bet.bet) for bet in later}
    return (*(bet for bet in bets if (bet.who, bet.bet) not in replaced), *later)


def without_bet(bets: tuple[Stake, ...], command: BetWithdraw) -> tuple[Stake, ...]:
    """The bets without this one. Raises ``RejectedError`` if it is not placed."""
    left = tuple(bet for bet in bets if (bet.who, bet.bet) != (command.who, command.bet))
    if left == bets:
        raise RejectedError("bet_not_placed", who=command.who, bet=command.bet)
    return left


def bet_event(number: int, command: BetPlace | BetWithdraw) -> BetPlaced:
    """The event of a placed or withdrawn bet."""
    amount = command.amount if isinstance(command, BetPlace) else None
    return BetPlaced(
        round=number,
        who=command.who,
        bet=command.bet,
        withdrawn=isinstance(command, BetWithdraw),
        amount=amount,
        by=command.by,
    )


PLACE = Row(AT_THE_TABLE, (is_open, FieldCheck(on_offer), in_time), place_bet)
WITHDRAW = Row(
    AT_THE_TABLE,
    (is_open, FieldCheck(on_offer), in_time_to_withdraw, FieldCheck(is_placed, any_placed)),
    withdraw_bet,
)


def bettor(who: str, boxes: int, most: int | None, law: Law | None = None) -> int:
    """The number of the box that a bet is on. ``box:3``: the bet of the box's holder, ``box:3/2``:
    of its second bettor. Raises ``RejectedError`` for an unknown box and for too many bettors.
    """
    box, slash, place = who.removeprefix("box:").partition("/")
    if (
        not who.startswith("box:")
        or box not in map(str, range(1, boxes + 1))
        or (slash and not _counts(place))
    ):
        raise RejectedError("no_such_box", who=who, boxes=boxes)
    if slash and most is not None and int(place) > most:
        raise RejectedError("too_many_bettors", most=most, law=cited(law))
    return int(box)


def _counts(place: str) -> bool:
    return place.isascii() and place.isdecimal() and place == str(int(place)) and int(place) > 1
