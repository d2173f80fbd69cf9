"""A cluster of real NATS servers with JetStream and the MQTT door, as many nodes as wanted."""

from __future__ import annotations

import json
import signal
import socket
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.brokers.mosquitto import free_port
from tests.support.brokers.network import Host, Network, Program
from tests.support.waiting import until

PROGRAM = Path(sys.executable).parent / "nats-server"
ELECTION = 60.0
"""Seconds that a cluster of three may take to be one again: NATS waits for up to nine until it
elects, and may have to do so more than once.
"""


def connect_packet(client: str, keepalive: int = 5) -> bytes:
    """A CONNECT of MQTT 3.1.1, with a clean session."""
    rest = b"\0\4MQTT\4\2" + keepalive.to_bytes(2) + len(client).to_bytes(2) + client.encode()
    return b"\x10" + bytes((len(rest),)) + rest


CONNECT = connect_packet("probe")
CONNACK = bytes.fromhex("20 02 00 00")


ALERT = ('ping_interval: "2s"', "ping_max: 2")
"""Of each node: an unresponsive connection is closed after some seconds."""
ALWAYS = "sync_interval: always"
"""Of JetStream: what is acknowledged is on the disk."""
ORDERED = "max_ack_pending: 1, ack_wait: 2s"
"""Of the MQTT gateway: a session gets its next message after acknowledging the previous one, so
that none overtakes another when its connection is lost. For sessions of one subscription alone:
what comes on another meanwhile waits for ``ack_wait``.
"""
MANY = "max_ack_pending: 100, ack_wait: 2s"
"""For sessions of many subscriptions, as that of the recorder, which ask for what they miss."""


class Node:
    """One server. ``nats``, ``mqtt``: the addresses of its doors."""

    def __init__(self, name: str, folder: Path, host: Host | None) -> None:
        self.name, self.folder, self.host = name, folder, host
        self.address = "127.0.0.1" if host is None else host.address
        self.ports = {door: free_port() for door in ("client", "cluster", "http", "mqtt", "leaf")}
        self.nats = f"nats://{self.address}:{self.ports['client']}"
        self.mqtt = f"mqtt://{self.address}:{self.ports['mqtt']}"
        self.program: Program | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def asks(self, page: str) -> Any:
        """A page of its monitoring; None while it cannot be had."""
        url = f"http://{self.address}:{self.ports['http']}/{page}"
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                return json.load(answer)
        except OSError:
            return None

    def lets_mqtt_in(self) -> bool:
        """Whether a client of MQTT is let in: then its sessions and retained messages have a
        leader.
        """
        try:
            with socket.create_connection((self.address, self.ports["mqtt"]), 2) as door:
                door.sendall(CONNECT)
                return door.recv(4) == CONNACK
        except OSError:
            return False


class Cluster:
    """``start()`` starts all nodes and waits until they are one. A node has a number from 0.

    ``network``: each node is a separate host and can be cut off; without it all are on the
    loopback. ``settings``: more lines of each node's configuration; ``mqtt``: more of its MQTT
    door's, ``jetstream`` of that.
    """

    def __init__(
        self,
        folder: Path,
        stack: ExitStack,
        *,
        size: int = 3,
        network: Network | None = None,
        settings: Sequence[str] = (),
        mqtt: str = "",
        jetstream: str = "",
        name: str = "floor",
    ) -> None:
        assert PROGRAM.exists(), f"{PROGRAM.name} is missing: make .venv/installed-dev installs it"
        self.name, self._network, self._settings = name, network, tuple(settings)
        self._door, self._jetstream = mqtt, jetstream and f"{jetstream},"
        self.nodes = [
            Node(f"{name}-{number}", folder / f"{name}-{number}", host)
            for number in range(size)
            for host in (network.host(f"{name}-{number}") if network else None,)
        ]
        stack.callback(self.close)

    @property
    def nats(self) -> list[str]:
        """Addresses for a client of NATS: ``nats.connect(servers=cluster.nats)``."""
        return [node.nats for node in self.nodes]

    @property
    def mqtt(self) -> list[str]:
        """Addresses for a client of MQTT 3.1.1."""
        return [node.mqtt for node in self.nodes]

    def configure(self, lines: Sequence[str], addresses: Mapping[str, str]) -> None:
        """Append these lines, with other addresses; a block ``jetstream`` in them gets the node's
        store.
        """
        for ours in lines:
            line = ours
            for there, here in addresses.items():
                line = line.replace(there, here)
            if line.startswith("jetstream {"):
                self._jetstream = line.removeprefix("jetstream {").removesuffix("}").strip() + ","
            else:
                self._settings = (*self._settings, line)

    def start(self, *numbers: int) -> None:
        """Start all nodes, or these, and wait until they and those that run are one cluster."""
        for number in numbers or range(len(self.nodes)):
            self.launch(number)
        self.until_whole()

    def launch(self, number: int) -> None:
        """Start a node that does not run, and wait for nothing."""
        node = self.nodes[number]
        assert node.program is None, f"{node.name} runs already"
        file = node.folder / "nats.conf"
        file.write_text(self._configuration(node))
        node.program = Program(node.host, [str(PROGRAM), "-c", str(file)], node.folder)

    def kill(self, number: int) -> None:
        """End a node as a power cut of the machine does, but for what the disk had not yet."""
        node = self.nodes[number]
        if node.program is not None:
            node.program.kill()
            node.program = None

    def freeze(self, number: int) -> None:
        """Freeze the node; its connections stay open."""
        self._signal(number, signal.SIGSTOP)

    def thaw(self, number: int) -> None:
        self._signal(number, signal.SIGCONT)

    def partition(self, *numbers: int) -> None:
        """These nodes are cut off from the others and from every client, in silence. Needs a
        network; the other nodes stay connected to each other.
        """
        assert self._network is not None, "a cluster on the loopback cannot be cut: give a network"
        self._network.cut_off(*(self.nodes[number].name for number in numbers))

    def heal(self, *numbers: int) -> None:
        """These nodes are back among the others."""
        assert self._network is not None
        self._network.join(*(self.nodes[number].name for number in numbers))

    def until_whole(self) -> None:
        """Wait until all nodes that run name one leader, are current, and let clients of MQTT in.
        All of them have to run unfrozen and joined.
        """
        running = [node for node in self.nodes if node.program is not None]
        for node in running:
            until(f"{node.name} is current", partial(self._current, node), self.log, ELECTION)
        until("they name one leader", self._agree, self.log, ELECTION)
        for node in running:
            until(f"{node.name} lets MQTT in", node.lets_mqtt_in, self.log, ELECTION)

    def leader(self) -> int | None:
        """The number of the node that leads the cluster, as most nodes say; None if there is no
        leader.
        """
        return self._numbered(self._most(self._told("jsz", "meta_cluster")))

    def stream_leader(self, stream: str, account: str = "$G") -> int | None:
        """The number of the node that leads a stream, as most nodes say: ``KV_leases``,
        ``$MQTT_msgs``.
        """
        page = f"jsz?acc={account}&streams=true"
        told = (node.asks(page) for node in self.nodes if node.program)
        accounts = (((each or {}).get("account_details") or [{}])[0] for each in told)
        named = (
            (each.get("cluster") or {}).get("leader")
            for account_of_node in accounts
            for each in account_of_node.get("stream_detail") or []
            if each["name"] == stream
        )
        return self._numbered(self._most(list(named)))

    def log(self) -> str:
        """The log of all nodes."""
        return "\n".join(
            f"{node.name}\n{said.read_text(errors='replace')}"
            for node in self.nodes
            if (said := node.folder / "said.log").exists()
        )

    def close(self) -> None:
        for number in range(len(self.nodes)):
            self.kill(number)

    def _configuration(self, node: Node) -> str:
        doors = {door: f'"{node.address}:{port}"' for door, port in node.ports.items()}
        routes = ", ".join(f"nats://{each.address}:{each.ports['cluster']}" for each in self.nodes)
        others = (
            f'cluster {{ name: "{self.name}", listen: {doors["cluster"]}, routes: [{routes}] }}'
        )
        lines = (
            f'server_name: "{node.name}"',
            f"listen: {doors['client']}",
            f"http: {doors['http']}",
            f'jetstream {{ {self._jetstream} store_dir: "{node.folder}" }}',
            f"mqtt {{ listen: {doors['mqtt']}, {self._door} }}",
            *([others] if len(self.nodes) > 1 else []),
            *self._settings,
        )
        return "\n".join(lines) + "\n"

    def _signal(self, number: int, which: signal.Signals) -> None:
        program = self.nodes[number].program
        assert program is not None
        program.signal(which)

    def _current(self, node: Node) -> bool:
        assert node.program is not None
        assert node.program.runs(), node.program.log()
        return bool((node.asks("healthz") or {}).get("status") == "ok")

    def _agree(self) -> bool:
        named = set(self._told("jsz", "meta_cluster"))
        return len(self.nodes) == 1 or (len(named) == 1 and None not in named)

    def _told(self, page: str, section: str) -> list[Any]:
        told = (node.asks(page) for node in self.nodes if node.program)
        return [((each or {}).get(section) or {}).get("leader") for each in told]

    def _most(self, said: Sequence[str | None]) -> str | None:
        """What more than half of all nodes say."""
        return next((name for name in said if said.count(name) > len(self.nodes) / 2), None)

    def _numbered(self, name: str | None) -> int | None:
        names = [node.name for node in self.nodes]
        return None if name is None else names.index(name)
