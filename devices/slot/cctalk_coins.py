"""Coins of ccTalk acceptors: error codes in their events, names of coins, and amounts.

Source: the generic specification of ccTalk, parts 2 and 3, which are public.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

POSITIONS = 16
"""Number of coins that an acceptor distinguishes, numbered from 1."""

COIN_REFUSALS: Mapping[int, str] = {
    1: "unknown coin",
    2: "inhibited coin",
    3: "ambiguous coin",
    8: "too close to the coin before",
    9: "accept gate not ready",
    10: "credit sensor not ready",
    11: "sorter not ready",
    12: "refused coin not cleared",
    24: "refused several times running",
    25: "slug",
    33: "manifold not ready",
    **dict.fromkeys(range(128, 160), "inhibited coin"),
}
"""Error codes of coins that were returned; the acceptor is in order."""

ACCEPTOR_FAULTS: Mapping[int, str] = {
    4: "wake-up timeout",
    5: "validation timeout",
    6: "credit sensor timeout",
    7: "sorter timeout",
    13: "validation sensor not ready",
    14: "credit sensor blocked",
    15: "sorter exit blocked",
    16: "credit sequence wrong",
    17: "coin going backwards",
    18: "coin too fast over the credit sensor",
    19: "coin too slow over the credit sensor",
    20: "coin on a string",
    21: "dual entry timeout",
    22: "dual entry not seen",
    23: "credit sensor reached too early",
    26: "reject sensor blocked",
    27: "games overload",
    28: "too many meter pulses",
    29: "accept gate open, not closed",
    30: "accept gate closed, not open",
    31: "manifold timeout",
    32: "manifold blocked",
    34: "security status changed",
    35: "motor fault",
    36: "swallowed coin",
    37: "coin too fast over the validation sensor",
    38: "coin too slow over the validation sensor",
    39: "coin sorted wrongly",
    40: "light from outside",
    253: "data block requested",
    254: "coin return open",
    255: "unspecified alarm",
}
"""All other error codes."""

_ID = re.compile(r"([A-Z]{2})(\d{3})[A-Z0-9]")


class CoinTable(msgspec.Struct, frozen=True):
    """Coins of one acceptor. ``amounts``: position -> minor units, for the coins that may be
    accepted. ``wrong``: the positions at which acceptor and settings disagree, in words.
    """

    amounts: dict[int, int] = {}
    wrong: tuple[str, ...] = ()


def amount_of(name: str, currency: str) -> int | None:
    """Return the amount in a coin's name, or None if it has another currency or no amount.

    >>> amount_of("EU050A", "EU"), amount_of("GB050A", "EU"), amount_of("......", "EU")
    (50, None, None)
    """
    found = _ID.fullmatch(name)
    if found is None or found[1] != currency or not int(found[2]):
        return None
    return int(found[2])


def agreed_amounts(named: Mapping[int, str], known: Mapping[int, int], currency: str) -> CoinTable:
    """Return the amount of each coin: from the acceptor's name, from the settings or, if both
    exist, only if they agree. With settings, coins that they leave out are not accepted.
    """
    amounts: dict[int, int] = {}
    wrong: list[str] = []
    for position in sorted(known or named):
        from_name = amount_of(named.get(position, ""), currency)
        amount = known.get(position, from_name)
        if amount is None:
            continue
        if from_name not in (None, amount):
            wrong.append(f"position {position} is {named[position]}, the settings say {amount}")
            continue
        amounts[position] = amount
    return CoinTable(amounts, tuple(wrong))
