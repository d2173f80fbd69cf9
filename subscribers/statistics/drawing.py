"""The pockets of a wheel as a drawing: how often each came, in their order around the wheel."""

from __future__ import annotations

from html import escape

from subscribers.statistics.health import WheelReport

STEP, TALL, LEFT, FOOT = 24, 220, 40, 24


def pockets(wheel: WheelReport, title: str) -> str:
    """An SVG element: a bar for each pocket, its interval, and a line for what is fair."""
    suspected = set() if wheel.bias.suspect is None else set(wheel.bias.suspect.numbers)
    marked = suspected if wheel.bias.alarm is not None else set()
    most = max(1.5, min(4.0, 1.1 * max(each.lift.lift for each in wheel.pockets)))
    width = LEFT + STEP * len(wheel.pockets)

    def height(lift: float) -> float:
        return 8 + TALL * (1 - min(lift, most) / most)

    parts = [
        f'<svg viewBox="0 0 {width} {TALL + 8 + FOOT}" role="img">',
        f"<title>{escape(title)}</title>",
    ]
    for index, each in enumerate(wheel.pockets):
        left, top = LEFT + STEP * index, height(each.lift.lift)
        middle = left + STEP / 2
        kind = "bar suspect" if each.number in marked else "bar"
        parts += [
            (
                f'<rect class="{kind}" x="{left + 3}" y="{top:.1f}" width="{STEP - 6}" '
                f'height="{TALL + 8 - top:.1f}"/>'
            ),
            (
                f'<path class="interval" d="M{middle},{height(each.lift.low):.1f} '
                f'V{height(each.lift.high):.1f}"/>'
            ),
            f'<text x="{middle}" y="{TALL + 24}">{escape(str(each.number))}</text>',
        ]
    fair = height(1.0)
    parts.append(f'<path class="fair" d="M{LEFT},{fair:.1f} H{width}"/>')
    for lift in (0.0, 1.0, *(() if most < 2 else (2.0,)), *(() if most < 3 else (3.0,))):
        parts.append(
            f'<text class="axis" x="{LEFT - 6}" y="{height(lift) + 4:.1f}">{lift:.0f} ×</text>'
        )
    return "".join((*parts, "</svg>"))
