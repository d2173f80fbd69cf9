"""The output of a table for tests: they know the game, and with it the family."""

from __future__ import annotations

from typing import Any

import msgspec

from common.contract.events import ResultCorrected, RoundResult


def outcome_of(event: RoundResult | ResultCorrected) -> Any:
    """The outcome, of whatever family."""
    return event.outcome


def shown(game: Any, state: Any) -> dict[str, Any]:
    """The retained state of a game, as JSON."""
    told: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(game.view(state).shown))
    return told


def history(play: Any) -> list[Any]:
    """The retained history of a table in play, as JSON."""
    lines = play.game.view(play.state).history()
    return [*msgspec.json.decode(msgspec.json.encode(lines))]
