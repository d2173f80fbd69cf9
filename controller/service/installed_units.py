"""The installed systemd units: which credentials they pass to a service."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

UNIT_FOLDERS = tuple(
    Path(each)
    for each in (
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system",
    )
)  # fmt: skip
"""Where systemd looks for units, in order of precedence; drop-ins of all folders apply."""
CREDENTIAL_STORES = tuple(
    Path(each) for each in ("/etc/credstore", "/run/credstore", "/usr/lib/credstore")
)
"""Where systemd looks for a credential that a unit loads by name."""
_LOAD_KEYS = "LoadCredential", "LoadCredentialEncrypted"
_SET_KEYS = "SetCredential", "SetCredentialEncrypted"


def missing_credential(
    unit: str,
    credential: str,
    units: Sequence[Path] = UNIT_FOLDERS,
    stores: Sequence[Path] = CREDENTIAL_STORES,
) -> str | None:
    """Return why a service does not get a credential, or None if it does, or if that is unknown
    because the unit is not installed or a file cannot be read by this user.
    """
    lines = _lines(unit, units)
    if lines is None:
        return None
    missing = None
    for key, _, value in (line.partition("=") for line in lines):
        name, _, source = value.strip().partition(":")
        if key == "ImportCredential" and fnmatchcase(credential, name):
            return None
        if key in _SET_KEYS and name == credential:
            return None
        if key in _LOAD_KEYS and name == credential:
            places = _files(source or name, stores, encrypted=key == _LOAD_KEYS[1])
            if not _all_missing(places):
                return None
            missing = (
                f"{unit} loads it from {places[0]}, which does not exist; put the secret there"
            )
    return missing or (
        f"{unit} does not load it; add LoadCredential={credential}:FILE with "
        f"`systemctl edit {unit}`"
    )


def _lines(unit: str, folders: Sequence[Path]) -> list[str] | None:
    """Return the lines of a unit and its drop-ins; None if not installed or not readable."""
    main = next((folder / unit for folder in folders if (folder / unit).exists()), None)
    if main is None:
        return None
    drop_ins = sorted(
        (path for folder in folders for path in (folder / f"{unit}.d").glob("*.conf")),
        key=lambda path: path.name,
    )
    try:
        return [
            line.strip() for path in (main, *drop_ins) for line in path.read_text().splitlines()
        ]
    except OSError:
        return None


def _files(source: str, stores: Sequence[Path], *, encrypted: bool) -> list[Path]:
    """Return the paths where systemd looks for the credential."""
    if source.startswith("/"):
        return [Path(source)]
    kinds = (".encrypted", "") if encrypted else ("", ".encrypted")
    return [store.with_name(store.name + kind) / source for kind in kinds for store in stores]


def _all_missing(files: list[Path]) -> bool:
    """True if none of the files exists for certain; a file hidden from this user may exist."""
    for file in files:
        try:
            file.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return False
        return False
    return True
