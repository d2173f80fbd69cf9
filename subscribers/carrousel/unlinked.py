"""Tables that play for a jackpot of ours though no authorisation of it names them: what they tell
is noticed, and never taken.
"""

from __future__ import annotations

import msgspec

from subscribers.carrousel.intake import JACKPOT_AWARDS, JACKPOT_BETS


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
    """The jackpot that a table names in its retained ``info``; None: none, or it cannot be read."""
    try:
        return _info.decode(body).about.jackpot
    except (ValueError, RecursionError):
        return None


def describe_stake_or_award(body: bytes) -> str | None:
    """The stake or award on the jackpot that an event tells, with its number; None: it is about
    something else.
    """
    try:
        told = _stake_or_award.decode(body)
    except (ValueError, RecursionError):
        return None
    about = {
        "bet.placed": told.bet in JACKPOT_BETS and not told.withdrawn,
        "award.qualified": told.award in JACKPOT_AWARDS and told.valid,
        "jackpot.staked": bool(told.amount),
    }
    return f"{told.type} {told.boot} {told.seq}" if about.get(told.type) else None
