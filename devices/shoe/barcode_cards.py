"""Tables of the codes on the cards: the site's, or the default one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MAX_CODE_CHARS = 40
"""Maximum number of characters of a code."""

CUT_CARD = "cut"
"""The value of the cut card's code in a table."""

RANKS, SUITS = "A23456789TJQK", "cdhs"
PACK = frozenset(rank + suit for rank in RANKS for suit in SUITS)

STANDARD: MappingProxyType[str, str] = MappingProxyType(
    {suit.upper() + rank: rank + suit for suit in SUITS for rank in RANKS}
)
"""The letter of the suit, then the rank: ``DQ``, ``HT``, ``S2``. All codes have the same length, so
that what is left of a damaged one is no other.
"""


def strip_blanks(text: str) -> str:
    """Strip blanks around a code: label printers pad codes, and not all scanners send the
    blanks.
    """
    return text.strip(" ")


def is_code(text: str) -> bool:
    """Return whether text can be a code: printable ASCII and not too long."""
    return 0 < len(text) <= MAX_CODE_CHARS and text.isascii() and text.isprintable()


def table_of(cards: Mapping[str, str]) -> Mapping[str, str]:
    """Return a table whose codes are stripped for lookup."""
    return {strip_blanks(code): card for code, card in cards.items()}


def remnants(cards: Mapping[str, str]) -> frozenset[str]:
    """Return the codes that are also left of another card's code when characters beside each other
    are lost: of ``H11``, ``H1`` is left.
    """
    return frozenset(
        left
        for code, card in cards.items()
        for begin in range(len(code))
        for end in range(begin + 1, len(code) + 1)
        if cards.get(left := code[:begin] + code[end:], card) != card
    )


def check(cards: Mapping[str, str], noread: str) -> None:
    """Check a table, code -> card. Raises ``ValueError`` describing the error."""
    owners: dict[str, str] = {}
    for code, card in cards.items():
        if owners.setdefault(strip_blanks(code), code) != code:
            raise ValueError(
                f"cards: {code!r} and {owners[strip_blanks(code)]!r} are one code: "
                "blanks around a code do not count; remove one"
            )
        if not is_code(strip_blanks(code)):
            raise ValueError(
                f"cards: {code!r} is not a valid code; use 1 to {MAX_CODE_CHARS} printable "
                "ASCII characters"
            )
        if card not in PACK and card != CUT_CARD:
            raise ValueError(
                f"cards: {code!r} is {card!r}, which is not a card; write a rank {RANKS} "
                f"and a suit {SUITS}, or {CUT_CARD!r}"
            )
    if strip_blanks(noread) and not is_code(strip_blanks(noread)):
        raise ValueError(
            f"noread: {noread!r} is no code that a scanner can send; use 1 to {MAX_CODE_CHARS} "
            "printable ASCII characters"
        )
    if strip_blanks(noread) in owners:
        card = cards[owners[strip_blanks(noread)]]
        raise ValueError(f"noread: {noread!r} is also the code of {card}; use another")
    missing = sorted(
        PACK - set(cards.values()), key=lambda card: (SUITS.index(card[1]), RANKS.index(card[0]))
    )
    if missing:
        raise ValueError(f"cards: add codes for {', '.join(missing)}")
