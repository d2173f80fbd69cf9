"""A drawing of a wheel's pockets: how often each was hit, in their order around the wheel."""

from __future__ import annotations

from html import escape

from subscribers.statistics.health import WheelReport

STEP, TALL, LEFT, FOOT = 24, 220, 40, 24


def pockets(wheel: WheelReport, title: str) -> str:
    """Return an SVG element with a bar and an interval for each pocket, and a line for a fair
    wheel.
    """
    suspected = set() if wheel.bias.suspect is None else set(wheel.bias.suspect.numbers)
    marked = suspected if wheel.bias.alarm is not None else set()
    highest = max(1.5, min(4.0, 1.1 * max(pocket.lift.lift for pocket in wheel.pockets)))
    width = LEFT + STEP * len(wheel.pockets)

    def height(lift: float) -> float:
        return 8 + TALL * (1 - min(lift, highest) / highest)

    parts = [
        f'<svg viewBox="0 0 {width} {TALL + 8 + FOOT}" role="img">',
        f"<title>{escape(title)}</title>",
    ]
    for index, pocket in enumerate(wheel.pockets):
        left, top = LEFT + STEP * index, height(pocket.lift.lift)
        middle = left + STEP / 2
        kind = "bar suspect" if pocket.number in marked else "bar"
        parts += [
            (
                f'<rect class="{kind}" x="{left + 3}" y="{top:.1f}" width="{STEP - 6}" '
                f'height="{TALL + 8 - top:.1f}"/>'
            ),
            (
                f'<path class="interval" d="M{middle},{height(pocket.lift.low):.1f} '
                f'V{height(pocket.lift.high):.1f}"/>'
            ),
            f'<text x="{middle}" y="{TALL + 24}">{escape(str(pocket.number))}</text>',
        ]
    fair = height(1.0)
    parts.append(f'<path class="fair" d="M{LEFT},{fair:.1f} H{width}"/>')
    for lift in (0.0, 1.0, *(() if highest < 2 else (2.0,)), *(() if highest < 3 else (3.0,))):
        parts.append(
            f'<text class="axis" x="{LEFT - 6}" y="{height(lift) + 4:.1f}">{lift:.0f} ×</text>'
        )
    return "".join((*parts, "</svg>"))
