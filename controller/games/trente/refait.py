"""31-31: the regime of zero at roulette holds, and bets lie in prison or are halved."""

from __future__ import annotations

from typing import Any

from controller.games.trente.settings import TrenteSettings
from controller.games.trente.state import TrenteEntry, TrenteState
from controller.games.zero import choices


def running(state: TrenteState, number: int | None = None) -> int:
    """How many refaits running end with this round, or with the latest one. A null coup changes
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
    """How many refaits running each remembered one was, by its round."""
    return {
        entry.round: running(state, entry.round)
        for entry in state.entries
        if entry.winner == "refait"
    }


def told(state: TrenteState, settings: TrenteSettings, entry: TrenteEntry) -> dict[str, Any]:
    """What a result tells of it: how many running, whether the hand was the last of the session,
    and what may be done with the bets that lie. None running: it was no refait.
    """
    if entry.winner != "refait":
        return {"refaits": 0, "last_of_session": entry.last, "choices": ()}
    may = choices(settings.refait, last_of_session=entry.last)
    return {"refaits": running(state, entry.round), "last_of_session": entry.last, "choices": may}
