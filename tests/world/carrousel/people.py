"""Two persons of the world who decide and pay, as the statement of a jackpot asks."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from common.contract.topics import Topics, level
from common.people.signed_command import Claims, sign
from tests.support.carrousel.floor import KEYS, PEOPLE
from tests.support.chaos.linked_floor import open_questions
from tests.world.broker.packets import Publish

LOOK_SECONDS = 3.0
"""Time between two looks at what a jackpot asks."""
SECOND_SECONDS = 0.5
"""Time from the first signature to the second."""
SIGNATURE_SECONDS = 60
FIRST, SECOND = "a-riera", "t-vidal"
MAX_ORDERS = 6
"""Orders that they give at once."""
MAX_WAIT_SECONDS = 120.0
"""They let a hit wait so long for the tables, more than most faults last."""


class Payers:
    """``publish`` sends a message; ``now`` is the wall time of their consoles."""

    def __init__(
        self,
        topics: Topics,
        random: Random,
        now: Callable[[], float],
        publish: Callable[[str, bytes], None],
    ) -> None:
        self.states: dict[str, dict[str, Any]] = {}
        """The latest statement of each jackpot."""
        self.awards: dict[str, dict[int, dict[str, Any]]] = {}
        """By jackpot and number, each award that they have seen."""
        self._waiting: dict[tuple[str, int], float] = {}
        """By jackpot and hit, since when they have seen it wait for the tables."""
        self._topics, self._random = topics, random
        self._now, self._publish = now, publish

    def on_message(self, message: Publish) -> None:
        """Handle a statement."""
        if not message.payload:
            return
        state = json.loads(message.payload)
        jackpot = state["jackpot"]
        self.states[jackpot] = state
        awards = self.awards.setdefault(jackpot, {})
        for award in (*state.get("awards", ()), *state.get("last", ())):
            awards[award["award"]] = award

    @property
    def idle(self) -> bool:
        """Whether nothing waits for them."""
        return not any(state.get("awards") or state.get("asks") for state in self.states.values())

    def look(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Return what is to be ordered: jackpot, command and fields."""
        return [
            (jackpot, command, fields)
            for jackpot, state in self.states.items()
            for command, fields in (
                *open_questions(state)[:MAX_ORDERS],
                *self._end_waits(jackpot),
            )
        ]

    def _end_waits(self, jackpot: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the orders that end the wait of hits that have waited for long: a table whose
        clock was ahead has reported an event that is later than all others for an hour.
        """
        now, hits = self._now(), set[int]()
        for award in self.states[jackpot].get("awards", ()):
            if award["status"] == "pending" and award["why"] == "tables":
                hits.add(award["hit"])
                self._waiting.setdefault((jackpot, award["hit"]), now)
        return [
            ("hit.fix", {"hit": hit})
            for hit in sorted(hits)
            if now - self._waiting[jackpot, hit] > MAX_WAIT_SECONDS
        ]

    def sign(self, who: str, jackpot: str, command: str, fields: dict[str, Any]) -> None:
        """Sign an order and send it."""
        now = int(self._now())
        claims = Claims(
            iss=who,
            aud=f"{self._topics.root}/jackpot/{jackpot}",
            iat=now,
            exp=now + SIGNATURE_SECONDS,
            jti=self._random.randbytes(18).hex(),
            command=command,
            role=PEOPLE[who][0],
            fields=fields,
            client="payers",
        )
        topic = self._topics.jackpot(jackpot, f"command/{level(command)}")
        self._publish(topic, sign(KEYS[who].encode(), claims).encode())
