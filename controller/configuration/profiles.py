"""Loads the site's device profiles into the options of their drivers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from common.sections import Notes
from controller.configuration.settings import Configuration, DeviceConfig, TableConfig
from devices.drivers import driver, driver_names
from devices.profiles.mistakes import MAX_PROFILE_BYTES


def text_of(path: Path) -> str:
    """Return the text of a profile. Raises ``ValueError`` with the reason if it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PROFILE_BYTES + 1)
        if len(data) > MAX_PROFILE_BYTES:
            raise ValueError(
                f"{path}: too large for a profile, which has at most {MAX_PROFILE_BYTES} bytes"
            )
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start + 1} is not UTF-8 text") from error


def is_described(name: str) -> bool:
    """True if the driver takes its behaviour from a profile."""
    return name in driver_names() and driver(name).described is not None


def load_profiles(
    configuration: Configuration, folder: Callable[[int], Path], notes: Notes
) -> Configuration:
    """Put the text of each profile into the options of its device. ``folder`` returns the folder to
    which the file names of the table with that index are relative.
    """

    def with_profiles(index: int, config: TableConfig) -> TableConfig:
        return replace(
            config,
            device=tuple(
                with_profile(index, ("table", index, "device", d), config)
                for d, config in enumerate(config.device)
            ),
        )

    def with_profile(index: int, at: tuple[str | int, ...], config: DeviceConfig) -> DeviceConfig:
        return (
            replace(config, options=_options(at, config.options, folder(index), notes))
            if is_described(config.driver)
            else config
        )

    return replace(
        configuration,
        table=tuple(with_profiles(t, config) for t, config in enumerate(configuration.table)),
    )


def _options(
    at: tuple[str | int, ...], options: dict[str, Any], folder: Path, notes: Notes
) -> dict[str, Any]:
    file = options.get("file")
    if "text" in options:
        notes.append(((*at, "options", "text"), "is not a key; name the profile's file in `file`"))
    elif not isinstance(file, str) or not file:
        notes.append(((*at, "options"), "the key `file` is missing; name the profile's file"))
    else:
        try:
            return {**options, "file": str(folder / file), "text": text_of(folder / file)}
        except ValueError as error:
            notes.append(((*at, "options", "file"), str(error)))
    return options
