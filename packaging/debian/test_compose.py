"""The compose file: its form by the published schema, and each service run as an engine would, from
nothing to a number in the browser and in the archive. `make image-test`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import compose
import jsonschema
from containers import NUMBER
from containers import archives as archives
from containers import engine as engine
from containers import image as image
from containers import network as network
from containers import shown as shown
from containers import wheel as wheel
from engine import Container, Engine, run

from tests.support.waiting import until

HERE = Path(__file__).parent
CONFIGURATION = """\
[site]
id = "casino-prueba"
node = "node-1"
decree = "ARA02"

[broker]
url = "mqtt://127.0.0.1:1883"
username = "novamas"
password_file = "novamas.password"

[web]
username = "display"
password_file = "display.password"

[archive]
username = "surveillance"
password_file = "surveillance.password"

[people]
required = "accept-the-risk"

[[table]]
id = "mesa-1"
game = "roulette-french"
simulated = true
speed = 20

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial:///dev/ttyUSB0?baud=9600"
"""
PREPARE = """\
set -e
mkdir mosquitto
touch mosquitto/passwords
for user in novamas display surveillance console; do
  echo "secret-of-$user" >"$user.password"
  mosquitto_passwd -b mosquitto/passwords "$user" "secret-of-$user"
done
novamas acl novamas.toml --client display=display --client surveillance=surveillance \\
  --client console=console >mosquitto/acl
cat >mosquitto/mosquitto.conf <<END
listener 1883 127.0.0.1
allow_anonymous false
password_file /etc/novamas/mosquitto/passwords
acl_file /etc/novamas/mosquitto/acl
END
chgrp -R novamas .
chmod -R u=rwX,g=rX,o= .
"""
TOPIC = "novamas-sim/v1/casino-prueba/mesa-1/result"


def test_its_form_is_the_published_one(tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "-qq", "download", "--no-deps", "--require-hashes")
    run(*pip, "--dest", tmp_path, "--requirement", HERE / "schema-pin-compose.txt")
    (found,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(found) as packed:
        schema = json.loads(packed.read("compose/config/compose_spec.json"))
    jsonschema.Draft7Validator(schema).validate(compose.whole())


def start(engine: Engine, name: str, device: Path) -> Container:
    """Start a service as the file says."""
    service = compose.services({"NOVAMAS_DEVICE": str(device)})[name]
    outside = (each.split(":") for each in service.get("devices", ()))
    return engine.start(
        name,
        service.get("command", ()),
        entrypoint=service.get("entrypoint"),
        volumes=[
            engine.volume(volume, place)._replace(writable=writable)
            for place, (volume, writable) in compose.volumes(service).items()
        ],
        devices={place: Path(device) for device, place in outside},
        read_only=service["read_only"],
    )


def listens(engine: Engine, port: int) -> bool:
    code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
    words = engine.outside(sys.executable, "-c", code)
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


def test_every_service_runs_from_a_number_to_the_browser_and_the_archive(
    engine: Engine, wheel: Path, shown: Callable[[Sequence[str], str], str]
) -> None:
    settings = engine.volume("novamas-configuration", "/etc/novamas")
    (settings.source / "novamas.toml").write_text(CONFIGURATION)
    prepared = engine.start(
        "prepare", ("-c", PREPARE), entrypoint=["sh"], user="0", volumes=[settings]
    )
    assert prepared.process.wait(60) == 0, prepared.log()

    broker, web, recorder = (
        start(engine, name, wheel) for name in ("broker", "web", "surveillance")
    )
    daemon = start(engine, "daemon", wheel)
    until("healthy", lambda: daemon.check().returncode == 0, daemon.log)

    def anybody(*login: str) -> str:
        words = ("mosquitto_sub", "-h", "127.0.0.1", *login, "-t", "#", "-C", "1", "-W", "10")
        done = subprocess.run(engine.outside(*words), capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    assert "not authorised" in anybody()
    assert "not authorised" in anybody("-u", "display", "-P", "a guess")
    display = ("-u", "display", "-P", "secret-of-display")
    send = ("novamas", "send", "mesa-1", "session.open", "--by", "A. Riera", "--role", "inspector")
    opened = daemon.run(*send, "--username", "console", "--password-file", "console.password")
    assert '"ok":true' in opened.stdout, opened.stdout + opened.stderr
    assert engine.results(TOPIC, 2, *display)[-1]["outcome"]["number"] == int(NUMBER)
    address = "http://127.0.0.1:8080/table/mesa-1"
    until("the displays are there", lambda: listens(engine, 8080), web.log)
    assert shown(engine.outside(), address) == NUMBER

    def archived() -> bool:
        words = ("novamas", "surveillance", "search", "--what", "result", "--json")
        return "round.result" in recorder.run(*words).stdout

    until("the result is archived", archived, recorder.log)
    ends: list[Callable[[], int]] = [web.stop, recorder.stop, daemon.stop, broker.stop]
    assert [end() for end in ends] == [0, 0, 0, 0]
