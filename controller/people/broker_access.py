"""The topics that each kind of client may read and write, as access rules for Mosquitto, NATS and
RabbitMQ.

They do not depend on the content of messages: a client that may not write ``command`` cannot give
commands, and one that may not read ``sealed`` does not get it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

from common.contract.topics import Topics

Kind = Literal[
    "daemon", "display", "console", "surveillance", "carrousel", "webhooks", "integrator"
]
"""``daemon``: one ``novamas run``. ``display``: a public screen. ``console``: gives commands of
people. ``surveillance``: the only one to read the topic ``sealed``. ``carrousel``: a jackpot
controller. ``webhooks``: sends events to web addresses. ``integrator``: any other program of the
house.
"""
KINDS: tuple[Kind, ...] = get_args(Kind)

OUTCOMES = ("event", "info", "state", "result")
RETAINED = ("history", "shoe", "alert/+")
TABLE = (*OUTCOMES, *RETAINED)
MOTION = "motion"
CLAIM = "claim"
NODE = ("status", CLAIM, "health", "checkpoint")
SHOWN = ("status", "checkpoint")
JACKPOT = ("state", "alert/+")


class Access(msgspec.Struct, frozen=True):
    """The rights of one kind of client, as leaves of topics: of tables, of daemons, of jackpots.

    ``own_node``: leaves that it writes below its own node, that of the recorder, of the jackpot
    controller or of the webhooks; ``own``: whether it may read ``reply/<its user name>`` of tables;
    ``own_jackpot``: of jackpots.
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
        write=(*TABLE, MOTION, "sealed", "reply/+"),
        node_read=("status", "health", "checkpoint"),  # and the claims of all daemons
        node_write=NODE,
        jackpot_read=("state",),
    ),
    "display": Access(read=(*TABLE, MOTION), node_read=SHOWN, jackpot_read=JACKPOT),
    "console": Access(
        read=(*TABLE, MOTION),
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
    "webhooks": Access(
        read=("event", "state"),
        write=(RECALL,),
        node_read=("status", "alert/+"),
        own_node=("status", "alert/+"),
        own=True,
    ),
    "integrator": Access(
        read=(*TABLE, MOTION),
        write=(RECALL,),
        node_read=(*NODE, "alert/+"),
        jackpot_read=JACKPOT,
        own=True,
    ),
}


class ClientAccess(msgspec.Struct, frozen=True):
    """The rights of one user of the broker, as topic filters."""

    user: str
    kind: Kind
    read: tuple[str, ...]
    write: tuple[str, ...]


class AccessScope(msgspec.Struct, frozen=True):
    """The values of the configuration on which the rules depend."""

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
    webhooks: str = "webhooks"
    """The node of the webhooks."""


def client_access(kind: Kind, user: str, floor: AccessScope) -> ClientAccess:
    """Return the rights of a user. The daemon is restricted to its own tables. The others may read
    every table of the site, also those of other daemons, real and simulated: the configuration of
    one daemon does not list them all, and the recorder always publishes its status below the real
    root.
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
    # these decide which of two daemons has a table
    claims = [root.node("+", CLAIM) for root in roots] if kind == "daemon" else []
    own_claims = [root.node(node, CLAIM) for root in roots if root not in nodes]
    # these have a node that is no daemon's
    own_node = {"surveillance": floor.recorder, "webhooks": floor.webhooks}.get(
        kind, floor.carrousel
    )
    own_topics = [root.node(own_node, leaf) for root in roots for leaf in access.own_node]
    answers = [f"{prefix}/#" for prefix in floor.response_topics] if kind == "daemon" else []
    return ClientAccess(
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
            *own_claims,
            *own_topics,
            *answers,
            *(
                root.jackpot(jackpot, leaf)
                for root, jackpot in jackpots
                for leaf in access.jackpot_write
            ),
        ),
    )


def mosquitto_acl(clients: Iterable[ClientAccess]) -> str:
    """Return an ``acl_file`` of Mosquitto. Users that are not in it have no rights."""
    blocks = []
    for client in clients:
        lines = [f"# {client.kind}", f"user {client.user}"]
        both = [topic for topic in client.read if topic in client.write]
        lines += [f"topic readwrite {topic}" for topic in both]
        lines += [f"topic read {topic}" for topic in client.read if topic not in both]
        lines += [f"topic write {topic}" for topic in client.write if topic not in both]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def mosquitto_dynamic(clients: Iterable[ClientAccess]) -> dict[str, Any]:
    """Return the file of Mosquitto's dynamic security plugin, with a role for each user. It has no
    passwords: ``mosquitto_ctrl dynsec setClientPassword`` sets them.
    """
    listed = list(clients)
    return {
        "defaultACLAccess": {
            "publishClientSend": False,
            "publishClientReceive": False,
            "subscribe": False,
            "unsubscribe": True,
        },
        "clients": [
            {"username": client.user, "roles": [{"rolename": client.user}]} for client in listed
        ],
        "groups": [],
        "roles": [
            {
                "rolename": client.user,
                "acls": [
                    {"acltype": kind, "topic": topic, "priority": 0, "allow": True}
                    for kind, topics in (
                        ("subscribePattern", client.read),
                        ("publishClientReceive", client.read),
                        ("publishClientSend", client.write),
                    )
                    for topic in topics
                ],
            }
            for client in listed
        ],
    }


def nats_authorization(clients: Iterable[ClientAccess]) -> str:
    """Return the ``authorization`` block of a NATS server with MQTT. The passwords are variables of
    the server's environment. Each user may connect over MQTT only.
    """
    users = []
    for client in clients:
        password = "NOVAMAS_" + re.sub(r"[^A-Z0-9]", "_", client.user.upper())
        allowed = {
            "subscribe": ["$MQTT.sub.>", *map(_nats_subject, client.read)],  # the former for QoS 1
            "publish": [_nats_subject(topic) for topic in client.write],
        }
        users += [
            f"    {{ # {client.kind}",
            f'      user: "{client.user}"',
            f"      password: ${password}",
            '      allowed_connection_types: ["MQTT"]',
            "      permissions: {",
            *(
                line
                for name, subjects in allowed.items()
                for line in _nats_permission(name, subjects)
            ),
            "      }",
            "    }",
        ]
    return "\n".join(["authorization {", "  users: [", *users, "  ]", "}", ""])


def _nats_permission(name: str, subjects: list[str]) -> list[str]:
    """Return the lines of one permission. An empty list would allow everything."""
    if not subjects:
        return [f'        {name}: {{ deny: [">"] }}']
    listed = [f'          "{subject}"' for subject in subjects]
    return [f"        {name}: {{ allow: [", *listed, "        ] }"]


def rabbitmq_definitions(clients: Iterable[ClientAccess], vhost: str = "/") -> dict[str, Any]:
    """Return definitions for ``rabbitmqctl import_definitions``: the rights of each user for its
    own MQTT queues and, by topic, at the exchange ``amq.topic``. They do not contain the users.
    """
    listed = list(clients)
    return {
        "permissions": [
            {
                "user": client.user,
                "vhost": vhost,
                "configure": "^mqtt-(subscription|will)-.*$",
                "write": "^(mqtt-(subscription|will)-.*|amq\\.topic)$",
                "read": "^(mqtt-(subscription|will)-.*|amq\\.topic)$",
            }
            for client in listed
        ],
        "topic_permissions": [
            {
                "user": client.user,
                "vhost": vhost,
                "exchange": "amq.topic",
                "write": _routing_key_pattern(client.write),
                "read": _routing_key_pattern(client.read),
            }
            for client in listed
        ],
    }


def _nats_subject(topic: str) -> str:
    """Return the subject to which NATS maps a topic filter."""
    return "".join({"/": ".", ".": "//", "+": "*", "#": ">"}.get(each, each) for each in topic)


def _routing_key_pattern(topics: Iterable[str]) -> str:
    """Return a regular expression for the routing keys of these filters. It also matches a
    subscription with the same wildcards, which RabbitMQ writes as ``*`` and ``#``. Without topics
    it matches nothing.
    """
    keys = [
        re.escape(topic.replace("/", "."))
        .replace(r"\+", r"[^.#]+")
        .replace(r"\#", r".+")
        .replace(r"\-", "-")
        for topic in topics
    ]
    return f"^({'|'.join(keys)})$" if keys else "^$"
