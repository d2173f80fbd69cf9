"""``novamas surveillance``: runs the recorder of all messages, connected by MQTT only, or one of
the programs that read its archive.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.cli import CommandLineError
from controller.cli.configured import (
    DEFAULT_CONFIG,
    config_argument,
    configuration_at,
    reject_misspelt_action,
)
from controller.cli.web import address, broker_login, passphrase_path, pit_settings, video_settings

if TYPE_CHECKING:
    from controller.configuration.settings import (
        ArchiveConfig,
        ArchiveSite,
        BookmarkConfig,
        Configuration,
    )

PROGRAM = "subscribers.surveillance"
VIDEO_PROGRAM = "subscribers.video"


def arguments(parser: argparse.ArgumentParser) -> None:
    """[CONFIG], or ACTION [CONFIG] and its options."""
    parser.usage = "novamas surveillance [CONFIG]\n       novamas surveillance ACTION [CONFIG] ..."
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    longest = max(map(len, ACTIONS))
    parser.epilog = "\n".join(
        [
            "actions, of an archive:",
            *(f"  {name:{longest}}  {action.help}" for name, action in ACTIONS.items()),
            "\n'novamas surveillance ACTION --help' lists the options of each",
        ]
    )
    config_argument(parser, ", or one with [site], [broker] and [archive]")
    parser.add_argument("options", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    """Replace this process by the recorder, or by a program that reads its archive. Raises
    :class:`CommandLineError`.
    """
    name, options = str(arguments.config), list(arguments.options)
    action = ACTIONS.get(name)
    if action is None:
        reject_misspelt_action("surveillance", name, ACTIONS)
        if options:
            raise CommandLineError(f"surveillance: no options after {name}", 2)
        program, words = PROGRAM, [_settings_option(arguments.config, settings_of)]
        _require_archive(arguments.config)
    else:
        config = DEFAULT_CONFIG
        if options and not options[0].startswith("-"):
            config = Path(options.pop(0))
        program, words = action.module, [name]
        if not {"-h", "--help"} & {*options}:
            words.append(_settings_option(config, action.settings))
    sys.stdout.flush()
    os.execv(  # noqa: S606 - no shell is wanted
        sys.executable, [sys.executable, "-m", program, *words, *options]
    )


def _settings_option(path: Path, settings: Callable[[Configuration], dict[str, Any]]) -> str:
    """Return the option with the settings of a configuration, without secrets."""
    import msgspec

    configuration = configuration_at(path)
    return f"--settings={msgspec.json.encode(settings(configuration)).decode()}"


def _require_archive(path: Path) -> None:
    """Refuse to record into a file that the configuration does not name."""
    from controller.configuration.file import inspect_configuration

    if "archive" not in inspect_configuration(path).sections:
        raise CommandLineError(
            f"{path}: no [archive], so nothing is recorded. Add [archive] and, below it, path = "
            '"/var/lib/novamas/archive.sqlite3", or database = "postgresql://...": '
            "docs/technician/configuration-services.md#archive"
        )


def settings_of(configuration: Configuration) -> dict[str, Any]:
    """Return the settings of the recorder."""
    archive = configuration.archive
    return {
        "archive": place_of(configuration),
        "node": archive.node,
        "sites": _sites(configuration),
        "recall_key": archive.recall_key,
        "recall_passphrase": passphrase_path(archive, "archive"),
        "recall_person": archive.recall_person,
        "listen": None if archive.listen is None else address(archive.listen),
        "keep_days": archive.keep_days,
        "log": configuration.log.format,
        "bookmarks": [_bookmark(bookmark, configuration) for bookmark in configuration.bookmark],
    }


def _bookmark(bookmark: BookmarkConfig, configuration: Configuration) -> dict[str, Any]:
    """Return the settings of a video system."""
    import msgspec

    settings: dict[str, Any] = msgspec.to_builtins(bookmark)
    credential = settings.pop("secret_credential")
    if credential is not None:
        directory = os.environ.get("CREDENTIALS_DIRECTORY")
        if directory is None:
            raise CommandLineError(
                f"[[bookmark]] {bookmark.id}: secret_credential {credential!r}: no "
                "LoadCredential= in the unit"
            )
        settings["secret_file"] = str(Path(directory, credential))
    return {**settings, "site": bookmark.site or configuration.site.id}


def pictures_settings(configuration: Configuration) -> dict[str, Any]:
    """Return the settings of the programs that cut clips or show the state of bookmarks."""
    return {
        **reading_settings(configuration),
        "video": video_settings(configuration),
        "bookmarks": [bookmark.id for bookmark in configuration.bookmark],
    }


def place_of(configuration: Configuration) -> str:
    """Return the file of the archive, or the address of its database."""
    return configuration.archive.database or configuration.archive.path


def reading_settings(configuration: Configuration) -> dict[str, Any]:
    """Return the settings of programs that only read the archive."""
    return {"archive": place_of(configuration), "site": configuration.site.id}


def pruning_settings(configuration: Configuration) -> dict[str, Any]:
    """Return the settings of pruning: also which kinds may be removed."""
    archive = configuration.archive
    own = {"node": archive.node, "keep_days": archive.keep_days}
    return {**reading_settings(configuration), **own}


def search_settings(configuration: Configuration) -> dict[str, Any]:
    """Return the settings of a search: also its suggestions, and the texts of the decrees."""
    return {
        **reading_settings(configuration),
        "tables": [table.id for table in configuration.table],
        "laws": _laws(),
    }


def _laws() -> str:
    """Return a path to an in-memory file with the printed text of every rule, inherited by the next
    program.
    """
    from controller.rulebooks.numbered import printed_rules

    with open(os.memfd_create("laws", 0), "wb", closefd=False) as file:
        file.write(printed_rules())
        return f"/proc/self/fd/{file.fileno()}"


def cards_settings(configuration: Configuration) -> dict[str, Any]:
    """Return the settings for showing sealed cards: also the people and their keys."""
    pit = pit_settings(configuration)
    if pit is None:
        raise CommandLineError(
            "surveillance cards: PINs are not enabled; set `pin_keys` and `pepper_file` in [web]"
        )
    return {
        "archive": place_of(configuration),
        "site": configuration.site.id,
        "pit": pit,
        "state": configuration.web.path,
        "key": configuration.archive.cards_key,
    }


def settling_settings(configuration: Configuration) -> dict[str, Any]:
    """Return the settings for settling findings: also the people and their keys, if configured, and
    the daemons' keys.
    """
    archive = configuration.archive
    return {
        **reading_settings(configuration),
        "pit": pit_settings(configuration),
        "state": configuration.web.path,
        "keys": {
            configuration.site.id: archive.keys,
            **{site.id: site.keys for site in archive.site},
        },
    }


def _sites(configuration: Configuration) -> list[dict[str, Any]]:
    """Return the settings of the file's own site and of the others."""
    import msgspec

    from controller.configuration.settings import BrokerConfig

    own = broker_login(configuration.broker, configuration.archive, "archive")
    keys = _trusted_keys(configuration.archive)
    sites: list[dict[str, Any]] = [{"id": configuration.site.id, "broker": own, "keys": keys}]
    for site in configuration.archive.site:
        excluded = ("id", "keys", "standby_keys")
        fields = {k: v for k, v in msgspec.structs.asdict(site).items() if k not in excluded}
        login = broker_login(
            BrokerConfig(**fields), configuration.archive, f"archive.site {site.id}"
        )
        sites.append({"id": site.id, "broker": login, "keys": _trusted_keys(site)})
    return sites


def _trusted_keys(section: ArchiveConfig | ArchiveSite) -> dict[str, tuple[str, ...]]:
    """Return the keys of the daemons, by node: one key, or those of a pair."""
    both = (section.keys, section.standby_keys)
    return {
        node: tuple(dict.fromkeys(keys[node] for keys in both if node in keys))
        for node in (*both[0], *both[1])
    }


def people_settings(configuration: Configuration) -> dict[str, Any]:
    """Return the settings of a program that knows who signed something."""
    people = configuration.people
    if people is None or people.file is None:
        raise CommandLineError(
            "surveillance check-export: set `file` and `key` of [people]: they say whose key signed"
        )
    return {
        "site": configuration.site.id,
        "people_file": people.file,
        "people_key": people.key,
    }


class Action(NamedTuple):
    """A program that reads the archive: ``python -m MODULE NAME --settings=JSON OPTIONS``.
    ``settings`` derives its settings from a configuration.
    """

    help: str
    module: str
    settings: Callable[[Configuration], dict[str, Any]] = reading_settings


ACTIONS: dict[str, Action] = {
    "export": Action(
        "write records to a file: Parquet, CSV, JSON lines", "subscribers.surveillance.export"
    ),
    "check-export": Action(
        "show who signed an export of the page, and that it is unchanged",
        "subscribers.surveillance.check_export",
        people_settings,
    ),
    "prune": Action(
        "remove records older than keep_days", "subscribers.surveillance.prune", pruning_settings
    ),
    "findings": Action("list what the recorder found wrong", "subscribers.surveillance.settle"),
    "settle": Action(
        "mark a finding as examined", "subscribers.surveillance.settle", settling_settings
    ),
    "clip": Action("cut a clip of a round from recordings", VIDEO_PROGRAM, pictures_settings),
    "subtitles": Action("write subtitles beside recordings", VIDEO_PROGRAM, pictures_settings),
    "bookmarks": Action("show the progress of each video system", VIDEO_PROGRAM, pictures_settings),
    "search": Action(
        "find messages of the tables", "subscribers.surveillance.search", search_settings
    ),
    "cards": Action(
        "show the sealed cards of a round, and record who saw them",
        "subscribers.surveillance.cards",
        cards_settings,
    ),
}
