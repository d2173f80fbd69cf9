"""Defects of the shell that are put into the program, each with the first seed that finds it.

``python -m tests.world.test_planted NAME`` looks for that seed again, and prints the smallest plan
that still finds the defect.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

import common.standby.lease
import common.standby.right
import controller.service.building
import controller.service.pair
import devices.device
from common import clock
from common.chain.schema import Entry
from common.standby.lease import SERVING_SHARE
from common.standby.right import LeaseHolder
from controller.mqtt import table_claims
from controller.mqtt.outbox import EventOutbox
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.posting import MessagePoster
from controller.mqtt.publisher import Publisher
from controller.mqtt.retained import RetainedTopics
from controller.mqtt.rivals import ClientIdTwin
from controller.mqtt.table_claims import TableClaims, TableStake
from tests.world.__main__ import be_quiet
from tests.world.lease_store import WorldFence
from tests.world.run import Plan, plan, plan_of, run
from tests.world.shrink import shrink

MAX_SEEDS = 1000

Plant = Callable[[pytest.MonkeyPatch], None]


class Defect(NamedTuple):
    """``plant`` puts it into the program. ``kind``: how the finding begins; ``seed``: the first one
    that finds it. The rest is the world in which it can be seen.
    """

    plant: Plant
    kind: str
    seed: int
    hours: float = 0.15
    faults: int = 10
    pair: bool = False
    parts: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    """The faults that are drawn; all of them if empty."""

    def plan(self, seed: int) -> Plan:
        """Return the plan of a seed."""
        drawn = plan(seed, self.hours, 1, self.faults, pair=self.pair, parts=self.parts)
        return plan_of(drawn, self.among) if self.among else drawn


def wake_ups_are_lost(patch: pytest.MonkeyPatch) -> None:
    """What changes at a table does not wake the publisher."""
    patch.setattr(Publisher, "wake", lambda _publisher, _table=None: None)


def right_without_a_reply(patch: pytest.MonkeyPatch) -> None:
    """The lease counts as renewed as soon as that is requested: after its fence, too."""
    renew = LeaseHolder._renew

    async def early(holder: LeaseHolder) -> bool:
        holder._fence.extend(clock.boottime() + SERVING_SHARE * holder.record.lease)
        return await renew(holder)

    patch.setattr(LeaseHolder, "_renew", early)


def fence_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Nothing ends a daemon whose lease is over."""
    patch.setattr(WorldFence, "extend", lambda *_: None)
    patch.setattr(WorldFence, "check", lambda _: None)


def claims_are_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """A daemon believes that no other one has its tables."""
    patch.setattr(TableClaims, "_stakes", lambda claims, _table: [TableStake(claims._boot)])


def events_are_numbered_again(patch: pytest.MonkeyPatch) -> None:
    """An event that is sent again after a reconnect gets a new number."""
    message = EventOutbox._message

    def numbered(outbox: EventOutbox, entry: Entry, *, historical: bool) -> OutgoingMessage:
        if historical and entry.kind == "event":
            body = json.loads(entry.body)
            entry = replace(entry, body=json.dumps(body | {"seq": body["seq"] + 1}).encode())
        return message(outbox, entry, historical=historical)

    patch.setattr(EventOutbox, "_message", numbered)


class _KeptBodies:
    """An attribute that keeps the first of its values."""

    def __get__(self, topics: Any, _owner: object = None) -> Any:
        return topics.__dict__["kept"]

    def __set__(self, topics: Any, value: object) -> None:
        topics.__dict__.setdefault("kept", value)


def retained_topics_are_published_once(patch: pytest.MonkeyPatch) -> None:
    """After a reconnect only what has changed is published, whatever the broker has forgotten."""
    patch.setattr(RetainedTopics, "_bodies", _KeptBodies(), raising=False)


def rounds_are_forgotten_at_a_restart(patch: pytest.MonkeyPatch) -> None:
    """A table begins from scratch at each start, and gives its numbers again."""
    patch.setattr(controller.service.building, "last_state", lambda *_: None)


def will_is_not_cleared(patch: pytest.MonkeyPatch) -> None:
    """``online`` is published at the first connection alone, and the will of an end stays."""
    deliver = MessagePoster.deliver

    async def once(poster: MessagePoster, connection: Any, messages: list[OutgoingMessage]) -> None:
        online = poster._api.status(online=True)
        if poster._health.connects:
            messages = [message for message in messages if message != online]
        await deliver(poster, connection, messages)

    patch.setattr(MessagePoster, "deliver", once)


def dead_run_keeps_its_lease(patch: pytest.MonkeyPatch) -> None:
    """A daemon takes its tables back after each time that it dies."""
    patch.setattr(common.standby.right, "release_of_dead_run", lambda _: None)
    patch.setattr(common.standby.lease, "MAX_RETAKES", 99)


def tables_are_never_yielded(patch: pytest.MonkeyPatch) -> None:
    """A daemon of a pair that cannot serve keeps the tables."""
    patch.setattr(controller.service.pair, "reason_to_yield", lambda *_: None)


def claims_expire_too_early(patch: pytest.MonkeyPatch) -> None:
    """A claim on a table expires before its daemon repeats it."""
    patch.setattr(table_claims, "CLAIM_EXPIRY_SECONDS", table_claims.CLAIM_INTERVAL_SECONDS / 2)


def lost_device_is_not_opened_again(patch: pytest.MonkeyPatch) -> None:
    """The next attempt to open the link of a lost device comes after hours."""
    patch.setattr(devices.device, "reconnect_pause", lambda *_: 9999.0)


def twin_is_not_suspected(patch: pytest.MonkeyPatch) -> None:
    """A daemon believes that the broker ends its connections for another reason."""
    patch.setattr(ClientIdTwin, "suspect", lambda _twin, _error: False)


NO_STORE = ("store of the lease away",)
DIES = ("serving daemon dies again",)
NO_BROKER = ("serving daemon without broker",)
UNPLUGGED = ("device unplugged",)
TWIN = ("second daemon of one name",)
DEFECTS = (
    Defect(wake_ups_are_lost, "an old state", 1),
    Defect(right_without_a_reply, "a device is read", 3, 0.05, 4, pair=True, among=NO_STORE),
    Defect(fence_is_forgotten, "a device is read", 3, 0.05, 4, pair=True, among=NO_STORE),
    Defect(claims_are_not_looked_at, "one round, two", 1, parts=("rival",)),
    Defect(events_are_numbered_again, "published", 2),
    Defect(retained_topics_are_published_once, "nothing is retained", 7),
    Defect(rounds_are_forgotten_at_a_restart, "number of another spin", 1),
    Defect(will_is_not_cleared, "no daemon is online", 2),
    Defect(dead_run_keeps_its_lease, "a machine could", 1, pair=True, among=DIES),
    Defect(tables_are_never_yielded, "a machine could", 1, pair=True, among=NO_BROKER),
    Defect(claims_expire_too_early, "two daemons have one table", 3, parts=("rival",)),
    Defect(
        twin_is_not_suspected, "two daemons have one name", 2, 0.15, 6, parts=("twin",), among=TWIN
    ),
    Defect(lost_device_is_not_opened_again, "no result for", 1, 0.3, 3, among=UNPLUGGED),
)


def finds(defect: Defect, of: Plan) -> bool:
    """Return whether a run finds the defect, which is planted."""
    finding = run(of).finding
    return finding is not None and finding.startswith(defect.kind)


def search(defect: Defect) -> Iterator[str]:
    """Report the first seed that finds a defect, and its smallest plan."""
    with pytest.MonkeyPatch.context() as patch:
        defect.plant(patch)
        for seed in range(1, MAX_SEEDS + 1):
            finding = run(defect.plan(seed)).finding
            yield f"{seed}: {finding and finding[:200]}"
            if finding is not None and finding.startswith(defect.kind):
                yield f"{seed}: {shrink(defect.plan(seed))}"
                return


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.plant.__name__)
def test_a_planted_defect_is_found(defect: Defect, monkeypatch: pytest.MonkeyPatch) -> None:
    defect.plant(monkeypatch)
    seeds = [defect.seed, *range(1, MAX_SEEDS + 1)]  # the others if the world has changed
    assert any(finds(defect, defect.plan(seed)) for seed in seeds)


if __name__ == "__main__":
    be_quiet()
    for each in DEFECTS:
        if each.plant.__name__ in sys.argv[1:]:
            for line in search(each):
                sys.stdout.write(f"{each.plant.__name__} {line}\n")
