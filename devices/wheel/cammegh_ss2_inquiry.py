"""One reading of all parameters of a Slingshot 2: what to request next, and what was answered."""

from __future__ import annotations

from typing import NamedTuple

from devices.wheel.cammegh_ss2_parameters import PARAMETERS

MAX_REQUESTS = 4
"""Maximum requests for one parameter in one reading."""
ANSWER_SECONDS = 2.0
"""Time after the last request in which answers may still come. The public dump has 0.1 to 0.2 s."""


class AcceptedValue(NamedTuple):
    """A value of a parameter. None: the wheel did not answer."""

    name: str
    value: str | None


class ParameterInquiry:
    """Requests every parameter until it is answered, at most :data:`MAX_REQUESTS` times each.

    ``twice``: a value must be received twice, since nothing protects the line against a flipped
    bit.
    """

    def __init__(self, *, twice: bool) -> None:
        self._twice = twice
        self._requests = dict.fromkeys(PARAMETERS, 0)
        self._received: dict[str, str] = {}
        self._last_request = float("-inf")

    @property
    def is_over(self) -> bool:
        """Whether every parameter was answered or given up."""
        return not self._requests

    def request(self, now: float) -> bytes:
        """Return the next request; empty: none. A value that waits to be confirmed is first, then
        the parameter with the fewest requests.
        """
        due = [name for name, count in self._requests.items() if count < MAX_REQUESTS]
        if not due:
            return b""
        name = min(due, key=lambda each: (each not in self._received, self._requests[each]))
        self._requests[name] += 1
        self._last_request = now
        return PARAMETERS[name].request

    def expects(self, name: str) -> bool:
        """Whether a reply with this parameter is still needed."""
        return name in self._requests

    def on_reply(self, name: str, value: str) -> AcceptedValue | None:
        """Handle an expected reply, in any order. Return the value once it is accepted."""
        if self._twice and self._received.get(name) != value:
            self._received[name] = value
            return None
        return self._close(name, value)

    def give_up(self, now: float) -> list[AcceptedValue]:
        """Return the parameters that were not answered, when nothing more can be expected."""
        waiting = now - self._last_request < ANSWER_SECONDS
        if waiting or any(count < MAX_REQUESTS for count in self._requests.values()):
            return []
        return [self._close(name, None) for name in [*self._requests]]

    def _close(self, name: str, value: str | None) -> AcceptedValue:
        del self._requests[name]
        self._received.pop(name, None)
        return AcceptedValue(name, value)
