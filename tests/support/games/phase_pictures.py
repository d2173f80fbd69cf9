"""Draws the phases of each game. The pictures of ``docs/inspector/phases.md`` are written by
``python -m tests.support.games.phase_pictures docs/images/phases``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.games.phases import INPUTS, Move, Phases, phases_by_view

LANES_X, LANE_WIDTH = 306, 92
"""Left end of the lanes, and the width of each: one for each phase."""
HEAD_HEIGHT, ROW_HEIGHT, FOOT_HEIGHT = 44, 20, 34
WHO_X = 168
"""Left end of the column that says who may give a command."""
INK, LANE, BAND, PHASE, READING = "#1f2933", "#c9d1d9", "#f3f5f7", "#e3ecf7", "#8a4b08"
LEGEND = {
    8: "● → leads to another phase",
    WHO_X + 20: "○ accepted, and the phase may stay",
    LANES_X + 100: "brown: from a device",
}
"""The legend, by left end."""


class Picture:
    """A column for each phase, and a row for each input and target: a dot where it comes from, an
    arrowhead where it leads to, a ring where a command is accepted and the phase may stay.
    """

    def __init__(self, title: str, phases: Phases) -> None:
        self._phases = phases
        self._lanes = phases.phases
        self._body: list[str] = []
        self._y = HEAD_HEIGHT
        self._width = LANES_X + LANE_WIDTH * len(self._lanes)
        bands = 0
        for name in INPUTS:
            targets = [lane for lane in self._lanes if Move(name, lane) in phases.moves]
            if targets or phases.stays.get(name):
                self._input(name, targets, shaded=bands % 2 == 0)
                bands += 1
        self._title = title

    def svg(self) -> str:
        """The picture."""
        height = self._y + FOOT_HEIGHT
        head = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self._width} {height}"',
            f'role="img" font-family="sans-serif" font-size="12"><title>{self._title}</title>',
            f'<rect width="{self._width}" height="{height}" fill="#ffffff"/>',
        ]
        lanes = [
            f'<path d="M{self._x(lane)},{HEAD_HEIGHT - 6} V{self._y}" stroke="{LANE}"/>\n'
            f'<rect x="{self._x(lane) - 42}" y="10" width="84" height="26" rx="6" fill="{PHASE}" '
            f'stroke="{INK}"/>\n{text(self._x(lane), 27, lane, anchor="middle")}'
            for lane in self._lanes
        ]
        bands = [each for each in self._body if each.startswith("<rect")]
        marks = [each for each in self._body if not each.startswith("<rect")]
        foot = [text(x, height - 12, words) for x, words in LEGEND.items()]
        return "\n".join([*head, *bands, *lanes, *marks, *foot, "</svg>", ""])

    def _x(self, lane: str) -> int:
        """The middle of a lane."""
        return LANES_X + LANE_WIDTH * self._lanes.index(lane) + LANE_WIDTH // 2

    def _input(self, name: str, targets: list[str], *, shaded: bool) -> None:
        """Draw the rows of an input."""
        who = ", ".join(sorted(self._phases.who.get(name, ())))
        colour = INK if who else READING
        rows = max(len(targets), 1)
        if shaded:
            self._body.append(
                f'<rect y="{self._y}" width="{self._width}" height="{rows * ROW_HEIGHT}" '
                f'fill="{BAND}"/>'
            )
        base = self._y + 14
        self._body += [text(8, base, name, colour=colour), text(WHO_X, base, who, colour=colour)]
        rings = [lane for lane in self._lanes if lane in self._phases.stays.get(name, ())]
        self._body += [
            f'<circle cx="{self._x(lane)}" cy="{self._y + 10}" r="6" fill="none" '
            f'stroke="{colour}"/>'
            for lane in rings
        ]
        for row, target in enumerate(targets):
            gap = 6 if row == 0 and target in rings else 2
            self._arrow(Move(name, target), self._y + row * ROW_HEIGHT + 10, colour, gap)
        self._y += rows * ROW_HEIGHT

    def _arrow(self, move: Move, y: int, colour: str, gap: int) -> None:
        """Draw the arrow to a phase from all those that lead there. ``gap``: between its tip and
        the middle of the lane.
        """
        there = self._x(move.to)
        sources = [self._x(lane) for lane in self._lanes if lane in self._phases.moves[move]]
        for side in (-1, 1):  # from the left, and from the right
            own = [x for x in sources if (x - there) * side > 0]
            if own:
                tip, furthest = there + side * gap, max(own) if side > 0 else min(own)
                self._body.append(
                    f'<path d="M{furthest},{y} H{tip + side * 7}" stroke="{colour}" '
                    'stroke-width="1.5"/>'
                )
                self._body.append(f'<path d="M{tip},{y} l{side * 9},-4.5 v9 z" fill="{colour}"/>')
        self._body += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x in sources]


def text(x: int, y: int, words: str, *, anchor: str = "start", colour: str = INK) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def pictures() -> dict[str, str]:
    """All pictures, by file name."""
    return {
        f"{view}.svg": Picture(f"The phases of {', '.join(sorted(phases.games))}", phases).svg()
        for view, phases in phases_by_view().items()
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    for name, drawn in pictures().items():
        (folder / name).write_text(drawn, encoding="utf-8")
