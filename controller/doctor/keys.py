"""Checks keys, passwords and people files: whether they exist, who can read them, and when they
expire.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from common import clock
from common.broker.certificates import expiry_warning, presented_expiry
from common.broker.login import certificate_date_problem
from common.chain.checkpoint import SigningKeyError, key_path, load_key
from controller.configuration.certificates import certificate_files, read_end, servers
from controller.configuration.secrets import credential_units, secret_files
from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding
from controller.service.installed_units import missing_credential
from controller.service.privacy import exposed, readable_by_all


def check(configuration: Configuration) -> Iterator[Finding]:
    """Check all keys that the configuration names, and those beside the journal."""
    yield from _signing(configuration)
    for _, name, unit in credential_units(configuration):
        if (why := missing_credential(unit, name)) is not None:
            yield Finding("warning", f"credential {name}", f"it is not provided: {why}")
    journal, recordings = Path(configuration.journal.path), Path(configuration.recordings.path)
    secrets = secret_files(configuration).values()
    for path in dict.fromkeys((*exposed(journal, recordings), *readable_by_all(secrets))):
        yield Finding(
            "warning", f"file {path}", "other users of this machine can read it",
            f"chmod go= {path}",
        )  # fmt: skip
    for place, certificates in certificate_files(configuration).items():
        yield check_certificate(place, certificates, clock.wall())
    for place, url, context in servers(configuration):
        with suppress(OSError, ValueError):  # an unreachable server is reported by other checks
            yield _assess(
                f"certificate of {place} {url}", presented_expiry(url, context), clock.wall()
            )


def _signing(configuration: Configuration) -> Iterator[Finding]:
    """Check the signing key of the checkpoints."""
    if configuration.journal.key_credential is not None:
        return  # only the daemon can read it
    path = key_path(Path(configuration.journal.path))
    about = f"key {path}"
    if not path.exists():
        yield Finding("ok", about, "it is created at the first start")
        return
    try:
        load_key(path)
    except SigningKeyError as error:
        yield Finding("fault", about, str(error), "restore the key of this journal from the backup")
        return
    yield Finding("ok", about, "it signs the checkpoints")


def check_certificate(place: str, path: Path, now: float) -> Finding:
    """Check a file with certificates. ``now``: seconds since 1970."""
    about = f"certificate {path} ({place})"
    try:
        end = read_end(place, path)
    except (OSError, ValueError) as error:
        return Finding("fault", about, f"it cannot be read: {error}", "name a certificate in PEM")
    if (
        not place.endswith("ca_file")
        and (problem := certificate_date_problem(str(path), now)) is not None
    ):
        return Finding("fault", about, problem, "renew it", "certificate.ends")
    return _assess(about, end, now)


def _assess(about: str, end: float, now: float) -> Finding:
    warning = expiry_warning(end, now)
    if warning is None:
        day = datetime.fromtimestamp(end, UTC)
        return Finding("ok", about, f"it is valid until {day:%Y-%m-%d}")
    return Finding(
        "fault" if now > end else "warning", about, warning, "renew it", "certificate.ends"
    )
