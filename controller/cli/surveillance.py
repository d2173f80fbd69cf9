"""``novamas surveillance``: records everything that is said, from MQTT alone; and what reads that
archive.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from controller.cli import CommandLineError
from controller.cli.carrousel import passphrase_path
from controller.cli.configured import (
    DEFAULT_CONFIG,
    config_argument,
    configuration_at,
    reject_misspelt_action,
)
from controller.cli.web import address, broker_login, pit_settings, video_settings

if TYPE_CHECKING:
    from controller.configuration.settings import (
        ArchiveConfig,
        ArchiveSite,
        BookmarkConfig,
        Configuration,
    )

PROGRAM = "subscribers.surveillance"
PICTURES = "subscribers.video"


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
    """Become the recorder, which knows nothing but MQTT, or what reads its archive. Raises
    :class:`CommandLineError`.
    """
    name, options = str(arguments.config), list(arguments.options)
    action = ACTIONS.get(name)
    if action is None:
        reject_misspelt_action("surveillance", name, ACTIONS)
        if options:
            raise CommandLineError(f"surveillance: no options after {name}", 2)
        program, told = PROGRAM, [_told(arguments.config, settings_of)]
    else:
        config = DEFAULT_CONFIG
        if options and not options[0].startswith("-"):
            config = Path(options.pop(0))
        program, told = action.module, [name]
        if not {"-h", "--help"} & {*options}:
            told.append(_told(config, action.settings))
    sys.stdout.flush()
    os.execv(  # noqa: S606 - no shell is wanted
        sys.executable, [sys.executable, "-m", program, *told, *options]
    )


def _told(path: Path, settings: Callable[[Configuration], dict[str, Any]]) -> str:
    """The option with the settings of a configuration. No secret is in it."""
    import msgspec

    configuration = configuration_at(path)
    return f"--settings={msgspec.json.encode(settings(configuration)).decode()}"


def settings_of(configuration: Configuration) -> dict[str, Any]:
    """What the recorder is told."""
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
        "bookmarks": [_bookmark(each, configuration) for each in configuration.bookmark],
    }


def _bookmark(bookmark: BookmarkConfig, configuration: Configuration) -> dict[str, Any]:
    """What is told of a video system."""
    import msgspec

    given: dict[str, Any] = msgspec.to_builtins(bookmark)
    credential = given.pop("secret_credential")
    if credential is not None:
        directory = os.environ.get("CREDENTIALS_DIRECTORY")
        if directory is None:
            raise CommandLineError(
                f"[[bookmark]] {bookmark.id}: secret_credential {credential!r}: no "
                "LoadCredential= in the unit"
            )
        given["secret_file"] = str(Path(directory, credential))
    return {**given, "site": bookmark.site or configuration.site.id}


def pictures_settings(configuration: Configuration) -> dict[str, Any]:
    """What is told to whoever cuts clips, or says how far bookmarks are."""
    return {
        **reading_settings(configuration),
        "video": video_settings(configuration),
        "bookmarks": [each.id for each in configuration.bookmark],
    }


def place_of(configuration: Configuration) -> str:
    """The file of the archive, or the address of its database."""
    return configuration.archive.database or configuration.archive.path


def reading_settings(configuration: Configuration) -> dict[str, Any]:
    """What is told to whoever only goes to the archive."""
    return {"archive": place_of(configuration), "site": configuration.site.id}


def pruning_settings(configuration: Configuration) -> dict[str, Any]:
    """The same, with what may be removed."""
    archive = configuration.archive
    own = {"node": archive.node, "keep_days": archive.keep_days}
    return {**reading_settings(configuration), **own}


def search_settings(configuration: Configuration) -> dict[str, Any]:
    """What a search is told: also its suggestions, and the words of the decrees."""
    return {
        **reading_settings(configuration),
        "tables": [table.id for table in configuration.table],
        "laws": _laws(),
    }


def _laws() -> str:
    """A file in memory with the printed words of every rule, for the program that follows."""
    import msgspec

    from controller.rulebooks.numbered import numbered

    words = {name: rule.printed for name, rule in numbered().items()}
    with open(os.memfd_create("laws", 0), "wb", closefd=False) as file:
        file.write(msgspec.json.encode(words))
        return f"/proc/self/fd/{file.fileno()}"


def cards_settings(configuration: Configuration) -> dict[str, Any]:
    """What is told to whoever shows sealed cards: besides, where people and their keys are."""
    pit = pit_settings(configuration)
    if pit is None:
        raise CommandLineError(
            "surveillance cards: nobody can give a PIN; set `pin_keys` and `pepper_file` in [web]"
        )
    return {
        "archive": place_of(configuration),
        "site": configuration.site.id,
        "pit": pit,
        "state": configuration.web.path,
        "key": configuration.archive.cards_key,
    }


def settling_settings(configuration: Configuration) -> dict[str, Any]:
    """What is told to whoever settles: besides, where people and their keys are, if anywhere, and
    which keys of daemons are named.
    """
    archive = configuration.archive
    return {
        **reading_settings(configuration),
        "pit": pit_settings(configuration),
        "state": configuration.web.path,
        "keys": {
            configuration.site.id: archive.keys,
            **{each.id: each.keys for each in archive.site},
        },
    }


def _sites(configuration: Configuration) -> list[dict[str, Any]]:
    """The site of the file, and the others."""
    import msgspec

    from controller.configuration.settings import BrokerConfig

    own = broker_login(configuration.broker, configuration.archive, "archive")
    keys = _believed(configuration.archive)
    sites: list[dict[str, Any]] = [{"id": configuration.site.id, "broker": own, "keys": keys}]
    for each in configuration.archive.site:
        others = ("id", "keys", "standby_keys")
        given = {k: v for k, v in msgspec.structs.asdict(each).items() if k not in others}
        login = broker_login(
            BrokerConfig(**given), configuration.archive, f"archive.site {each.id}"
        )
        sites.append({"id": each.id, "broker": login, "keys": _believed(each)})
    return sites


def _believed(named: ArchiveConfig | ArchiveSite) -> dict[str, tuple[str, ...]]:
    """By node the keys of its daemons: one, or those of a pair."""
    of = (named.keys, named.standby_keys)
    return {
        node: tuple(dict.fromkeys(keys[node] for keys in of if node in keys))
        for node in (*of[0], *of[1])
    }


class Action(NamedTuple):
    """What reads the archive: ``python -m MODULE NAME --settings=JSON OPTIONS``. ``settings``: what
    it is told of a configuration.
    """

    help: str
    module: str
    settings: Callable[[Configuration], dict[str, Any]] = reading_settings


ACTIONS: dict[str, Action] = {
    "export": Action(
        "write records to a file: Parquet, CSV, JSON lines", "subscribers.surveillance.export"
    ),
    "prune": Action(
        "remove what is older than keep_days", "subscribers.surveillance.prune", pruning_settings
    ),
    "findings": Action("list what the recorder found wrong", "subscribers.surveillance.settle"),
    "settle": Action(
        "say that a finding was looked into", "subscribers.surveillance.settle", settling_settings
    ),
    "clip": Action("cut what shows a round from recordings", PICTURES, pictures_settings),
    "subtitles": Action("write subtitles beside recordings", PICTURES, pictures_settings),
    "bookmarks": Action("say how far each video system is", PICTURES, pictures_settings),
    "search": Action(
        "find what was said of the tables", "subscribers.surveillance.search", search_settings
    ),
    "cards": Action(
        "show the sealed cards of a round, and record who saw them",
        "subscribers.surveillance.cards",
        cards_settings,
    ),
}
