"""What goes wrong with a second witness, beside its line and the broker."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests.world.witnesses.eye import Camera, Eye

if TYPE_CHECKING:
    from tests.world.world import World

PART = "witnesses"
LATE_SECONDS = 2.0, 8.0, 20.0, 36.0
Begin = Callable[["World", Random], Callable[[], None]]


class Witnesses(NamedTuple):
    """Those of a world: what each sees, by table and device, and the cameras by table."""

    eyes: dict[tuple[str, str], Eye]
    cameras: dict[str, Camera]


def witnesses_of(world: World) -> Witnesses:
    """Return the witnesses of a world in which they take part."""
    found = world.extras[PART]
    assert isinstance(found, Witnesses)
    return found


def _nothing() -> None:
    """Do nothing at the end of a fault that ends by itself."""


def _eye(begin: Callable[[Eye, Random], None], end: Callable[[Eye], None]) -> Begin:
    def fault(world: World, random: Random) -> Callable[[], None]:
        if not (eyes := list(witnesses_of(world).eyes.values())):
            return _nothing
        eye = random.choice(eyes)
        begin(eye, random)
        return lambda: end(eye)

    return fault


def _silent(eye: Eye, _random: Random) -> None:
    eye.blind = True


def _sees(eye: Eye) -> None:
    eye.blind = False


def _late(eye: Eye, random: Random) -> None:
    eye.late_seconds = random.choice(LATE_SECONDS)


def _in_time(eye: Eye) -> None:
    eye.late_seconds = 0.0


def _wrong(eye: Eye, _random: Random) -> None:
    eye.wrong_reports += 1


def _twice(eye: Eye, _random: Random) -> None:
    eye.repeated_reports += 1


def _old(eye: Eye, _random: Random) -> None:
    eye.old_reports += 1


def _for_good(_eye: Eye) -> None:
    """Leave it as it is: it ends with the next report."""


def _retained(world: World, random: Random) -> Callable[[], None]:
    """The broker retains what a camera reports meanwhile, and the last report for good."""
    if not (cameras := list(witnesses_of(world).cameras.values())):
        return _nothing
    camera = random.choice(cameras)
    camera.retains = True

    def end() -> None:
        camera.retains = False

    return end


FAULTS: dict[str, Begin] = {
    "witness silent": _eye(_silent, _sees),
    "witness late": _eye(_late, _in_time),
    "witness wrong": _eye(_wrong, _for_good),
    "witness reports twice": _eye(_twice, _for_good),
    "witness repeats an old report": _eye(_old, _for_good),
    "witness is retained": _retained,
}
"""Name of each fault, and what begins it."""
