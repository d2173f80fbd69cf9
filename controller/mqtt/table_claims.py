"""Decides which of several daemons has a table, if more than one has it in its configuration.

Each daemon publishes a retained claim: the time since which it has each of its tables, or that it
waits for it. The daemon that has had a table longest keeps it; a free table goes to the smallest
``boot``. All daemons reach the same conclusion from the same claims, whatever their clocks say.

A claim is valid for :data:`CLAIM_EXPIRY_SECONDS` after it was last received, so that a restart, a
crash or an outage of the broker takes no table from its daemon. A daemon keeps the tables of the
previous run of its node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from common.contract.node import NodeClaim
from common.contract.topics import Topics
from controller.mqtt.outgoing import OutgoingMessage

CLAIM_INTERVAL_SECONDS, CLAIM_EXPIRY_SECONDS = 10.0, 35.0
"""Seconds between two claims of this daemon, and until a claim of another one expires."""
MAX_RIVAL_CLAIMS = 256
"""Maximum number of claims of other daemons that are remembered."""
CLAIM_LEAF = "claim"


class AssignedNumbers(msgspec.Struct, frozen=True):
    """The highest assigned numbers of a table, of sessions and of readings."""

    session: int = 0
    reading: int = 0


class FormerHolder(msgspec.Struct, frozen=True):
    """Another daemon that has had a table. ``last_received``: the monotonic time of its last claim
    to have it.
    """

    node: str
    boot: str
    numbers: AssignedNumbers
    last_received: float


class TableStake(msgspec.Struct, frozen=True):
    """A daemon's claim for one table: the time since which it has it (UTC, ISO 8601), or None if it
    waits.
    """

    boot: str
    since: str | None = None


def _exceeds(ours: AssignedNumbers, theirs: AssignedNumbers) -> bool:
    return ours.session > theirs.session and ours.reading >= theirs.reading


def winning_stake(stakes: Iterable[TableStake]) -> TableStake:
    """Return the stake of the daemon that has the table."""
    return min(stakes, key=lambda stake: (stake.since is None, stake.since or "", stake.boot))


class _RivalClaim(msgspec.Struct):
    node: str
    tables: dict[str, str | None]
    """The tables that are in the configuration of this daemon too, as in the claim."""
    last_received: float
    """The monotonic time of its last reception."""


class TableClaims:
    """The claim of this daemon, and those of others that are configured for some of its tables.

    ``tables``: the topics of each table. ``leased``: the daemons of this node are a pair, of which
    a lease, not the claims, decides. ``numbers``: returns the numbers that this daemon has assigned
    at a table.
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
        self._former_holders: dict[str, FormerHolder] = {}
        """By table, the former holder that assigned the highest session number."""
        self._leased = leased
        self._node = node
        self._boot = boot
        self._roots = {topics.root: topics for topics in tables.values()}
        self._root = {table: topics.root for table, topics in tables.items()}
        self._since: dict[str, str | None] = dict.fromkeys(tables)
        self._rivals: dict[tuple[str, str], _RivalClaim] = {}
        """By the root of the topic, and boot."""
        self._previous_since: dict[str, str] = {}
        """By table, the time since which the previous run of this node had it."""
        self._connections = 0
        self._disconnected_since: float | None = None
        """The monotonic time since which there is no connection; None while there is one."""
        self._unadmitted: dict[str, None] = {}
        """Added tables on which :meth:`decide` does not decide yet."""
        self._left: dict[str, str] = {}
        """Removed tables of this daemon that no other has claimed since, each with its root."""
        self._claimed_before: set[tuple[str, str]] = set()
        """The tables in the claim of the previous run of this node, each with its root."""
        self._claimed_by_others: set[tuple[str, str]] = set()
        """The tables in any claim of another node, also of one that ended, each with its root."""

    def add(self, table: str, topics: Topics) -> None:
        """Follow the claims on a table. :meth:`decide` includes it after :meth:`admit`."""
        self._roots[topics.root] = topics
        self._root[table] = topics.root
        self._left.pop(table, None)
        self._unadmitted[table] = None

    def add_root(self, topics: Topics) -> None:
        """Follow the claims at another root, where the previous run of this node had a table."""
        self._roots.setdefault(topics.root, topics)

    def removed_before(self) -> dict[str, Topics]:
        """Return the tables that the previous run of this node had, that are no longer in the
        configuration, and that no other daemon ever claimed: this daemon clears their retained
        topics. Call it after the retained claims were received; it returns each table once.
        """
        found = {
            table: root
            for root, table in sorted(self._claimed_before - self._claimed_by_others)
            if self._root.get(table) != root
        }
        self._claimed_before = set()
        self._left |= found
        return {table: self._roots[root] for table, root in found.items()}

    def admit(self) -> None:
        """Include the added tables in :meth:`decide`: the retained claims on them were received."""
        self._since |= self._unadmitted
        self._unadmitted = {}

    def remove(self, table: str) -> None:
        """Stop claiming a table. The next claim at its root no longer contains it."""
        self._unadmitted.pop(table, None)
        root = self._root.pop(table)
        self._former_holders.pop(table, None)
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
        """Return the topic filters of all claims."""
        return [topics.node("+", CLAIM_LEAF) for topics in self._roots.values()]

    def own_topics(self) -> list[str]:
        """Return the topics of this daemon's claims."""
        return [topics.node(self._node, CLAIM_LEAF) for topics in self._roots.values()]

    @property
    def is_new(self) -> bool:
        """True during the first connection."""
        return self._connections == 1

    def on_connected(self, now: float) -> None:
        """Handle a new connection. The time without one does not count for the expiry of claims:
        the others may have lost their connections too and need time to return.
        """
        self._connections += 1
        absence = now if self._disconnected_since is None else now - self._disconnected_since
        self._disconnected_since = None
        for rival in self._rivals.values():
            rival.last_received = min(now, rival.last_received + absence)

    def on_disconnected(self, now: float) -> None:
        """Handle a lost connection, or a failed attempt."""
        if self._disconnected_since is None:
            self._disconnected_since = now

    def on_message(self, topic: str, body: bytes, now: float, *, stored: bool) -> bool:
        """Handle a message; return False if it is not a claim. ``stored``: the broker retained it
        before this daemon subscribed.
        """
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
        if claim.boot == self._boot:  # MQTT 3.1.1 sends it back
            return True
        if self._leased and node == self._node:
            return True
        if node != self._node:
            self._note_former(node, claim, shared, now)
        if stored and node == self._node:
            # the previous run's, also on a later connection: the broker may have refused the claim
            # of this one, or have lost it. Another daemon of this name claims again in a moment.
            if self._connections == 1:
                self._previous_since = {
                    table: since for table, since in shared.items() if since is not None
                }
        elif claim.left:
            if key in self._rivals:  # it may restart at once
                self._rivals[key].last_received = now
        elif not shared:
            self._rivals.pop(key, None)
        elif key in self._rivals or len(self._rivals) < MAX_RIVAL_CLAIMS:
            self._rivals[key] = _RivalClaim(node, shared, now)
        return True

    def _note_tables(self, root: str, node: str, claim: NodeClaim, *, stored: bool) -> None:
        """Remember the tables of the previous run of this node, and those of other nodes."""
        tables = {(root, table) for table in claim.tables}
        if node != self._node:
            self._claimed_by_others |= tables
        elif stored and not self._leased and claim.boot != self._boot:
            self._claimed_before |= tables

    def _note_former(
        self, node: str, claim: NodeClaim, shared: Mapping[str, str | None], now: float
    ) -> None:
        """Remember other holders of shared tables, and their highest numbers."""
        for table, since in shared.items():
            if since is None or table not in claim.sessions:
                continue
            numbers = AssignedNumbers(claim.sessions[table], claim.readings.get(table, 0))
            known = self._former_holders.get(table)
            if known is None or known.boot == claim.boot or _exceeds(numbers, known.numbers):
                self._former_holders[table] = FormerHolder(node, claim.boot, numbers, now)

    def former_holder(self, table: str) -> FormerHolder | None:
        """Return the daemon that had a table of this daemon in between, or None. Its numbers must
        not be assigned again.
        """
        former = self._former_holders.pop(table, None)
        if former is None or former.numbers == AssignedNumbers():
            return None
        ours = self._numbers(table)
        return None if _exceeds(ours, former.numbers) else former

    def decide(self, now: float, time: str) -> tuple[set[str], set[str]]:
        """Decide again. Return the tables that this daemon has gained, and those that it has lost.
        ``time``: UTC, ISO 8601.
        """
        self._rivals = {
            key: rival
            for key, rival in self._rivals.items()
            if now - rival.last_received <= CLAIM_EXPIRY_SECONDS
        }
        claimed = {table for rival in self._rivals.values() for table in rival.tables}
        gained, lost = set(), set()
        for table, since in self._since.items():
            unrivalled = since is not None and table not in claimed
            ours = unrivalled or winning_stake(self._stakes(table)).boot == self._boot
            before = self._previous_since.pop(table, None)
            if ours and since is None:
                gained.add(table)
                self._since[table] = before or time
            elif not ours and since is not None:
                lost.add(table)
                self._since[table] = None
        return gained, lost

    def _stakes(self, table: str) -> list[TableStake]:
        others = [
            TableStake(boot, rival.tables[table])
            for (_, boot), rival in self._rivals.items()
            if table in rival.tables
        ]
        ours = self._since[table]
        if all(stake.since is None for stake in others):  # still unclaimed
            ours = ours or self._previous_since.get(table)
        return [TableStake(self._boot, ours), *others]

    def messages(self, *, left: bool = False) -> list[OutgoingMessage]:
        """Return this daemon's claim as it is published. ``left``: the daemon ends."""
        return [
            OutgoingMessage(
                topics.node(self._node, CLAIM_LEAF),
                msgspec.json.encode(self._claim(root, left=left)),
                retain=True,
            )
            for root, topics in self._roots.items()
        ]

    def _claim(self, root: str, *, left: bool) -> NodeClaim:
        tables = {table: since for table, since in self._since.items() if self._root[table] == root}
        numbers = {
            table: self._numbers(table) for table, since in tables.items() if since is not None
        }
        return NodeClaim(
            boot=self._boot,
            tables=tables,
            left=left,
            sessions={name: each.session for name, each in numbers.items() if each.session},
            readings={name: each.reading for name, each in numbers.items() if each.reading},
        )

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
