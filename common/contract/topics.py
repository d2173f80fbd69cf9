"""The MQTT topics, all built here. Subscribers may import this module."""

from __future__ import annotations

import msgspec

MAX_RESPONSE_TOPIC_BYTES, MAX_RESPONSE_TOPIC_LEVELS = 256, 16
"""Maximum bytes and levels of a response topic. Mosquitto disconnects a client that publishes to a
topic of more than 200 levels.
"""


class Topics(msgspec.Struct, frozen=True):
    """The topics of one site. Simulated tables have their own root, so that a broker can separate
    them.
    """

    site: str
    simulated: bool = False

    @property
    def root(self) -> str:
        """``novamas/v1/<site>``, or ``novamas-sim/v1/<site>``."""
        return f"{'novamas-sim' if self.simulated else 'novamas'}/v1/{self.site}"

    def table(self, table: str, leaf: str) -> str:
        """A table's topic: ``info state result history shoe alert/<id>`` retained, ``event``,
        ``sealed``, ``motion``.
        """
        return f"{self.root}/{table}/{leaf}"

    def command(self, table: str, name: str = "+") -> str:
        """The topic of a command to a table: ``command/round-void`` for ``round.void``."""
        return f"{self.root}/{table}/command/{level(name)}"

    def reply(self, table: str, client: str) -> str:
        """The topic of a table's replies to a client."""
        return f"{self.root}/{table}/reply/{client}"

    def jackpot(self, jackpot: str, leaf: str) -> str:
        """A jackpot's topic: ``state`` and ``alert/<id>`` retained, ``command/<name>``,
        ``reply/<client>``.
        """
        return f"{self.root}/jackpot/{jackpot}/{leaf}"

    def node(self, node: str, leaf: str) -> str:
        """A daemon's own topic: ``status`` (also its last will), ``claim``, ``health``,
        ``checkpoint``.
        """
        return f"{self.root}/node/{node}/{leaf}"


def level(command: str) -> str:
    """Return a command's name as a topic level. Brokers that map topics to subjects change or
    refuse dots.
    """
    return command.replace(".", "-").replace("_", "-")


def may_respond_to(topic: str, prefixes: tuple[str, ...]) -> bool:
    """Return True if a reply may be sent to this topic: it is below one of the prefixes, and no
    broker refuses it.
    """
    return (
        any(topic.startswith(f"{prefix}/") for prefix in prefixes)
        and not {"+", "#"} & set(topic)
        and not topic.startswith("$")
        and topic.isprintable()  # neither control characters nor what is no character
        and len(topic.encode()) <= MAX_RESPONSE_TOPIC_BYTES
        and topic.count("/") < MAX_RESPONSE_TOPIC_LEVELS
    )
