"""Counts of how directly the games can be read: calls to a parent, names that a class defines
again, methods of a class, and jumps between files.

``python -m tests.support.games.flatness`` prints them.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from structlog.testing import capture_logs

from common.contract.commands import BetsClose, BetsOpen, SessionOpen, ShoeStart
from common.readings import CardDrawn, LinkUp, WheelNumber, WheelPhase
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.mqtt.connection import IncomingMessage
from tests.controller.people.test_at_a_table import make, spins
from tests.support.people.signing import LASA, claims, token

ROOT = Path(__file__).parents[3]
GAMES = ROOT / "controller" / "games"
OURS = tuple(f"{ROOT / name}/" for name in ("common", "controller", "devices"))
STATES = ("State", "Round", "Entry", "Deal", "Settings", "Counts", "Tally")
"""Endings of the names of stored values, which may narrow a field that they inherit."""


def files() -> Iterator[Path]:
    """The files of the games."""
    yield from sorted(GAMES.rglob("*.py"))


def parent_calls() -> int:
    """The number of ``super()`` in the games."""
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
        for path in files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def classes() -> dict[str, type]:
    """The classes of the games but their stored values, by qualified name."""
    found = {}
    for path in files():
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for name, kind in vars(module).items():
            own = inspect.isclass(kind) and kind.__module__ == module.__name__
            if own and not name.endswith(STATES):
                found[f"{module.__name__}.{name}"] = kind
    return found


def repeated(kind: type) -> set[str]:
    """The names that a class and one of its parents in the games both define."""
    levels = [
        {name for name in vars(parent) if not (name.startswith("__") and name.endswith("__"))}
        - {"_abc_impl"}
        for parent in kind.__mro__
        if parent.__module__.startswith("controller.games")
    ]
    return {
        name
        for place, level in enumerate(levels)
        for name in level
        if any(name in other for other in levels[place + 1 :])
        and not name.startswith(("_is_protocol", "_is_runtime"))
    }


def methods(kind: type) -> int:
    """The number of functions and properties that a class itself defines."""
    return sum(
        inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)
        for value in vars(kind).values()
    )


@contextmanager
def profiled() -> Iterator[list[str]]:
    """The files of our functions, in the order in which they are called."""
    called: list[str] = []

    def profile(frame: FrameType, event: str, _arg: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(OURS):
            called.append(name)

    sys.setprofile(profile)
    try:
        yield called
    finally:
        sys.setprofile(None)


def between(called: list[str]) -> int:
    """How often the next function is in another file than the one before."""
    return sum(before != after for before, after in pairwise(called))


def fourth_card() -> int:
    """The jumps for the fourth card of a coup of punto y banca, dealt face down."""
    game = make_game("punto-banca", "ARA02", {"dealt": "face_down"})
    who: dict[str, Any] = {"at": 0.0, "by": "N. Roca", "role": "inspector"}
    state = game.begin()
    for command in (SessionOpen(**who), ShoeStart(shoe="S1", **who)):
        state, _ = game.step(state, command)

    def card(name: str) -> CardDrawn:
        return CardDrawn(at=0.0, device="shoe", card=name)

    for name in ("3h", "4h", "4h", "4h", "4h"):
        if state.burn:
            state, _ = game.step(state, card(name))
    state, _ = game.step(state, BetsOpen(**who))
    state, _ = game.step(state, BetsClose(**who))
    for name in ("5h", "6h", "7h"):
        state, _ = game.step(state, card(name))
    with profiled() as called:
        game.step(state, card("8c"))
    return between(called)


async def journeys() -> dict[str, int]:
    """The jumps of a signed command until its reply, and of the reading of a result until it is
    queued for the journal. Without the log's own way, which depends on how it is configured.
    """
    spin = [each for each in spins(5) if isinstance(each, LinkUp | WheelPhase | WheelNumber)]
    order = token(claims(LASA, "session.open"))
    with (
        TemporaryDirectory() as folder,
        closing(Journal(Path(folder) / "journal")) as journal,
        capture_logs(),
    ):
        api = make(journal)
        runner = api._served["r1"].runner
        await runner.drain()  # what the start of the table stored is no part of the command
        with profiled() as command:
            await api.commands.answer(
                "r1", "session-open", IncomingMessage("", order, retain=False)
            )
        runner.on_readings(spin[:-1])
        with profiled() as result:
            runner.on_readings(spin[-1:])
    return {"a signed session.open": between(command), "a result": between(result)}


def report() -> str:
    """All counts, a line each."""
    known = classes()
    lines = [f"super() in controller/games: {parent_calls()}"]
    lines += [
        f"{name}: {len(names)} names on several levels ({', '.join(sorted(names))})"
        for name, kind in known.items()
        if (names := repeated(kind))
    ]
    most = max(known, key=lambda name: methods(known[name]))
    lines.append(f"most methods: {most}, {methods(known[most])}")
    ways = {"the fourth card of punto y banca": fourth_card(), **asyncio.run(journeys())}
    lines += [f"jumps between files for {what}: {count}" for what, count in ways.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(report() + "\n")
