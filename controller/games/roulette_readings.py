"""What a roulette table makes of its wheel's readings.

Only what is live and whole becomes a result. What a silence has hidden is said to be unresolved, and a person decides.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from controller.games.roulette_settings import BREACHES
from controller.games.roulette_state import Entry, Hand, Launch, State
from controller.games.roulette_turn import DECISIONS, Turn, frames_of
from devices.readings import AnyReading, LinkLate, Phase, Reading, WheelFault, WheelNumber, WheelPhase

STARTING: tuple[Phase | None, ...] = ("closed", "idle", "bets_open")
"""The wheel has done with whatever it did before."""


def take_phase(turn: Turn, given: WheelPhase) -> None:
    """The wheel says what it is doing."""
    if given.late:
        take_silence(turn, given)
        return
    was = turn.state
    fresh = (given.phase, given.spin) != (was.phase, was.spin)
    turn.change(phase=given.phase, spin=given.spin)
    if not was.open:
        if fresh and given.phase not in STARTING:
            _moved_after_close(turn, given)
        return
    if turn.settings.phases == "person":
        if given.phase == "ball_in_rim" and was.hand:
            _launched(turn, was.hand, given)
        return
    if fresh and (given.phase in STARTING or was.phase in STARTING or given.spin != was.spin):
        turn.change(spent=False)
    _follow(turn, given.spin, given)
    _COURSE[given.phase](turn, given, was)


def take_number(turn: Turn, given: WheelNumber) -> None:
    """The wheel says where the ball lies: a result only if a round is in hand, its bets are closed and nothing is in doubt."""
    if not turn.state.open:
        turn.irregular("movement_after_close", given=given, detail=f"number {given.number}")
        turn.raise_alert("movement_after_close", given)
    elif given.late:
        _late_number(turn, given)
    elif not _known(turn, given) and not _put_back(turn, given):
        _follow(turn, given.spin, given)
        if (hand := _hand_for_number(turn, given)) and hand.landed is None:
            _live_number(turn, hand, given)


def take_fault(turn: Turn, given: WheelFault) -> None:
    """The wheel complains, or does so no longer."""
    others = tuple(fault for fault in turn.state.faults if fault != given.fault)
    if not given.active:
        turn.change(faults=others)
        turn.clear_alert(given.fault)
        return
    turn.change(faults=(*others, given.fault))
    hand = turn.state.hand
    if given.fault == "failed_launch" or (given.fault in BREACHES and hand and hand.launched):
        turn.breach(given.fault, given)
    elif given.fault not in BREACHES:
        turn.raise_alert(given.fault, given, detail=given.detail)
        if given.fault == "number_changed" and turn.state.open:
            asks = ("result.correct",)
            turn.irregular("number_changed", given=given, asks=asks, detail=given.detail)
        if given.fault == "number_unknown" and hand:
            turn.irregular("number_invalid", given=given, asks=DECISIONS, detail=given.detail)
            turn.unresolved(replace(hand, frames=hand.frames + frames_of(given)), "number_unknown")


def take_silence(turn: Turn, given: AnyReading) -> None:
    """The device was not heard for a while: what it did then is unknown, and so is how its rotor turned last.

    After a short silence, the lines of which came late, the wheel's own counter may still show that it missed no spin.
    """
    short = isinstance(given, LinkLate | WheelPhase | WheelNumber)
    turn.change(gap=True, spent=False, heard=False, rotor=turn.state.rotor if short else None)


# Phases


def _starting(turn: Turn, given: WheelPhase, was: State) -> None:
    """The wheel has done with the spin before; with bets open the next round begins."""
    hand = turn.state.hand
    if hand and (hand.launched or hand.closed):
        _lost(turn, given)
    turn.change(gap=False)
    fresh = (given.phase, given.spin) != (was.phase, was.spin)
    if given.phase == "bets_open" and turn.state.hand is None and (fresh or not turn.state.spent):
        turn.open_bets(given.spin, frames_of(given))


def _ball_in_rim(turn: Turn, given: WheelPhase, _was: State) -> None:
    """The ball runs in the rim: bets are open still."""
    if turn.state.hand is None and not turn.state.spent:
        turn.open_bets(given.spin)
        _unseen("bets_open", turn, given)
    if hand := turn.state.hand:
        _launched(turn, hand, given)
    _standstill(turn, given)


def _no_more_bets(turn: Turn, given: WheelPhase, _was: State) -> None:
    """The ball is about to fall."""
    if turn.state.hand is None and not turn.state.spent:
        turn.begin(given.spin)
        _unseen("bets_open", turn, given)
    elif (hand := turn.state.hand) and not (hand.launched or hand.closed or hand.relaunch):
        _unseen("ball_in_rim", turn, given)
    if (hand := turn.state.hand) and not hand.closed:
        turn.close_bets(frames_of(given))
    _standstill(turn, given)


def _settled(_turn: Turn, _given: WheelPhase, _was: State) -> None:
    """The ball lies in a pocket: the number says in which."""


_COURSE: dict[Phase, Callable[[Turn, WheelPhase, State], None]] = {
    "closed": _starting,
    "idle": _starting,
    "bets_open": _starting,
    "ball_in_rim": _ball_in_rim,
    "no_more_bets": _no_more_bets,
    "settled": _settled,
}


def _unseen(phase: Phase, turn: Turn, given: WheelPhase) -> None:
    """The wheel left out a phase, or a silence hid it."""
    if not turn.state.gap:
        turn.irregular("phase_skipped", given=given, detail=phase)


def _standstill(turn: Turn, given: WheelPhase) -> None:
    """The rotor stands still though the ball has not fallen: a case for some decrees only."""
    if given.rpm == 0 and "cylinder_stopped" in turn.book.void:
        turn.breach("cylinder_stopped", given)


def _launched(turn: Turn, hand: Hand, given: WheelPhase) -> None:
    """The ball runs in the rim: the rotor must turn against its direction at the launch before, the ball against the rotor."""
    if not hand.launched:
        before, heard = turn.state.rotor, turn.state.heard
        turn.change_hand(launched=True, frames=hand.frames + frames_of(given), rotor_before=before)
        turn.change(rotor=Launch(given.direction, given.spin) if given.direction else None, heard=True)
        if before and before.direction == given.direction and (heard or before.just_before(given.spin)):
            turn.breach("rotor_not_reversed", given)
    if "ball_with_rotor" in turn.state.faults:
        turn.breach("ball_with_rotor", given)


def _follow(turn: Turn, spin: int | None, given: Reading) -> None:
    """The wheel counts another spin than the round in hand: it never played that one, or its end was not seen."""
    hand = turn.state.hand
    if hand is None or spin is None or spin == hand.spin:
        return
    by_person = turn.settings.phases == "person"
    if hand.spin is None or by_person or not (hand.launched or hand.closed or turn.state.gap):
        turn.change_hand(spin=spin)
    else:
        _lost(turn, given)
        turn.change(spent=False)


def _lost(turn: Turn, given: Reading) -> None:
    """The wheel went on, and the round in hand has no result."""
    hand = turn.state.hand
    assert hand is not None
    if hand.landed is None and turn.state.gap:
        turn.unresolved(hand, "silence")
        return
    if hand.landed is None and not hand.asks:
        what = "not_definitive" if hand.closed else "phase_skipped"
        turn.irregular(what, given=given, asks=DECISIONS)
    turn.unresolved(hand, "undecided", hand.landed)


def _moved_after_close(turn: Turn, given: WheelPhase) -> None:
    if "movement_after_close" not in turn.state.alerts:
        turn.irregular("movement_after_close", given=given, detail=given.phase)
        turn.raise_alert("movement_after_close", given)


# Numbers


def _known(turn: Turn, given: WheelNumber) -> bool:
    """Whether this is the spin whose result was the last one published, said again."""
    hand, last = turn.state.hand, turn.state.entries[-1:]
    if given.spin is None or (hand and hand.spin == given.spin):
        return False
    return any(entry.spin == given.spin and entry.kind == "result" for entry in last)


def _put_back(turn: Turn, given: WheelNumber) -> bool:
    """Whether the ball lies where the decree wants it put after a null spin, not launched yet."""
    state, hand = turn.state, turn.state.hand
    unlaunched = hand.relaunch and not hand.launched if hand else state.relaunch
    return unlaunched and not _gap(turn) and given.number == state.tally().number


def _gap(turn: Turn) -> bool:
    """Whether a silence may have hidden what came before this number; a person's word it cannot hide."""
    return turn.state.gap and turn.settings.phases == "device"


def _hand_for_number(turn: Turn, given: WheelNumber) -> Hand | None:
    """The round that a live number belongs to; None where the spin is spent, or was null and no bets have opened since."""
    state = turn.state
    if state.hand:
        return state.hand
    if turn.settings.phases == "person":
        return None if state.relaunch else turn.begin(given.spin)
    return None if state.spent and given.spin in (None, state.spin) else turn.begin(given.spin)


def _live_number(turn: Turn, hand: Hand, given: WheelNumber) -> None:
    """The ball lies in a pocket now."""
    number = given.number
    gap, unlaunched = _gap(turn), hand.relaunch and not hand.launched
    hand = replace(hand, frames=hand.frames + frames_of(given))
    turn.change(hand=hand)
    if not turn.is_pocket(number):
        _number_invalid(turn, given)
        turn.unresolved(hand, "number_unknown")
        return
    turn.clear_alert("number_unknown")
    if given.conflict is not None:
        detail = f"{number} and {given.conflict}"
        turn.irregular("witnesses_disagree", given=given, asks=DECISIONS, detail=detail)
        turn.unresolved(hand, "witnesses_disagree", number)
    elif unlaunched and gap:
        turn.unresolved(hand, "silence", number)
    elif unlaunched:
        turn.irregular("no_launch", given=given, asks=DECISIONS)
        turn.unresolved(hand, "no_launch", number)
    elif not hand.closed and not gap:
        turn.irregular("before_no_more_bets", given=given, asks=DECISIONS)
        turn.unresolved(hand, "before_no_more_bets", number)
    else:
        _landed(turn, hand, number)


def _landed(turn: Turn, hand: Hand, number: int) -> None:
    """It lies there definitively, and bets were closed: the result, unless a person is to be asked first."""
    if not hand.closed:
        turn.close_bets(unobserved=True)
    if hand.asks:
        turn.change_hand(landed=number)
    else:
        turn.result(hand, number, confirmed_by=hand.stands)
        turn.change(gap=False)


def _late_number(turn: Turn, given: WheelNumber) -> None:
    """A number that is known only after a silence: a candidate for its spin's round, which nobody saw to its end."""
    of = _round_of_late(turn, given)
    if of is not None:
        of = replace(of, frames=of.frames + frames_of(given))
        if not turn.is_pocket(given.number):
            _number_invalid(turn, given)
            turn.unresolved(of, "number_unknown")
        else:
            turn.unresolved(of, "silence" if given.conflict is None else "witnesses_disagree", given.number)
    if turn.state.hand is None:
        take_silence(turn, given)


def _round_of_late(turn: Turn, given: WheelNumber) -> Hand | Entry | None:
    """The round that a late number belongs to, taken in hand if nobody knew of it; None where it has its number already."""
    hand, last = turn.state.hand, turn.state.entries[-1:]
    if hand and (given.spin is None or hand.spin in (None, given.spin)):
        return None if hand.landed is not None else hand
    if last and given.spin is not None and last[0].spin == given.spin and last[0].kind != "void":
        return last[0] if last[0].kind == "unresolved" and last[0].candidate is None else None
    if hand and not turn.state.gap:  # opened and seen since the silence: the number is of a spin before it
        return turn.aside(given.spin)
    if hand:
        turn.unresolved(hand, "silence")
    return turn.begin(given.spin)


def _number_invalid(turn: Turn, given: WheelNumber) -> None:
    detail = f"number {given.number}"
    turn.irregular("number_invalid", given=given, asks=DECISIONS, detail=detail)
    turn.raise_alert("number_unknown", given, detail=detail)
