"""What can go wrong with people and their commands."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextvars import Context
from random import Random
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from common import clock
from common.people.signed_command import Claims, claims_of, sign
from tests.world.faults import FAULTS, End, Fault
from tests.world.people.commands import Commands
from tests.world.people.site import Site
from tests.world.people.staff import ROOT

if TYPE_CHECKING:
    from tests.world.world import World

RECENT = 8
"""Only so many of the last commands are copied: older ones have expired."""


def _nothing() -> None:
    """Do nothing at the end of a fault that ends by itself."""


def _site(world: World) -> Site:
    return next(each.site for each in world.checkers if isinstance(each, Commands))


def _revoke(world: World, random: Random) -> End:
    """Somebody is revoked, often one whose command waits for a second person; somebody else comes
    later. A pair may get the new file at one machine only.
    """
    site = _site(world)
    desk = site.console.desk
    waiting = (
        [] if desk is None else [wait.touch.person.id for wait in desk.pit.sending.waits.values()]
    )
    first = [actor for actor in site.actors if actor.id in waiting]
    actor = random.choice(first if first and random.random() < 0.7 else site.actors)
    daemons = site.daemons if random.random() < 0.5 else [random.choice(site.daemons)]
    site.staff.revoke(actor.id, clock.wall())
    site.publish_people([*daemons, site.console.folder], random)

    def end() -> None:
        site.appoint(actor)
        site.publish_people([*site.daemons, site.console.folder], random)

    return end


def _old_file(world: World, random: Random) -> End:
    """Somebody copies an old people file to a machine."""
    site = _site(world)
    machine = random.choice(site.daemons)
    site.put(machine, random.randint(1, site.staff.number))
    return lambda: site.put(machine, site.staff.number)


def _copy(world: World, random: Random) -> tuple[Site, str, bytes] | None:
    site = _site(world)
    sent = site.commands.sent[-RECENT:]
    if not sent:
        return None
    message = random.choice(sent)
    return site, message.topic, message.payload


def _replay(change: Callable[[Site, str, Random], str]) -> Callable[[World, Random], End]:
    """Somebody who has seen a command sends it again, a few times in the next minute."""

    def begin(world: World, random: Random) -> End:
        if (found := _copy(world, random)) is not None:
            site, topic, token = found
            topic = change(site, topic, random)
            for seconds in random.sample((0.0, 0.0, 0.5, 2.5, 5.0, 10.0, 20.0, 40.0), 4):
                world.lasts(seconds)
                world.loop.call_later(
                    seconds, site.attacker.publish, topic, token, context=Context()
                )
        return _nothing

    return begin


def _same(_site: Site, topic: str, _random: Random) -> str:
    return topic


def _elsewhere(site: Site, topic: str, random: Random) -> str:
    return f"{ROOT}/{random.choice(site.tables)}/command/{topic.rpartition('/')[2]}"


def _replay_over_a_restart(world: World, random: Random) -> End:
    """As the command arrives, its daemon dies; the next one gets it again."""
    for node in world.nodes:
        if random.random() < 0.7:
            node.program.kill(world.lasts(random.choice((0.1, 2.0, 10.0))))
    return _replay(_same)(world, random)


def _retain(world: World, random: Random) -> End:
    if (found := _copy(world, random)) is None:
        return _nothing
    site, topic, token = found
    site.attacker.publish(topic, token, retain=True)
    return lambda: site.attacker.publish(topic, b"", retain=True)


def _forge(world: World, random: Random) -> End:
    """A command that nobody has signed, or who may not."""
    if (found := _copy(world, random)) is not None:
        site, topic, token = found
        site.attacker.publish(topic, random.choice(FORGERIES)(site, token, random))
    return _nothing


def _fresh(site: Site, token: bytes, random: Random) -> Claims:
    now = int(clock.wall())
    jti = f"forged-{random.getrandbits(64):016x}"
    return replace(claims_of(token), jti=jti, iat=now, exp=now + 60)


def _own_key(site: Site, token: bytes, random: Random) -> bytes:
    return sign(random.randbytes(32), _fresh(site, token, random)).encode()


def _former(site: Site, token: bytes, random: Random) -> bytes:
    claims = replace(_fresh(site, token, random), iss=site.stranger, role="director")
    return sign(site.staff.secret(site.stranger), claims).encode()


def _in_a_name(site: Site, token: bytes, random: Random) -> bytes:
    """One person signs in the name of another."""
    actor = random.choice(site.actors)
    return sign(site.staff.secret(actor.id), _fresh(site, token, random)).encode()


def _altered(site: Site, token: bytes, random: Random) -> bytes:
    """The command is another one than was signed."""
    header, claims, signature = token.split(b".")
    body = json.loads(base64.urlsafe_b64decode(claims + b"=="))
    changed: list[dict[str, Any]] = [
        {"command": "round.void", "fields": {"reason": "inspector"}},
        {"jti": f"forged-{random.getrandbits(64):016x}"},
        {"exp": body["exp"] + 60},
    ]
    text = json.dumps({**body, **random.choice(changed)}).encode()
    return b".".join([header, base64.urlsafe_b64encode(text).rstrip(b"="), signature])


def _unsigned(_site: Site, token: bytes, random: Random) -> bytes:
    claims = claims_of(token)
    body = {**claims.fields, "by": "M. Lasa", "role": claims.role, "client": "x"}
    return json.dumps({**body, "id": random.getrandbits(32)}).encode()


FORGERIES = (_own_key, _former, _in_a_name, _altered, _unsigned)


def _wrong_clock(world: World, random: Random) -> End:
    site = _site(world)
    machine = site.program.machine
    site.unsynchronised.append(machine)
    machine.wall += random.choice((-3600.0, -30.0, -8.0, 8.0, 30.0, 3600.0))
    return lambda: site.unsynchronised.remove(machine)


PEOPLE_FAULTS = {
    "person revoked": Fault(_revoke, "people"),
    "old people file": Fault(_old_file, "people"),
    "command replayed": Fault(_replay(_same), "people"),
    "command replayed elsewhere": Fault(_replay(_elsewhere), "people"),
    "command replayed over a restart": Fault(_replay_over_a_restart, "people"),
    "command retained": Fault(_retain, "people"),
    "command forged": Fault(_forge, "people"),
    "clock of the console wrong": Fault(_wrong_clock, "people"),
}

FAULTS.update(PEOPLE_FAULTS)
