"""Answers of a Cammegh Slingshot 2 to its host: one function per command letter.

A command is accepted with a textual reply, and refused with the echoed letter and ``NO`` or
``BUSY``. An unknown letter is echoed with ``NO``. The clock starts at a fixed date at power-on,
because a model has no real clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Protocol

from common.randomness import Random

Answer = list[tuple[float, str]]
"""Lines without their ends, each with its delay in seconds."""

FIRMWARE = "2.52"
CLOCK_START = datetime(2026, 1, 1)  # noqa: DTZ001 - the wheel's clock has no zone
LOG_PAGE_CHARS = 256
"""Number of characters on a page of the win log."""
SELF_TEST_SECONDS = 20.0
"""Time of a self-test; the real one takes up to five minutes."""
MIN_STATUS_GAP_SECONDS = 0.1
"""Minimum time between status requests: a request that comes sooner is not answered."""


class CommandedWheel(Protocol):
    """The attributes of a wheel that commands read and change."""

    state: int
    mode: int
    warnings: int
    silenced: bool
    misfires: int
    time: float
    asked_at: float
    parameters: dict[str, str]
    wins: list[int]
    random: Random

    @property
    def awaits_start(self) -> bool:
        """Whether the wheel is in state 2 and waits for the host or the croupier's key."""
        ...

    def status(self) -> str:
        """Return the status line without its end."""
        ...

    def play(self, scene: Callable[[], Any]) -> None:
        """Abandon the current scene and continue with ``scene``."""
        ...

    def starting(self) -> Any:
        """State 1 after a start."""
        ...

    def stopping(self) -> Any:
        """The rotor slows down, then state 6."""
        ...

    def launching(self) -> Any:
        """State 2: the ball is launched."""
        ...


def answer(wheel: CommandedWheel, command: str) -> Answer:
    """Return the answer to a command (without its ``*`` and line end). An empty command has no
    answer.
    """
    if not command:
        return []
    letter, argument = command[0], command[1:].strip()
    known = _COMMANDS.get(letter)
    return known(wheel, argument) if known else _reply(f"*{letter} NO")


def _reply(line: str, delay: float = 0.0) -> Answer:
    return [(delay, line)]


def _power(wheel: CommandedWheel, argument: str) -> Answer:
    idle = wheel.state == 6
    if argument not in ("0", "1") or idle != (argument == "1"):
        return _reply("*P NO")
    wheel.play(wheel.starting if idle else wheel.stopping)
    return _reply("*P OK")


def _restart(wheel: CommandedWheel, _: str) -> Answer:
    wheel.play(wheel.starting)
    return _reply("*R OK")


def _key(wheel: CommandedWheel, _: str) -> Answer:
    if wheel.state == 6:
        return _reply("*K CAM")
    if wheel.awaits_start:
        wheel.play(wheel.launching)
    return _reply("*K OK")


def _user_start(wheel: CommandedWheel, argument: str) -> Answer:
    if argument not in ("1", "3") or not wheel.awaits_start:
        return _reply("*u NO")
    wheel.play(wheel.launching)
    return _reply("*u OK")


def _status(wheel: CommandedWheel, _: str) -> Answer:
    too_soon = wheel.time - wheel.asked_at < MIN_STATUS_GAP_SECONDS
    wheel.asked_at = wheel.time
    return [] if wheel.silenced or too_soon else _reply(wheel.status())


def _set_mode(wheel: CommandedWheel, argument: str) -> Answer:
    if not argument:
        return _reply(f"*o {wheel.mode}")
    if wheel.state != 6:
        return _reply("*o BUSY")
    if not argument.isdecimal() or int(argument) > 0xFFFF:
        return _reply("*o NO")
    wheel.mode = int(argument)
    return _reply(f"*o {wheel.mode}")


def _overview(wheel: CommandedWheel, _: str) -> Answer:
    return _reply(f"*O {wheel.state} 1 {wheel.parameters['h']} {wheel.mode}")


def _push(wheel: CommandedWheel, argument: str) -> Answer:
    if argument not in ("0", "1"):
        return _reply("*q NO")
    wheel.silenced = argument == "0"
    return _reply("*q OK")


def _parameter(wheel: CommandedWheel, argument: str) -> Answer:
    """Handle ``*T x v``, which sets, and ``*T X``, which gets. Some replies are odd, as on the real
    wheel.
    """
    name, _, value = argument.partition(" ")
    known = wheel.parameters
    if name == "f":
        return _reply("*T OK")
    if name.isupper() and name.lower() in known:
        return _reply(f"*T {name.lower()} {known[name.lower()]}")
    if name not in known or not _fits(name, value):
        return _reply("*T NO")
    known[name] = value
    return _reply({"s": "T OK", "z": "*Z OK", "m": f"*T m {value}"}.get(name, "*T OK"))


def _fits(name: str, value: str) -> bool:
    try:
        numbers = [float(word) for word in value.split()]
    except ValueError:
        return False
    whole = len(numbers) == 1 and value.isdecimal()
    return {
        "z": whole and 37 <= numbers[0] <= 40,
        "h": whole and numbers[0] > 0,
        "s": len(numbers) == 2 and 0 < numbers[0] <= numbers[-1] <= 99,
        "m": len(numbers) == 1 and 0 <= numbers[0] <= 5,
    }.get(name, whole)


def _clock(wheel: CommandedWheel, argument: str) -> Answer:
    if argument == "g":
        return _reply(
            (CLOCK_START + timedelta(seconds=wheel.time)).strftime("*d g %H:%M:%S - %d/%m/%y")
        )
    return _reply("*d OK" if argument.startswith("s ") else "*d NO")


def _self_test(wheel: CommandedWheel, _: str) -> Answer:
    if wheel.state != 6:
        return _reply("*F BUSY")
    return _reply("*F 11" if wheel.warnings else "*F 0", SELF_TEST_SECONDS)


def _encoder(wheel: CommandedWheel, _: str) -> Answer:
    return _reply(f"*A {wheel.random.randrange(int(wheel.parameters['z']))}")


def _events(_: CommandedWheel, argument: str) -> Answer:
    return _reply(f"*I {argument}" if argument in ("0", "4") else "*I NO")


def _chi_square(wheel: CommandedWheel, _: str) -> Answer:
    """Handle ``*w``: chi-square of the wins so far, and its percentage of the degrees of
    freedom.
    """
    pockets, spins = int(wheel.parameters["z"]), len(wheel.wins)
    if wheel.state not in (5, 6):
        return _reply("*w BUSY")
    counts, expected = Counter(wheel.wins), max(1, spins) / pockets
    chi = (
        sum((counts[pocket] - expected) ** 2 / expected for pocket in range(pockets))
        if spins
        else 0.0
    )
    return _reply(f"*w {chi:.2f} {100 * chi / (pockets - 1):.0f}")


def _table(letter: str) -> Callable[[CommandedWheel, str], Answer]:
    def table(wheel: CommandedWheel, _: str) -> Answer:
        if wheel.state not in (5, 6):
            return _reply(f"*{letter} BUSY")
        counts = Counter(wheel.wins) if letter == "W" else Counter({0: wheel.misfires})
        return _reply(
            f"*{letter} "
            + " ".join(str(counts[pocket]) for pocket in range(int(wheel.parameters["z"])))
        )

    return table


def _log(wheel: CommandedWheel, argument: str) -> Answer:
    """Handle the win log: ``t`` gives the pages in use, ``r p`` page p (from 0) and its sum.
    Erasing is refused, because the log is evidence.
    """
    pages = -(-len(wheel.wins) // LOG_PAGE_CHARS)
    kind, _, page = argument.partition(" ")
    if kind == "t":
        return _reply(f"*s t {pages}")
    if kind != "r" or not page.isdecimal() or int(page) >= pages:
        return _reply("*s NO")
    if wheel.state != 6:
        return _reply("*s BUSY")
    wins = wheel.wins[int(page) * LOG_PAGE_CHARS :][:LOG_PAGE_CHARS]
    text = "".join(chr(0x21 + win) for win in wins).ljust(LOG_PAGE_CHARS, "~")
    return _reply(f"{text}{sum(text.encode()) % 256:02X}")


_COMMANDS: dict[str, Callable[[CommandedWheel, str], Answer]] = {
    "A": _encoder,
    "F": _self_test,
    "I": _events,
    "K": _key,
    "M": _table("M"),
    "O": _overview,
    "P": _power,
    "R": _restart,
    "S": lambda _wheel, _: _reply(f"*S {FIRMWARE}"),
    "T": _parameter,
    "V": lambda _wheel, _: _reply(f"*V {FIRMWARE} SIMULATED"),
    "W": _table("W"),
    "X": _status,
    "d": _clock,
    "o": _set_mode,
    "q": _push,
    "s": _log,
    "u": _user_start,
    "v": lambda _wheel, _: _reply("*v 1.00 1.00"),
    "w": _chi_square,
}
