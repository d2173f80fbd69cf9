"""Who uses a command of surveillance: a person of the people file, by PIN."""

from __future__ import annotations

import asyncio
import getpass
import sys
import time
from pathlib import Path

from controller.people.register import Person
from subscribers.console.admission import Admission, Denied
from subscribers.console.settings import PitSettings
from subscribers.console.words import said


class RefusedError(Exception):
    """It is not done. The message says why."""


def admitted(
    pit: PitSettings, site: str, state: str, person: str, pin_file: Path | None, language: str
) -> tuple[Admission, Person]:
    """The person of that id or badge, by the PIN in a file or asked for. ``state``: the folder in
    which wrong PINs are counted. Raises :class:`RefusedError` and ``NobodyError``.
    """
    admission = Admission(pit, site, Path(state), time.time)
    found = asyncio.run(admission.admit(person, _pin(pin_file)))
    if isinstance(found, Denied):
        raise RefusedError(said(f"denied.{found.why}", language, minutes=-(-found.seconds // 60)))
    return admission, found[0]


def _pin(path: Path | None) -> str:
    if path is not None:
        try:
            if path.stat().st_mode & 0o077:
                raise RefusedError(f"{path} can be read by others; chmod 600 {path}")
            return path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise RefusedError(f"{path}: {error.strerror}") from None
    if not sys.stdin.isatty():
        raise RefusedError("there is no terminal to ask for the PIN on; use --pin-file FILE")
    return getpass.getpass("PIN: ")
