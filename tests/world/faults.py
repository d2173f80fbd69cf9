"""What can go wrong in a world. Each fault is a row of :data:`FAULTS`; the world draws them by
seed, with how long each lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from controller.mqtt.publisher import REPUBLISH_INTERVAL_SECONDS
from simulators.faults import FAULTS as SIMULATED_FAULTS
from tests.world import floor, recorder
from tests.world.backup import restore_old_backup
from tests.world.broker import faults as broker
from tests.world.broker.packets import Reason
from tests.world.carrousel import faults as carrousel
from tests.world.carrousel import pair as controllers
from tests.world.device import PORTS
from tests.world.disk_faults import DISK_FAULTS
from tests.world.lease_store import USUAL_STORE_SECONDS
from tests.world.nodes import run_twin
from tests.world.pair_faults import PAIR_FAULTS
from tests.world.wheels import asked
from tests.world.witnesses import faults as witnesses

if TYPE_CHECKING:
    from tests.world.process import Machine
    from tests.world.world import World

End = Callable[[], object]


def _nothing() -> None:
    """Do nothing at the end of a fault that ends by itself."""


class Fault(NamedTuple):
    """``begin`` returns what ends it; ``part``: who must take part in the world for it, or the kind
    of wheel.
    """

    begin: Callable[[World, Random], End]
    part: str = ""


class Happening(NamedTuple):
    """A fault that was drawn: when it begins and ends in the time of the world, and which."""

    at: float
    until: float
    name: str
    seed: int


def _machines(world: World) -> list[Machine]:
    """Return the machines on which programs run, each once."""
    return list(dict.fromkeys(program.machine for program in world.programs))


def _kill(world: World, random: Random) -> End:
    random.choice(world.programs).kill(world.lasts(random.choice((0.1, 2.0, 10.0))))
    return _nothing


def _freeze(world: World, random: Random) -> End:
    program = random.choice(world.programs)
    if (process := program.process) is not None and process.alive:
        seconds = world.lasts(random.choice((0.3, 3.0, 20.0, 300.0)))
        world.loop.freeze(process, seconds)
        _keep_waiting(world, program.machine, seconds)
    return _nothing


def _suspend(world: World, random: Random) -> End:
    machine = random.choice(_machines(world))
    seconds = world.lasts(random.choice((2.0, 60.0, 600.0)))
    world.loop.suspend(machine, seconds)
    _keep_waiting(world, machine, seconds)
    return _nothing


def _keep_waiting(world: World, machine: Machine, seconds: float) -> None:
    """Nothing on a machine is stored for so long, which may have waited for its disk already."""
    for node in world.nodes:
        if node.machine is machine:
            node.disk.keep_waiting(world.loop.now + seconds)


def _wall(world: World, random: Random) -> End:
    random.choice(_machines(world)).wall += random.choice((-3600.0, -5.0, -0.2, 0.2, 5.0, 3600.0))
    return _nothing


def _store_away(world: World, random: Random) -> End:
    """Requests of a machine, the replies to it, or both are lost."""
    bucket, machine = world.bucket, random.choice(world.nodes).machine
    assert bucket is not None
    directions = random.choice(
        ((bucket.unheard,), (bucket.deaf,), (bucket.unheard, bucket.deaf)),
    )
    for direction in directions:
        direction.add(machine)

    def end() -> None:
        for direction in directions:
            direction.discard(machine)

    return end


def _store_slow(world: World, random: Random) -> End:
    bucket = world.bucket
    assert bucket is not None
    bucket.delay = random.choice((0.1, 0.5, 2.0))

    def end() -> None:
        bucket.delay = USUAL_STORE_SECONDS

    return end


def _unplug(world: World, random: Random) -> End:
    random.choice(list(PORTS.values())).unplug(world.lasts(random.choice((0.5, 5.0, 60.0))))
    return _nothing


def _device(name: str, *values: float) -> Callable[[World, Random], End]:
    """A fault of ``simulators/``, at one of the devices that can have it. One of the next line
    lasts until that is sent, which a display that is spun by hand does minutes later.
    """
    protocols = SIMULATED_FAULTS[name].protocols

    def begin(world: World, random: Random) -> End:
        able = [each for each in PORTS.values() if not protocols or each.protocol in protocols]
        if able:
            device = random.choice(able)
            device.on_line_fault = lambda: world.lasts(0.0)
            device.fault(name, world.lasts(random.choice(values)))
        return _nothing

    return begin


def _drift(world: World, random: Random) -> End:
    """The clock of a machine runs faster or slower; nothing like chrony corrects it."""
    machine = random.choice(_machines(world))
    world.loop.drift(machine, random.choice((0.95, 0.999, 1.001, 1.05)))
    return lambda: world.loop.drift(machine, 1.0)


def _broker(make: Callable[[Random], broker.Fault]) -> Callable[[World, Random], End]:
    """A fault of the broker."""

    def begin(world: World, random: Random) -> End:
        fault = make(random)
        world.sockets.begin(fault)
        return lambda: world.sockets.end(fault)

    return begin


def _client(make: Callable[[Random, str], broker.Fault]) -> Callable[[World, Random], End]:
    """A fault between the broker and one of the machines that are connected with it."""

    def begin(world: World, random: Random) -> End:
        machines = {machine.name for machine in _machines(world)}
        peers = dict.fromkeys(each.peer for each in world.broker.connections)
        if not (victims := [peer for peer in peers if peer in machines]):
            return _nothing
        victim = random.choice(victims)
        world.note(f"HITS {victim}")
        return _broker(lambda random: make(random, victim))(world, random)

    return begin


def _forget(world: World, random: Random) -> End:
    """The broker acknowledges a message to its daemon, and loses it."""
    topics = random.choice(("novamas/v1/palma/+/event", "novamas/v1/palma/+/state"))
    return _until_published_again(world, _broker(lambda _: broker.Forget(topics))(world, random))


def _lose_qos0(world: World, random: Random) -> End:
    """The broker drops what it delivers with QoS 0: a web server has no other subscriptions."""
    end = _broker(lambda _: broker.LoseQos0())(world, random)
    shown = any(program.name == floor.MACHINE for program in world.programs)
    return _until_published_again(world, end) if shown else end


def _until_published_again(world: World, end: End) -> End:
    """End a fault that lost a retained message: the daemon publishes all of them again in a while,
    and only then must everything be right.
    """

    def ended() -> None:
        end()
        world.lasts(REPUBLISH_INTERVAL_SECONDS)

    return ended


FAULTS: dict[str, Fault] = {
    "daemon killed": Fault(_kill),
    "daemon starved": Fault(_freeze),
    "clock drifts": Fault(_drift),
    "machine suspended": Fault(_suspend),
    "wall clock set": Fault(_wall),
    **{name: Fault(begin) for name, begin in DISK_FAULTS.items()},
    "old backup restored": Fault(restore_old_backup, "backup"),
    "store of the lease away": Fault(_store_away, "pair"),
    "store of the lease slow": Fault(_store_slow, "pair"),
    **{name: Fault(begin, "pair") for name, begin in PAIR_FAULTS.items()},
    "second daemon of one name": Fault(run_twin, "twin"),
    "device unplugged": Fault(_unplug),
    "line silent": Fault(_device("silence", 1.0, 10.0, 60.0)),
    "line held and burst": Fault(_device("burst", 0.5, 5.0)),
    "line at a wrong speed": Fault(_device("wrong_baud", 1.0, 10.0)),
    "line damaged": Fault(_device("damaged", 0.0)),
    "line doubled": Fault(_device("duplicate", 0.0)),
    "line split": Fault(_device("split", 0.0)),
    "line spliced": Fault(_device("spliced", 0.0)),
    "wheel reset": Fault(_device("power_cycle", 0.5, 5.0)),
    "wheel sensor": Fault(_device("sensor", 1.0, 5.0)),
    "wheel's error flag": Fault(_device("error", 5.0, 20.0), "saturn"),
    "plate restarted": Fault(_device("restart", 0.5, 5.0), "boule-board"),
    "plate's report lost": Fault(_device("lost_report", 0.0), "boule-board"),
    "ball between holes": Fault(_device("between_holes", 0.0), "boule-board"),
    "ball out": Fault(_device("ball_out", 0.0), "boule-board"),
    "ball flickers": Fault(_device("flicker", 1.0, 5.0), "boule-board"),
    "hole's sensor stuck": Fault(_device("stuck_sensor", 60.0), "boule-board"),
    "hole's sensor blind": Fault(_device("blind_sensor", 60.0), "boule-board"),
    "cells' board restarted": Fault(_device("restart", 0.5, 5.0), "fortune-board"),
    "wheel turned back": Fault(_device("turned_back", 6.0), "fortune-board"),
    "wheel pushed weakly": Fault(_device("weak_push", 0.0), "fortune-board"),
    "wheel on a pin": Fault(_device("on_pin", 0.0), "fortune-board"),
    "cells' encoder fails": Fault(_device("encoder", 5.0, 60.0), "fortune-board"),
    "die unreadable": Fault(_device("unreadable", 0.0), "dice"),
    "die cocked": Fault(_device("cocked", 0.0), "dice"),
    "dice unmoved": Fault(_device("unmoved", 0.0), "dice"),
    "die missing": Fault(_device("die_missing", 0.0), "dice"),
    "die too many": Fault(_device("die_extra", 0.0), "dice"),
    "dice reader fails": Fault(_device("reader", 2.0, 20.0), "dice"),
    "dice board restarted": Fault(_device("restart", 0.5, 5.0), "dice"),
    "dice report lost": Fault(_device("lost_report", 0.0), "dice"),
    "shoe reset": Fault(_device("reset", 0.5, 5.0), "cards"),
    "shoe alarm": Fault(_device("alarm", 1.0, 10.0), "cards"),
    "cut card": Fault(_device("cut_card", 0.0), "cards"),
    "card unread": Fault(_device("unread", 1.0, 10.0), "cards"),
    "card not reported": Fault(_device("lost_report", 0.0), "cards"),
    "card read twice": Fault(_device("read_twice", 0.3), "cards"),
    "card with a wrong check": Fault(_device("bad_bcc", 2.0, 3.0), "cards"),
    "shuffler jammed": Fault(_device("jam", 2.0, 20.0), "shufflers"),
    "shuffler's door open": Fault(_device("door_open", 2.0, 20.0), "shufflers"),
    "card missing from a deck": Fault(_device("count_wrong", 2.0, 20.0), "shufflers"),
    "card twice in a deck": Fault(_device("set_wrong", 2.0, 20.0), "shufflers"),
    "shuffler needs service": Fault(_device("service", 2.0, 20.0), "shufflers"),
    "shuffler restarted": Fault(_device("restart", 0.5, 5.0), "shufflers"),
    "shuffler's report lost": Fault(_device("lost_report", 0.0), "shufflers"),
    "broker down, forgets": Fault(_broker(lambda _: broker.Outage())),
    "broker down, keeps all": Fault(_broker(lambda _: broker.Outage(True, True))),
    "broker down, keeps retained": Fault(_broker(lambda _: broker.Outage(False, True))),
    "broker cut off": Fault(_client(lambda _, who: broker.Partition(frozenset({who})))),
    "broker half open": Fault(
        _client(lambda random, who: broker.HalfOpen(who, random.choice(("to_broker", "to_client"))))
    ),
    "broker slow": Fault(
        _client(lambda random, who: broker.Delay(who, random.choice((0.05, 1.0, 5.0))))
    ),
    "broker disconnects": Fault(_client(lambda _, who: broker.ForcedDisconnect(who))),
    "reader slow": Fault(_client(lambda random, who: broker.SlowReader(who, random.randrange(3)))),
    "broker doubles": Fault(_broker(lambda _: broker.Duplicate())),
    "broker refuses": Fault(
        _broker(lambda _: broker.RefusePublish("novamas/#", Reason.QUOTA_EXCEEDED))
    ),
    "broker reorders topics": Fault(
        _broker(
            lambda random: broker.Lag(
                f"novamas/v1/palma/{random.choice(('+/event', '+/state', 'node/#'))}",
                random.choice((0.1, 2.0, 10.0)),
            )
        )
    ),
    "broker forgets": Fault(_forget),
    "broker loses QoS 0": Fault(_lose_qos0),
    "screen cut off": Fault(floor.cut_screen, "floor"),
    "archive full": Fault(recorder.fill_disk, "recorder"),
    "archive slow": Fault(recorder.slow_down, "recorder"),
    "archive stored but failed": Fault(recorder.tear_commit, "recorder"),
    "archive backed up": Fault(recorder.back_up, "recorder"),
    "archive restored": Fault(recorder.restore, "recorder"),
    "recorder restarted": Fault(recorder.restart, "recorder"),
    "recorder's session lost": Fault(
        _broker(lambda _: broker.LostSession(recorder.NODE)), "recorder"
    ),
    **{name: Fault(begin, asked.PART) for name, begin in asked.FAULTS.items()},
    **{name: Fault(begin, witnesses.PART) for name, begin in witnesses.FAULTS.items()},
    **{name: Fault(begin, "carrousel") for name, begin in carrousel.FAULTS.items()},
    **{name: Fault(begin, "carrousel-pair") for name, begin in controllers.PAIR_FAULTS.items()},
}
"""Name of each fault, and what begins it."""
DURATIONS = (0.0, 0.5, 3.0, 15.0, 90.0)
"""How long a fault lasts, in seconds, unless it decides that itself."""


def draw(random: Random, hours: float, faults: int, parts: Sequence[str]) -> list[Happening]:
    """Draw that many faults over that many hours, in order, of those that such a world knows."""
    names = [name for name, fault in FAULTS.items() if not fault.part or fault.part in parts]
    found = []
    for _ in range(faults):
        at = random.uniform(30.0, hours * 3600.0)
        name = random.choice(names)
        found.append(Happening(at, at + random.choice(DURATIONS), name, random.getrandbits(32)))
    return sorted(found)
