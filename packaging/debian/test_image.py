"""The image of ``make image`` in containers: what is in it, a number at the broker from a wheel
that is passed through, its healthcheck while daemon and broker come and go. `make image-test`.
"""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from containers import archives as archives
from containers import engine as engine
from containers import image as image
from containers import network as network
from containers import wheel as wheel
from engine import Container, Engine, Image, Volume

from tests.support.waiting import until

CHECKOUT = Path(__file__).parents[2]
CONFIGURATION = """\
[site]
id = "casino-prueba"
node = "node-1"
decree = "ARA02"

[broker]
url = "mqtt://broker:1883"

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
TOPIC = "novamas-sim/v1/casino-prueba/mesa-1/result"
BROKER = "listener 1883 0.0.0.0\nallow_anonymous true\npersistence false\n"
FORBIDDEN_PROGRAMS = "gcc", "cc", "g++", "make", "apt-get", "apt", "curl", "wget", "gpg", "pip3"


@pytest.fixture
def settings(engine: Engine) -> Volume:
    """The volume of the configuration, as a person fills it."""
    volume = engine.volume("configuration", "/etc/novamas")
    (volume.source / "novamas.toml").write_text(CONFIGURATION)
    (volume.source / "mosquitto.conf").write_text(BROKER)
    return volume._replace(writable=False)


def test_what_an_engine_is_told(image: Image, archives: dict[str, Path]) -> None:
    config = image.config
    assert config["User"] == "10001"
    assert (config["Entrypoint"], config["Cmd"]) == (["novamas"], ["run", "novamas.toml"])
    assert set(config["Volumes"]) == {"/etc/novamas", "/var/lib/novamas"}
    assert set(config["ExposedPorts"]) == {"1883/tcp", "8080/tcp"}
    assert config["StopSignal"] == "SIGTERM"
    assert config["Healthcheck"]["Test"] == ["CMD", "novamas", "health", "novamas.toml"]
    labels = config["Labels"]
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    assert archives["docker"].name.split("_")[1] == labels["org.opencontainers.image.version"]


def test_the_archive_of_oci_has_the_same_files_and_says_the_same(
    image: Image, archives: dict[str, Path]
) -> None:
    with tarfile.open(archives["oci"]) as packed:

        def blob(digest: str) -> Any:
            file = packed.extractfile(f"blobs/{digest.replace(':', '/')}")
            assert file is not None
            return json.load(file)

        index = packed.extractfile("index.json")
        assert index is not None
        (listed,) = json.load(index)["manifests"]
        manifest = blob(listed["digest"])
        said = blob(manifest["config"]["digest"])
    assert manifest["mediaType"] == "application/vnd.oci.image.manifest.v1+json"
    assert said["rootfs"] == image.whole["rootfs"]
    same = said["config"].keys() - {"Healthcheck"}
    assert {key: said["config"][key] for key in same} == {key: image.config[key] for key in same}


def test_it_is_small_and_has_nothing_that_a_container_does_not_need(image: Image) -> None:
    files = [path for path in image.root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < 260_000_000
    names = {path.name for path in files if path.stat().st_mode & 0o111}
    assert names.isdisjoint(FORBIDDEN_PROGRAMS)
    assert [path for path in files if path.stat().st_mode & 0o6000] == []
    assert [*(image.root / "var/cache").iterdir(), *(image.root / "var/log").iterdir()] == []
    assert not list((image.root / "usr/share/man").rglob("*.gz"))
    assert {path.name for path in (image.root / "usr/share/doc/novamas").iterdir()} == {
        *("copyright", "contents.cdx.json", "examples"),
    }
    assert not list((image.root / "etc/apt").rglob("*.list"))
    assert not list((image.root / "etc/apt").rglob("*.sources"))
    for name in ("etc/novamas", "var/lib/novamas"):
        assert (image.root / name).stat().st_gid == 10001, name


def test_a_number_is_at_the_broker_and_the_healthcheck_follows_daemon_and_broker(
    engine: Engine, settings: Volume, wheel: Path
) -> None:
    state = engine.volume("state", "/var/lib/novamas")

    def broker(name: str) -> Container:
        entrypoint = ("mosquitto", "-c", "/etc/novamas/mosquitto.conf")
        return engine.start(name, entrypoint=entrypoint, volumes=[settings])

    def daemon(name: str) -> Container:
        devices = {"/dev/ttyUSB0": wheel}
        return engine.start(name, volumes=[settings, state], devices=devices)

    mosquitto, first = broker("broker"), daemon("daemon")
    until("healthy", lambda: first.check().returncode == 0, first.log)
    who = first.run("id", "-u").stdout.strip(), first.run("touch", "/etc/novamas/x").returncode
    assert who == ("10001", 1)
    status = first.run("cat", "/proc/1/status").stdout
    assert re.search(r"^CapEff:\s0+$", status, re.MULTILINE)
    opened = first.run(
        "novamas", "send", "mesa-1", "session.open", "--by", "A. Riera", "--role", "inspector"
    )
    assert '"ok":true' in opened.stdout, opened.stderr
    (number,) = engine.results(TOPIC, 2)[-1:]
    assert 0 <= int(number["outcome"]["number"]) <= 36

    mosquitto.kill()
    checked = first.check()
    assert checked.returncode == 1
    assert checked.stderr.startswith("novamas: broker mqtt://broker:1883: ")
    again = broker("broker-2")
    until("healthy again", lambda: first.check().returncode == 0, first.log)

    first.signal("STOP")
    until("unhealthy while it hangs", lambda: first.check().returncode == 1)
    first.signal("CONT")
    until("healthy as it goes on", lambda: first.check().returncode == 0, first.log)

    assert first.stop() == 0
    probe = engine.start("probe", ("sleep", "600"), entrypoint=(), volumes=[settings])
    until("a container to look from", lambda: probe.run("true").returncode == 0, probe.log)
    checked = probe.check()
    assert checked.returncode == 1
    assert "the daemon is offline" in checked.stderr
    second = daemon("daemon-2")
    until("healthy after a restart", lambda: second.check().returncode == 0, second.log)
    assert len(engine.results(TOPIC, 2)) == 2, "the session continues with the volume of its state"
    second.signal("KILL")
    second.process.wait(60)
    until("offline by its last will", lambda: probe.check().returncode == 1)
    assert again.stop() == 0
