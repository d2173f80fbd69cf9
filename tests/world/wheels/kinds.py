"""The kinds of wheels, and which of them the tables of a world have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from controller.games.fortune.wheel import OF_54
from simulators.device import SimulatedDevice
from simulators.wheel.boule import BoulePlate
from simulators.wheel.cammegh_ss2 import SlingshotSS2
from simulators.wheel.fortune import SimulatedFortuneWheel
from simulators.wheel.saturn import FIELDS, STATE_SEQUENCE, SaturnWheel
from tests.world.wheels.displays import NumberDisplay, PhaseDisplay

FOLDER = Path(__file__).parent
SS2_SHOWS_NUMBER = 5
"""The state of an SS2 in which its number is the result of the spin."""
GAMES_BY_HAND = 40
"""Games an hour of a boule plate or a wheel of fortune."""
PAUSE_SECONDS = 24.0
NUMBERS_PER_ROW = 9
"""A boule plate has two rows of the numbers 1 to 9."""

Number = int | str


class Spin(NamedTuple):
    """A spin that came to rest. ``ordinal``: which one it is of this wheel; ``spin``: the number
    that the device gives it, None if its readings have none, the driver's own, or that of a board
    which may have lost count meanwhile.
    """

    ordinal: int
    spin: int | None
    number: Number


class Kind(NamedTuple):
    """A kind of wheel. ``make``: a model of it, by its seed and :attr:`tests.world.run.Plan.pace`;
    ``shows``: the spin that lies there as a result, if any; ``device``: lines of its section of the
    configuration, by the pace and after how many silent seconds it is stale; ``table``: lines of
    the table's; ``profile``: the file that the device needs; ``by_hand``: a croupier opens and
    closes the bets, and spins; ``mistaken``: the number that its sensors take for one where the
    ball lies, right or wrong; ``answers``: it sends only when asked; ``share``: the weight with
    which it is drawn.
    """

    share: int
    game: str
    decree: str
    driver: str
    make: Callable[[int, float], SimulatedDevice]
    shows: Callable[[Any], Spin | None]
    device: Callable[[float, float], str] = lambda _pace, _stale_after: ""
    table: str = ""
    profile: str = ""
    by_hand: bool = False
    mistaken: Callable[[Any], Number | None] = lambda _: None
    answers: bool = False


class _PacedSaturn(SaturnWheel):
    """Has bets open for longer: the simulator plays a hundred games an hour."""

    def _move(self, at: float) -> None:
        super()._move(at)
        if self._stage == 0:
            self._next += PAUSE_SECONDS


def _ss2(model: SlingshotSS2) -> Spin | None:
    if model.state != SS2_SHOWS_NUMBER or not model.wins:
        return None
    return Spin(len(model.wins), model.spin, model.wins[-1])


def _saturn(model: SaturnWheel) -> Spin | None:
    if STATE_SEQUENCE[model._stage][0] != "S":
        return None
    return Spin(model.rounds, None, model._number)


def _boule(model: BoulePlate) -> Spin | None:
    if model._moving or len(model._full) != 1:
        return None
    [hole] = model._full
    return Spin(model.rounds, None, (hole - 1) % NUMBERS_PER_ROW + 1)


def _boule_mistaken(model: BoulePlate) -> Number | None:
    """With a sensor stuck or blind, a hole without the ball can seem to have it."""
    if not (model._stuck or model._blind):
        return None
    _, holes, _, moving, _ = model.state()
    mask = int(str(holes), 16)
    if moving or mask.bit_count() != 1:
        return None
    return (mask.bit_length() - 1) % NUMBERS_PER_ROW + 1


def _fortune(model: SimulatedFortuneWheel) -> Spin | None:
    if model._way != "0" or model._on_pin or not model._forward:
        return None
    return Spin(model.rounds, None, OF_54[model._cell - 1])


def _number_display(model: NumberDisplay) -> Spin | None:
    return None if model.shown is None else Spin(model.rounds, None, model.shown)


def _phase_display(model: PhaseDisplay) -> Spin | None:
    return None if model.shown is None else Spin(model.rounds, model.spin, model.shown)


def _saturn_options(pace: float, _stale_after: float) -> str:
    phases = ", ".join(f'{state} = "{phase}"' for state, phase in FIELDS["phases"].items())
    state, number, spin = (list(FIELDS[name]) for name in ("state", "number", "spin"))
    fields = f"state = {state}, number = {number}, spin = {spin}, phases = {{ {phases} }}"
    return f"options = {{ poll = {0.5 * pace}, error_poll = 30.0, fields = {{ {fields} }} }}"


KINDS: dict[str, Kind] = {
    "cammegh-ss2": Kind(
        3,
        "roulette-french",
        "ARA02",
        "cammegh-ss2",
        lambda seed, pace: SlingshotSS2(seed=seed, status_pace=pace),
        _ss2,
        lambda pace, stale: f"stale_after = {stale}\noptions = {{ period = {0.5 * pace} }}",
    ),
    "saturn": Kind(
        2,
        "roulette-american",
        "BAL05",
        "saturn",
        lambda seed, _: _PacedSaturn(seed),
        _saturn,
        _saturn_options,
        answers=True,
    ),
    "number-display": Kind(
        6,
        "roulette-french",
        "GAL07",
        "profile",
        lambda seed, _: NumberDisplay(seed),
        _number_display,
        table='settings = { phases = "person" }',
        profile="number-display.toml",
        by_hand=True,
    ),
    "phase-display": Kind(
        6,
        "roulette-american",
        "EUS96",
        "profile",
        lambda seed, _: PhaseDisplay(seed),
        _phase_display,
        profile="phase-display.toml",
    ),
    "boule-board": Kind(
        1,
        "boule",
        "ARA02",
        "boule-board",
        lambda seed, _: BoulePlate(seed, GAMES_BY_HAND),
        _boule,
        mistaken=_boule_mistaken,
        table='settings = { phases = "device" }',
    ),
    "fortune-board": Kind(
        1,
        "fortune-wheel",
        "BAL05",
        "fortune-board",
        lambda seed, _: SimulatedFortuneWheel(seed, GAMES_BY_HAND, len(OF_54)),
        _fortune,
        table='settings = { phases = "device" }',
    ),
}
"""By name, how a kind is written in ``--wheel``."""

PROFILES = tuple(kind.profile for kind in KINDS.values() if kind.profile)

SECTION = """
[[table]]
id = "{name}"
game = "{kind.game}"
decree = "{kind.decree}"
{kind.table}

[[table.device]]
id = "wheel"
driver = "{kind.driver}"
link = "tcp://{name}:1"
{device}
"""


def drawn_kind(seed: int, number: int, *, by_hand: bool) -> str:
    """Return the name of the kind that table ``number`` has in the world of a seed. ``by_hand``:
    whether croupiers may spin.
    """
    kinds = {name: kind.share for name, kind in KINDS.items() if by_hand or not kind.by_hand}
    return Random(f"wheel {seed} {number}").choices([*kinds], [*kinds.values()])[0]


def section(name: str, kind: Kind, pace: float, stale_after: float) -> str:
    """Return the configuration of a table with such a wheel."""
    device = kind.device(pace, stale_after)
    if kind.profile:
        device = f'options = {{ file = "{kind.profile}" }}\n{device}'
    return SECTION.format(name=name, kind=kind, device=device)
