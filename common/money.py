"""Amounts as people write them, such as ``5.00``. On the wire, in the journal and in the ledger an
amount is an integer of minor units: 500.
"""

from __future__ import annotations

import re

EURO = "EUR"
AMOUNT_META = {"amount": True}
"""Value for ``msgspec.Meta(extra=...)`` that marks a setting or option as an amount."""
_NO_DIGITS = (
    *("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"),
    *("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"),
)
_THREE_DIGITS = ("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND")
MINOR_UNIT_DIGITS = (
    dict.fromkeys(_NO_DIGITS, 0) | dict.fromkeys(_THREE_DIGITS, 3) | {"CLF": 4, "UYW": 4}
)
"""Decimal digits of the minor unit, for currencies that do not have two (ISO 4217)."""

_WRITTEN = re.compile(r"(?P<sign>-?)(?P<whole>[0-9]{1,18})(?:[.,](?P<rest>[0-9]{1,6}))?")


def format_amount(amount: int, currency: str) -> str:
    """Format minor units with the decimals of their currency: ``-1234.56``."""
    digits = MINOR_UNIT_DIGITS.get(currency, 2)
    whole, fraction = divmod(abs(amount), 10**digits)
    return f"{'-' if amount < 0 else ''}{whole}{f'.{fraction:0{digits}}' if digits else ''}"


def parse_amount(written: str, currency: str) -> int:
    """Parse ``5.00`` or ``5,00`` into minor units. Raises ``ValueError`` unless it has exactly the
    decimals of its currency: ``5`` could mean 5 euros or 5 cents. Only 0 needs no decimals.
    """
    digits = MINOR_UNIT_DIGITS.get(currency, 2)
    found = _WRITTEN.fullmatch(written)
    fraction = "" if found is None else found["rest"] or ""
    if found is not None and (len(fraction) == digits or int(found["whole"] + fraction) == 0):
        return int(f"{found['sign']}{found['whole']}{fraction.ljust(digits, '0')[:digits]}")
    if found is not None and not fraction:
        as_units, as_minor = (
            f"{written}.{'0' * digits}",
            format_amount(int(written), currency),
        )
        raise ValueError(
            f"{written} may mean {as_units} or {as_minor} {currency}: write it with its decimals"
        )
    decimals = f"{digits} decimals" if digits else "no decimals"
    raise ValueError(
        f"an amount in {currency} has {decimals}, as {format_amount(5 * 10**digits, currency)}; "
        f"got {written}"
    )
