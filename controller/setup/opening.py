"""Opens the tables at the end of setup, and waits for their first results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from common import clock, randomness
from common.contract.topics import Topics
from common.people.signed_command import Claims, sign
from controller.configuration.file import load
from controller.configuration.settings import BrokerConfig, Configuration, TableConfig
from controller.mqtt.command_client import NoReplyError, read_retained, send_command
from controller.setup.change import CREDENTIALS, SetupError
from controller.setup.enrolment import Enrolment
from controller.setup.plan import SetupPlan

COMMAND = "session.open"
VALID_SECONDS = 30
REPLY_SECONDS = 10.0
START_SECONDS = 60.0
"""Maximum time for the daemon to be at the broker."""
RETRY_SECONDS = 0.5
NAME = "novamas setup"
"""By whom the tables of a trial without people are opened."""


def login(configuration: Configuration, password: Path | None) -> BrokerConfig:
    """Return how setup logs in to the broker: where it set up the broker itself, as the console,
    whose password is in this file; else as the daemon.
    """
    if password is None:
        return configuration.broker
    return msgspec.structs.replace(
        configuration.broker, username="web", password_file=str(password), password_credential=None
    )


async def open_tables(
    configuration: Configuration,
    broker: BrokerConfig,
    enrolment: Enrolment | None,
    say: Callable[..., None],
) -> None:
    """Open the tables that are closed. A trial without people needs no signature; else the
    inspector who was enrolled signs, and without one a person opens them at the console.
    """
    people = configuration.people
    if people is not None and people.required is True and enrolment is None:
        return
    for table in configuration.table:
        reply = await _open(configuration, broker, table, enrolment)
        if reply.get("ok") is True:
            say("opened", table=table.id)
        elif (reply.get("refusal") or {}).get("key") != "session_already_open":
            say("refused", table=table.id, why=reply.get("error"))


async def open_under_systemd(plan: SetupPlan, say: Callable[..., None]) -> None:
    """Open the tables of a daemon that systemd runs."""
    configuration = load(plan.file)
    broker = login(configuration, plan.console_password)
    if broker.password_credential is not None:  # which systemd passes to the service alone
        password = CREDENTIALS / f"novamas.{broker.password_credential}"
        broker = msgspec.structs.replace(
            broker, password_file=str(password), password_credential=None
        )
    await open_tables(configuration, broker, plan.enrolment, say)


async def _open(
    configuration: Configuration,
    broker: BrokerConfig,
    table: TableConfig,
    enrolment: Enrolment | None,
) -> dict[str, Any]:
    topics = Topics(configuration.site.id, table.simulated)
    user = broker.username or "setup"
    until = clock.monotonic() + START_SECONDS
    while True:
        number = randomness.token_urlsafe(12)
        body = _body(f"{topics.root}/{table.id}", number, user, enrolment)
        try:
            reply = await send_command(
                broker,
                topics.command(table.id, COMMAND),
                topics.reply(table.id, user),
                body,
                number,
                REPLY_SECONDS,
            )
        except NoReplyError as error:
            if clock.monotonic() > until:
                raise SetupError(str(error)) from None
            await clock.sleep(RETRY_SECONDS)
            continue
        refusal = reply.get("refusal") or {}
        if refusal.get("key") != "signed_before_start":
            return reply
        await clock.sleep(int(refusal["fields"]["seconds"]))


def _body(audience: str, number: str, user: str, enrolment: Enrolment | None) -> bytes:
    if enrolment is None:
        return msgspec.json.encode({"by": NAME, "role": "inspector", "client": user, "id": number})
    now = int(clock.wall())
    claims = Claims(
        iss=enrolment.person.id,
        aud=audience,
        iat=now,
        exp=now + VALID_SECONDS,
        jti=number,
        command=COMMAND,
        role="inspector",
        fields={},
        client=user,
    )
    return sign(enrolment.key.encode(), claims).encode()


async def first_results(
    configuration: Configuration, broker: BrokerConfig, say: Callable[..., None]
) -> None:
    """Wait for the first result of each table, and say it. Devices may take any time."""
    waiting = list(configuration.table)
    while waiting:
        for table in list(waiting):
            topic = Topics(configuration.site.id, table.simulated).table(table.id, "result")
            try:
                result = await read_retained(broker, topic, REPLY_SECONDS)
            except NoReplyError:
                continue
            outcome = result.get("outcome") or {}
            if "outcome" in result:
                number = outcome.get("number", "")
                say("first", table=table.id, number=number)
                waiting.remove(table)
        await clock.sleep(RETRY_SECONDS)
