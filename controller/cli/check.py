"""``novamas check``: checks a configuration and reports every mistake at once."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from controller.broker.certificates import expiry_warning
from controller.broker.login import BrokerUnusableError, certificate_date_problem, password, tls
from controller.cli.carrousel import PROGRAM, jackpot_settings
from controller.cli.configured import config_argument
from controller.configuration.blind import blind
from controller.configuration.certificates import certificate_files, read_end
from controller.configuration.file import inspect_configuration
from controller.configuration.listening import address, is_loopback, metrics_addresses
from controller.configuration.secrets import CREDENTIAL_UNITS, credentials, secret_files
from controller.configuration.settings import ClockConfig, Configuration
from controller.people.register import alike, read_unsigned, said_alike
from controller.proof.chrony import Chrony, Tracking
from controller.proof.kernel_clock import read_kernel_clock
from controller.proof.time_bound import stated
from controller.service.installed_units import missing_credential
from controller.service.privacy import exposed, readable_by_all
from controller.standby.credentials import login
from controller.standby.errors import StoreUnusableError
from devices.places import format_path

ANSWER = 1.0
"""Seconds that chrony has for its answer."""
OF_JACKPOTS = ("site", "broker", "carrousel", "jackpot")
"""The sections that decide what the controller of the jackpots is told."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG]."""
    config_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Return 0 with a summary on stdout, or 1 with the mistakes on stderr."""
    found = inspect_configuration(arguments.config)
    configuration = found.configuration
    wrong = [mistake.of(arguments.config) for mistake in found.mistakes]
    if configuration is not None and "broker" not in found.mistaken:
        wrong += [f"{arguments.config}: {each}" for each in unusable(configuration)]
    if configuration is not None and found.mistaken.isdisjoint(OF_JACKPOTS):
        wrong += [f"{arguments.config}: {each}" for each in against_decrees(configuration)]
    if wrong or configuration is None:
        print("\n".join(wrong), file=sys.stderr)
        return _failed(arguments.config, len(wrong))
    print(
        f"ok: site {configuration.site.id}, node {configuration.site.node}, broker "
        f"{configuration.broker.url}"
    )
    for table in configuration.table:
        devices = ", ".join(
            f"{device.id} ({device.driver}, {device.link})" for device in table.device
        )
        print(
            f"  {table.id}: {table.game} "
            f"{table.decree}{', simulated' if table.simulated else ''}: {devices}"
        )
    for jackpot in configuration.jackpot:
        given = jackpot.authorisation
        print(
            f"  jackpot {jackpot.id}: {jackpot.kind}, {jackpot.decree}, {jackpot.currency}"
            f"{', simulated' if jackpot.simulated else ''}: "
            + (
                "no authorisation, so it does not start"
                if given is None
                else f"authorisation {given.number} of {given.date}: {', '.join(given.tables)}"
            )
        )
    if len(found.files) > 1:
        print(f"  read from {', '.join(map(str, found.files))}")
    for warning in warnings(configuration, recorded="archive" in found.sections):
        print(f"warning: {warning}")
    for note in notes(configuration):
        print(f"note: {note}")
    return 0


def _failed(config: Path, count: int) -> int:
    errors = "1 error" if count == 1 else f"{count} errors"
    print(f"novamas: {errors} in {config}", file=sys.stderr)
    return 1


def unusable(configuration: Configuration) -> list[str]:
    """What the configuration names and nobody can use: a password, a certificate or a key that
    cannot be read or does not fit, and a certificate that has expired.
    """
    broker, found = configuration.broker, []
    try:
        tls(broker)
        if broker.password_credential is None:
            password(broker)
    except BrokerUnusableError as error:
        found.append(str(error))
    standby = configuration.standby
    try:
        if standby is not None and standby.creds_credential is None:
            login(standby)
    except StoreUnusableError as error:
        found.append(str(error))
    for place, path in certificate_files(configuration).items():
        if not place.endswith("ca_file") and (
            dated := certificate_date_problem(str(path), time.time())
        ):
            found.append(f"{place}: {dated}")
    return found


def against_decrees(configuration: Configuration) -> list[str]:
    """What in the terms of the jackpots is against their decrees, as the controller says that will
    keep them.
    """
    if not configuration.jackpot:
        return []
    settings = {
        "site": configuration.site.id,
        "broker": {"url": configuration.broker.url},
        "node": configuration.carrousel.node,
        "ledger": configuration.carrousel.path,
        "jackpots": [jackpot_settings(each) for each in configuration.jackpot],
    }
    given = f"--settings={msgspec.json.encode(settings).decode()}"
    checked = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", PROGRAM, "--check", given],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in checked.stderr.splitlines() if checked.returncode]


def warnings(configuration: Configuration, *, recorded: bool) -> list[str]:
    """What cannot work, or not for long: devices of which no result can come, people who may not
    act because their names look the same, secrets that others can read, credentials that nobody
    passes, a clock that is not kept as the site asks, keys that a recorder believes at first sight,
    metrics that other machines can ask, and certificates that end soon. ``recorded``: a recorder is
    set up here.
    """
    return [
        *(f"{format_path(at)}: {what}" for at, what in blind(configuration)),
        *taken_for_each_other(configuration),
        *missing_credentials(configuration),
        *unkept(configuration.clock),
        *(unnamed_keys(configuration) if recorded else ()),
        *told_to_others(configuration),
        *ending(configuration),
    ] + [
        f"{path}: other users of this machine can read it; run chmod go= on it"
        for path in dict.fromkeys(
            (
                *exposed(Path(configuration.journal.path), Path(configuration.recordings.path)),
                *readable_by_all(secret_files(configuration).values()),
            )
        )
    ]


def ending(configuration: Configuration) -> list[str]:
    """Certificates that end soon or cannot be read, and authorities that have ended."""
    found, now = [], time.time()
    for place, path in certificate_files(configuration).items():
        try:
            what = expiry_warning(read_end(place, path), now)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            what = f"it cannot be read: {reason}"
        if what is not None:
            found.append(f"{place}: {path}: {what}; renew it")
    return found


def taken_for_each_other(configuration: Configuration) -> list[str]:
    """People whose names look the same."""
    people = configuration.people
    if people is None or people.file is None:
        return []
    known = read_unsigned(Path(people.file).read_bytes())  # checked when the file was inspected
    return [
        f"{people.file}: {said_alike(*pair)}. Until then neither of them may act"
        for pair in alike(known.persons)
    ]


def missing_credentials(configuration: Configuration) -> list[str]:
    """Credentials that the service is not passed: as it sees it itself, or by its unit as it is
    installed.
    """
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if folder:
        return [
            f"{key}: the credential {name!r} cannot be read in {folder}; the unit's "
            "LoadCredential= names it"
            for key, name in _of_daemon(configuration).items()
            if not os.access(Path(folder, name), os.R_OK)
        ]
    return [
        f"{format_path(at)}: nobody provides the credential {name!r}: {why}"
        for at, name in credentials(configuration).items()
        if (why := missing_credential(CREDENTIAL_UNITS[str(at[0])], name)) is not None
    ]


def unnamed_keys(configuration: Configuration) -> list[str]:
    """Daemons whose checkpoints the recorder believes at first sight."""
    archive, own = configuration.archive, configuration.site
    told = []
    if configuration.table and own.node not in archive.keys:
        told.append(
            f"archive.keys: the recorder believes the first key with which {own.node} signs; write "
            f'keys = {{ {own.node} = "..." }} with `key` of the file <journal>.checkpoint on that '
            "machine (docs/inspector/surveillance.md)"
        )
    of = {} if configuration.table else {"archive": archive.keys}
    of |= {f"archive.site {each.id}": each.keys for each in archive.site}
    return told + [
        f"{place}: keys: the recorder believes the first key with which each node signs; name them "
        "(docs/inspector/surveillance.md)"
        for place, keys in of.items()
        if not keys
    ]


def told_to_others(configuration: Configuration) -> list[str]:
    """That metrics can be asked from other machines."""
    return [
        f"{'.'.join(map(str, at))}: whoever reaches {where} can read the metrics, without a "
        "password; let a firewall keep all but Prometheus from it (docs/technician/metrics.md)"
        for at, where in metrics_addresses(configuration).items()
        if not is_loopback(address(where)[0])
    ]


def unkept(clock: ClockConfig) -> list[str]:
    """That nobody keeps the clock now, or not as well as the site asks."""
    if clock.bound is None:
        return []
    said = stated(read_kernel_clock(), chrony_says(clock.chrony) if clock.chrony else None)
    if said is None or not said.synchronised:
        found = "no time source keeps the clock of this machine"
    elif said.greatest > clock.bound:
        found = f"by the word of {said.by} the clock may be wrong by {said.greatest:.3g} s"
    else:
        return []
    remedy = "let chrony or systemd-timesyncd keep it (docs/technician/time.md)"
    return [f"clock.bound: the site allows {clock.bound:g} s, and {found}: {remedy}"]


def chrony_says(address: str) -> Tracking | None:
    """What chrony answers, or None if it does not answer in time."""
    chrony = Chrony(address)
    end = time.monotonic() + ANSWER
    try:
        while (said := chrony.look()) is None and chrony.asked and time.monotonic() < end:
            time.sleep(ANSWER / 20)
    finally:
        chrony.close()
    return said


def notes(configuration: Configuration) -> list[str]:
    """What is sound, and yet keeps `novamas run` from working when started by hand."""
    if os.environ.get("CREDENTIALS_DIRECTORY"):
        return []
    return [
        f"{key}: systemd passes the credential {name!r} to the service only; without a unit that "
        "loads it, `novamas run` cannot read it"
        for key, name in _of_daemon(configuration).items()
    ]


def _of_daemon(configuration: Configuration) -> dict[str, str]:
    """The credentials that the daemon itself reads."""
    return {
        format_path(at): name
        for at, name in credentials(configuration).items()
        if CREDENTIAL_UNITS[str(at[0])] == "novamas.service"
    }
