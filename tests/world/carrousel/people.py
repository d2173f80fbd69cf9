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
            for command, fields in open_questions(state)[:MAX_ORDERS]
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
