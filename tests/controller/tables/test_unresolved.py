"""A round without a result calls a person for as long as it can still be settled, at every game."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from common.contract.commands import (
    AlertAcknowledge,
    AnyCommand,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
    VoidReason,
)
from common.contract.events import AlertCleared, AlertRaised
from common.contract.notation import Input
from common.contract.refusals import RejectedError
from common.contract.times import format_utc
from common.readings import LinkLost, LinkUp, Phase, WheelNumber, WheelPhase
from controller.games.games import make_game
from controller.tables.table import Table
from controller.tables.topics import UNRESOLVED_ALERT_ID
from tests.support.games import scripts

LEAVING = sorted(
    name
    for name in scripts.scripts()
    if any(event.get("type") == "round.unresolved" for event in scripts.expected(name))
)
"""The scripts in which a round is left without a result."""
NOBODY_MAY = "blackjack"
"""The game at which a round cannot be settled later."""
HEAD: dict[str, Any] = {"at": 9.0, "by": "M. Lasa", "role": "inspector"}


def table(game: str, decree: str, settings: dict[str, Any], saved: bytes | None = None) -> Table:
    made = make_game(game, decree, settings)
    return Table("site", "t1", game, decree, made, boot="b", saved=saved)


def take(at: Table, given: Input) -> list[Any]:
    return at.handle(given, format_utc(given.at), round(given.at * 1e9)).events


def leaf(at: Table, topic: str) -> Any:
    return _read(at.retained(), topic)


def _read(retained: dict[str, bytes | None], topic: str) -> Any:
    body = retained.get(topic)
    return None if body is None else msgspec.json.decode(body)


def calls(events: list[Any]) -> list[Any]:
    return [event for event in events if getattr(event, "alert", None) == UNRESOLVED_ALERT_ID]


def may(at: Table, given: AnyCommand) -> bool:
    """True if the command would be followed; the table does not change."""
    try:
        at.preview(given)
    except RejectedError:
        return False
    return True


def followed(at: Table, given: Input) -> bool:
    """Step an input; return True if it was not refused."""
    try:
        take(at, given)
    except RejectedError:
        return False
    return True


def hold(at: Table) -> bool:
    """Check the call of a person, which must be active while a round may be settled, by the
    commands and roles that the alert names.
    """
    retained = at.retained()
    state, alert = _read(retained, "state"), _read(retained, f"alert/{UNRESOLVED_ALERT_ID}")
    rounds = state["shown"].get("unresolved", [])
    assert (alert or {}).get("rounds", []) == rounds
    assert (UNRESOLVED_ALERT_ID in state["alerts"]) == bool(rounds)
    waits = bool(rounds or state["shown"]["asks"])
    assert state["status"] in ("stale", "fault") or (state["status"] == "waiting") == waits
    for number in rounds:
        who = alert["settled_by"]["round.void"]
        assert any(
            may(
                at,
                RoundVoid(at=9.0, by="M. Lasa", role=role, reason=reason, round=number, alone=True),
            )
            for role in who
            for reason in get_args(VoidReason)
        )
        assert alert["settled_by"].keys() == {"round.confirm", "round.void"}
    return bool(rounds)


@pytest.mark.parametrize("name", LEAVING)
def test_a_script_calls_while_a_round_may_be_settled(name: str) -> None:
    script = scripts.read(name)
    at = table(script.game, script.decree, script.settings)
    called = False
    for given in script.inputs:
        if followed(at, given):
            called |= hold(at)
    assert called == (script.game != NOBODY_MAY)


def wheel(phase: Phase, spin: int, at: float) -> WheelPhase:
    return WheelPhase(at=at, device="wheel", phase=phase, spin=spin)


def lost(saved: bytes | None = None) -> Table:
    """A roulette whose first spin a silence hid; bets are open for the second."""
    at = table("roulette-french", "ARA02", {}, saved)
    take(at, SessionOpen(**HEAD))
    take(at, wheel("bets_open", 1, 10.0))
    spin(at, 1)
    return at


def spin(at: Table, number: int) -> list[Any]:
    """The ball of this spin is launched, and after a silence the next spin has begun."""
    start = 10.0 * number
    events = take(at, wheel("ball_in_rim", number, start + 1))
    events += take(at, LinkLost(at=start + 2, device="wheel", reason="unplugged"))
    events += take(at, LinkUp(at=start + 3, device="wheel"))
    return events + take(at, wheel("bets_open", number + 1, start + 4))


def test_a_lost_spin_calls_until_it_is_settled_and_the_next_spins_continue() -> None:
    at = lost()
    state = leaf(at, "state")
    assert (state["status"], state["shown"]["asks"], state["shown"]["unresolved"]) == (
        "waiting",
        [],
        [1],
    )
    assert leaf(at, f"alert/{UNRESOLVED_ALERT_ID}") == {
        "alert": UNRESOLVED_ALERT_ID,
        "what": "round.unresolved",
        "severity": "warning",
        "raised": format_utc(14.0),
        "rounds": [1],
        "settled_by": {
            "round.confirm": ["table_head", "inspector", "director"],
            "round.void": list(make_game("roulette-french", "ARA02", {}).settled_by["round.void"]),
        },
    }
    take(at, wheel("ball_in_rim", 2, 20.0))
    take(at, wheel("no_more_bets", 2, 20.5))
    take(at, WheelNumber(at=21.0, device="wheel", number=17, spin=2))
    assert leaf(at, "result")["outcome"]["number"] == 17
    assert leaf(at, "state")["status"] == "waiting"
    [*_, cleared] = take(at, RoundConfirm(**HEAD, round=1, number=5))
    assert (cleared.alert, type(cleared)) == (UNRESOLVED_ALERT_ID, AlertCleared)
    assert leaf(at, "state")["status"] == "open"
    assert at.retained()[f"alert/{UNRESOLVED_ALERT_ID}"] is None


def test_another_round_raises_the_call_again_and_one_less_too() -> None:
    at = lost()
    take(at, AlertAcknowledge(**HEAD, alert=UNRESOLVED_ALERT_ID))
    assert leaf(at, f"alert/{UNRESOLVED_ALERT_ID}")["acknowledged_by"] == "M. Lasa"
    [raised] = calls(spin(at, 2))
    assert (raised.rounds, raised.session) == ((1, 2), 1)
    assert "acknowledged_by" not in leaf(at, f"alert/{UNRESOLVED_ALERT_ID}")
    [less] = calls(take(at, RoundVoid(**HEAD, reason="inspector", round=1)))
    assert (type(less), less.rounds) == (AlertRaised, (2,))


def test_the_call_lasts_after_the_session_is_closed_until_the_next_one_opens() -> None:
    at = lost()
    assert not calls(take(at, SessionClose(**HEAD, locked=True)))
    assert leaf(at, "state")["status"] == "waiting"
    assert may(at, RoundConfirm(**HEAD, round=1, number=5))
    [cleared] = calls(take(at, SessionOpen(**HEAD)))
    assert isinstance(cleared, AlertCleared)
    assert not may(at, RoundConfirm(**HEAD, round=1, number=5))


def test_a_restart_keeps_the_call_and_makes_up_for_a_release_that_did_not_call() -> None:
    at = lost()
    take(at, AlertAcknowledge(**HEAD, alert=UNRESOLVED_ALERT_ID))
    again = table("roulette-french", "ARA02", {}, at.saved())
    assert not calls([event for gap in again.gap(30.0) for event in take(again, gap)])
    assert leaf(again, f"alert/{UNRESOLVED_ALERT_ID}")["acknowledged_by"] == "M. Lasa"
    earlier = msgspec.json.encode({**msgspec.json.decode(at.saved()), "alerts": {}})
    again = table("roulette-french", "ARA02", {}, earlier)
    [raised] = calls([event for gap in again.gap(30.0) for event in take(again, gap)])
    assert raised.rounds == (1,)
