"""``novamas check``: checks a configuration and reports all errors at once."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from common import clock
from common.broker.certificates import expiry_warning
from common.broker.login import BrokerUnusableError, certificate_date_problem, password, tls
from common.contract.remedies import message_in
from common.people.register import alike, describe_alike, read_unsigned
from common.places import format_path
from common.standby.credentials import read_login
from common.standby.errors import StoreUnusableError
from common.webhook_keys import WebhookKeyError, parse_webhook_keys
from controller.cli.carrousel import PROGRAM, jackpot_settings
from controller.cli.configured import config_argument
from controller.configuration.blind import blind
from controller.configuration.certificates import certificate_files, read_end
from controller.configuration.file import inspect_configuration
from controller.configuration.listening import address, is_loopback, metrics_addresses
from controller.configuration.secrets import DAEMON_UNIT, credential_units, secret_files
from controller.configuration.settings import ClockConfig, Configuration
from controller.configuration.unencrypted import unencrypted
from controller.proof.chrony import Chrony, Tracking
from controller.proof.kernel_clock import read_kernel_clock
from controller.proof.time_bound import clock_statement
from controller.service.installed_units import missing_credential
from controller.service.privacy import exposed, readable_by_all

REPLY_TIMEOUT_SECONDS = 1.0
"""Seconds to wait for chrony's reply."""
JACKPOT_SECTIONS = ("site", "broker", "carrousel", "jackpot")
"""Sections that the settings of the jackpot controller derive from."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG]."""
    config_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Return 0 with a summary on stdout, or 1 with the errors on stderr."""
    result = inspect_configuration(arguments.config)
    configuration = result.configuration
    errors = [mistake.of(arguments.config) for mistake in result.mistakes]
    if configuration is not None and "broker" not in result.mistaken:
        errors += [f"{arguments.config}: {trouble}" for trouble in unusable(configuration)]
    if configuration is not None and result.mistaken.isdisjoint(JACKPOT_SECTIONS):
        errors += [f"{arguments.config}: {trouble}" for trouble in decree_violations(configuration)]
    if errors or configuration is None:
        print("\n".join(map(explained, errors)), file=sys.stderr)
        return _failed(arguments.config, len(errors))
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
        authorisation = jackpot.authorisation
        print(
            f"  jackpot {jackpot.id}: {jackpot.kind}, {jackpot.decree}, {jackpot.currency}"
            f"{', simulated' if jackpot.simulated else ''}: "
            + (
                "no authorisation, so it does not start"
                if authorisation is None
                else f"authorisation {authorisation.number} of {authorisation.date}: "
                f"{', '.join(authorisation.tables)}"
            )
        )
    if len(result.files) > 1:
        print(f"  read from {', '.join(map(str, result.files))}")
    for warning in warnings(configuration, recorded="archive" in result.sections):
        print(f"warning: {explained(warning)}")
    for note in notes(configuration):
        print(f"note: {note}")
    return 0


def explained(message: str, name: str = "") -> str:
    """Return a message; below it, the command that explains it if there is an entry: the one of
    that name, or the one of a message that it contains.
    """
    name = name or message_in(message)
    return f"{message}\n  novamas explain {name}" if name else message


def _failed(config: Path, count: int) -> int:
    errors = "1 error" if count == 1 else f"{count} errors"
    print(f"novamas: {errors} in {config}", file=sys.stderr)
    return 1


def unusable(configuration: Configuration) -> list[str]:
    """Return configured passwords, certificates and keys that cannot be read or do not fit, and
    certificates that have expired.
    """
    broker, problems = configuration.broker, []
    try:
        tls(broker)
        if broker.password_credential is None:
            password(broker)
    except BrokerUnusableError as error:
        problems.append(str(error))
    standby = configuration.standby
    try:
        if standby is not None and standby.creds_credential is None:
            read_login(standby)
    except StoreUnusableError as error:
        problems.append(str(error))
    problems += webhook_key_problems(configuration)
    for place, path in certificate_files(configuration).items():
        if not place.endswith("ca_file") and (
            date_problem := certificate_date_problem(str(path), clock.wall())
        ):
            problems.append(f"{place}: {date_problem}")
    return problems


def webhook_key_problems(configuration: Configuration) -> Iterator[str]:
    """Yield the keys of webhooks that are not valid. A missing file is left to the service, which
    may run on another machine.
    """
    files = {
        f"webhook {webhook.id}": webhook.secret_file
        for webhook in configuration.webhook
        if webhook.secret_file is not None
    } | {
        f"bookmark {bookmark.id}": bookmark.secret_file
        for bookmark in configuration.bookmark
        if bookmark.kind == "webhook" and bookmark.secret_file is not None
    }
    for place, path in files.items():
        try:
            parse_webhook_keys(Path(path).read_text(encoding="utf-8"))
        except UnicodeError:
            yield f"{place}: secret_file: {path} is not UTF-8 text"
        except WebhookKeyError as error:
            yield f"{place}: secret_file: {path}: {error}"
        except OSError:
            continue


def decree_violations(configuration: Configuration) -> list[str]:
    """Return the terms of jackpots that violate their decrees, as reported by the controller."""
    if not configuration.jackpot:
        return []
    settings = {
        "site": configuration.site.id,
        "broker": {"url": configuration.broker.url},
        "node": configuration.carrousel.node,
        "ledger": configuration.carrousel.path,
        "jackpots": [jackpot_settings(jackpot) for jackpot in configuration.jackpot],
    }
    option = f"--settings={msgspec.json.encode(settings).decode()}"
    completed = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", PROGRAM, "--check", option],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in completed.stderr.splitlines() if completed.returncode]


def warnings(configuration: Configuration, *, recorded: bool) -> list[str]:
    """Return what cannot work, or not for long: devices that yield no result or may lose one,
    people who may not act because their names look alike, secrets that others can read, credentials
    that no unit passes, a clock that is not as accurate as required, keys that a recorder trusts at
    first sight, a pair that trusts any key, connections to other machines that are not encrypted,
    metrics that other machines can read, and certificates that expire soon. ``recorded``: a
    recorder is configured.
    """
    return [
        *(f"{format_path(at)}: {problem}" for at, problem in blind(configuration)),
        *similar_names(configuration),
        *missing_credentials(configuration),
        *clock_problems(configuration.clock),
        *(unnamed_keys(configuration) if recorded else ()),
        *unnamed_standby_keys(configuration),
        *unencrypted(configuration),
        *exposed_metrics(configuration),
        *(explained(end, "certificate.ends") for end in expiring_certificates(configuration)),
    ] + [
        f"{path}: other users of this machine can read it; run chmod go= on it"
        for path in dict.fromkeys(
            (
                *exposed(Path(configuration.journal.path), Path(configuration.recordings.path)),
                *readable_by_all(secret_files(configuration).values()),
            )
        )
    ]


def expiring_certificates(configuration: Configuration) -> list[str]:
    """Return certificates that expire soon or cannot be read, and expired authorities."""
    expiring, now = [], clock.wall()
    for place, path in certificate_files(configuration).items():
        try:
            problem = expiry_warning(read_end(place, path), now)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            problem = f"it cannot be read: {reason}"
        if problem is not None:
            expiring.append(f"{place}: {path}: {problem}; renew it")
    return expiring


def similar_names(configuration: Configuration) -> list[str]:
    """Return people whose names look alike."""
    people = configuration.people
    if people is None or people.file is None:
        return []
    register = read_unsigned(Path(people.file).read_bytes())  # verified by the inspection
    return [
        f"{people.file}: {describe_alike(*pair)}. Until then neither of them may act"
        for pair in alike(register.persons)
    ]


def missing_credentials(configuration: Configuration) -> list[str]:
    """Return credentials that the service does not get: as seen from inside the service, or from
    its installed unit.
    """
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    if folder:
        return [
            f"{key}: the credential {name!r} cannot be read in {folder}; the unit's "
            "LoadCredential= names it"
            for key, name in _daemon_credentials(configuration).items()
            if not os.access(Path(folder, name), os.R_OK)
        ]
    return [
        f"{format_path(at)}: the credential {name!r} is not provided: {why}"
        for at, name, unit in credential_units(configuration)
        if (why := missing_credential(unit, name)) is not None
    ]


def unnamed_keys(configuration: Configuration) -> list[str]:
    """Return daemons whose checkpoints the recorder trusts at first sight."""
    archive, own = configuration.archive, configuration.site
    messages = []
    if configuration.table and own.node not in archive.keys:
        messages.append(
            f"archive.keys: the recorder trusts the first key with which {own.node} signs; write "
            f'keys = {{ {own.node} = "..." }} with `key` of the file <journal>.checkpoint on that '
            "machine (docs/inspector/surveillance.md)"
        )
    keys_by_place = {} if configuration.table else {"archive": archive.keys}
    keys_by_place |= {f"archive.site {site.id}": site.keys for site in archive.site}
    return messages + [
        f"{place}: keys: the recorder trusts the first key with which each node signs; name them "
        "(docs/inspector/surveillance.md)"
        for place, keys in keys_by_place.items()
        if not keys
    ]


def unnamed_standby_keys(configuration: Configuration) -> list[str]:
    """Return whether the daemons or the controllers of a pair trust records that are signed with
    any key.
    """
    standby, carrousel = configuration.standby, configuration.carrousel
    if standby is None:
        return []
    found = []
    if configuration.table and not standby.keys:
        found.append(
            f"standby.keys: anyone who can write to the bucket {standby.bucket} can sign records "
            "that both daemons trust; once both have had the tables, write keys = "
            '["KEY OF ONE", "KEY OF THE OTHER"], each `key` of <journal>.checkpoint on its machine '
            "(docs/technician/standby.md#set-it-up)"
        )
    if carrousel.standby and not carrousel.standby_keys:
        found.append(
            "carrousel.standby_keys: anyone who can write to the NATS cluster can sign entries of "
            "the ledger that both controllers trust; once both have had the lease, write "
            'standby_keys = ["KEY OF ONE", "KEY OF THE OTHER"], each `key` of <ledger>.checkpoint '
            "on its machine (docs/technician/carrousel-standby.md#set-it-up)"
        )
    return found


def exposed_metrics(configuration: Configuration) -> list[str]:
    """Return metrics that can be read from other machines."""
    return [
        f"{'.'.join(map(str, at))}: anyone who reaches {where} can read the metrics, without a "
        "password; let a firewall keep all but Prometheus from it (docs/technician/metrics.md)"
        for at, where in metrics_addresses(configuration).items()
        if not is_loopback(address(where)[0])
    ]


def clock_problems(clock: ClockConfig) -> list[str]:
    """Return whether the clock is unsynchronised, or less accurate than required."""
    if clock.bound is None:
        return []
    statement = clock_statement(
        read_kernel_clock(), chrony_reply(clock.chrony) if clock.chrony else None
    )
    if statement is None or not statement.synchronised:
        problem = "no time source keeps the clock of this machine"
    elif statement.greatest > clock.bound:
        problem = (
            f"according to {statement.by} the clock may be wrong by {statement.greatest:.3g} s"
        )
    else:
        return []
    remedy = "let chrony or systemd-timesyncd keep it (docs/technician/time.md)"
    return [f"clock.bound: the site allows {clock.bound:g} s, and {problem}: {remedy}"]


def chrony_reply(address: str) -> Tracking | None:
    """Return chrony's reply, or None after a timeout."""
    chrony = Chrony(address)
    end = clock.monotonic() + REPLY_TIMEOUT_SECONDS
    try:
        while (reply := chrony.poll()) is None and chrony.is_waiting and clock.monotonic() < end:
            clock.block(REPLY_TIMEOUT_SECONDS / 20)
    finally:
        chrony.close()
    return reply


def notes(configuration: Configuration) -> list[str]:
    """Return what is correct but prevents `novamas run` from working when started by hand."""
    if os.environ.get("CREDENTIALS_DIRECTORY"):
        return []
    return [
        f"{key}: systemd passes the credential {name!r} to the service only; without a unit that "
        "loads it, `novamas run` cannot read it"
        for key, name in _daemon_credentials(configuration).items()
    ]


def _daemon_credentials(configuration: Configuration) -> dict[str, str]:
    """Return the credentials that the daemon itself reads."""
    return {
        format_path(at): name
        for at, name, unit in credential_units(configuration)
        if unit == DAEMON_UNIT
    }
