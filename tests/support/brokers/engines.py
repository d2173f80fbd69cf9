"""The engines that the suite runs against, each as it is to be set up: docs/integrator/scale.md."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support.brokers.mosquitto import Mosquitto
from tests.support.brokers.nats import ALERT, MANY, ORDERED, Cluster
from tests.support.brokers.network import Network
from tests.support.brokers.rabbitmq import RabbitCluster
from tests.world.broker.broker import Broker, Limits
from tests.world.broker.served import ServedBroker

REPEATED = 10.0
"""Seconds after which the daemon says its retained topics again, for wildcards at RabbitMQ."""


class Engine:
    """A broker that runs. ``nodes``: host and port of each door; ``settings``: the daemon's
    configuration for it.
    """

    settings = ""
    wildcards_retained = True
    refuses_spaces = False

    def __init__(self, urls: list[str]) -> None:
        self.urls = urls
        self.nodes = [(str(url.hostname), int(url.port or 0)) for url in map(urlsplit, urls)]
        self.port = self.nodes[0][1]

    @property
    def url(self) -> str:
        """As the configuration has it: all nodes."""
        return "mqtt://" + ",".join(url.removeprefix("mqtt://") for url in self.urls)

    @property
    def hears(self) -> dict[str, Any]:
        """How a subscriber connects: to the last node first, which is not the daemon's."""
        return {"nodes": self.nodes[::-1], "v5": False}

    def start(self) -> None:
        raise NotImplementedError

    def kill(self) -> None:
        raise NotImplementedError

    def lose(self) -> None:
        """Kill the first node, which daemons have; where there is one alone, that."""
        self.kill()

    def regain(self) -> None:
        """Start it again."""
        self.start()

    def signal(self, number: signal.Signals) -> None:
        """To every node."""
        raise NotImplementedError

    def log(self) -> str:
        raise NotImplementedError

    def processes(self) -> list[int]:
        """The numbers of its processes."""
        raise NotImplementedError


class OfMosquitto(Engine):
    """One Mosquitto, which speaks MQTT 5. It drops nothing for who is away."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.broker = Mosquitto(folder, "allow_anonymous true", "max_queued_messages 0")
        stack.callback(self.broker.kill)
        self.broker.start()
        super().__init__([f"mqtt://127.0.0.1:{self.broker.port}"])

    def start(self) -> None:
        self.broker.start()

    def kill(self) -> None:
        self.broker.kill()

    def signal(self, number: signal.Signals) -> None:
        self.broker.signal(number)

    def log(self) -> str:
        return self.broker.log()

    def processes(self) -> list[int]:
        assert self.broker.process is not None
        return [self.broker.process.pid]


class OfCluster(Engine):
    """Several nodes, of which the first may be lost."""

    def __init__(self, cluster: Cluster | RabbitCluster) -> None:
        self.cluster = cluster
        self.cluster.start()
        super().__init__(self.cluster.mqtt)

    def start(self) -> None:
        self.cluster.start()

    def kill(self) -> None:
        self.cluster.close()

    def lose(self) -> None:
        self.cluster.kill(0)

    def regain(self) -> None:
        self.cluster.start(0)

    def signal(self, number: signal.Signals) -> None:
        for node in range(len(self.nodes)):
            (self.cluster.freeze if number == signal.SIGSTOP else self.cluster.thaw)(node)

    def log(self) -> str:
        return self.cluster.log()

    def processes(self) -> list[int]:
        return [pid for node in self.cluster.nodes if node.program for pid in node.program.pids()]


class OfNats(OfCluster):
    """Three nodes of NATS. With ``apart`` each node is a separate host and can be cut off."""

    cluster: Cluster
    settings = 'protocol = "3.1.1"'
    refuses_spaces = True

    def __init__(
        self,
        folder: Path,
        stack: ExitStack,
        *,
        size: int = 3,
        apart: bool = False,
        door: str = ORDERED,
        settings: str = "",
    ) -> None:
        network = Network(stack) if apart else None
        super().__init__(
            Cluster(
                folder,
                stack,
                size=size,
                network=network,
                mqtt=door,
                settings=ALERT,
                jetstream=settings,
            )
        )


class OfRabbit(OfCluster):
    """Nodes of RabbitMQ."""

    settings = 'protocol = "3.1.1"\nwildcards_retained = false'
    wildcards_retained = False

    def __init__(self, folder: Path, stack: ExitStack, *, size: int = 3) -> None:
        super().__init__(RabbitCluster(folder, stack, size=size))


class OfWorld(Engine):
    """The broker of the simulated world, in a thread of this process: as the Mosquitto above."""

    def __init__(self, _folder: Path, stack: ExitStack) -> None:
        self.broker = ServedBroker(Broker(Limits(max_queued=0)))
        stack.callback(self.broker.close)
        self.broker.start()
        super().__init__([f"mqtt://127.0.0.1:{self.broker.port}"])

    def start(self) -> None:
        self.broker.start()

    def kill(self) -> None:
        self.broker.kill()

    def signal(self, number: signal.Signals) -> None:
        (self.broker.freeze if number == signal.SIGSTOP else self.broker.thaw)()

    def log(self) -> str:
        return "the broker of the simulated world logs nothing"

    def processes(self) -> list[int]:
        return []


def of_nats_for_many(folder: Path, stack: ExitStack) -> OfNats:
    """For sessions of many subscriptions."""
    return OfNats(folder, stack, door=MANY)


ENGINES: Mapping[str, Callable[[Path, ExitStack], Engine]] = {
    "mosquitto": OfMosquitto,
    "nats": OfNats,
    "rabbitmq": OfRabbit,
    "world": OfWorld,
}
FOR_OUR_OWN = {**ENGINES, "nats": of_nats_for_many}
"""For the project's consumers."""
LONG_ALONE = ("rabbitmq",)
"""Those that take long to start."""
