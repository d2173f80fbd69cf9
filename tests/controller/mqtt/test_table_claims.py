"""Two daemons with one table: which one serves it, whatever is lost or late between them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from common.contract.node import NodeClaim
from common.contract.topics import Topics
from controller.mqtt.table_claims import (
    CLAIM_EXPIRY_SECONDS,
    CLAIM_INTERVAL_SECONDS,
    AssignedNumbers,
    TableClaims,
    TableStake,
    winning_stake,
)
from tests.conftest import cases

TIMES = st.one_of(st.none(), st.integers(0, 9).map(lambda day: f"2026-11-0{day}T00:00:00.000000Z"))
STAKES = st.lists(
    st.builds(TableStake, st.text("abcdef", min_size=2, max_size=2), TIMES), min_size=1
)


@given(STAKES, st.randoms(use_true_random=False))
def test_daemons_with_the_same_claims_agree(stakes: list[TableStake], order: object) -> None:
    shuffled = sorted(stakes, key=lambda _: order.random())  # type: ignore[attr-defined]
    assert winning_stake(stakes) == winning_stake(shuffled)
    assert winning_stake(stakes) in stakes


@given(STAKES, STAKES)
def test_no_waiting_daemon_takes_a_table_from_its_owner(
    stakes: list[TableStake], late: list[TableStake]
) -> None:
    if winning_stake(stakes).since is not None:
        waiting = [msgspec.structs.replace(stake, since=None) for stake in late]
        assert winning_stake([*stakes, *waiting]) == winning_stake(stakes)


class Floor:
    """Some daemons and one broker, which keeps the last claim of each node, in simulated time. Each
    daemon may run, be cut off, or be dead.
    """

    def __init__(self, count: int) -> None:
        self.now = 0.0
        self.boots = 0
        self.kept: dict[str, bytes] = {}
        self.daemons: dict[int, TableClaims | None] = dict.fromkeys(range(count))
        self.linked: set[int] = set()
        self.said: dict[int, bytes] = {}
        self.skew = [0.0, 1e6, -1e6]

    def start(self, which: int) -> None:
        if self.daemons[which] is None:
            self.boots += 1
            boot = f"{self.boots * 7 % 16:x}{self.boots}"  # neither rising nor falling
            self.daemons[which] = TableClaims(f"n{which}", boot, {"r1": Topics("palma")})
            self.link(which)

    def link(self, which: int) -> None:
        daemon = self.daemons[which]
        if daemon is not None and which not in self.linked:
            self.linked.add(which)
            daemon.on_connected(self.now)
            for topic, body in self.kept.items():
                daemon.on_message(topic, body, self.now, stored=True)
            self.said.pop(which, None)
            self.settle(which)

    def settle(self, which: int) -> None:
        daemon = self.daemons[which]
        if daemon is not None and which in self.linked:
            daemon.decide(self.now, f"{1e9 + self.now + self.skew[which % 3]:020.3f}")
            (claim,) = daemon.messages()
            if self.said.get(which) != claim.payload:
                self.said[which] = claim.payload
                self.publish(which, claim.topic, claim.payload)

    def publish(self, which: int, topic: str, body: bytes) -> None:
        self.kept[topic] = body
        for other in sorted(self.linked - {which}):
            daemon = self.daemons[other]
            if daemon is not None:
                daemon.on_message(topic, body, self.now, stored=False)
                self.settle(other)

    def cut(self, which: int) -> None:
        self.linked.discard(which)

    def kill(self, which: int) -> None:
        self.cut(which)
        self.daemons[which] = None

    def stop(self, which: int) -> None:
        daemon = self.daemons[which]
        if daemon is not None and which in self.linked:
            (claim,) = daemon.messages(left=True)
            self.publish(which, claim.topic, claim.payload)
        self.kill(which)

    def forget(self, _: int) -> None:
        """The broker is restarted and has kept nothing."""
        self.kept.clear()
        self.linked.clear()

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now += min(CLAIM_INTERVAL_SECONDS, end - self.now)
            for which in sorted(self.linked):
                self.said.pop(which, None)
                self.settle(which)

    def having(self) -> list[int]:
        return [n for n, daemon in self.daemons.items() if daemon is not None and daemon.has("r1")]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["start", "link", "cut", "kill", "stop", "forget", "wait"]),
        st.integers(0, 2),
    ),
    max_size=30,
)


def happen(floor: Floor, steps: Sequence[tuple[str, int]]) -> None:
    for step, which in steps:
        if step == "wait":
            floor.wait((1.0, CLAIM_INTERVAL_SECONDS, CLAIM_EXPIRY_SECONDS + 1)[which])
        else:
            getattr(floor, step)(which)


@settings(max_examples=cases(125, 500))
@given(STEPS)
def test_when_all_are_connected_one_serves_it(steps: list[tuple[str, int]]) -> None:
    floor = Floor(3)
    happen(floor, steps)
    for which in floor.daemons:
        floor.link(which)
    running = [which for which, daemon in floor.daemons.items() if daemon is not None]
    floor.wait(2 * CLAIM_EXPIRY_SECONDS)
    assert len(floor.having()) == min(1, len(running))
    before = floor.having()
    floor.wait(2 * CLAIM_EXPIRY_SECONDS)
    assert floor.having() == before, "and it stays so"


@settings(max_examples=cases(125, 500))
@given(STEPS, st.integers(0, 2))
def test_a_restart_or_an_outage_takes_no_table_away(steps: list[tuple[str, int]], how: int) -> None:
    floor = Floor(3)
    happen(floor, steps)
    for which in floor.daemons:
        floor.start(which)
        floor.link(which)
    floor.wait(2 * CLAIM_EXPIRY_SECONDS)
    (one,) = floor.having()
    if how == 2:
        floor.forget(0)
        floor.now += 2 * CLAIM_EXPIRY_SECONDS  # without a broker
        for which in sorted(floor.daemons, key=lambda which: which == one):  # it comes last
            floor.link(which)
            floor.wait(CLAIM_INTERVAL_SECONDS / 2)
    else:
        (floor.kill, floor.stop)[how](one)
        floor.wait(CLAIM_INTERVAL_SECONDS)
        floor.start(one)
    floor.wait(2 * CLAIM_EXPIRY_SECONDS)
    assert floor.having() == [one]


@given(st.integers(0, 2))
def test_a_waiting_daemon_takes_over_when_the_other_is_gone(how: int) -> None:
    floor = Floor(2)
    floor.start(0)
    floor.start(1)
    assert floor.having() == [0]
    (floor.kill, floor.stop, floor.cut)[how](0)
    floor.wait(2 * CLAIM_EXPIRY_SECONDS)
    assert 1 in floor.having()
    floor.start(0)
    floor.link(0)
    floor.wait(CLAIM_INTERVAL_SECONDS)
    assert floor.having() == [0 if how == 2 else 1], "a daemon that was only cut off takes it back"


def test_a_clean_end_lets_a_new_node_take_the_table_at_once() -> None:
    floor = Floor(2)
    floor.start(0)
    floor.stop(0)
    floor.start(1)
    assert floor.having() == [1]


def receive(claims: TableClaims, body: bytes, topic: str = "novamas/v1/palma/node/x/claim") -> bool:
    found = claims.on_message(topic, body, 1.0, stored=False)
    claims.decide(1.0, "now")
    return found


def test_only_a_claim_of_the_same_table_counts() -> None:
    claims = TableClaims("n", "b", {"r1": Topics("palma"), "r2": Topics("palma", simulated=True)})
    first: dict[str, str | None] = {"r1": "2020", "r2": "2020"}
    for body in (b"", b"[]", b'{"boot":1}', b"\xff", b"[" * 10_000):
        assert receive(claims, body)
    assert receive(claims, msgspec.json.encode(NodeClaim(boot="a", tables={"r2": "2020"})))
    assert not receive(claims, b"{}", "novamas/v1/elsewhere/node/x/claim")
    assert not receive(claims, b"{}", "novamas/v1/palma/r1/state")
    assert (claims.has("r1"), claims.has("r2"), claims.has("unheard-of")) == (True, True, True)
    assert claims.shared() == {}
    assert receive(claims, msgspec.json.encode(NodeClaim(boot="a", tables=first)))
    assert (claims.has("r1"), claims.has("r2"), claims.elsewhere()) == (False, True, {"r1": "x"})


def test_claims_cannot_fill_the_memory() -> None:
    claims = TableClaims("n", "b", {"r1": Topics("palma")})
    for number in range(1000):
        receive(claims, msgspec.json.encode(NodeClaim(boot=f"{number}", tables={"r1": None})))
    assert len(claims._rivals) == 256


def claim(boot: str, **tables: str | None) -> bytes:
    return msgspec.json.encode(NodeClaim(boot=boot, tables=tables))


def test_an_added_table_is_decided_once_its_claims_were_received() -> None:
    claims = TableClaims("n", "b", {"r1": Topics("palma")})
    claims.decide(0.0, "2021")
    claims.add("r2", Topics("palma"))
    claims.add("r3", Topics("palma", simulated=True))
    assert sorted(claims.topics()) == [
        "novamas-sim/v1/palma/node/+/claim",
        "novamas/v1/palma/node/+/claim",
    ]
    assert receive(claims, claim("a", r2="2020"))
    assert next(message.payload for message in claims.messages()) == claim("b", r1="2021")
    claims.admit()
    assert claims.decide(1.0, "2022") == ({"r3"}, set())
    assert (claims.has("r2"), claims.has("r3"), claims.elsewhere()) == (False, True, {"r2": "x"})
    assert [message.payload for message in claims.messages()] == [
        claim("b", r1="2021", r2=None),
        claim("b", r3="2022"),
    ]


def test_a_table_that_is_removed_is_left_until_another_claims_it() -> None:
    root = Topics("palma")
    claims = TableClaims("n", "b", dict.fromkeys(("r1", "r2", "r3", "r4"), root))
    claims.decide(0.0, "2021")
    receive(claims, claim("a", r2=None, r3="2020"))
    for table in ("r1", "r2", "r3"):
        claims.remove(table)
    left = [claims.is_left(table) for table in ("r1", "r2", "r3", "r4")]
    assert left == [True, False, False, False], "one waits for r2, and one has r3"
    assert [message.payload for message in claims.messages()] == [claim("b", r4="2021")]
    assert claims.shared() == {}
    receive(claims, claim("b", r1="2021"))
    assert claims.is_left("r1"), "it was our own claim"
    receive(claims, msgspec.json.encode(NodeClaim(boot="c", tables={"r1": "2020"}, left=True)))
    assert claims.is_left("r1"), "the claiming daemon has ended"
    receive(claims, claim("c", r1=None), "novamas-sim/v1/palma/node/x/claim")
    assert claims.is_left("r1"), "that is another table"
    receive(claims, claim("c", r1=None))
    assert not claims.is_left("r1")
    claims.remove("r4")
    assert [message.payload for message in claims.messages()] == [claim("b")]
    claims.add("r4", root)
    claims.admit()
    assert not claims.is_left("r4")
    assert claims.decide(2.0, "2023") == ({"r4"}, set())


def test_numbers_continue_beyond_those_of_a_later_owner() -> None:
    """And stay unchanged where this node's are already higher than the other's: after its own
    restart.
    """
    rows: tuple[tuple[tuple[int, int] | None, tuple[int, int], bool], ...] = (
        ((5, 0), (0, 0), True),
        ((5, 0), (5, 0), True),
        ((5, 0), (6, 0), False),
        ((5, 700), (6, 600), True),
        ((5, 700), (6, 700), False),
        ((0, 0), (0, 0), False),
        (None, (0, 0), False),
    )
    for told, ours, beyond in rows:
        numbers = AssignedNumbers(*ours)
        claims = TableClaims("n", "b", {"r1": Topics("palma")}, numbers={"r1": numbers}.__getitem__)
        claims.on_connected(0.0)
        sessions = {} if told is None else {"r1": told[0]}
        readings = {} if told is None else {"r1": told[1]}
        other = NodeClaim(boot="a", tables={"r1": "2020"}, sessions=sessions, readings=readings)
        receive(claims, msgspec.json.encode(other))
        claims.decide(0.0, "2026")
        assert not claims.has("r1")
        taken, _ = claims.decide(CLAIM_EXPIRY_SECONDS + 2, "2026")
        assert taken == {"r1"}
        former = claims.former_holder("r1")
        assert (former is not None) is beyond, (told, ours)
        if former is not None:
            assert (former.boot, former.last_received) == ("a", 1.0)
        assert claims.former_holder("r1") is None


def test_impossible_numbers_are_no_claim() -> None:
    claims = TableClaims("n", "b", {"r1": Topics("palma")})
    claims.on_connected(0.0)
    good = msgspec.json.decode(claim("a", r1="2020"))
    for wrong in ({"r1": 2**53}, {"r1": -1}, {"r1": "1"}):
        receive(claims, msgspec.json.encode(good | {"sessions": wrong}))
    claims.decide(0.0, "2026")
    assert claims.has("r1")


def test_an_unstable_connection_keeps_no_table_with_a_dead_daemon() -> None:
    """And an outage of the broker takes none from a daemon that comes back after it."""

    def waiting() -> TableClaims:
        claims = TableClaims("n", "b", {"r1": Topics("palma")})
        claims.on_connected(0.0)
        receive(claims, claim("a", r1="2020"))
        return claims

    flapping = waiting()
    now = 1.0
    while not flapping.has("r1"):
        now += 5.0
        flapping.decide(now, "2026")
        flapping.on_disconnected(now)
        now += 1.0
        flapping.on_connected(now)
        assert now < 2 * CLAIM_EXPIRY_SECONDS + 5.0
    outage = waiting()
    outage.on_disconnected(CLAIM_INTERVAL_SECONDS)
    outage.on_connected(10_000.0)
    outage.decide(10_000.0 + CLAIM_EXPIRY_SECONDS - CLAIM_INTERVAL_SECONDS - 0.1, "2026")
    assert not outage.has("r1")


def test_the_claim_of_a_previous_run_takes_no_table_from_this_one() -> None:
    """A broker that refused this run's claim, or has lost it, gives that of the run before at each
    connection.
    """
    before = TableClaims("n1", "a", {"r1": Topics("palma")})
    before.on_connected(0.0)
    before.decide(0.0, "2026-11-01T00:00:00.000000Z")
    (kept,) = before.messages()
    claims = TableClaims("n1", "b", {"r1": Topics("palma")})
    for now in (100.0, 200.0, 300.0):
        claims.on_connected(now)
        claims.on_message(kept.topic, kept.payload, now, stored=True)
        gained, lost = claims.decide(now, "2026-11-02T00:00:00.000000Z")
        assert gained == ({"r1"} if now == 100.0 else set())
        assert not lost
        assert claims.has("r1")
        claims.on_disconnected(now + 1.0)
