"""Drawings of a wheel: its pockets as a ring, how its rotor turned, and its light."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import cos, pi, sin
from typing import Literal

from subscribers.statistics.health import WheelReport

SIZE, INNER, DEPTH, NUMBERS = 520, 84, 130, 238
"""Width of the ring's drawing; radius of lift 0; depth of the bars; radius of the numbers."""
PLOT_WIDTH, PLOT_HEIGHT, PLOT_LEFT = 600, 90, 46
Light = Literal["green", "amber", "red"]
_SHAPES: dict[Light, str] = {
    "green": '<circle cx="12" cy="12" r="10"/>',
    "amber": '<path d="M12,1 L23,22 H1 Z"/>',
    "red": '<path d="M7.5,1 H16.5 L23,7.5 V16.5 L16.5,23 H7.5 L1,16.5 V7.5 Z"/>',
}


def light(kind: Light) -> str:
    """Return the shape of a light, which a word must accompany."""
    return f'<svg class="light {kind}" viewBox="0 0 24 24" aria-hidden="true">{_SHAPES[kind]}</svg>'


def pockets(wheel: WheelReport, title: str) -> str:
    """Return the ring of pockets in the order around the wheel: a bar and an interval for each, a
    circle for a fair wheel, and an annulus for what a fair wheel may show.
    """
    suspected = set() if wheel.bias.suspect is None else set(wheel.bias.suspect.numbers)
    marked = suspected if wheel.bias.alarm is not None else set()
    highest = max(1.5, min(4.0, 1.1 * max(pocket.lift.lift for pocket in wheel.pockets)))
    middle, step = SIZE / 2, 360 / len(wheel.pockets)
    wide = 0.62 * 2 * pi * INNER / len(wheel.pockets)

    def radius(lift: float) -> float:
        return INNER + DEPTH * min(lift, highest) / highest

    inner, outer = map(radius, wheel.tolerance)
    parts = [
        f'<svg class="ring" viewBox="0 0 {SIZE} {SIZE}" role="img">',
        f"<title>{escape(title)}</title>",
        (
            f'<circle class="band" cx="{middle}" cy="{middle}" r="{(inner + outer) / 2:.1f}" '
            f'stroke-width="{outer - inner:.1f}"/>'
        ),
    ]
    for index, pocket in enumerate(wheel.pockets):
        place = f'transform="translate({middle} {middle}) rotate({index * step:.2f})"'
        top, angle = radius(pocket.lift.lift), index * step * pi / 180
        kind = "bar suspect" if pocket.number in marked else "bar"
        parts += [
            (
                f'<rect class="{kind}" x="{-wide / 2:.1f}" y="{-top:.1f}" width="{wide:.1f}" '
                f'height="{top - INNER:.1f}" {place}/>'
            ),
            (
                f'<path class="interval" d="M0,{-radius(pocket.lift.low):.1f} '
                f'V{-radius(pocket.lift.high):.1f}" {place}/>'
            ),
            (
                f'<text x="{middle + NUMBERS * sin(angle):.1f}" '
                f'y="{middle - NUMBERS * cos(angle) + 4:.1f}">{escape(str(pocket.number))}</text>'
            ),
        ]
    parts.append(
        f'<circle class="fair" cx="{middle}" cy="{middle}" r="{radius(1.0):.1f}"/>'
        f'<text class="spins" x="{middle}" y="{middle + 10}">{wheel.spins}</text>'
    )
    return "".join((*parts, "</svg>"))


def plot(values: Sequence[float], title: str) -> str:
    """Return a line through the values in their order, with the least and the greatest named."""
    least, most = min(values), max(values)
    across = (PLOT_WIDTH - PLOT_LEFT - 8) / max(1, len(values) - 1)

    def height(value: float) -> float:
        return 8 + (PLOT_HEIGHT - 16) * (1 - (value - least) / ((most - least) or 1))

    line = " ".join(
        f"{PLOT_LEFT + index * across:.1f},{height(value):.1f}"
        for index, value in enumerate(values)
    )
    return (
        f'<svg class="plot" viewBox="0 0 {PLOT_WIDTH} {PLOT_HEIGHT}" role="img">'
        f"<title>{escape(title)}</title>"
        f'<polyline class="line" points="{line}"/>'
        f'<text class="axis" x="{PLOT_LEFT - 8}" y="{height(most) + 4:.1f}">{most:.1f}</text>'
        f'<text class="axis" x="{PLOT_LEFT - 8}" y="{height(least) + 4:.1f}">{least:.1f}</text>'
        "</svg>"
    )
