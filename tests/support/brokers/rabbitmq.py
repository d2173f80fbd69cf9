"""Real RabbitMQ nodes with the MQTT plugin, one or a cluster. Erlang takes some seconds to start:
they are for the long form.
"""

from __future__ import annotations

import signal
import socket
import subprocess
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.support.brokers.mosquitto import free_port
from tests.support.brokers.nats import CONNACK, CONNECT
from tests.support.brokers.network import Program
from tests.support.waiting import until

FOLDER = Path("/usr/lib/rabbitmq/bin")
STARTING = 180.0
"""Seconds that three nodes of Erlang may take on a busy machine."""
SCHEDULERS = "+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none"
"""One thread each, which sleeps when there is nothing to do: three nodes share this machine."""


class Rabbit:
    """One node. ``mqtt``: the address of its door."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = f"{name}@localhost", folder
        self.ports = {door: free_port() for door in ("amqp", "mqtt", "between")}
        self.mqtt = f"mqtt://127.0.0.1:{self.ports['mqtt']}"
        self.program: Program | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def lets_mqtt_in(self) -> bool:
        """Whether a client of MQTT is let in."""
        try:
            with socket.create_connection(("127.0.0.1", self.ports["mqtt"]), 2) as door:
                door.sendall(CONNECT)
                return door.recv(4) == CONNACK
        except OSError:
            return False


def answers(port: int) -> bool:
    """Whether a port of the loopback has a listener."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class RabbitCluster:
    """``start()`` starts all nodes and waits until each lets clients of MQTT in. Sessions are
    quorum queues where there is more than one node.
    """

    def __init__(self, folder: Path, stack: ExitStack, *, size: int = 3) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._names = folder, free_port()
        (folder / ".erlang.cookie").write_text("tests")
        (folder / ".erlang.cookie").chmod(0o400)
        self.nodes = [
            Rabbit(f"rabbit{number}", folder / f"rabbit{number}") for number in range(size)
        ]
        # started here, before a node starts one that outlives the test
        names = ["epmd", "-port", str(self._names)]
        epmd = subprocess.Popen(names, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(epmd.wait)
        stack.callback(epmd.kill)
        until("epmd listens", lambda: answers(self._names), lambda: str(epmd.poll()))
        stack.callback(self.close)

    @property
    def mqtt(self) -> list[str]:
        """Addresses for a client of MQTT 3.1.1."""
        return [node.mqtt for node in self.nodes]

    def start(self, *numbers: int) -> None:
        """Start all nodes, or these."""
        for number in numbers or range(len(self.nodes)):
            node = self.nodes[number]
            assert node.program is None, f"{node.name} runs already"
            node.program = Program(
                None, [str(FOLDER / "rabbitmq-server")], node.folder, self._environment(node)
            )
            if number == 0:  # the others find a cluster that they can join
                until(f"{node.name} lets MQTT in", partial(self._up, node), self.log, STARTING)
        for number in numbers or range(len(self.nodes)):
            node = self.nodes[number]
            until(f"{node.name} lets MQTT in", partial(self._up, node), self.log, STARTING)

    def ask(self, number: int, *words: str) -> str:
        """What ``rabbitmqctl`` answers at a node."""
        command = [str(FOLDER / "rabbitmqctl"), "--quiet", *words]
        environment = self._environment(self.nodes[number])
        asked = ["env", *(f"{key}={value}" for key, value in environment.items()), *command]
        return subprocess.run(
            asked, cwd=self._folder, capture_output=True, text=True, check=True
        ).stdout

    def kill(self, number: int) -> None:
        node = self.nodes[number]
        if node.program is not None:
            node.program.kill()
            node.program = None

    def freeze(self, number: int) -> None:
        self._signal(number, signal.SIGSTOP)

    def thaw(self, number: int) -> None:
        self._signal(number, signal.SIGCONT)

    def log(self) -> str:
        """The log of all nodes."""
        return "\n".join(
            said.read_text(errors="replace")[-4000:]
            for node in self.nodes
            if (said := node.folder / "said.log").exists()
        )

    def close(self) -> None:
        for number in range(len(self.nodes)):
            self.kill(number)

    def _signal(self, number: int, which: signal.Signals) -> None:
        program = self.nodes[number].program
        assert program is not None
        program.signal(which)

    @staticmethod
    def _up(node: Rabbit) -> bool:
        assert node.program is not None
        assert node.program.runs(), node.program.log()
        return node.lets_mqtt_in()

    def _environment(self, node: Rabbit) -> dict[str, str]:
        lines = [
            "log.console = true",
            "log.console.level = warning",
            "log.file = false",
            f"listeners.tcp.default = 127.0.0.1:{node.ports['amqp']}",
            f"mqtt.listeners.tcp.default = 127.0.0.1:{node.ports['mqtt']}",
            "mqtt.allow_anonymous = true",
            "disk_free_limit.absolute = 50MB",
            "cluster_formation.peer_discovery_backend = classic_config",
            "cluster_formation.discovery_retry_limit = 120",
        ]
        if len(self.nodes) > 1:
            lines += [
                f"cluster_formation.classic_config.nodes.{number} = {each.name}"
                for number, each in enumerate(self.nodes, 1)
            ]
            lines += ["mqtt.durable_queue_type = quorum"]
        (node.folder / "rabbitmq.conf").write_text("\n".join(lines) + "\n")
        (node.folder / "plugins").write_text("[rabbitmq_mqtt].\n")
        return {
            "HOME": str(self._folder),
            "ERL_EPMD_PORT": str(self._names),
            "RABBITMQ_NODENAME": node.name,
            "RABBITMQ_CONFIG_FILE": str(node.folder / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(node.folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(node.folder),
            "RABBITMQ_LOG_BASE": str(node.folder),
            "RABBITMQ_DIST_PORT": str(node.ports["between"]),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": SCHEDULERS,
        }
