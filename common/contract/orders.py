"""Command messages: decodes the topic and body of an MQTT message into a command, and defines the
reply.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Annotated, Any, cast

import msgspec

from common.contract.bounds import Name, Note, Word
from common.contract.commands import COMMANDS, AnyCommand, DeviceCommand, Role
from common.contract.events import AnyEvent
from common.contract.refusals import Refusal
from common.contract.topics import level
from common.errors import NovamasError
from common.places import is_nested_deeper
from common.plain_errors import describe
from common.readings import MAX_EXACT_INTEGER, Whole

MAX_BODY_BYTES = 16_384
"""Maximum size of a body."""

MAX_ID_LEVELS = 16
"""Maximum nesting of objects and lists in ``id``, so that it can be encoded again."""

MAX_ID_BYTES = 1024
"""Maximum size of ``id`` as JSON."""

RECALL = "recall"
DEVICE_COMMAND = level(str(DeviceCommand.__struct_config__.tag))
_TAGS = {level(tag): tag for command in COMMANDS if (tag := str(command.__struct_config__.tag))}
_KINDS = {level(str(command.__struct_config__.tag)): command for command in COMMANDS}
_NAMES = sorted({*_KINDS, RECALL})
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")


Seq = Annotated[int, msgspec.Meta(ge=1, le=MAX_EXACT_INTEGER)]


class DeviceOrder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``command/device-command``: command a device of the table."""

    command: Word
    """The device's command; docs/technician/devices.md lists those of each driver."""
    device: Word
    """The device's id in the configuration."""
    by: Name
    """The person's name."""
    role: Role
    """The person's role."""
    argument: Note = ""
    """The command's argument, if it takes one."""
    note: Note | None = None
    """A remark of the person, for the record."""


class Recall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of ``command/recall``: a subscriber asks for events that it missed."""

    boot: Word
    """The ``boot`` of the missing events."""
    first: Seq = msgspec.field(name="from")
    """The first ``seq`` wanted; 1 for all."""
    to: Seq | None = None
    """The last ``seq`` wanted. Default: as many as ``limit`` allows."""
    onward: bool = False
    """Include the events of every later ``boot``. ``to`` has no meaning then."""
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 100
    """Maximum number of events to send."""
    positions: Annotated[tuple[Seq, ...], msgspec.Meta(max_length=100)] = ()
    """Entries of the daemon's journal whose hashes are wanted too, such as those that checkpoints
    named.
    """


class Sender(msgspec.Struct, frozen=True):
    """The address for a reply."""

    client: str | None = None
    """The last level of the reply topic; null if no reply was requested."""
    id: Any = None
    """Returned in the reply as it was sent."""


class _Signed(msgspec.Struct):
    client: Any = None


class UnreadableCommandError(NovamasError, ValueError):
    """The message is not a command. ``sender`` has what could be read of the sender."""

    def __init__(self, reason: str, sender: Sender) -> None:
        super().__init__(reason)
        self.sender = sender


class ChainLink(msgspec.Struct, frozen=True):
    """An entry of the daemon's journal, as its file has it now."""

    position: Whole
    """Its place in the journal's chain, from 1."""
    hash: str
    """Its hash, in hexadecimal: recomputed from the entry and the previous hash in the file."""


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply on ``reply/<client>``."""

    id: Any
    """The ``id`` of the command, as it was sent; null where it had none."""
    ok: bool
    """Whether the command was executed and stored."""
    error: str | None = None
    """Why it was refused, in English, for a person."""
    refusal: Refusal | None = None
    """Why it was refused, for a program that shows it in another language."""
    events: tuple[AnyEvent, ...] | None = None
    """The answer to ``recall``, oldest first, each marked ``historical``."""
    chain: tuple[ChainLink, ...] | None = None
    """The answer to the ``positions`` of a ``recall``: those that the file has."""


def client_of(body: bytes) -> str | None:
    """Return the ``client`` named in the body, or None if it cannot be read. It is not
    authenticated.
    """
    try:
        client = (
            msgspec.json.decode(body, type=_Signed).client if len(body) <= MAX_BODY_BYTES else None
        )
    except (ValueError, RecursionError):
        return None
    return client if isinstance(client, str) and _CLIENT.fullmatch(client) else None


def read_order(
    name: str, body: bytes, at: float
) -> tuple[Sender, AnyCommand | DeviceOrder | Recall]:
    """Read the command ``name`` with the fields in ``body``, received at ``at``. Raises
    :class:`UnreadableCommandError`.
    """
    if len(body) > MAX_BODY_BYTES:
        raise UnreadableCommandError(
            f"a command has at most {MAX_BODY_BYTES} bytes; this one has {len(body)}", Sender()
        )
    try:
        fields = msgspec.json.decode(body, type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise UnreadableCommandError(
            f"the body is not a JSON object: {describe(error)}", Sender()
        ) from None
    client = fields.pop("client", None)
    command_id = fields.pop("id", None)
    if command_id is not None and is_nested_deeper(command_id, MAX_ID_LEVELS):
        raise UnreadableCommandError(f"id: nested more than {MAX_ID_LEVELS} levels deep", Sender())
    if len(msgspec.json.encode(command_id)) > MAX_ID_BYTES:
        raise UnreadableCommandError(f"id: longer than {MAX_ID_BYTES} bytes", Sender())
    sender = Sender(
        client if isinstance(client, str) and _CLIENT.fullmatch(client) else None,
        command_id,
    )
    if client is not None and sender.client is None:
        raise UnreadableCommandError(
            "client: use 1 to 64 letters, digits, hyphens and underscores", sender
        )
    if reserved := sorted({"at", "type", "signed"} & set(fields)):
        raise UnreadableCommandError(
            f"{', '.join(reserved)}: leave out of the body; the topic names the command, the table "
            "stamps the time, and who signs sends a JWS",
            sender,
        )
    kind: type[msgspec.Struct]
    if name == RECALL:
        kind = Recall
    elif name == DEVICE_COMMAND:
        kind = DeviceOrder
    elif name in _KINDS:
        kind, fields = _KINDS[name], {**fields, "at": at, "type": _TAGS[name]}
    else:
        close = get_close_matches(level(name)[:64], _NAMES, n=1, cutoff=0.75)
        raise UnreadableCommandError(
            f"no command {name[:64]!r}; "
            f"{f'send {close[0]}' if close else 'docs/integrator/commands.md lists them'}",
            sender,
        )
    try:
        return sender, cast("AnyCommand | DeviceOrder | Recall", msgspec.convert(fields, kind))
    except msgspec.ValidationError as error:
        raise UnreadableCommandError(describe(error, kind), sender) from None
