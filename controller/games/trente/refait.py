"""31-31: the regime of zero at roulette applies, and bets go to prison or are halved."""

from __future__ import annotations

from common.contract.events import TrenteOutcome
from controller.games.trente.settings import TrenteSettings
from controller.games.trente.state import TrenteEntry, TrenteState
from controller.games.zero import choices


def running(state: TrenteState, number: int | None = None) -> int:
    """The count of consecutive refaits that ends with this round, or with the latest one. Void
    coups and ties change nothing.
    """
    count = 0
    for entry in reversed(state.entries):
        if (
            (number is None or entry.round <= number)
            and entry.kind == "result"
            and entry.winner != "tie"
        ):
            if entry.winner != "refait":
                break
            count += 1
    return count


def counts(state: TrenteState) -> dict[int, int]:
    """The count of consecutive refaits at each remembered one, by round."""
    return {
        entry.round: running(state, entry.round)
        for entry in state.entries
        if entry.winner == "refait"
    }


def outcome(state: TrenteState, settings: TrenteSettings, entry: TrenteEntry) -> TrenteOutcome:
    """The outcome of a coup with a result; of a refait, the count of consecutive ones and the
    choices for the bets.
    """
    assert entry.winner is not None
    is_refait = entry.winner == "refait"
    return TrenteOutcome(
        winner=entry.winner,
        hands=entry.hands,
        marks=entry.marks,
        refaits=running(state, entry.round) if is_refait else 0,
        choices=choices(settings.refait, last_of_session=entry.last) if is_refait else (),
        last_of_session=entry.last,
    )
