"""The commands of every table with a wheel: their moves, their guards, and the table of both."""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import (
    BetPlace,
    BetsClose,
    BetsOpen,
    BetWithdraw,
    Command,
    LastRoundsAnnounce,
    LimitAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from common.contract.events import AnyOutcome, LastRounds, ResultCorrected, SessionClosed
from common.contract.refusals import RejectedError
from common.readings import Number
from controller.games import stakes
from controller.games.guards import (
    FieldCheck,
    Refused,
    Row,
    Rows,
    another_minimum,
    bets_open,
    between_rounds,
    has_result,
    has_unresolved,
    is_closed,
    is_open,
    lawful_minimum,
    to_void,
)
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.games.session import confirmer, result_to_correct, round_to_void, undecided
from controller.games.wheels.readings import FINISHED_PHASES
from controller.games.wheels.state import Purpose, WheelCountdown, WheelEntry, WheelRound
from controller.games.wheels.turn import WRONG_DEVICE, WheelTurn
from controller.rulebooks.law import Law

# Sessions


def open_session(turn: WheelTurn, command: SessionOpen) -> None:
    """Open the table. A movement of the wheel that is in progress began outside the session and
    does not count.
    """
    state = turn.state
    tally = state.tally()
    turn.course.forget(turn)
    turn.open_session(command)
    turn.change(
        spent=state.phase is not None and state.phase not in FINISHED_PHASES,
        gap=state.phase is None,
        relaunch=False,
        countdowns=(),
        foreign=(),
        before=type(tally)(tally.number),  # where the ball is; counts start again
    )
    turn.clear_alert("movement_after_close")
    turn.clear_alert(WRONG_DEVICE)
    if turn.bets_open_at_wheel:
        turn.open_bets(turn.state.spin)


def close_session(turn: WheelTurn, command: SessionClose) -> None:
    """Close the table. A ball launched without a result leaves its round unresolved."""
    turn.change(open=False)
    current = turn.state.current
    if current and (current.launched or current.closed):
        turn.unresolved(current, "undecided", current.landed, current.cell)
    if not command.locked and "session_closed_unlocked" in turn.book.laws:
        turn.change(current=None)
        turn.irregular("session_closed_unlocked")
    turn.change(current=None, relaunch=False, countdowns=())
    turn.emit(SessionClosed(by=command.by, role=command.role, locked=command.locked))


# Bets, if a person opens and closes them


def open_bets(turn: WheelTurn, command: BetsOpen) -> None:
    """Open bets for a new round."""
    turn.open_bets(None, by=command.by)


def close_bets(turn: WheelTurn, command: BetsClose) -> None:
    """Close the bets: the ball was launched and is about to fall."""
    turn.close_bets(by=command.by)


# Decisions


def void(turn: WheelTurn, command: RoundVoid) -> None:
    """Void the spin, for a reason of the decree or by decision of the person in charge."""
    round_ = round_to_void(turn, command)
    if command.role in turn.book.void_alone and not command.alone:
        others = tuple(role for role in turn.book.void_by if role not in turn.book.void_alone)
        raise RejectedError("void_by_others", role=command.role, others=others)
    law = turn.book.void.get(command.reason)
    if law is None and command.reason != "inspector":
        if not turn.book.void:
            raise RejectedError("void_reason_none", reason=command.reason)
        raise RejectedError(
            "void_reason_not_allowed", reason=command.reason, reasons=tuple(turn.book.void)
        )
    turn.void(round_, command.reason, law or Law(rule="", article=turn.book.article), command)


def confirm(turn: WheelTurn, command: RoundConfirm) -> None:
    """Confirm the result of a round, or let the round in progress continue."""
    round_ = round_to_confirm(turn, command)
    who = confirmer(command)
    seen = round_.landed if isinstance(round_, WheelRound) else round_.candidate
    number = seen if command.number is None else command.number
    if (
        isinstance(round_, WheelRound)
        and round_.landed is None
        and not (command.number is not None and turn.course.may_be_stated(round_))
    ):
        if command.number is not None:
            raise RejectedError("ball_not_fallen", round=round_.round)
        turn.change_current(asks=(), confirmed_by=who)
        return
    if number is None:
        raise RejectedError("number_unknown", round=round_.round)
    before = _published_outcomes(turn)
    turn.result(
        round_, turn.pocket(number), confirmed_by=who, cell=round_.cell if number == seen else None
    )
    _correct_later(turn, before, round_.round, command)


def correct(turn: WheelTurn, command: ResultCorrect) -> None:
    """Correct a published result. It is replaced, never erased."""
    entry = result(turn, command)
    assert entry.number is not None
    if command.number is None:
        raise RejectedError("number_missing")
    number = turn.pocket(command.number)
    if number == entry.number:
        raise RejectedError("number_already", round=command.round, number=number)
    before, now = (
        _published_outcomes(turn),
        replace(entry, number=number, cell=None, corrected=True),
    )
    turn.state = turn.state.with_entry(now)
    _corrected(turn, now, entry.number, command)
    _correct_later(turn, before, entry.round, command)


def _corrected(turn: WheelTurn, entry: WheelEntry, before: Number, by: Command) -> None:
    assert entry.number is not None
    turn.emit(
        ResultCorrected(
            round=entry.round,
            replaces=None,
            replaces_boot=None,
            outcome=turn.outcome(entry),
            was=before,
            bets=turn.course.settled(turn, entry.number, entry.bets),
            by=by.by,
            role=by.role,
        )
    )


def _published_outcomes(turn: WheelTurn) -> dict[int, AnyOutcome]:
    """The outcome of each result, as published."""
    return {
        entry.round: turn.outcome(entry) for entry in turn.state.entries if entry.number is not None
    }


def _correct_later(
    turn: WheelTurn, before: dict[int, AnyOutcome], number: int, by: Command
) -> None:
    """Announce later results again if they changed with this round; at roulette, the count of
    consecutive zeros.
    """
    for entry in turn.state.entries:
        if (
            entry.number is not None
            and entry.round > number
            and before[entry.round] != turn.outcome(entry)
        ):
            _corrected(turn, entry, entry.number, by)


# Announcements


def announce_limit(turn: WheelTurn, command: LimitAnnounce) -> None:
    """Announce a new minimum, which holds after the last balls at the old one."""
    _announce(turn, "limit", command, command.minimum)


def announce_last_rounds(turn: WheelTurn, command: LastRoundsAnnounce) -> None:
    """Announce the last balls before closing."""
    _announce(turn, "close", command)


def _announce(
    turn: WheelTurn, purpose: Purpose, command: Command, minimum: int | None = None
) -> None:
    state, left = turn.state, turn.book.last_rounds
    since = state.current.round if state.current else state.round + 1
    turn.change(
        countdowns=(
            *state.countdowns,
            WheelCountdown(purpose=purpose, left=left, since=since, minimum=minimum),
        )
    )
    turn.emit(
        LastRounds(
            purpose=purpose,
            left=left,
            by=command.by,
            announcement=turn.book.announcements.get("last_rounds"),
        )
    )


# Guards


def by_person(turn: WheelTurn) -> Refused | None:
    """A person opens and closes the bets."""
    return Refused("bets_by_wheel") if turn.settings.phases == "device" else None


def rounds_left(turn: WheelTurn) -> Refused | None:
    """The last balls are not announced, or not all played."""
    return Refused("last_rounds_played") if turn.state.left("close") == 0 else None


def close_unannounced(turn: WheelTurn) -> Refused | None:
    """The last balls before closing are not announced."""
    return _announced(turn, "close")


def limit_unannounced(turn: WheelTurn) -> Refused | None:
    """No new minimum is announced."""
    return _announced(turn, "limit")


def _announced(turn: WheelTurn, purpose: Purpose) -> Refused | None:
    announced = turn.state.left(purpose) is not None
    return Refused("last_rounds_already_announced") if announced else None


def limit_may_change(turn: WheelTurn) -> Refused | None:
    """The decree allows another minimum."""
    if turn.book.limit_change == "none":
        return Refused("minimum_fixed", law=turn.book.laws["limit_change"])
    return None


def limit_known(turn: WheelTurn) -> Refused | None:
    """The present minimum is known, where it may only rise."""
    if turn.book.limit_change == "upward" and turn.state.minimum is None:
        return Refused("minimum_not_given", law=turn.book.laws["limit_change"])
    return None


def rises(turn: WheelTurn, command: LimitAnnounce) -> None:
    """Reject a lower minimum, where it may only rise."""
    minimum = turn.state.minimum
    if turn.book.limit_change == "upward" and minimum is not None and command.minimum < minimum:
        raise RejectedError(
            "minimum_may_only_rise", minimum=minimum, law=turn.book.laws["limit_change"].cited
        )


def round_to_confirm(turn: WheelTurn, command: RoundConfirm) -> WheelRound | WheelEntry:
    """The round that waits for a person. Raises ``RejectedError`` unless exactly one matches."""
    current = turn.state.current
    first = current is not None and bool(current.asks)
    round_ = undecided(turn.state, current, command.round, first=first)
    if isinstance(round_, WheelRound) and not round_.asks:
        raise RejectedError("nothing_to_confirm", round=round_.round)
    return round_


def unconfirmed(turn: WheelTurn) -> bool:
    """A round waits for a person, or is unresolved."""
    current = turn.state.current
    return (current is not None and bool(current.asks)) or has_unresolved(turn)


def result(turn: WheelTurn, command: ResultCorrect) -> WheelEntry:
    """The result that is to be corrected."""
    entry: WheelEntry = result_to_correct(turn, command, "number")
    return entry


COMMANDS: Rows = {
    SessionOpen: Row(IN_CHARGE, (is_closed, FieldCheck(lawful_minimum)), open_session),
    SessionClose: Row(IN_CHARGE, (is_open,), close_session),
    RoundVoid: Row(VOIDERS, (FieldCheck(round_to_void, to_void),), void),
    RoundConfirm: Row(IN_CHARGE, (FieldCheck(round_to_confirm, unconfirmed),), confirm),
    ResultCorrect: Row(IN_CHARGE, (FieldCheck(result, has_result),), correct),
    LimitAnnounce: Row(
        IN_CHARGE,
        (
            is_open,
            limit_may_change,
            FieldCheck(lawful_minimum),
            FieldCheck(another_minimum),
            limit_known,
            FieldCheck(rises),
            limit_unannounced,
        ),
        announce_limit,
    ),
    BetsOpen: Row(AT_THE_TABLE, (is_open, rounds_left, by_person, between_rounds), open_bets),
    BetsClose: Row(AT_THE_TABLE, (is_open, by_person, bets_open), close_bets),
    BetPlace: stakes.PLACE,
    BetWithdraw: stakes.WITHDRAW,
    LastRoundsAnnounce: Row(AT_THE_TABLE, (is_open, close_unannounced), announce_last_rounds),
}
"""The commands of every table with a wheel. Each game adds its own."""
