"""What each kind of client may read and write at the broker: one table, written as rules for
Mosquitto, NATS and RabbitMQ.

It needs no trust in what a message says: a client that may not write ``command`` cannot command,
and one that may not read ``sealed`` does not get it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

from controller.contract.topics import Topics

Kind = Literal["daemon", "display", "console", "surveillance", "carrousel", "integrator"]
"""``daemon``: one ``novamas run``. ``display``: a screen for everybody. ``console``: where people
give commands. ``surveillance``: who alone may read what is sealed. ``carrousel``: a jackpot
controller. ``integrator``: any other program of the house.
"""
KINDS: tuple[Kind, ...] = get_args(Kind)

OUTCOMES = ("event", "info", "state", "result")
RETAINED = ("history", "shoe", "alert/+")
TABLE = (*OUTCOMES, *RETAINED)
CLAIM = "claim"
NODE = ("status", CLAIM, "health", "checkpoint")
SHOWN = ("status", "checkpoint")
JACKPOT = ("state", "alert/+")


class Access(msgspec.Struct, frozen=True):
    """What one kind of client may do, as leaves of its topics: of tables, of daemons, of jackpots.

    ``own_node``: what it writes below its own node, that of the recorder or of the controller of
    the jackpots; ``own``: whether
    it may read ``reply/<its user name>`` of tables; ``own_jackpot``: of jackpots.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    node_read: tuple[str, ...] = ()
    node_write: tuple[str, ...] = ()
    jackpot_read: tuple[str, ...] = ()
    jackpot_write: tuple[str, ...] = ()
    own_node: tuple[str, ...] = ()
    own: bool = False
    own_jackpot: bool = False


RECALL = "command/recall"
ACCESS: Mapping[Kind, Access] = {
    "daemon": Access(
        # to put right what others forge, and to see that what is published arrives
        read=("command/+", *TABLE, "sealed", "reply/+"),
        write=(*TABLE, "sealed", "reply/+"),
        node_read=("status", "health", "checkpoint"),  # and the claims of all daemons
        node_write=NODE,
        jackpot_read=("state",),
    ),
    "display": Access(read=TABLE, node_read=SHOWN, jackpot_read=JACKPOT),
    "console": Access(
        read=TABLE,
        write=("command/+",),
        node_read=(*SHOWN, "alert/+"),
        jackpot_read=JACKPOT,
        jackpot_write=("command/+",),
        own=True,
        own_jackpot=True,
    ),
    "surveillance": Access(
        read=(*TABLE, "sealed", "reply/+"),
        write=(RECALL,),
        node_read=(*NODE, "alert/+"),
        jackpot_read=(*JACKPOT, "reply/+"),
        own_node=("status", "alert/+"),
    ),
    "carrousel": Access(
        read=OUTCOMES,
        write=(RECALL,),
        node_read=("status", "health"),
        jackpot_read=("command/+", *JACKPOT),
        jackpot_write=(*JACKPOT, "reply/+"),
        own_node=SHOWN,
        own=True,
    ),
    "integrator": Access(
        read=TABLE,
        write=(RECALL,),
        node_read=(*NODE, "alert/+"),
        jackpot_read=JACKPOT,
        own=True,
    ),
}


class Client(msgspec.Struct, frozen=True):
    """One user of the broker, and what it may do, as topic filters."""

    user: str
    kind: Kind
    read: tuple[str, ...]
    write: tuple[str, ...]


class Floor(msgspec.Struct, frozen=True):
    """What the rules depend on, from the configuration."""

    site: str
    node: str
    tables: tuple[tuple[str, bool], ...]
    """Each table, and whether it is simulated."""
    response_topics: tuple[str, ...] = ()
    jackpots: tuple[tuple[str, bool], ...] = ()
    """Each jackpot that a table is linked with, and whether the table is simulated."""
    carrousel: str = "carrousel"
    """The node of the controller of the jackpots."""
    recorder: str = "surveillance"
    """The node of the recorder."""


def client(kind: Kind, user: str, floor: Floor) -> Client:
    """What this user may do. The daemon is kept to its own tables; the others read every table of
    the site, those of other daemons too, real and simulated: which kinds there are, one daemon's
    configuration does not say, and the recorder says its status among the real ones in any case.
    """
    access = ACCESS[kind]
    kinds = {simulated for _, simulated in floor.tables} if kind == "daemon" else {False, True}
    roots = [Topics(floor.site, simulated) for simulated in sorted(kinds)]
    jackpots = [(root, "+") for root in roots]
    if kind == "daemon":
        jackpots = [
            (Topics(floor.site, sim), jackpot) for jackpot, sim in sorted({*floor.jackpots})
        ]
        tables = [(Topics(floor.site, simulated), table) for table, simulated in floor.tables]
        nodes = [Topics(floor.site, all(simulated for _, simulated in floor.tables))]
        node = floor.node
    else:
        tables, nodes, node = [(root, "+") for root in roots], roots, "+"
    reads = (*access.read, *([f"reply/{user}"] if access.own else []))
    jackpot_reads = (*access.jackpot_read, *([f"reply/{user}"] if access.own_jackpot else []))
    # who has a table that two daemons serve
    claims = [root.node("+", CLAIM) for root in roots] if kind == "daemon" else []
    claim = [root.node(node, CLAIM) for root in roots if root not in nodes]
    # not that of any daemon
    speaker = floor.recorder if kind == "surveillance" else floor.carrousel
    spoken = [root.node(speaker, leaf) for root in roots for leaf in access.own_node]
    answers = [f"{prefix}/#" for prefix in floor.response_topics] if kind == "daemon" else []
    return Client(
        user,
        kind,
        read=(
            *(root.table(table, leaf) for root, table in tables for leaf in reads),
            *(root.node(node, leaf) for root in nodes for leaf in access.node_read),
            *claims,
            *(root.jackpot(jackpot, leaf) for root, jackpot in jackpots for leaf in jackpot_reads),
        ),
        write=(
            *(root.table(table, leaf) for root, table in tables for leaf in access.write),
            *(root.node(node, leaf) for root in nodes for leaf in access.node_write),
            *claim,
            *spoken,
            *answers,
            *(
                root.jackpot(jackpot, leaf)
                for root, jackpot in jackpots
                for leaf in access.jackpot_write
            ),
        ),
    )


def mosquitto(clients: Iterable[Client]) -> str:
    """An ``acl_file`` of Mosquitto. Whoever is not in it may do nothing."""
    blocks = []
    for each in clients:
        lines = [f"# {each.kind}", f"user {each.user}"]
        both = [topic for topic in each.read if topic in each.write]
        lines += [f"topic readwrite {topic}" for topic in both]
        lines += [f"topic read {topic}" for topic in each.read if topic not in both]
        lines += [f"topic write {topic}" for topic in each.write if topic not in both]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def mosquitto_dynamic(clients: Iterable[Client]) -> dict[str, Any]:
    """The file of Mosquitto's dynamic security plugin, with a role for each user. Nobody has a
    password yet: ``mosquitto_ctrl dynsec setClientPassword`` gives one.
    """
    listed = list(clients)
    return {
        "defaultACLAccess": {
            "publishClientSend": False,
            "publishClientReceive": False,
            "subscribe": False,
            "unsubscribe": True,
        },
        "clients": [{"username": each.user, "roles": [{"rolename": each.user}]} for each in listed],
        "groups": [],
        "roles": [
            {
                "rolename": each.user,
                "acls": [
                    {"acltype": kind, "topic": topic, "priority": 0, "allow": True}
                    for kind, topics in (
                        ("subscribePattern", each.read),
                        ("publishClientReceive", each.read),
                        ("publishClientSend", each.write),
                    )
                    for topic in topics
                ],
            }
            for each in listed
        ],
    }


def nats(clients: Iterable[Client]) -> str:
    """The ``authorization`` block of a NATS server with MQTT. The passwords are variables of the
    server's environment. Each user may connect over MQTT only.
    """
    users = []
    for each in clients:
        password = "NOVAMAS_" + re.sub(r"[^A-Z0-9]", "_", each.user.upper())
        allowed = {
            "subscribe": ["$MQTT.sub.>", *map(_subject, each.read)],  # the former for QoS 1
            "publish": [_subject(topic) for topic in each.write],
        }
        users += [
            f"    {{ # {each.kind}",
            f'      user: "{each.user}"',
            f"      password: ${password}",
            '      allowed_connection_types: ["MQTT"]',
            "      permissions: {",
            *(line for name, subjects in allowed.items() for line in _permission(name, subjects)),
            "      }",
            "    }",
        ]
    return "\n".join(["authorization {", "  users: [", *users, "  ]", "}", ""])


def _permission(name: str, subjects: list[str]) -> list[str]:
    """An empty list would allow everything."""
    if not subjects:
        return [f'        {name}: {{ deny: [">"] }}']
    listed = [f'          "{subject}"' for subject in subjects]
    return [f"        {name}: {{ allow: [", *listed, "        ] }"]


def rabbitmq(clients: Iterable[Client], vhost: str = "/") -> dict[str, Any]:
    """Definitions of RabbitMQ, for ``rabbitmqctl import_definitions``: what each user may do with
    its own MQTT queues and, by topic, at the exchange ``amq.topic``. Users are not in it.
    """
    listed = list(clients)
    return {
        "permissions": [
            {
                "user": each.user,
                "vhost": vhost,
                "configure": "^mqtt-(subscription|will)-.*$",
                "write": "^(mqtt-(subscription|will)-.*|amq\\.topic)$",
                "read": "^(mqtt-(subscription|will)-.*|amq\\.topic)$",
            }
            for each in listed
        ],
        "topic_permissions": [
            {
                "user": each.user,
                "vhost": vhost,
                "exchange": "amq.topic",
                "write": _pattern(each.write),
                "read": _pattern(each.read),
            }
            for each in listed
        ],
    }


def _subject(topic: str) -> str:
    """A topic filter as NATS maps it."""
    return "".join({"/": ".", ".": "//", "+": "*", "#": ">"}.get(each, each) for each in topic)


def _pattern(topics: Iterable[str]) -> str:
    """A regular expression of the routing keys of these filters. It matches a subscription with the
    same wildcards too, which RabbitMQ writes as ``*`` and ``#``; nothing at all for no topic.
    """
    keys = [
        re.escape(topic.replace("/", "."))
        .replace(r"\+", r"[^.#]+")
        .replace(r"\#", r".+")
        .replace(r"\-", "-")
        for topic in topics
    ]
    return f"^({'|'.join(keys)})$" if keys else "^$"
