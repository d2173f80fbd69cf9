"""``novamas send``: sends a command to a table, or an order to a jackpot, and waits for its
reply.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from common.contract.messages.messages import LANGUAGES
from common.own_language import add_language
from controller.cli import CommandLineError
from controller.cli.configured import DEFAULT_CONFIG, configuration_at
from controller.cli.numbers import seconds

if TYPE_CHECKING:
    from common.contract.topics import Topics
    from controller.configuration.settings import BrokerConfig, Configuration


VALID_SECONDS = 30
"""Seconds for which a signed command is valid."""
EXIT_REFUSED = 3
"""Exit status of a refused command."""
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")


def arguments(parser: argparse.ArgumentParser) -> None:
    """TABLE COMMAND [FIELD=VALUE ...] --key FILE [--role ROLE] [--config FILE] ..."""
    parser.add_argument(
        "table", metavar="TABLE", help="the table's id; or jackpot/ and the id of a jackpot"
    )
    parser.add_argument("command", metavar="COMMAND", help="its name, such as round.void")
    parser.add_argument(
        "field",
        nargs="*",
        type=_field,
        metavar="FIELD=VALUE",
        help="its fields; an amount has the decimals of the table's currency, as minimum=5.00; any "
        "other value is parsed as JSON if possible, else it is text",
    )
    parser.add_argument("--key", type=Path, metavar="FILE", help="the person's secret key")
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="the passphrase of the key; without it, you are prompted",
    )
    parser.add_argument("--by", metavar="NAME", help="unsigned commands: the person's name")
    parser.add_argument(
        "--role", metavar="ROLE", help="the person's role: table_head, inspector ..."
    )
    parser.add_argument(
        "--config",
        type=Path,
        default=DEFAULT_CONFIG,
        metavar="FILE",
        help="the configuration of the daemon, for the site, the broker and TLS (default: "
        "novamas.toml)",
    )
    parser.add_argument("--username", metavar="USER", help="the broker's user, if not the daemon's")
    parser.add_argument(
        "--password-file", type=Path, metavar="FILE", help="the file with that user's password"
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=10.0,
        metavar="SECONDS",
        help="how long to wait for the reply (default: 10)",
    )
    add_language(parser, LANGUAGES)


def run(arguments: argparse.Namespace) -> int:
    """Print the reply. Returns 0 if the command was executed, 3 if it was refused, 1 if there was
    no reply.
    """
    import asyncio

    import msgspec

    from common import clock, randomness
    from common.contract.messages.messages import text
    from common.contract.topics import Topics, level
    from common.suggestions import unknown_word
    from controller.cli.command_check import command_mistake
    from controller.mqtt.command_client import NoReplyError, send_command

    configuration = configuration_at(arguments.config)
    simulated = {table.id: table.simulated for table in configuration.table} | {
        f"jackpot/{jackpot.id}": jackpot.simulated for jackpot in configuration.jackpot
    }
    if arguments.table not in simulated:
        raise CommandLineError(unknown_word("table", arguments.table, sorted(simulated)), 2)
    mistake = command_mistake(
        arguments.command,
        {field: _value(text) for field, text in arguments.field},
        arguments.by,
        arguments.role,
        is_jackpot=arguments.table.startswith("jackpot/"),
    )
    if mistake is not None:
        raise CommandLineError(f"{arguments.command}: {mistake}", 2)
    broker = configuration.broker
    if arguments.username is not None:
        broker = msgspec.structs.replace(
            broker,
            username=arguments.username,
            password_file=None if arguments.password_file is None else str(arguments.password_file),
            password_credential=None,
        )
    elif arguments.password_file is not None:
        raise CommandLineError("--password-file requires --username USER", 2)
    topics = Topics(configuration.site.id, simulated[arguments.table])
    user = broker.username or ""
    client = user if _CLIENT.fullmatch(user) else f"send-{randomness.token_urlsafe(12)}"
    audience = f"{topics.root}/{arguments.table}"
    fields, amounts = _fields(arguments, configuration, broker, topics)
    sign = (
        None
        if arguments.key is None
        else _signer(arguments, fields, configuration, audience, client)
    )

    def send() -> dict[str, Any]:
        number = randomness.token_urlsafe(12)
        body = _unsigned(arguments, fields, client, number) if sign is None else sign(number)
        topic = topics.command(arguments.table, level(arguments.command))
        reply_topic = topics.reply(arguments.table, client)
        return asyncio.run(
            send_command(broker, topic, reply_topic, body, number, arguments.timeout)
        )

    try:
        reply = send()
        if (seconds := _retry_delay(reply)) is not None:
            restarted = text("terminal.restarted", arguments.language, seconds=seconds)
            print(f"novamas: {restarted}", file=sys.stderr)
            clock.block(seconds)
            reply = send()
    except NoReplyError as error:
        raise CommandLineError(str(error)) from None
    print(msgspec.json.encode(reply).decode())
    if reply.get("ok") is not True:
        why = _refusal(reply, amounts, arguments.language)
        refused = text("terminal.refused", arguments.language, why=why)
        print(f"novamas: {refused}", file=sys.stderr)
        return EXIT_REFUSED
    if amounts is not None and (amounts_text := amounts.described(fields, arguments.language)):
        print(f"novamas: {arguments.command}: {amounts_text}", file=sys.stderr)
    return 0


class _Amounts(NamedTuple):
    """The amount fields of a command, and their currency."""

    names: tuple[str, ...]
    currency: str

    def formatted(self, amount: int) -> str:
        from common.money import format_amount

        return f"{format_amount(amount, self.currency)} {self.currency}"

    def described(self, fields: dict[str, Any], language: str) -> str:
        from common.contract.messages.messages import word

        present = ((name, fields[name]) for name in self.names if name in fields)
        return ", ".join(
            f"{word('field', name, language)} {self.formatted(amount)}" for name, amount in present
        )


def _fields(
    arguments: argparse.Namespace,
    configuration: Configuration,
    broker: BrokerConfig,
    topics: Topics,
) -> tuple[dict[str, Any], _Amounts | None]:
    """Return the fields to send, amounts in minor units; None: the command has no amounts."""
    from common.contract.forms import amount_fields, full_name
    from common.money import parse_amount

    texts, name = dict(arguments.field), full_name(arguments.command)
    names = amount_fields(name)
    if not names:
        return {field: _value(text) for field, text in texts.items()}, None
    has_amount = any(field in names for field in texts)
    if has_amount and name == "session.open":
        texts.setdefault("currency", configuration.site.currency)
        currency = str(_value(texts["currency"]))
    else:
        currency = _currency(arguments, configuration, broker, topics) if has_amount else ""
    fields = dict[str, Any]()
    for field, text in texts.items():
        try:
            fields[field] = parse_amount(text, currency) if field in names else _value(text)
        except ValueError as error:
            raise CommandLineError(f"{field}: {error}", 2) from None
    return fields, _Amounts(names, currency) if has_amount else None


def _currency(
    arguments: argparse.Namespace,
    configuration: Configuration,
    broker: BrokerConfig,
    topics: Topics,
) -> str:
    """Return the currency of a jackpot, or of the session at a table."""
    import asyncio

    from controller.mqtt.command_client import NoReplyError, read_retained

    for jackpot in configuration.jackpot:
        if arguments.table == f"jackpot/{jackpot.id}":
            return jackpot.currency
    try:
        topic = topics.table(arguments.table, "state")
        state = asyncio.run(read_retained(broker, topic, arguments.timeout))
    except NoReplyError as error:
        raise CommandLineError(f"the currency of the session is unknown: {error}") from None
    currency = (state.get("shown") or {}).get("currency")
    return currency if isinstance(currency, str) else configuration.site.currency


def _refusal(reply: dict[str, Any], amounts: _Amounts | None, language: str) -> str:
    """Describe why the command was refused, with formatted amounts. In English it is as the daemon
    wrote it; so is, in any language, a refusal of a newer daemon.
    """
    import msgspec

    from common.contract.messages.messages import ENGLISH, catalogue
    from common.contract.refusals import AMOUNT_FIELDS, Refusal

    try:
        refusal = msgspec.convert(reply.get("refusal"), Refusal)
    except msgspec.ValidationError:
        return str(reply.get("error"))
    if amounts is not None and refusal.key in AMOUNT_FIELDS:
        refusal = refusal.with_amounts(amounts.formatted)
    elif language == ENGLISH:
        return str(reply.get("error"))
    if f"refusal.{refusal.key}" not in catalogue(language):
        return str(reply.get("error"))
    return refusal.error() if language == ENGLISH else refusal.message(language)


def _unsigned(
    arguments: argparse.Namespace, fields: dict[str, Any], client: str, number: str
) -> bytes:
    """Encode an unsigned command, whose name and role were typed."""
    import msgspec

    from common.contract.orders import RECALL
    from common.contract.topics import level

    name = level(arguments.command)
    if name != RECALL and (arguments.by is None or arguments.role is None):
        raise CommandLineError(
            "who gives the command? --key FILE signs it; unsigned: --by NAME and --role ROLE", 2
        )
    identity = {} if name == RECALL else {"by": arguments.by, "role": arguments.role}
    return msgspec.json.encode({**fields, **identity, "client": client, "id": number})


def _retry_delay(reply: dict[str, Any]) -> int | None:
    """Return after how many seconds the daemon accepts newly signed commands; None: now."""
    refusal = reply.get("refusal") or {}
    is_early = refusal.get("key") == "signed_before_start"
    return int(refusal["fields"]["seconds"]) if is_early else None


def _signer(
    arguments: argparse.Namespace,
    fields: dict[str, Any],
    configuration: Configuration,
    audience: str,
    client: str,
) -> Callable[[str], bytes]:
    """Return a function that signs the command with the person's key and a unique number."""
    from common import clock
    from common.people.private_key import PrivateKeyError, open_private_key
    from common.people.register import PeopleError, read_unsigned, thumbprint, to_base64url
    from common.people.signed_command import Claims, sign
    from controller.cli.people import passphrase

    if configuration.people is None or configuration.people.file is None:
        raise CommandLineError(f"{arguments.config}: a signed command needs [people] with `file`")
    if arguments.by is not None:
        raise CommandLineError("--by: leave it out; the key identifies the person", 2)
    try:
        key = open_private_key(arguments.key, passphrase(arguments.passphrase_file))
        people = read_unsigned(Path(configuration.people.file).read_bytes())  # verified by load
    except (PrivateKeyError, PeopleError) as error:
        raise CommandLineError(str(error)) from None
    kid = thumbprint(to_base64url(key.verify_key.encode()))
    if kid not in people.owners:
        raise CommandLineError(f"{arguments.key}: no person is enrolled with this key ({kid})")
    person = people.owners[kid][0]
    held = {str(role): role for role in person.roles}
    role = arguments.role or (person.roles[0] if len(person.roles) == 1 else None)
    if role not in held:
        raise CommandLineError(
            f"--role: {person.name} is enrolled as {', '.join(held)}; name one of them", 2
        )

    def sign_now(number: str) -> bytes:
        now = int(clock.wall())
        claims = Claims(
            iss=person.id,
            aud=audience,
            iat=now,
            exp=now + VALID_SECONDS,
            jti=number,
            command=arguments.command,
            role=held[role],
            fields=fields,
            client=client,
        )
        return sign(key.encode(), claims).encode()

    return sign_now


def _field(text: str) -> tuple[str, str]:
    """Parse ``FIELD=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: write FIELD=VALUE, as reason=ball_out")
    return name, value


def _value(text: str) -> Any:
    """Parse JSON if possible, else return the text."""
    import msgspec

    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text
