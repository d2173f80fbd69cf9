"""The configurations in docs/integrator/scale.md that forward a floor's messages to headquarters,
including messages published while the line was down.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import nats
import pytest
from nats.js.api import ConsumerConfig, DeliverPolicy, ExternalStream, StreamConfig, StreamSource

from tests.support import contract
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.brokers.nats import Cluster
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("programs")

PAGE = (contract.INTEGRATOR / "scale.md").read_text()
TABLE = "novamas/v1/casino-mayor/ruleta-1"
SUBJECTS = ["novamas.v1.*.*.event", "novamas.v1.*.*.sealed", "novamas.v1.*.node.*.checkpoint"]


def fence(name: str) -> list[str]:
    """The lines of that block of the page."""
    found = re.search(rf"```{name}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def test_a_bridge_of_mosquitto(tmp_path: Path) -> None:
    with ExitStack() as stack:
        there = Mosquitto(tmp_path / "headquarters", "allow_anonymous true")
        stack.callback(there.kill)
        lines = [
            line.replace("headquarters:1883", f"127.0.0.1:{there.port}")
            for line in fence("mosquitto")
        ]
        floor = Mosquitto(tmp_path / "floor", "allow_anonymous true", *lines, "restart_timeout 1 2")
        stack.callback(floor.kill)
        floor.start()
        daemon = Subscriber(floor.port, f"{TABLE}/command/#")
        stack.callback(daemon.close)
        daemon.publish(f"{TABLE}/event", 1)  # headquarters are not there yet
        there.start()
        subscriber = Subscriber(there.port, "novamas/v1/#")
        stack.callback(subscriber.close)
        until("the line is there", lambda: _round_trip(subscriber, daemon), there.log)
        daemon.publish(f"{TABLE}/event", 2)
        daemon.publish(f"{TABLE}/info", "not named")
        daemon.publish(f"{TABLE}/event", 3)
        until("the last event", lambda: subscriber.latest("/event") == 3, floor.log)
        assert [message.body for message in subscriber.on("/event")] in ([1, 2, 3], [2, 3])
        assert subscriber.on("/info") == []
        subscriber.publish(f"{TABLE}/command/round-void", {})
        subscriber.publish(f"{TABLE}/command/recall", "last")
        until("the last command", lambda: daemon.latest("/recall") == "last", floor.log)
        assert daemon.on("/round-void") == []


def _round_trip(subscriber: Subscriber, daemon: Subscriber) -> bool:
    subscriber.publish(f"{TABLE}/command/recall", "first")
    return bool(daemon.on("/recall"))


@pytest.mark.parametrize("away", [False, True], ids=["line", "no-line"])
async def test_a_leaf_node_of_nats(tmp_path: Path, away: bool) -> None:
    with ExitStack() as stack:
        there = Cluster(tmp_path / "there", stack, size=1, name="headquarters")
        door = f"127.0.0.1:{there.nodes[0].ports['leaf']}"
        there.configure(fence("headquarters"), {"0.0.0.0:7422": door})
        floor = Cluster(tmp_path / "floor", stack, size=1, name="floor")
        floor.configure(fence("floor"), {"headquarters:7422": door})
        floor.start()
        here = await nats.connect(floor.nats[0])
        kept = StreamConfig(name="EVENTS", subjects=SUBJECTS)
        await here.jetstream().add_stream(kept)
        daemon = Subscriber(0, f"{TABLE}/reply/x", nodes=[_at(floor)], v5=False)
        stack.callback(daemon.close)
        if away:
            daemon.publish(f"{TABLE}/event", 1)
        there.start()
        hq = await nats.connect(there.nats[0])
        js = hq.jetstream()
        external = ExternalStream(api="$JS.casino-mayor.API")
        source = StreamSource(name="EVENTS", external=external)
        await js.add_stream(StreamConfig(name="CASINO_MAYOR", sources=[source]))
        for number in (2, 3):
            daemon.publish(f"{TABLE}/event", number)
        every = ConsumerConfig(deliver_policy=DeliverPolicy.ALL)
        subscriber = await js.subscribe(
            "novamas.v1.casino-mayor.*.event", stream="CASINO_MAYOR", config=every
        )
        wanted = [1, 2, 3] if away else [2, 3]
        assert [int((await subscriber.next_msg(60)).data) for _ in wanted] == wanted
        await hq.close()
        await here.close()


def _at(cluster: Cluster) -> tuple[str, int]:
    return cluster.nodes[0].address, cluster.nodes[0].ports["mqtt"]
