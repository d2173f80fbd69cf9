"""Decides which of several daemons has a table, if more than one has it in its configuration.

Each daemon publishes a retained claim: the time since which it has each of its tables, or that it
waits for it. The daemon that has had a table longest keeps it; a free table goes to the smallest
``boot``. All daemons reach the same conclusion from the same claims, whatever their clocks say.

A claim is valid for :data:`CLAIM_EXPIRY_SECONDS` after it was last received, so that a restart, a
crash or an outage of the broker takes no table from its daemon. A daemon retains the tables that
the previous run of its own node had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from controller.contract.node import NodeClaim
from controller.contract.topics import Topics
from controller.mqtt.outgoing import OutgoingMessage

CLAIM_INTERVAL_SECONDS, CLAIM_EXPIRY_SECONDS = 10.0, 35.0
"""Seconds between two claims of this daemon, and after which another's claim expires.
"""
MAX_RIVAL_CLAIMS = 256
"""The most claims of others that are remembered."""
CLAIM_LEAF = "claim"


class AssignedNumbers(msgspec.Struct, frozen=True):
    """The highest assigned numbers of a table, of sessions and of readings."""

    session: int = 0
    reading: int = 0


class FormerHolder(msgspec.Struct, frozen=True):
    """Another daemon that has had a table. ``heard``: the monotonic time of its last such claim."""

    node: str
    boot: str
    numbers: AssignedNumbers
    heard: float


class TableStake(msgspec.Struct, frozen=True):
    """A daemon's claim for one table: the time since which it has it (UTC, ISO 8601), or None if it
    waits.
    """

    boot: str
    since: str | None = None


def _beyond(ours: AssignedNumbers, theirs: AssignedNumbers) -> bool:
    return ours.session > theirs.session and ours.reading >= theirs.reading


def winning_stake(stakes: Iterable[TableStake]) -> TableStake:
    """Return the stake of the daemon that has the table."""
    return min(stakes, key=lambda stake: (stake.since is None, stake.since or "", stake.boot))


class _RivalClaim(msgspec.Struct):
    node: str
    tables: dict[str, str | None]
    """Those that this daemon is configured for too."""
    heard: float
    """The monotonic time at which it was last received."""


class TableClaims:
    """Our claim, and those of other daemons that have some of our tables too. ``tables``: each with
    its topics. ``leased``: a lease decides between the daemons of our node, and not their claims.
    ``numbers``: those that we have given at a table.
    """

    def __init__(
        self,
        node: str,
        boot: str,
        tables: Mapping[str, Topics],
        *,
        leased: bool = False,
        numbers: Callable[[str], AssignedNumbers] = lambda _: AssignedNumbers(),
    ) -> None:
        self._numbers = numbers
        self._former: dict[str, FormerHolder] = {}
        """By table, the former holder that assigned the highest session number."""
        self._leased = leased
        self._node = node
        self._boot = boot
        self._roots = {topics.root: topics for topics in tables.values()}
        self._root = {table: topics.root for table, topics in tables.items()}
        self._since: dict[str, str | None] = dict.fromkeys(tables)
        self._rivals: dict[tuple[str, str], _RivalClaim] = {}
        """By the root of the topic, and boot."""
        self._before: dict[str, str] = {}
        """Since when the previous run of our node had its tables."""
        self._connections = 0
        self._away: float | None = None
        """Since when there is no connection."""
        self._coming: set[str] = set()
        """Tables whose present owner is not known yet."""
        self._left: dict[str, str] = {}
        """Former tables of this daemon that have not been claimed since, each with its root."""
        self._claimed_before: set[tuple[str, str]] = set()
        """By root, the tables in the claim of the previous run of our node."""
        self._claimed_by_others: set[tuple[str, str]] = set()
        """By root, the tables in any claim of another node, also of one that ended."""

    def add(self, table: str, topics: Topics) -> None:
        """Follow the claims on a table; it is decided on after :meth:`admit`."""
        self._roots[topics.root] = topics
        self._root[table] = topics.root
        self._left.pop(table, None)
        self._coming.add(table)

    def add_root(self, topics: Topics) -> None:
        """Follow the claims there too: the previous run of this node had a table there."""
        self._roots.setdefault(topics.root, topics)

    def removed_before(self) -> dict[str, Topics]:
        """Tables that the previous run of this node had, that are no longer in the configuration,
        and that no other daemon ever claimed: this daemon clears their retained topics. Known once
        the broker's retained claims have been received; each table is returned once.
        """
        found = {
            table: root
            for root, table in self._claimed_before - self._claimed_by_others
            if self._root.get(table) != root
        }
        self._claimed_before = set()
        self._left |= found
        return {table: self._roots[root] for table, root in found.items()}

    def admit(self) -> None:
        """Decide on the added tables, too: the broker's claims on them have been received."""
        self._since |= dict.fromkeys(self._coming)
        self._coming = set()

    def remove(self, table: str) -> None:
        """Claim a table no more. Its root stays, so that the next claim there reports it."""
        self._coming.discard(table)
        root = self._root.pop(table)
        self._former.pop(table, None)
        if self._since.pop(table, "") is not None:
            self._left[table] = root
        for rival in self._rivals.values():
            if rival.tables.pop(table, "") != "":
                self._left.pop(table, None)

    def is_left(self, table: str) -> bool:
        """Return True if a removed table was this daemon's, and no other daemon has claimed it
        since.
        """
        return table in self._left

    def has(self, table: str) -> bool:
        """Return True if this daemon has the table."""
        return self._since.get(table, "") is not None

    def topics(self) -> list[str]:
        """The topics of all claims."""
        return [topics.node("+", CLAIM_LEAF) for topics in self._roots.values()]

    def own_topics(self) -> list[str]:
        """The topics of our own claims."""
        return [topics.node(self._node, CLAIM_LEAF) for topics in self._roots.values()]

    @property
    def is_new(self) -> bool:
        """True during the first connection."""
        return self._connections == 1

    def on_connected(self, now: float) -> None:
        """A connection is made. The time without one says nothing of others, who may have lost
        theirs too and need time to come back; that with one does, however short it was.
        """
        self._connections += 1
        away, self._away = now if self._away is None else now - self._away, None
        for rival in self._rivals.values():
            rival.heard = min(now, rival.heard + away)

    def on_disconnected(self, now: float) -> None:
        """The connection is lost, or not yet made."""
        self._away = now if self._away is None else self._away

    def on_message(self, topic: str, body: bytes, now: float, *, stored: bool) -> bool:
        """Take a message; False if it is no claim. ``stored``: the broker had it before we came."""
        root, _, node = topic.removesuffix(f"/{CLAIM_LEAF}").rpartition("/node/")
        if root not in self._roots or not topic.endswith(f"/{CLAIM_LEAF}"):
            return False
        try:
            claim = msgspec.json.decode(body, type=NodeClaim)
        except ValueError:  # also a claim that was cleared
            return True
        if claim.boot != self._boot and not claim.left:
            for table in claim.tables:
                if self._left.get(table) == root:
                    del self._left[table]
        self._note_tables(root, node, claim, stored=stored)
        key = root, claim.boot
        shared = {
            table: since for table, since in claim.tables.items() if self._root.get(table) == root
        }
        if claim.boot == self._boot:  # MQTT 3.1.1 sends us our own
            return True
        if self._leased and node == self._node:
            return True
        if node != self._node:
            self._note_former(node, claim, shared, now)
        if stored and self._connections == 1 and node == self._node:
            self._before = {table: since for table, since in shared.items() if since is not None}
        elif claim.left:
            if key in self._rivals:  # it may be back in a moment
                self._rivals[key].heard = now
        elif not shared:
            self._rivals.pop(key, None)
        elif key in self._rivals or len(self._rivals) < MAX_RIVAL_CLAIMS:
            self._rivals[key] = _RivalClaim(node, shared, now)
        return True

    def _note_tables(self, root: str, node: str, claim: NodeClaim, *, stored: bool) -> None:
        """Remember which tables the previous run of our node had, and which others ever had."""
        tables = {(root, table) for table in claim.tables}
        if node != self._node:
            self._claimed_by_others |= tables
        elif stored and not self._leased and claim.boot != self._boot:
            self._claimed_before |= tables

    def _note_former(
        self, node: str, claim: NodeClaim, shared: Mapping[str, str | None], now: float
    ) -> None:
        """Remember other holders of this daemon's tables and their highest numbers."""
        for table, since in shared.items():
            if since is None or table not in claim.sessions:
                continue
            numbers = AssignedNumbers(claim.sessions[table], claim.readings.get(table, 0))
            known = self._former.get(table)
            if known is None or known.boot == claim.boot or _beyond(numbers, known.numbers):
                self._former[table] = FormerHolder(node, claim.boot, numbers, now)

    def former_holder(self, table: str) -> FormerHolder | None:
        """The daemon that had the table, which is this daemon's now, after it last had it: its
        numbers must not be given again. None if there was no such daemon.
        """
        former = self._former.pop(table, None)
        if former is None or former.numbers == AssignedNumbers():
            return None
        ours = self._numbers(table)
        return None if _beyond(ours, former.numbers) else former

    def decide(self, now: float, time: str) -> tuple[set[str], set[str]]:
        """Decide again. Returns the tables that this daemon has gained, and those that it has lost.
        ``time``: UTC, ISO 8601.
        """
        self._rivals = {
            key: rival
            for key, rival in self._rivals.items()
            if now - rival.heard <= CLAIM_EXPIRY_SECONDS
        }
        taken, lost = set(), set()
        for table, since in self._since.items():
            ours = winning_stake(self._stakes(table)).boot == self._boot
            before = self._before.pop(table, None)
            if ours and since is None:
                taken.add(table)
                self._since[table] = before or time
            elif not ours and since is not None:
                lost.add(table)
                self._since[table] = None
        return taken, lost

    def _stakes(self, table: str) -> list[TableStake]:
        others = [
            TableStake(boot, rival.tables[table])
            for (_, boot), rival in self._rivals.items()
            if table in rival.tables
        ]
        ours = self._since[table]
        if all(stake.since is None for stake in others):  # still unclaimed
            ours = ours or self._before.get(table)
        return [TableStake(self._boot, ours), *others]

    def messages(self, *, left: bool = False) -> list[OutgoingMessage]:
        """Our claim as it is published; ``is_left``: we end."""
        numbers = {
            table: self._numbers(table) for table, since in self._since.items() if since is not None
        }
        return [
            OutgoingMessage(
                topics.node(self._node, CLAIM_LEAF),
                msgspec.json.encode(
                    NodeClaim(
                        boot=self._boot,
                        tables={
                            table: since
                            for table, since in self._since.items()
                            if self._root[table] == root
                        },
                        left=left,
                        sessions={
                            table: given.session
                            for table, given in numbers.items()
                            if self._root[table] == root and given.session
                        },
                        readings={
                            table: given.reading
                            for table, given in numbers.items()
                            if self._root[table] == root and given.reading
                        },
                    )
                ),
                retain=True,
            )
            for root, topics in self._roots.items()
        ]

    def elsewhere(self) -> dict[str, str]:
        """Return the tables that another daemon has, with its node."""
        nodes = {boot: rival.node for (_, boot), rival in self._rivals.items()}
        return {
            table: nodes.get(winning_stake(self._stakes(table)).boot, self._node)
            for table, since in self._since.items()
            if since is None
        }

    def shared(self) -> dict[str, str]:
        """Return the tables that another daemon claims too, with its node."""
        return {
            table: rival.node for rival in self._rivals.values() for table in sorted(rival.tables)
        }
