"""The units of systemd as they are installed: which credentials they pass to a service."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

UNITS = tuple(
    Path(each)
    for each in (
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
        "/usr/lib/systemd/system",
    )
)  # fmt: skip
"""Where systemd looks for units; the first one counts, with the drop-ins of all."""
STORES = tuple(Path(each) for each in ("/etc/credstore", "/run/credstore", "/usr/lib/credstore"))
"""Where it looks for a credential that a unit loads by its name."""
_LOADS = "LoadCredential", "LoadCredentialEncrypted"
_SETS = "SetCredential", "SetCredentialEncrypted"


def passed(
    unit: str, credential: str, units: Sequence[Path] = UNITS, stores: Sequence[Path] = STORES
) -> str | None:
    """Why a service is not passed a credential, or None: it is, or it cannot be known, because the
    unit is not installed or a file is hidden from this user.
    """
    lines = _lines(unit, units)
    if lines is None:
        return None
    missing = None
    for key, _, value in (line.partition("=") for line in lines):
        name, _, source = value.strip().partition(":")
        if key == "ImportCredential" and fnmatchcase(credential, name):
            return None
        if key in _SETS and name == credential:
            return None
        if key in _LOADS and name == credential:
            places = _files(source or name, stores, encrypted=key == _LOADS[1])
            if not _all_missing(places):
                return None
            missing = f"{unit} loads it from {places[0]}, which is not there; put the secret there"
    return missing or (
        f"{unit} does not load it; add LoadCredential={credential}:FILE with "
        f"`systemctl edit {unit}`"
    )


def _lines(unit: str, folders: Sequence[Path]) -> list[str] | None:
    """The lines of a unit and its drop-ins, None if it is not installed or cannot be read."""
    main = next((each / unit for each in folders if (each / unit).exists()), None)
    if main is None:
        return None
    dropped = sorted(
        (path for each in folders for path in (each / f"{unit}.d").glob("*.conf")),
        key=lambda path: path.name,
    )
    try:
        return [line.strip() for path in (main, *dropped) for line in path.read_text().splitlines()]
    except OSError:
        return None


def _files(source: str, stores: Sequence[Path], *, encrypted: bool) -> list[Path]:
    """Where the credential may lie."""
    if source.startswith("/"):
        return [Path(source)]
    kinds = (".encrypted", "") if encrypted else ("", ".encrypted")
    return [store.with_name(store.name + kind) / source for kind in kinds for store in stores]


def _all_missing(files: list[Path]) -> bool:
    """Whether it is certain that none of them is there: what is hidden from this user may be."""
    for file in files:
        try:
            file.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return False
        return False
    return True
