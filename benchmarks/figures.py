"""Percentiles, and the output of figures."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def percentile(values: Sequence[float], part: float) -> float:
    """Return the value below which ``part`` percent of the values are; NaN for fewer than two."""
    if len(values) < 2:
        return values[0] if values else float("nan")
    return statistics.quantiles(values, n=1000, method="inclusive")[round(part * 10) - 1]


def milliseconds(values: Sequence[float]) -> tuple[float, float, float]:
    """Return median, 99th percentile and maximum of these seconds, in milliseconds."""
    maximum = max(values, default=float("nan"))
    return percentile(values, 50) * 1e3, percentile(values, 99) * 1e3, maximum * 1e3


def row(label: str, *cells: float | str, width: int = 10) -> str:
    """Format one line of a table: two decimals for fractions, none otherwise."""
    shown = (cell if isinstance(cell, str) else _number(cell) for cell in cells)
    return f"  {label:<16}" + "".join(f"{cell:>{width}}" for cell in shown)


def _number(value: float) -> str:
    return f"{value:,d}" if isinstance(value, int) else f"{value:,.2f}"
