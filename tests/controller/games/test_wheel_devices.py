"""A device of another wheel at a table: refused in the configuration; its messages are reported and
not followed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from common.contract.events import AlertCleared, AlertRaised, RoundResult
from common.readings import Phase, WheelCell, WheelFault, WheelFaultName, WheelPhase
from controller.configuration.file import load
from controller.configuration.settings import ConfigurationError
from devices.drivers import DRIVERS, driver
from tests.support.for_each import for_each
from tests.support.games import cells_play
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats
from tests.support.games.roulette_play import PAIRS, Play

GAMES = ("roulette-french", "roulette-american", "boule", "fortune-wheel")
FOREIGN: tuple[Phase, ...] = ("launched", "settling", "settled")


def config(game: str, name: str) -> str:
    return f"""[site]
id = "casino"
[broker]
url = "embedded://127.0.0.1:1883"
[[table]]
id = "t1"
game = "{game}"
decree = "BAL05"
[[table.device]]
id = "wheel"
driver = "{name}"
link = "tcp://127.0.0.1:4001"
"""


@for_each("game", GAMES)
@for_each("name", [name for name in DRIVERS if driver(name).kind == "wheel" and driver(name).games])
def test_a_wheel_serves_the_games_that_it_is_built_for(
    tmp_path: Path, game: str, name: str
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(config(game, name))
    if game in driver(name).games:
        assert load(file).table[0].device[0].driver == name
        return
    with pytest.raises(ConfigurationError) as caught:
        load(file)
    [mistake] = caught.value.mistakes
    assert mistake.place == "line 11: table[0].device[0].driver"
    assert (
        mistake.what == f"the driver {name} is for {' and '.join(driver(name).games)}, "
        f"but this table plays {game}"
    )


@for_each(("game", "decree"), PAIRS)
@for_each("phases", ["device", "person"])
def test_a_boule_board_does_not_disturb_a_roulette(game: str, decree: str, phases: str) -> None:
    """Its messages are reported once; the round has the result of the roulette wheel, and
    no other.
    """
    play = Play(decree, game, phases=phases)
    play.open()
    alone = Play(decree, game, phases=phases)
    alone.open()

    def foreign(*given: Any) -> None:
        before = play.state
        said = play.take(*given)
        assert not [event for event in said if not isinstance(event, AlertRaised)]
        assert (play.state.current, play.state.entries, play.state.phase) == (
            before.current,
            before.entries,
            before.phase,
        )

    def both(act: Any) -> None:
        assert [each for each in act(play) if not isinstance(each, AlertRaised)] == act(alone)

    steps: list[Any] = [
        *([lambda table: table.send("bets.open")] if phases == "person" else []),
        lambda table: table.phase("bets_open", 1),
        lambda table: table.phase("ball_in_rim", 1),
        lambda table: table.phase("no_more_bets", 1),
        *([lambda table: table.send("bets.close")] if phases == "person" else []),
        lambda table: table.phase("settled", 1),
        lambda table: table.number(17, 1),
    ]
    for step in steps:
        both(step)
        foreign(*(WheelPhase(at=play.at, device="boule", phase=phase, spin=9) for phase in FOREIGN))
        foreign(
            WheelCell(at=play.at, device="boule", cell=5, spin=9),
            WheelCell(at=play.at, device="boule", cell=5, late=True),
        )
    assert outcome_of(only(play.events, RoundResult)).number == 17
    alert = only(play.events, AlertRaised)
    assert (alert.alert, alert.device, alert.detail) == ("wrong_device", "boule", "phase launched")


def test_the_alert_is_cleared_with_the_next_session() -> None:
    play = Play()
    play.open()
    play.take(WheelCell(at=1.0, device="boule", cell=5))
    play.send("session.close", locked=True)
    assert only(play.open(), AlertCleared).alert == "wrong_device"


@pytest.mark.parametrize("fault", ["ball_out", "between", "too_few_turns", "reversed"])
def test_a_fault_that_no_roulette_wheel_has_is_an_alert(fault: WheelFaultName) -> None:
    play = Play()
    play.open()
    play.until_closed(1)
    assert whats(play.take(WheelFault(at=1.0, device="boule", fault=fault, active=True))) == [fault]
    play.phase("settled", 1)
    assert outcome_of(only(play.number(3, 1), RoundResult)).number == 3


@for_each("game", ["boule", "fortune-wheel"])
@for_each("decree", cells_play.DECREES)
def test_a_roulette_wheel_does_not_disturb_the_others(game: str, decree: str) -> None:
    play = cells_play.table(game, decree)
    play.until_closed(1)
    events = [*play.phase("ball_in_rim", 1, device="rota"), *play.number(0, 1, device="rota")]
    assert of_kind(events, RoundResult) == []
    assert only(events, AlertRaised).alert == "wrong_device"
    play.phase("settled", 1)
    assert only(play.cell(2, 1), RoundResult).round == 1
