"""What a roulette table makes of a person's commands. One that cannot be followed is rejected, and the person is told why."""

from __future__ import annotations

from msgspec.structs import replace

from controller.commands import (
    BetsClose,
    BetsOpen,
    Command,
    LastRoundsAnnounce,
    LimitAnnounce,
    ResultCorrect,
    Role,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from controller.events import LastRounds, ResultCorrected, SessionClosed
from controller.games.game import Rejected
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, allow_minimum
from controller.games.roulette_chances import chances
from controller.games.roulette_readings import STARTING
from controller.games.roulette_state import Countdown, Entry, Hand, Purpose, Tally
from controller.games.roulette_turn import Turn
from controller.rulebook import Law
from devices.readings import Number

MAY: dict[type[Command], tuple[Role, ...]] = {
    SessionOpen: IN_CHARGE,
    SessionClose: IN_CHARGE,
    BetsOpen: AT_THE_TABLE,
    BetsClose: AT_THE_TABLE,
    RoundConfirm: IN_CHARGE,
    ResultCorrect: IN_CHARGE,
    LimitAnnounce: IN_CHARGE,
    LastRoundsAnnounce: AT_THE_TABLE,
}
"""Which roles may say what. Who may call a spin null is in the rulebook."""


# Sessions


def open_session(turn: Turn, given: SessionOpen) -> None:
    """The table opens. What the wheel is doing at this moment began outside the session, unless bets are only open."""
    state = turn.state
    turn.open_session(
        given,
        spent=state.phase is not None and state.phase not in STARTING,
        gap=state.phase is None,
        relaunch=False,
        rotor=None,
        countdowns=(),
        before=Tally(state.tally().number),
    )
    turn.clear_alert("movement_after_close")
    if turn.bets_open_at_wheel:
        turn.open_bets(turn.state.spin)


def close_session(turn: Turn, given: SessionClose) -> None:
    """The table closes. A ball that was launched and has no result leaves its round unresolved."""
    _session(turn)
    hand = turn.state.hand
    if hand and (hand.launched or hand.closed):
        turn.unresolved(hand, "undecided", hand.landed)
    if not given.locked:
        turn.change(hand=None)
        turn.irregular("session_closed_unlocked")
    turn.change(open=False, hand=None, relaunch=False, countdowns=())
    turn.say(SessionClosed(by=given.by, role=given.role, locked=given.locked))


# Bets, where a person says so


def open_bets(turn: Turn, given: BetsOpen) -> None:
    """Bets open for a new round."""
    _session(turn)
    _person(turn)
    if turn.state.hand:
        raise Rejected(f"round {turn.state.hand.round} is in hand; it has no result yet")
    turn.open_bets(None, by=given.by)


def close_bets(turn: Turn, given: BetsClose) -> None:
    """No more bets: the ball was launched and is about to fall."""
    _session(turn)
    _person(turn)
    if turn.state.hand is None or turn.state.hand.closed:
        raise Rejected("no bets are open")
    turn.close_bets(by=given.by)
    turn.change_hand(launched=True)


# Decisions


def void(turn: Turn, given: RoundVoid) -> None:
    """The spin is null, for a reason that the decree has, or by the word of the person in charge."""
    of = _undecided(turn, given.round, "round.void")
    law = turn.book.void.get(given.reason)
    if law is None and given.reason != "inspector":
        raise Rejected(f"the decree does not make a spin null for {given.reason}; it does for {_or(tuple(turn.book.void))}")
    turn.void(of, given.reason, law or Law(rule="", article=turn.book.article), given)


def confirm(turn: Turn, given: RoundConfirm) -> None:
    """A person stands for the result of a round, or lets the round in hand go on."""
    of = _undecided(turn, given.round, "round.confirm")
    stands = f"{given.by} ({given.role})"
    seen = of.landed if isinstance(of, Hand) else of.candidate
    number = seen if given.number is None else given.number
    if isinstance(of, Hand):
        if not of.asks:
            raise Rejected(f"round {of.round} waits for no decision")
        if of.landed is None:
            if given.number is not None:
                raise Rejected(f"the ball of round {of.round} has not fallen yet")
            turn.change_hand(asks=(), stands=stands)
            return
    if number is None:
        raise Rejected(f"round {of.round} has no candidate: say the number")
    turn.result(of, _pocket(turn, number), confirmed_by=stands)


def correct(turn: Turn, given: ResultCorrect) -> None:
    """A published result was wrong: it is replaced, never erased."""
    entry = turn.state.entry(given.round)
    if entry is None:
        raise Rejected(f"round {given.round} is not among the rounds remembered of this session")
    if entry.number is None:
        raise Rejected(f"round {given.round} is {_OUTCOME[entry.kind]}: it has no result to correct")
    if given.number is None:
        raise Rejected("say the right number")
    number = _pocket(turn, given.number)
    if number == entry.number:
        raise Rejected(f"the result of round {given.round} is {number} already")
    turn.state = turn.state.with_entry(replace(entry, number=number, corrected=True))
    own = chances(number, turn.book)
    turn.say(
        ResultCorrected(
            round=entry.round,
            replaces=None,
            replaces_boot=None,
            number=number,
            was=entry.number,
            colour=own.colour,
            parity=own.parity,
            half=own.half,
            dozen=own.dozen,
            column=own.column,
            by=given.by,
            role=given.role,
        )
    )


# Announcements


def announce_limit(turn: Turn, given: LimitAnnounce) -> None:
    """A new minimum, after the last balls at the old one."""
    _session(turn)
    allowed, law, minimum = turn.book.limit_change, turn.book.laws["limit_change"], turn.state.minimum
    if allowed == "none":
        raise Rejected(f"the minimum of an open table may not change: {law.rule}, {law.article}")
    allow_minimum(given.minimum)
    if minimum == given.minimum:
        raise Rejected(f"the minimum is {minimum} already")
    if allowed == "upward" and (minimum is None or given.minimum < minimum):
        now = "the session was opened without one" if minimum is None else f"it is {minimum}"
        raise Rejected(f"the minimum of an open table may only rise, and {now}: {law.rule}, {law.article}")
    _announce(turn, "limit", given, given.minimum)


def announce_last_rounds(turn: Turn, given: LastRoundsAnnounce) -> None:
    """The last balls before closing."""
    _session(turn)
    _announce(turn, "close", given)


def _announce(turn: Turn, purpose: Purpose, given: Command, minimum: int | None = None) -> None:
    state, left = turn.state, turn.book.last_rounds
    if state.left(purpose) is not None:
        raise Rejected("the last balls are announced already")
    since = state.hand.round if state.hand else state.round + 1
    turn.change(countdowns=(*state.countdowns, Countdown(purpose=purpose, left=left, since=since, minimum=minimum)))
    turn.say(LastRounds(purpose=purpose, left=left, by=given.by, announcement=turn.book.announcements.get("last_rounds")))


# What commands stand on

_OUTCOME = {"result": "decided", "void": "null", "unresolved": "unresolved"}


def _session(turn: Turn) -> None:
    if not turn.state.open:
        raise Rejected("no session is open")


def _person(turn: Turn) -> None:
    if turn.settings.phases == "device":
        raise Rejected("the wheel of this table says itself when bets open and close")


def _undecided(turn: Turn, number: int | None, command: str) -> Hand | Entry:
    """The round that a decision is about: the one in hand, else the one unresolved round, else it must be named."""
    hand, waiting = turn.state.hand, turn.state.unresolved()
    if number is None:
        if hand and (command == "round.void" or hand.asks or not waiting):
            return hand
        if len(waiting) == 1:
            return waiting[0]
        if not waiting:
            raise Rejected("no round is in hand, and none waits for a decision")
        raise Rejected(f"say which round: {_or(tuple(str(entry.round) for entry in waiting))} are unresolved")
    if hand and hand.round == number:
        return hand
    entry = turn.state.entry(number)
    if entry is None:
        raise Rejected(f"round {number} is not among the rounds remembered of this session")
    if entry.kind == "result":
        raise Rejected(f"round {number} has its result; to replace it say result.correct")
    if entry.kind == "void":
        raise Rejected(f"round {number} is null already")
    return entry


def _pocket(turn: Turn, number: Number) -> int:
    if turn.is_pocket(number):
        return number
    raise Rejected(f"the wheel has no number {number}; it has 0 to {turn.book.pockets - 1}")


def _or(words: tuple[str, ...]) -> str:
    return ", ".join(words)
