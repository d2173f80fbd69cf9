"""From the answers to the files: a plan that can be shown before it is carried out."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from controller.configuration.listening import address, local_authority
from controller.configuration.settings import Configuration
from controller.setup import mosquitto
from controller.setup.change import FileChange, Layout, StartCommand, content
from controller.setup.configuration_text import configuration_text
from controller.setup.enrolment import (
    Enrolment,
)
from controller.setup.facts import Facts
from controller.setup.model import NONE
from controller.setup.trial import checked
from devices.drivers import driver

DROP_IN = Path("/etc/systemd/system/novamas-web.service.d/setup.conf")
"""Passes the pepper to the web server."""


class SetupPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What setup will do.

    ``changes``: files, the configuration last; ``configuration``: as it will be, without its paths;
    ``enrolment``: the inspector who is enrolled; ``simulators``: the words of a command for each
    simulated device; ``runs_mosquitto``: Mosquitto's configuration, if setup starts it itself;
    ``console_password``: the file with the password of the console at a broker that setup has
    configured; ``site_key``: a key that must leave this machine.
    """

    file: Path
    changes: tuple[FileChange, ...]
    steps: tuple[StartCommand, ...]
    configuration: Configuration
    enrolment: Enrolment | None
    simulators: Mapping[str, tuple[str, ...]]
    runs_mosquitto: Path | None
    console_password: Path | None
    starts: bool
    opens: bool
    has_web: bool
    archives: bool
    site_key: Path | None

    @property
    def address(self) -> str:
        """The address of the displays."""
        scheme = "https" if self.configuration.web.cert_file else "http"
        return f"{scheme}://{local_authority(self.configuration.web.listen)}"


def make_plan(given: Mapping[str, Any], facts: Facts) -> SetupPlan:
    """Return the plan that follows from the answers. Raises :class:`SetupError`."""
    layout, files = Layout(facts), mosquitto.place(facts)
    enrolment = None
    if given["inspector"]:
        people = facts.existing.people if facts.existing else None
        file = Path(people.file) if facts.has_people and people and people.file else None
        enrolment = Enrolment(layout, given["site"], file, given)
    changes = list(enrolment.changes) if enrolment else []
    changes += _broker_secrets(given, layout, files, facts)
    text, more = configuration_text(given, facts, layout, enrolment)
    changes += more
    file_change = layout.readable(facts.file, text.encode())
    configuration = checked([*changes, file_change], facts)
    if given["broker"] == "mosquitto":
        changes.append(mosquitto.rules(layout, files, configuration))
    changes.append(file_change)
    if layout.has_credentials and enrolment:
        drop_in = b"[Service]\nLoadCredential=web.pepper:novamas.web.pepper\n"
        changes.append(FileChange(DROP_IN, content(DROP_IN), drop_in, 0o644))
    needed = tuple(change for change in changes if change.before != change.after)
    simulators = dict(_simulators(configuration))
    starts, has_web = given["start"], given["web"] != NONE
    runs_mosquitto = given["broker"] == "mosquitto" and not layout.has_credentials
    plan = SetupPlan(
        file=facts.file,
        changes=needed,
        steps=(),
        configuration=configuration,
        enrolment=enrolment,
        simulators=simulators,
        runs_mosquitto=files.conf if runs_mosquitto else None,
        console_password=(
            layout.secret("web.password") if given["broker"] == "mosquitto" else None
        ),
        starts=starts,
        opens=bool(given.get("open")),
        has_web=has_web,
        archives=given["surveillance"],
        site_key=next((each.path for each in needed if each.path.name == "site.key"), None),
    )
    return (
        msgspec.structs.replace(plan, steps=tuple(_steps(plan, files)))
        if facts.has_systemd and facts.is_service
        else plan
    )


def _steps(plan: SetupPlan, files: mosquitto.MosquittoFiles) -> Iterator[StartCommand]:
    """Yield the commands that start everything under systemd."""
    if not plan.starts:
        return
    changed_paths = {change.path for change in plan.changes}
    if changed_paths & set(files):
        yield StartCommand(("systemctl", "restart", "mosquitto"))
    if DROP_IN in changed_paths:
        yield StartCommand(("systemctl", "daemon-reload"))
    for table, words in plan.simulators.items():
        unit = f"novamas-simulated-{table}"
        yield StartCommand(("systemd-run", "--collect", f"--unit={unit}", "novamas", *words))
    units = ["novamas"]
    units += ["novamas-web"] if plan.has_web else []
    units += ["novamas-surveillance"] if plan.archives else []
    yield StartCommand(("systemctl", "enable", *units))
    yield StartCommand(("systemctl", "restart" if plan.changes else "start", *units))


def described(changes: Sequence[FileChange]) -> Iterator[tuple[FileChange, str]]:
    """Yield each file with what a person may see of it: of a new one its text, of another one the
    difference, of a secret nothing.
    """
    for change in changes:
        after = change.after.decode("utf-8", "replace")
        if change.is_secret:
            yield change, ""
        elif change.before is None:
            yield change, after
        else:
            before = change.before.decode("utf-8", "replace")
            pair = before.splitlines(keepends=True), after.splitlines(keepends=True)
            name = str(change.path)
            yield change, "".join(difflib.unified_diff(*pair, name, name, n=1))


def _broker_secrets(
    given: Mapping[str, Any], layout: Layout, files: mosquitto.MosquittoFiles, facts: Facts
) -> list[FileChange]:
    if given["broker"] == "mosquitto":
        host, port = address(given["broker_listen"])
        return [
            *mosquitto.passwords(layout, files.passwords),
            mosquitto.conf(layout, files, host, port, facts),
        ]
    password = given.get("broker_password")
    if given["broker"] != "address" or not password:
        return []
    names = ("mqtt", "web", "surveillance") if layout.has_credentials else ("mqtt",)
    body = password.encode() + b"\n"
    return [layout.shared(layout.secret(f"{name}.password"), body) for name in names]


def _simulators(configuration: Configuration) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the command that simulates the device of each simulated table."""
    for seed, table in enumerate(configuration.table, 1):
        for device in table.device:
            if table.simulated and device.link.startswith("tcp://127.0.0.1:"):
                words = ("simulate", driver(device.driver).kind, "--protocol", device.driver)
                where = device.link.removeprefix("tcp://")
                yield (
                    table.id,
                    (*words, "--tcp", where, "--games-per-hour", "120", "--seed", str(seed)),
                )
