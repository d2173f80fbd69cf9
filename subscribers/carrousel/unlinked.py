"""Tables that play for one of the jackpots although no authorisation names them: their stakes and
awards are reported, never recorded.
"""

from __future__ import annotations

import msgspec

from subscribers.carrousel.table_events import JACKPOT_AWARDS, JACKPOT_BETS


class _UnlinkedAbout(msgspec.Struct, frozen=True):
    jackpot: str | None = None


class _UnlinkedInfo(msgspec.Struct, frozen=True):
    about: _UnlinkedAbout = _UnlinkedAbout()


class _StakeOrAward(msgspec.Struct, frozen=True):
    type: str
    boot: str
    seq: int
    bet: str = ""
    award: str = ""
    amount: int | None = None
    withdrawn: bool = False
    valid: bool = True


_info = msgspec.json.Decoder(_UnlinkedInfo)
_stake_or_award = msgspec.json.Decoder(_StakeOrAward)


def jackpot_in_info(body: bytes) -> str | None:
    """Return the jackpot that a table names in its retained ``info``; None if it names none or
    cannot be read.
    """
    try:
        return _info.decode(body).about.jackpot
    except (ValueError, RecursionError):
        return None


def describe_stake_or_award(body: bytes) -> str | None:
    """Return the type and number of an event if it is a stake or award on the jackpot,
    else None.
    """
    try:
        event = _stake_or_award.decode(body)
    except (ValueError, RecursionError):
        return None
    is_on_jackpot = {
        "bet.placed": event.bet in JACKPOT_BETS and not event.withdrawn,
        "award.qualified": event.award in JACKPOT_AWARDS and event.valid,
        "jackpot.staked": bool(event.amount),
    }
    return f"{event.type} {event.boot} {event.seq}" if is_on_jackpot.get(event.type) else None
