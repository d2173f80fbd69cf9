"""Runs of inputs, each at a table of its own."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from common.contract.commands import SessionOpen, ShoeStart
from common.contract.notation import Input, write
from common.contract.refusals import RejectedError
from common.contract.times import format_utc
from controller.games.games import make_game
from controller.games.machine import Machine
from controller.tables.table import Table
from devices.recording import read_recording
from tests.devices.test_recordings import RECORDINGS, readings_of
from tests.steps.renames import output_then
from tests.support.games import scripts
from tests.support.games.decrees import PAIRS
from tests.support.games.trial import Trial

STEPS = 250
"""Inputs of one random run: it may end anywhere, and a difference is found near its beginning."""
NOISE = (0.02, 0.1, 0.3)
"""Share of senseless inputs, from run to run."""
PROSE = frozenset({"detail", "fault", "software"})
"""Fields for people, or of the release: their presence counts, not their text."""
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
"""Tables at which the recordings of a driver are played."""


class Run(NamedTuple):
    """A table, and the source of its inputs: ``script NAME``, ``recording NAME`` or ``random
    SEED``.
    """

    source: str
    game: str
    decree: str
    settings: dict[str, Any] | None = None
    noise: float = 0.0


class Step(msgspec.Struct, frozen=True):
    """One input, and a digest of the table's whole output for it."""

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
    for given in inputs:
        yield Step(msgspec.Raw(write(given)), digest(_output(table, given)))


def outputs(run: Run, inputs: Iterator[Input]) -> Iterator[Any]:
    """The table's output for each recorded input, in the words of the recording."""
    table = _table(run)
    for given in inputs:
        yield _output(table, given)


def digest(output: Any) -> str:
    """Digest of the output for one input."""
    return blake2b(msgspec.json.encode(output, order="sorted"), digest_size=8).hexdigest()


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


def _output(table: Table, given: Input) -> Any:
    """The table's output for one input: its events or its refusal, the retained topics with the
    commands that the table accepts now, and whether the input is sealed. A refused input is not
    stored, but would be sealed if it names a card.
    """
    events: list[Any] = []
    refusal = None
    try:
        taken = table.handle(given, format_utc(given.at), round(given.at * 1e9))
    except RejectedError as rejected:
        refusal = msgspec.to_builtins(rejected.refusal)
        assert isinstance(table._game, Machine)
        sealed = table.face_down and bool(table._game.named(given))
    else:
        events = [msgspec.json.decode(write(event)) for event in taken.events]
        sealed = taken.confidential
    retained = {
        topic: None if body is None else msgspec.json.decode(body)
        for topic, body in table.retained().items()
    }
    output = {"sealed": sealed, "events": events, "refusal": refusal, "retained": retained}
    return output_then(_plain(output))


def _plain(output: Any) -> Any:
    """The output without prose."""
    if isinstance(output, dict):
        return {
            key: bool(value) if key in PROSE else _plain(value) for key, value in output.items()
        }
    return [_plain(each) for each in output] if isinstance(output, list) else output
