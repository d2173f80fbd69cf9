"""Plots the power of the wheel statistics: how many biased wheels were found after how many
spins.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

WIDTH, HEIGHT = 780, 380
LEFT, RIGHT, TOP, BOTTOM = 60, 40, 20, 70
COLOURS = ("#0b6e4f", "#a63d00", "#1f4e9c")


class Curve(msgspec.Struct, frozen=True):
    """One kind of biased wheels. ``found``: spins until each alarm, sorted; ``goal``: the median
    and the 90th percentile to beat.
    """

    name: str
    found: tuple[int, ...]
    wheels: int
    goal: tuple[int, int]


def drawn(curves: Sequence[Curve], max_spins: int) -> str:
    """Return the plot, up to ``max_spins`` spins."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(spins: float, share: float) -> str:
        return f"{LEFT + wide * min(spins / max_spins, 1):.1f},{TOP + high * (1 - share):.1f}"

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'font-family="sans-serif" font-size="13"><title>Share of biased wheels '
            "that were found, by spins</title>"
        ),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for quarter in range(5):
        x, y = place(0, quarter / 4).split(",")
        parts.append(f'<path d="M{x},{y} h{wide}" stroke="#dddddd"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{float(y) + 4:.1f}" text-anchor="end">{25 * quarter} %</text>'
        )
    for spins in range(0, max_spins + 1, 5000):
        x = place(spins, 0).split(",")[0]
        foot = TOP + high
        parts.append(f'<path d="M{x},{foot} v5" stroke="#333333"/>')
        parts.append(f'<text x="{x}" y="{foot + 20}" text-anchor="middle">{spins:,}</text>')
    for index, curve in enumerate(curves):
        colour, steps = COLOURS[index % len(COLOURS)], [place(0, 0)]
        for number, spins in enumerate(curve.found):
            steps += [
                place(spins, number / curve.wheels),
                place(spins, (number + 1) / curve.wheels),
            ]
        steps.append(place(max_spins, len(curve.found) / curve.wheels))
        line = f'<polyline points="{" ".join(steps)}" fill="none" stroke="{colour}"'
        parts.append(f'{line} stroke-width="2"/>')
        for goal, share in zip(curve.goal, (0.5, 0.9), strict=True):
            x, y = place(goal, share).split(",")
            parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#ffffff" stroke="{colour}"/>')
        left, foot = LEFT + index * wide / len(curves), HEIGHT - 20
        parts.append(f'<path d="M{left:.0f},{foot - 4} h24" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{left + 30:.0f}" y="{foot}">{curve.name}</text>')
    return "\n".join((*parts, "</svg>", ""))
