"""The compose file, without an engine: each service is restricted, and can be what it names.
`make image-test` runs all of them.
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.cli import FORWARDED, SUBCOMMANDS, command_line

PARTS = Path(__file__).parents[2] / "packaging" / "debian"
PAGE = Path(__file__).parents[2] / "docs" / "technician" / "container.md"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return runpy.run_path(str(PARTS / "compose.py"))


@pytest.fixture(scope="module")
def image() -> Iterator[dict[str, Any]]:
    sys.path.insert(0, str(PARTS))
    yield runpy.run_path(str(PARTS / "container_image.py"))
    sys.path.remove(str(PARTS))


def test_no_service_may_more_than_it_needs(compose: dict[str, Any]) -> None:
    services = compose["services"]()
    assert services.keys() == {"broker", "daemon", "web", "surveillance"}
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service.keys().isdisjoint({"privileged", "cap_add", "user", "group_add"}), name
        assert ("devices" in service) == (name == "daemon"), name
        places = compose["volumes"](service)
        assert places["/etc/novamas"] == ("novamas-configuration", False), name
    states = [compose["volumes"](service).get("/var/lib/novamas") for service in services.values()]
    assert len(set(states)) == len(services), "each service has a state of its own, or none"


def test_volumes_variables_and_image_are_those_that_exist(
    compose: dict[str, Any], image: dict[str, Any]
) -> None:
    document = compose["whole"]({"NOVAMAS_DEVICE": "/dev/ttyUSB7"})
    named = {name for each in document["services"].values()
             for name, _ in compose["volumes"](each).values()}  # fmt: skip
    assert named == {volume["name"] for volume in document["volumes"].values()}
    assert document["services"]["daemon"]["devices"] == ["/dev/ttyUSB7:/dev/ttyUSB0"]
    for service in document["services"].values():
        assert service["image"] == f"{image['NAME']}:latest"
        assert set(compose["volumes"](service)) <= {image["CONFIGURATION"], image["STATE"]}
    variables = set(re.findall(r"\$\{(\w+)", compose["FILE"].read_text()))
    assert all(variable in PAGE.read_text() for variable in variables)


def test_each_command_is_one_of_the_program(compose: dict[str, Any]) -> None:
    for service in compose["services"]().values():
        words = service.get("command")
        if words is None:
            assert service["entrypoint"][0] == "mosquitto"
        elif words[0] in FORWARDED:
            assert words[0] in SUBCOMMANDS
        else:
            command_line(words[:1]).parse_args(words)


def test_the_image_is_not_root_and_its_healthcheck_is_a_command(image: dict[str, Any]) -> None:
    options = dict(option.lstrip("-").partition("=")[::2] for option in image["SETTINGS"])
    assert int(options["user"]) > 1000
    kind, program, *words = options["healthcheck"].split()
    assert (kind, program) == ("CMD", "novamas")
    command_line(words[:1]).parse_args(words)
    command = options["cmd"].split()
    command_line(command[:1]).parse_args(command)
    assert options["workingdir"] == image["CONFIGURATION"]
