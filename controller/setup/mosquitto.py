"""Mosquitto's own files: where it listens, the passwords of its users, and what each may do."""

from __future__ import annotations

import base64
import getpass
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from common import randomness
from controller.configuration.access import access_scope
from controller.configuration.settings import Configuration
from controller.people.broker_access import Kind, client_access, mosquitto_acl
from controller.setup.change import FileChange, Layout, content
from controller.setup.facts import Facts

CONF_FOLDER = Path("/etc/mosquitto")
GROUP = "mosquitto"
ITERATIONS, SALT_BYTES, HASH_BYTES = 101, 12, 64
"""As ``mosquitto_passwd`` of Mosquitto 2.0 hashes: PBKDF2 with SHA-512. The passwords are drawn by
chance, so that more iterations would not make them harder to find.
"""
PASSWORD_BYTES = 24
USERS: Mapping[str, str] = {
    "novamas": "mqtt.password",
    "web": "web.password",
    "surveillance": "surveillance.password",
    "display": "display.password",
    "integrator": "integrator.password",
}
"""Users of the broker, and the secret that each password is. The last two are for programs on other
machines.
"""


class MosquittoFiles(NamedTuple):
    """The files that Mosquitto reads."""

    conf: Path
    passwords: Path
    acl: Path


def place(facts: Facts) -> MosquittoFiles:
    """Return where they lie: in Debian's folder, or beside the configuration."""
    if facts.is_service and facts.has_systemd:
        return MosquittoFiles(
            CONF_FOLDER / "conf.d/novamas.conf",
            CONF_FOLDER / "novamas.passwords",
            CONF_FOLDER / "novamas.acl",
        )
    folder = facts.file.resolve().parent / "mosquitto"
    return MosquittoFiles(folder / "mosquitto.conf", folder / "passwords", folder / "acl")


def listener_of(conf: Path) -> str | None:
    """Return the address in a configuration that :func:`conf_text` wrote, or None."""
    for line in (content(conf) or b"").decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["listener"] and len(words) == 3:
            return f"{words[2]}:{words[1]}"
    return None


def conf_text(files: MosquittoFiles, host: str, port: int, facts: Facts) -> str:
    """Return the configuration of Mosquitto."""
    own = [] if files.conf.is_relative_to(CONF_FOLDER) else [f"user {_user(facts)}"]
    lines = (
        "# Written by `novamas setup`: users with passwords, each with its own rights.",
        *own,
        f"listener {port} {host}",
        "allow_anonymous false",
        f"password_file {files.passwords}",
        f"acl_file {files.acl}",
    )
    return "\n".join(lines) + "\n"


def _user(facts: Facts) -> str:
    return "novamas" if facts.is_service else getpass.getuser()


def users(configuration: Configuration) -> list[tuple[Kind, str]]:
    """Return each user of the broker, and its kind."""
    web: Kind = "display" if configuration.web.pin_keys is None else "console"
    return [
        ("daemon", "novamas"),
        (web, "web"),
        ("surveillance", "surveillance"),
        ("display", "display"),
        ("integrator", "integrator"),
    ]


def hashed(password: str) -> str:
    """Return the password as in a ``password_file`` of Mosquitto 2."""
    salt = randomness.token_bytes(SALT_BYTES)
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, ITERATIONS, HASH_BYTES)
    parts = (base64.b64encode(part).decode() for part in (salt, digest))
    return f"$7${ITERATIONS}${'$'.join(parts)}"


def passwords(layout: Layout, file: Path) -> list[FileChange]:
    """Return the passwords that are missing, and the file with all hashed ones. Those that exist
    stay.
    """
    lines = (content(file) or b"").decode("utf-8", "replace").splitlines()
    known = {line.partition(":")[0] for line in lines}
    changes = []
    for user, secret in USERS.items():
        path = layout.secret(secret)
        existing = content(path)
        if existing is not None and user in known:
            continue
        password = (
            existing.decode().strip() if existing else randomness.token_urlsafe(PASSWORD_BYTES)
        )
        if existing is None:
            changes.append(layout.shared(path, password.encode() + b"\n"))
        lines = [line for line in lines if line.partition(":")[0] != user]
        lines.append(f"{user}:{hashed(password)}")
    after = ("\n".join(lines) + "\n").encode()
    return [*changes, _own(layout, file, after, is_secret=True)]


def rules(layout: Layout, files: MosquittoFiles, configuration: Configuration) -> FileChange:
    """Return the rules that ``novamas acl`` writes, for these users."""
    scope = access_scope(configuration)
    clients = [client_access(kind, user, scope) for kind, user in users(configuration)]
    return _own(layout, files.acl, mosquitto_acl(clients).encode())


def conf(layout: Layout, files: MosquittoFiles, host: str, port: int, facts: Facts) -> FileChange:
    """Return the configuration."""
    text = conf_text(files, host, port, facts).encode()
    if layout.has_credentials:
        return FileChange(files.conf, content(files.conf), text, 0o644)
    return _own(layout, files.conf, text)


def _own(layout: Layout, path: Path, after: bytes, *, is_secret: bool = False) -> FileChange:
    """Return the change of a file that Mosquitto alone reads, which refuses others' files."""
    group = GROUP if layout.has_credentials else "novamas" if layout.is_service else None
    mode = 0o640 if group else 0o600
    return FileChange(path, content(path), after, mode, group, is_secret)
