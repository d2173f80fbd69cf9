"""Recorded shoes, played at a table without keys: the table and the shoe come to the same
results.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from common.contract.events import (
    AnyEvent,
    CardsBurned,
    CardTurned,
    Irregularity,
    RoundResult,
    RoundUnresolved,
)
from common.contract.notation import read_input
from common.readings import AnyReading, CardDrawn, Reading, ShoeResult
from tests.support.for_each import for_each
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.punto_banca_play import DECREES, Play

RECORDINGS = Path(__file__).parents[2] / "recordings"


def readings(name: str) -> list[AnyReading]:
    lines = (RECORDINGS / f"{name}.readings.jsonl").read_bytes().splitlines()
    return [given for line in lines if isinstance(given := read_input(line), Reading)]


def played(
    name: str, decree: str = "ARA02", turn: str = "when_complete", burn: str = ""
) -> tuple[Play, list[AnyEvent]]:
    """The recording, at a table that has its shoe; ``burn``: cards that came before the first of
    the recording.
    """
    play = Play(decree, rounds="shoe", turn=turn)
    play.send("session.open")
    play.send("shoe.start", shoe="S1")
    given = readings(name)
    first = next(number for number, each in enumerate(given) if isinstance(each, CardDrawn))
    events = play.take(*given[:first])
    return play, [*events, *play.cards(burn), *play.take(*given[first:])]


@for_each("decree", DECREES)
@for_each("name", ["angel-eye-punto-banca", "bee-tek-punto-banca"])
def test_a_recorded_shoe_comes_to_its_own_results(name: str, decree: str) -> None:
    play, said = played(name, decree)
    verdicts = [given.winner for given in readings(name) if isinstance(given, ShoeResult)]
    results = [outcome_of(event).winner or "tie" for event in of_kind(said, RoundResult)]
    drawn = [given for given in readings(name) if isinstance(given, CardDrawn)]
    assert len(of_kind(said, CardsBurned)) == 1
    assert of_kind(said, Irregularity) == []
    assert of_kind(said, RoundUnresolved) == []
    assert results
    assert results[: len(verdicts)] == verdicts or not verdicts
    assert play.state.shoe is not None
    assert play.state.shoe.drawn == len(drawn)


@pytest.mark.parametrize("turn", ["command", "when_complete"])
@pytest.mark.parametrize("name", ["angel-eye-faults", "bee-tek-faults"])
def test_a_shoe_with_faults_has_no_unseen_result(name: str, turn: str) -> None:
    """Results at the table are among the shoe's verdicts, in their order.

    Without keys to turn the cards there are no results; nor from a shoe that does not count the
    places, once it has lost a card and the start of the next round is not reported.
    """
    _, said = played(name, turn=turn, burn="Ac 2c")
    verdicts = iter([given.winner for given in readings(name) if isinstance(given, ShoeResult)])
    results = [outcome_of(event).winner or "tie" for event in of_kind(said, RoundResult)]
    counts = name == "angel-eye-faults"
    assert bool(results) is (counts and turn == "when_complete")
    assert all(any(winner == verdict for verdict in verdicts) for winner in results)
    assert of_kind(said, RoundUnresolved)
    assert bool(of_kind(said, Irregularity)) is counts
    assert bool(of_kind(said, CardTurned)) is bool(results)
