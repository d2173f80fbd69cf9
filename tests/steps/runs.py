"""What is played: runs of inputs, each at a table of its own."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from controller.contract.commands import SessionOpen, ShoeStart
from controller.contract.notation import Input, write
from controller.contract.refusals import RejectedError
from controller.contract.times import utc
from controller.games.games import make_game
from controller.games.machine import Machine
from controller.tables.table import Table
from devices.recording import read_recording
from tests.controller.decrees import PAIRS
from tests.controller.games import scripts
from tests.controller.games.test_every_input import Trial
from tests.devices.test_recordings import RECORDINGS, readings_of
from tests.steps.calls import Uncalled
from tests.steps.renames import told_then

STEPS = 250
"""Inputs of one random run: it ends in the middle of anything, and a difference is found near its
beginning.
"""
NOISE = (0.02, 0.1, 0.3)
"""How much of what is said makes no sense, from run to run."""
PROSE = frozenset({"detail", "fault", "software"})
"""Fields for people, or of the release: that they are there counts, not how they are worded."""
OF_DRIVERS = {
    "cammegh-ss2": (("roulette-french", "ARA02"), ("roulette-american", "EUS96")),
    "saturn": (("roulette-french", "GAL07"),),
    "boule-board": (("boule", "ARA02"),),
    "fortune-board": (("fortune-wheel", "BAL05"),),
    "dice-board": (("craps", "EUS96"),),
    "sicbo-shaker": (("pai-gow", "EUS96"),),
    "angel-eye": (("punto-banca", "GAL07"), ("punto-banca", "EUS96")),
    "bee-tek": (("punto-banca", "BAL05"), ("blackjack", "ARA02")),
    "barcode-serial": (("punto-banca", "ARA02"), ("chemin-de-fer", "EUS96")),
    "barcode-hid": (("trente-et-quarante", "BAL05"),),
    "shuffler-board": (("poker-no-draw", "EUS96"),),
    "deck-mate-1": (("texas-holdem", "EUS96"),),
}
"""At which tables the recordings of a driver are played."""


class Run(NamedTuple):
    """A table, and where its inputs come from: ``script NAME``, ``recording NAME`` or ``random
    SEED``.
    """

    source: str
    game: str
    decree: str
    settings: dict[str, Any] | None = None
    noise: float = 0.0


class Step(msgspec.Struct, frozen=True):
    """One input, and a digest of all that was said to it."""

    given: msgspec.Raw
    digest: str


def runs(steps: int) -> Iterator[Run]:
    """All scripts and recordings, then random runs until ``steps`` inputs are reached."""
    for name in sorted(scripts.scripts()):
        script = scripts.read(name)
        yield Run(f"script {name}", script.game, script.decree, script.settings)
    for path in RECORDINGS:
        for game, decree in OF_DRIVERS.get(read_recording(path).header["driver"], ()):
            yield Run(f"recording {path.stem}", game, decree)
    for number in range(-(-steps // STEPS)):
        game, decree = PAIRS[number % len(PAIRS)]
        turn = number // len(PAIRS)
        yield Run(f"random {turn}", game, decree, noise=NOISE[turn % len(NOISE)])


def recorded(run: Run) -> Iterator[Step]:
    """Play a run and give its steps."""
    table = _table(run)
    kind, name = run.source.split(" ", 1)
    inputs = _random(run, name, table) if kind == "random" else _written(kind, name)
    uncalled = Uncalled()
    for given in inputs:
        yield Step(msgspec.Raw(write(given)), digest(uncalled.then(_said(table, given))))


def said(run: Run, inputs: Iterator[Input]) -> Iterator[Any]:
    """What a table says to inputs that were recorded before, in the words of the recording."""
    table = _table(run)
    uncalled = Uncalled()
    for given in inputs:
        yield uncalled.then(_said(table, given))


def digest(told: Any) -> str:
    """Of what was said to one input."""
    return blake2b(msgspec.json.encode(told, order="sorted"), digest_size=8).hexdigest()


def _table(run: Run) -> Table:
    game = make_game(run.game, run.decree, run.settings or {})
    return Table(
        site="site", id="table", game_id=run.game, decree=run.decree, game=game, boot="boot"
    )


def _random(run: Run, seed: str, table: Table) -> Iterator[Input]:
    trial = Trial(run.game, run.decree, f"steps {seed}", noise=run.noise)
    for _ in range(STEPS):
        trial.state = table._state
        yield trial.next()


def _written(kind: str, name: str) -> Iterator[Input]:
    if kind == "script":
        yield from scripts.read(name).inputs
        return
    [path] = (path for path in RECORDINGS if path.stem == name)
    yield SessionOpen(at=0.0, by="N. Roca", role="inspector")
    yield ShoeStart(at=0.0, by="N. Roca", role="inspector", shoe="S1")
    yield from readings_of(read_recording(path))


def _said(table: Table, given: Input) -> Any:
    """What one input makes the table say: its events or that it is refused, what stands retained,
    and whether it is sealed. One that is refused is stored nowhere: it would be if it names a card.
    """
    try:
        taken = table.take(given, utc(given.at), round(given.at * 1e9))
    except RejectedError:
        events: Any = "refused"
        assert isinstance(table._game, Machine)
        sealed = table.face_down and bool(table._game.named(given))
    else:
        events = [msgspec.json.decode(write(event)) for event in taken.events]
        sealed = taken.confidential
    retained = {
        topic: None if body is None else msgspec.json.decode(body)
        for topic, body in table.retained().items()
    }
    return told_then(_plain({"sealed": sealed, "events": events, "retained": retained}))


def _plain(told: Any) -> Any:
    """Without the words of prose."""
    if isinstance(told, dict):
        return {key: bool(value) if key in PROSE else _plain(value) for key, value in told.items()}
    return [_plain(each) for each in told] if isinstance(told, list) else told
