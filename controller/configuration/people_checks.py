"""Checks who may act: the people file of a configuration, and what each role may order."""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.commands import COMMANDS
from common.contract.orders import RECALL
from common.people.register import MAX_FILE_BYTES, PeopleError, from_base64url, read_people
from common.people.roles import ENROLLABLE_ROLES
from common.people.two_persons import MARKED_BY_DEFAULT
from common.suggestions import unknown_word
from controller.configuration.flaws import Flaws
from controller.configuration.settings import (
    Configuration,
    TableConfig,
)
from controller.configuration.table_checks import game_of
from controller.people.authority import LAUNCH_COMMAND, command_rights

PUBLIC_KEY_BYTES = 32
"""Bytes of a public key."""


def people_flaws(configuration: Configuration) -> Flaws:
    """Check that it is known who may give commands, or that the site may do without."""
    people, at = configuration.people, ("people",)
    if people is None:
        if not _is_harmless(configuration):
            yield (
                at,
                (
                    "is missing: who may give commands? docs/inspector/people.md says how to "
                    'enrol people; with required = "accept-the-risk", anyone who can publish to '
                    "the broker can give commands"
                ),
            )
        return
    if people.required is False and not _is_harmless(configuration):
        yield (
            (*at, "required"),
            (
                "without signatures, anyone who can publish to the broker can give commands; "
                "allowed with an embedded:// broker or simulated tables only. Write true, or "
                '"accept-the-risk"'
            ),
        )
    for key in ("file", "key"):
        if getattr(people, key) is None and people.required is True:
            yield at, f"the key `{key}` is missing; docs/inspector/people.md says how to make it"
    if people.key is not None and people.file is not None:
        yield from _people_file(people.file, people.key, configuration.site.id)
    for index, mark in enumerate(people.two_persons):
        if mark not in MARKED_BY_DEFAULT:
            yield (*at, "two_persons", index), unknown_word("command", mark, MARKED_BY_DEFAULT)
    yield from _rights(people.may, configuration.table)


def _people_file(file: str, key: str, site: str) -> Flaws:
    try:
        signer = from_base64url(key)
        if len(signer) != PUBLIC_KEY_BYTES:
            raise ValueError
    except ValueError:
        yield ("people", "key"), "is not a public key as `novamas people key` prints it"
        return
    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            read_people(opened.read(MAX_FILE_BYTES + 1), site, signer)
    except OSError as error:
        yield ("people", "file"), f"{file}: {error.strerror}"
    except PeopleError as error:
        yield ("people", "file"), f"{file}: {error}"


def _is_harmless(configuration: Configuration) -> bool:
    """True if only this machine can give commands, or all tables are simulated."""
    return configuration.broker.url.startswith("embedded://") or all(
        table.simulated for table in configuration.table
    )


def _rights(may: Mapping[str, tuple[str, ...]], tables: tuple[TableConfig, ...]) -> Flaws:
    """Check that each command exists at some table, and each role may have it there. While a table
    is invalid, any existing command may be one of its commands.
    """
    valid = [table for table in tables if game_of(table) is not None]
    rights_by_table = [command_rights(table.game, table.decree) for table in valid]
    names = {name for table_rights in rights_by_table for name in table_rights}
    if len(valid) < len(tables):
        names |= {str(command.__struct_config__.tag) for command in COMMANDS} | {
            LAUNCH_COMMAND,
            RECALL,
        }
    for command, roles in may.items():
        at = ("people", "may", command)
        if command not in names:
            yield at, unknown_word("command", command, sorted(names))
        for role in set(roles) - set(ENROLLABLE_ROLES):
            yield (
                at,
                (
                    f"{role} may not have it at any table: "
                    f"{unknown_word('role', role, ENROLLABLE_ROLES)}"
                ),
            )
        matching = [
            table_rights[command] for table_rights in rights_by_table if command in table_rights
        ]
        for role in roles:
            if (
                matching
                and role in ENROLLABLE_ROLES
                and not any(role in right.roles for right in matching)
            ):
                law = next((f"; {right.law}" for right in matching if right.law), "")
                yield at, f"{role} may not have it at any table{law}"
        if not set(roles) <= set(ENROLLABLE_ROLES):
            continue  # which is reported
        for table, table_rights in zip(valid, rights_by_table, strict=True):
            if command in table_rights and not set(roles) & set(table_rights[command].roles):
                yield (
                    at,
                    (
                        f"nobody could give it at {table.id}; name one of "
                        f"{', '.join(table_rights[command].roles)}"
                    ),
                )
