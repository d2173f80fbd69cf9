"""The MQTT topics: the one place where they are spelled. Subscribers may import this module."""

from __future__ import annotations

import msgspec

LONGEST, DEEPEST = 256, 16
"""The most bytes and levels of a topic that an answer is sent to. Mosquitto disconnects a client
that sends to a topic of more than 200 levels.
"""


class Topics(msgspec.Struct, frozen=True):
    """The topics of one site. Simulated tables have a root of their own, so that a broker can keep
    them apart.
    """

    site: str
    simulated: bool = False

    @property
    def root(self) -> str:
        """``novamas/v1/<site>``, or ``novamas-sim/v1/<site>``."""
        return f"{'novamas-sim' if self.simulated else 'novamas'}/v1/{self.site}"

    def table(self, table: str, leaf: str) -> str:
        """A table's topic: ``info state result history shoe alert/<id>`` retained, ``event``,
        ``sealed``.
        """
        return f"{self.root}/{table}/{leaf}"

    def command(self, table: str, name: str = "+") -> str:
        """Where a command to a table is sent: ``command/round-void`` for ``round.void``."""
        return f"{self.root}/{table}/command/{level(name)}"

    def reply(self, table: str, client: str) -> str:
        """Where a table answers a client."""
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
    """A command's name as a level of a topic. Brokers that map topics to subjects change or refuse
    dots.
    """
    return command.replace(".", "-").replace("_", "-")


def within(topic: str, prefixes: tuple[str, ...]) -> bool:
    """Whether an answer may go to this topic: it is below one of the prefixes, and no broker
    refuses it.
    """
    return (
        any(topic.startswith(f"{prefix}/") for prefix in prefixes)
        and not {"+", "#"} & set(topic)
        and not topic.startswith("$")
        and topic.isprintable()  # neither control characters nor what is no character
        and len(topic.encode()) <= LONGEST
        and topic.count("/") < DEEPEST
    )
