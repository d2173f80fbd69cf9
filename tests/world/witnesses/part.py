"""The part ``witnesses``: beside each wheel a sensor on its own line, and a camera whose reader
publishes at the broker.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.world.client import Client
from tests.world.device import PORTS
from tests.world.witnesses import link
from tests.world.witnesses.checkers import Counted, GameUntouched, RightRound
from tests.world.witnesses.eye import Camera, Eye, Sensor
from tests.world.witnesses.faults import PART, Witnesses

if TYPE_CHECKING:
    from tests.world.world import World

WITHIN_SECONDS = 40.0
"""``answers_within``: the usual time, and what the fault *witness late* adds. The bets of the next
round of some wheels are closed by then.
"""
SENSOR_SECONDS, CAMERA_SECONDS = (0.0, 0.5), (0.02, 3.0)
ABLE = {"cammegh-ss2", "saturn", "number-display", "phase-display", "boule-board"}
"""The kinds of wheels with witnesses: their numbers are plain ones."""
PROFILE = Path(__file__).parents[2] / "profiles" / "idp-roulette.toml"
HOST = "studio.world"
DEVICES = """
[[table.device]]
id = "sensor"
driver = "profile"
link = "tcp://{table}-sensor:1"
options = {{ file = "number-display.toml" }}
witness = true
answers_within = {within}

[[table.device]]
id = "camera"
driver = "profile"
link = "mqtt://{host}:1883/studio/{table}"
options = {{ file = "{profile}" }}
witness = true
answers_within = {within}
"""


def join(world: World) -> None:
    """Let each wheel that can have witnesses have two."""
    link.use(world, HOST)
    world.profiles.append(PROFILE)
    random = Random(f"witnesses {world.seed}")
    cameras: dict[str, Camera] = {}
    eyes: dict[tuple[str, str], Eye] = {}
    for table, wheel in world.wheels.items():
        if wheel.protocol not in ABLE:
            continue
        world.tables[table] += DEVICES.format(
            table=table, host=HOST, profile=PROFILE.name, within=WITHIN_SECONDS
        )
        sensor = Sensor(world.loop, f"{table}-sensor", random.getrandbits(32))
        PORTS[sensor.device.name] = sensor.device
        client = Client(world.sockets, f"camera-{table}", (), lambda _: None)
        camera = cameras[table] = Camera(client, f"studio/{table}")
        for name, send, seconds in (
            ("sensor", sensor.send, SENSOR_SECONDS),
            ("camera", camera.send, CAMERA_SECONDS),
        ):
            seed = random.getrandbits(32)
            eyes[table, name] = Eye(world.loop, wheel, seconds, seed, send)
    world.extras[PART] = Witnesses(eyes, cameras)

    def clock() -> float:
        return world.nodes[0].machine.monotonic(world.loop.now)

    world.checkers += [
        GameUntouched(eyes),
        RightRound(world.wheels, eyes, WITHIN_SECONDS, clock),
        Counted(),
    ]
