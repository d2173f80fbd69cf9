"""From the answers to the text of the configuration."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from nacl.public import PrivateKey

from common import randomness
from common.confidential.boxes import format_public_key
from common.places import KeyPath
from controller.configuration.listening import local_authority
from controller.configuration.settings import TableConfig
from controller.configuration.table_checks import deals_face_down
from controller.rulebooks.chapters import head
from controller.setup.change import FileChange, Layout, SetupError, content
from controller.setup.edit import UneditableError, changed
from controller.setup.enrolment import (
    PEOPLE,
    PINS,
    RECORDER,
    RECORDER_FILES,
    Enrolment,
)
from controller.setup.facts import Facts
from controller.setup.first_file import (
    BROKER_BESIDE,
    BROKER_WITHIN,
    MORE,
    SITE,
    TABLE,
    TABLE_SIMULATED,
    printable,
    quoted,
)
from controller.setup.model import NONE, SIMULATED, Answers
from controller.setup.table_questions import device_of
from devices.drivers import driver

FIRST_SIMULATOR_PORT = 4001
SURVEILLANCE_KEY = "surveillance.key"
ARCHIVE_NODE = "surveillance"


def configuration_text(
    given: Mapping[str, Any], facts: Facts, layout: Layout, enrolment: Enrolment | None
) -> tuple[str, list[FileChange]]:
    """Return the text of the configuration as the answers want it, and the files that it needs
    besides. Raises :class:`SetupError`.
    """
    before = content(facts.file)
    url = _url(given)
    if before is None:
        section = BROKER_WITHIN if given["broker"] == "embedded" else BROKER_BESIDE
        base = _first(given) + section.format(url=quoted(url))
    else:
        base = before.decode("utf-8")
    values = {**_site(given, facts), ("broker", "url"): url, **_logins(given, facts, layout)}
    values |= _people(given, facts, layout, enrolment)
    if given["web"] != NONE:
        values[("web", "listen")] = given["web"]
    if given["surveillance"]:
        own = facts.existing.archive.node if facts.existing else ARCHIVE_NODE
        values[("archive", "node")] = own
    try:
        text = _with_tables(changed(base, values), given, facts)
        if before is None:
            text += MORE
        return _with_cards_key(text, given, layout)
    except UneditableError as error:
        raise SetupError(f"{facts.file}: {error}") from None


def _first(given: Mapping[str, Any]) -> str:
    return SITE.format(
        by="setup",
        site=quoted(given["site"]),
        decree=quoted(given["decree"]),
        node="this machine",
    )


def _url(given: Mapping[str, Any]) -> str:
    if given["broker"] == "address":
        return str(given["broker_url"])
    if given["broker"] == "embedded":
        return f"embedded://{given['broker_listen']}"
    return f"mqtt://{local_authority(given['broker_listen'])}"


def _site(given: Mapping[str, Any], facts: Facts) -> dict[KeyPath, Any]:
    values: dict[KeyPath, Any] = {
        ("site", "id"): given["site"],
        ("site", "decree"): given["decree"],
    }
    now = facts.existing.site.languages if facts.existing else ()
    if given["languages"] != (now or head(given["decree"]).languages):
        values["site", "languages"] = list(given["languages"])
    return values


def _logins(given: Mapping[str, Any], facts: Facts, layout: Layout) -> dict[KeyPath, Any]:
    """Return the users at the broker."""
    values: dict[KeyPath, Any] = {}
    if given["broker"] == "embedded":
        return values
    if given["broker"] == "mosquitto":
        sections = {"broker": "novamas", "web": "web", "archive": "surveillance"}
    elif given["broker_username"] == NONE:
        return values
    else:
        user = given["broker_username"]
        sections = dict.fromkeys(
            ("broker", "web", "archive") if layout.has_credentials else ("broker",), user
        )
        if not given["broker_password"]:  # stays as it is
            return {("broker", "username"): user}
    secrets = {"broker": "mqtt", "web": "web", "archive": "surveillance"}
    asked = {"web": given["web"] != NONE, "archive": given["surveillance"]}
    for section, user in sections.items():
        if asked.get(section, True):
            key, value = layout.secret_key(f"{secrets[section]}.password")
            values[section, "username"] = user
            values[section, key] = _same_file(facts, section, key, value, layout)
    return values


def _same_file(facts: Facts, section: str, key: str, value: str, layout: Layout) -> str:
    """Return the value as the file has it, if it means the same."""
    written = _document(facts).get(section, {}).get(key)
    return written if written in (value, str(layout.folder / value)) else value


def _document(facts: Facts) -> dict[str, Any]:
    before = content(facts.file)
    return {} if before is None else tomllib.loads(before.decode("utf-8"))


def _people(
    given: Mapping[str, Any], facts: Facts, layout: Layout, enrolment: Enrolment | None
) -> dict[KeyPath, Any]:
    if enrolment is not None:
        pepper, value = layout.secret_key("web.pepper")
        values: dict[KeyPath, Any] = {}
        if not facts.has_people:
            values = {
                ("people", "file"): PEOPLE,
                ("people", "key"): enrolment.signer,
                ("people", "required"): None,
            }
        written = _document(facts).get("web", {})
        if "pin_keys" not in written:
            values |= {("web", "pin_keys"): PINS, ("web", pepper): value}
        if any(change.path.name == RECORDER_FILES[0] for change in enrolment.changes):
            key, value = layout.secret_key(RECORDER_FILES[1])
            values |= {
                ("archive", "recall_key"): RECORDER_FILES[0],
                ("archive", "recall_person"): RECORDER,
                ("archive", f"recall_{key}"): value,
            }
        return values
    if "people" in facts.sections or given["broker"] == "embedded":
        return {}
    return {("people", "required"): False}


def _with_tables(text: str, given: Mapping[str, Any], facts: Facts) -> str:
    tables = [table.get("id") for table in tomllib.loads(text).get("table", [])]
    elsewhere = {table.id for table in facts.existing.table} if facts.existing else set()
    ports = _free_ports(facts)
    for number in range(len(given)):
        answers = Answers(given, facts, number)
        name = given.get(f"table.{number}.table_name")
        if name is None:
            return text
        device = device_of(answers)
        assert device is not None
        game, simulated = given[f"table.{number}.table_game"], device.link == SIMULATED
        if name in tables:
            text = changed(
                text, _table_values(tables.index(name), name, game, device, facts, ports)
            )
            continue
        if name in elsewhere:
            raise SetupError(f"table {name} is in another file than {facts.file}: change it there")
        kind = driver(device.driver).kind
        options = f"options = {{ {_pairs(device.options)} }}\n" if device.options else ""
        shared = {
            "table": quoted(name),
            "game": quoted(game),
            "kind": kind,
            "driver": device.driver,
        }
        if simulated:
            link = f"tcp://127.0.0.1:{next(ports)}"
            table = TABLE_SIMULATED.format(how="", link=quoted(link), **shared)
        else:
            table = TABLE.format(
                remarks=f"# {printable(device.summary)}\n" if device.summary else "",
                shown=printable(device.link),
                name=name,
                link=quoted(device.link),
                **shared,
            )
            table = table.replace("commands = false", f"{options}commands = false")
        text = f"{text.rstrip()}\n\n{table}"
    return text


def _pairs(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {quoted(str(value))}" for key, value in options.items())


def _table_values(
    index: int, name: str, game: str, device: Any, facts: Facts, ports: Iterator[int]
) -> dict[KeyPath, Any]:
    """Return the values of a table that is in the file already."""
    assert facts.existing is not None
    now = next(table for table in facts.existing.table if table.id == name)
    simulated = device.link == SIMULATED
    values: dict[KeyPath, Any] = {("table", index, "game"): game}
    if simulated != now.simulated:
        values["table", index, "simulated"] = simulated or None
    if simulated and now.simulated and now.device:
        return values
    link = f"tcp://127.0.0.1:{next(ports)}" if simulated else device.link
    return values | {
        ("table", index, "device", 0, "driver"): device.driver,
        ("table", index, "device", 0, "link"): link,
    }


def _free_ports(facts: Facts) -> Iterator[int]:
    existing = facts.existing.table if facts.existing else ()
    used = {device.link for table in existing for device in table.device}
    for port in range(FIRST_SIMULATOR_PORT, 65536):
        if f"tcp://127.0.0.1:{port}" in used or facts.port_problem("127.0.0.1", port):
            continue
        yield port


def _with_cards_key(
    text: str, given: Mapping[str, Any], layout: Layout
) -> tuple[str, list[FileChange]]:
    """Add the key of surveillance if a table has face-down cards and there is none."""
    tables = [
        TableConfig(id="table", game=game, decree=given["decree"])
        for name, game in given.items()
        if name.endswith(".table_game")
    ]
    has_key = "public_key" in tomllib.loads(text).get("surveillance", {})
    if has_key or not any(map(deals_face_down, tables)):
        return text, []
    key = PrivateKey(randomness.token_bytes(32))
    change = layout.private(layout.folder / SURVEILLANCE_KEY, key.encode().hex().encode() + b"\n")
    if change.before is not None:
        raise SetupError(
            f"{change.path} is there: put its public part into [surveillance] public_key, or move "
            "it away"
        )
    public = format_public_key(key.public_key)
    return changed(text, {("surveillance", "public_key"): public}), [change]
