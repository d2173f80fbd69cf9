"""``novamas run`` as a process, with a wheel on a pseudo-terminal and a real Mosquitto."""

from __future__ import annotations

from collections.abc import Callable

from tests.daemon.mosquitto import Mosquitto, Subscriber, until
from tests.daemon.process import Daemon, Wheel, configuration, table

TABLE = "novamas/v1/palma/r1"
NODE = "novamas/v1/palma/node/pit-1"
HEAD = {"by": "M. Lasa", "role": "table_head"}


def spin(wheel: Wheel, heard: Subscriber, number: str, spin: int, old: str = "  ") -> None:
    """One whole spin, each step seen by the table before the next."""
    for state, kind in ((2, "round.opened"), (3, None), (4, "bets.closed"), (5, "round.result")):
        count = len(heard.events(kind))
        wheel.show(state, spin, number if state == 5 else old)
        if kind is not None:
            until(f"{kind} of spin {spin}", lambda c=count, k=kind: len(heard.events(k)) > c, lambda: str(heard.events()))


def test_a_spin_from_the_wire_to_a_subscriber(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Callable[[str], Daemon], subscribe: Callable[..., Subscriber]
) -> None:
    heard = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.start()
    until("the wheel is up", lambda: [e for e in heard.events("device.state") if e["state"] == "up"], made.log)
    heard.say(f"{TABLE}/command/session.open", {**HEAD, "client": "t", "id": 1})
    assert until("reply", lambda: heard.on("/reply/t"), made.log)[0].body == {"id": 1, "ok": True}
    spin(wheel, heard, "17", 2)
    assert heard.events("round.result")[0]["number"] == 17
    until("the result is retained", lambda: (heard.latest("/result") or {}).get("number") == 17)
    assert made.stop() == 0
    assert heard.latest("/status")["status"] == "offline"
