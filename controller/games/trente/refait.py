"""31-31: the regime of zero at roulette applies, and bets go to prison or are halved."""

from __future__ import annotations

from controller.contract.events import TrenteOutcome
from controller.games.trente.settings import TrenteSettings
from controller.games.trente.state import TrenteEntry, TrenteState
from controller.games.zero import choices


def running(state: TrenteState, number: int | None = None) -> int:
    """How many consecutive refaits end with this round, or with the latest one. A void coup changes
    nothing, nor does a tie.
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
    """The count of consecutive refaits at each remembered one, by its round."""
    return {
        entry.round: running(state, entry.round)
        for entry in state.entries
        if entry.winner == "refait"
    }


def outcome(state: TrenteState, settings: TrenteSettings, entry: TrenteEntry) -> TrenteOutcome:
    """The outcome of a coup with a result: of a refait, how many are consecutive and what may be
    done with the bets placed.
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
