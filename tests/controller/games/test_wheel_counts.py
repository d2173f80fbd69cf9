"""A wheel that repeats its spin count: its report may be of another spin, so a person is asked and
nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from common.contract.events import RoundResult, RoundUnresolved
from common.readings import AnyReading, LinkGap, LinkLost, LinkUp, WheelCell
from tests.support.for_each import for_each
from tests.support.games.cells_play import Play as Cells
from tests.support.games.play import of_kind, only
from tests.support.games.roulette_play import Play as Roulette

Play = Cells | Roulette
SILENCES: dict[str, list[AnyReading]] = {
    "gap": [LinkGap(at=1.0, device="wheel", lost=1)],
    "lost": [LinkLost(at=1.0, device="wheel", reason="unplugged"), LinkUp(at=1.0, device="wheel")],
    "restart of the daemon": [LinkUp(at=1.0, device="wheel")],
}


def roulette(phases: str) -> Roulette:
    play = Roulette(phases=phases)
    play.open()
    return play


def boule(phases: str) -> Cells:
    play = Cells("boule", phases=phases)
    play.send("session.open")
    return play


def fortune(phases: str) -> Cells:
    play = Cells("fortune-wheel", phases=phases)
    play.send("session.open")
    return play


TABLES: tuple[Callable[[str], Play], ...] = (roulette, boule, fortune)
tables = for_each("table", TABLES, ids=lambda table: table.__name__)
silences = for_each("silence", list(SILENCES.values()), ids=list(SILENCES))


def send(play: Play, name: str, **fields: Any) -> None:
    if isinstance(play, Cells):
        play.send(name, **fields)
    else:
        play.send(name, **fields)


def report(play: Play, place: int, spin: int, **fields: Any) -> list[Any]:
    """Send the game's report of where the ball or wheel lies."""
    return (
        play.cell(place, spin, **fields)
        if isinstance(play, Cells)
        else play.number(place, spin, **fields)
    )


def launch(play: Play, spin: int) -> None:
    play.phase("launched" if isinstance(play, Cells) else "ball_in_rim", spin)


def first(play: Play) -> None:
    """A round with a result, at a table with keys."""
    send(play, "bets.open")
    launch(play, 1)
    send(play, "bets.close")
    play.phase("settled", 1)
    assert only(report(play, 8, 1), RoundResult).round == 1


@tables
@silences
@for_each("place", [8, 9])
def test_after_a_silence_the_same_count_is_a_candidate_of_the_round(
    table: Callable[[str], Play], silence: list[AnyReading], place: int
) -> None:
    play = table("person")
    first(play)
    send(play, "bets.open")
    play.take(*silence)
    send(play, "bets.close")
    said = report(play, place, 1)
    assert (only(said, RoundUnresolved).round, only(said, RoundUnresolved).why) == (2, "silence")
    assert of_kind(said, RoundResult) == []
    assert [entry.round for entry in play.state.unresolved()] == [2]
    assert report(play, place, 1) == []
    send(play, "round.confirm")
    assert only(play.events[-1:], RoundResult).round == 2


@tables
@silences
def test_the_result_of_a_launch_before_the_silence_is_a_candidate(
    table: Callable[[str], Play], silence: list[AnyReading]
) -> None:
    play = table("person")
    first(play)
    send(play, "bets.open")
    launch(play, 2)
    send(play, "bets.close")
    play.take(*silence)
    play.phase("settled", 1)
    events = report(play, 9, 1)
    assert of_kind(events, RoundResult) == []
    assert only(events, RoundUnresolved).round == 2


@tables
@silences
def test_before_a_silence_without_a_round_another_number_is_a_round_of_its_own(
    table: Callable[[str], Play], silence: list[AnyReading]
) -> None:
    play = table("person")
    first(play)
    play.take(*silence)
    events = report(play, 9, 1)
    assert of_kind(events, RoundResult) == []
    assert (only(events, RoundUnresolved).round, only(events, RoundUnresolved).why) == (
        2,
        "silence",
    )


@tables
@silences
@for_each("phases", ["person", "device"])
def test_a_repeated_number_and_count_without_a_round_is_a_repetition(
    table: Callable[[str], Play], silence: list[AnyReading], phases: str
) -> None:
    """Reports of a restarted driver about a ball that lies where it lay."""
    play = table(phases)
    if phases == "person":
        first(play)
    else:
        until_reported(play)
        report(play, 8, 1)
    play.take(*silence)
    assert [
        event for event in report(play, 8, 1) if isinstance(event, RoundResult | RoundUnresolved)
    ] == []


def until_reported(play: Play) -> None:
    """A spin at a table that the wheel runs by itself."""
    if isinstance(play, Roulette):
        play.until_closed(1)
    else:
        play.phase("launched", 1)
        play.phase("settling", 1)
    play.phase("settled", 1)


@tables
@silences
def test_a_repeated_count_at_a_table_without_keys_is_a_candidate(
    table: Callable[[str], Play], silence: list[AnyReading]
) -> None:
    play = table("device")
    until_reported(play)
    assert only(report(play, 8, 1), RoundResult).round == 1
    play.take(*silence)
    events = report(play, 9, 1)
    assert of_kind(events, RoundResult) == []
    assert only(events, RoundUnresolved).round == 2
    assert report(play, 9, 1) == []


@tables
@for_each("phases", ["person", "device"])
def test_a_new_launch_with_the_count_of_the_previous_spin_has_its_result(
    table: Callable[[str], Play], phases: str
) -> None:
    play = table(phases)
    for place in (8, 9, 9):
        if phases == "person":
            send(play, "bets.open")
            launch(play, 1)
            send(play, "bets.close")
            play.phase("settled", 1)
        else:
            until_reported(play)
        report(play, place, 1)
    results = of_kind(play.events, RoundResult)
    assert [result.round for result in results] == [1, 2, 3]
    assert not of_kind(play.events, RoundUnresolved)


@tables
def test_a_closed_round_without_a_launch_asks(
    table: Callable[[str], Play],
) -> None:
    play = table("person")
    first(play)
    send(play, "bets.open")
    send(play, "bets.close")
    assert only(report(play, 9, 1), RoundUnresolved).round == 2


@tables
def test_a_late_number_of_the_same_count_touches_no_result_and_asks(
    table: Callable[[str], Play],
) -> None:
    play = table("person")
    first(play)
    assert report(play, 8, 1, late=True) == []
    events = report(play, 9, 1, late=True)
    assert (only(events, RoundUnresolved).round, of_kind(events, RoundResult)) == (2, [])


def test_a_cell_that_the_wheel_does_not_have_asks_as_well() -> None:
    play = boule("person")
    first(play)
    send(play, "bets.open")
    play.take(*SILENCES["lost"])
    send(play, "bets.close")
    unresolved = only(
        play.take(WheelCell(at=1.0, device="wheel", cell=40, spin=1)), RoundUnresolved
    )
    assert (unresolved.round, unresolved.why) == (2, "number_unknown")
