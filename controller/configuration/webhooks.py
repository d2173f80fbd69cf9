"""Checks of the web addresses that receive events."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cache
from urllib.parse import urlsplit

from common.contract.events import EVENTS
from common.places import KeyPath
from common.suggestions import unknown_word
from controller.configuration.archives import one_password, recall_flaws
from controller.configuration.flaws import Flaws
from controller.configuration.settings import Configuration, WebhookConfig


def webhooks(configuration: Configuration) -> Flaws:
    """Yield all errors."""
    section = configuration.webhooks
    yield from recall_flaws(section, "webhooks")
    yield from one_password(section, ("webhooks",))
    others = {
        configuration.site.node: "the daemon" if configuration.table else None,
        configuration.archive.node: "the recorder",
        configuration.carrousel.node: "the jackpots' controller",
    }
    if configuration.webhook and (other := others.get(section.node)) is not None:
        yield ("webhooks", "node"), f"{section.node!r} is the node of {other}; choose another id"
    ids = [webhook.id for webhook in configuration.webhook]
    for index, webhook in enumerate(configuration.webhook):
        at: KeyPath = ("webhook", index)
        if webhook.id and webhook.id in ids[:index]:
            problem = f"another webhook has the id {webhook.id} too; choose another id"
            yield (*at, "id"), problem
        for key, problem in _webhook(webhook, configuration.extensions.webhooks):
            yield (*at, *key), problem


def _webhook(webhook: WebhookConfig, adapters: Container[str]) -> Iterator[tuple[KeyPath, str]]:
    if not webhook.id:  # reported when the file was read
        return
    for name, problem in (
        ("address", "`https://host/path`, or a file with it as `address_file`"),
        ("secret", "`novamas webhooks secret FILE` makes a key; name it as `secret_file`"),
    ):
        keys = [name] if name == "address" else []
        keys += [f"{name}_file", f"{name}_credential"]
        given = [key for key in keys if getattr(webhook, key)]
        if not given:
            yield (), f"one of {', '.join(f'`{key}`' for key in keys)} is required: {problem}"
        for key in given[1:]:
            yield (key,), f"`{given[0]}` is set too; remove one of them"
    if webhook.address and (why := _address(webhook.address)) is not None:
        yield ("address",), why
    if webhook.adapter is not None and webhook.adapter not in adapters:
        yield (
            ("adapter",),
            f"add {webhook.adapter!r} to `webhooks` of [extensions], which enables it",
        )
    for number, kind in enumerate(webhook.events):
        if kind not in event_types():
            yield ("events", number), unknown_word("event", kind, sorted(event_types()))


def _address(text: str) -> str | None:
    try:
        address = urlsplit(text)
        fine = address.port != 0
    except ValueError as error:
        return f"is not an address: {error}"
    if not fine or address.scheme not in ("http", "https") or not address.hostname:
        return "write https://host/path, or http:// within a trusted network"
    if address.username is not None or address.password is not None:
        return "contains a user name or password; use `address_file`"
    if address.fragment or not text.isascii() or any(c <= " " for c in text):
        return "has a fragment, blanks or other letters than those of addresses; encode them"
    return None


@cache
def event_types() -> frozenset[str]:
    """Return the types of all events."""
    return frozenset(str(kind.__struct_config__.tag) for kind in EVENTS)
