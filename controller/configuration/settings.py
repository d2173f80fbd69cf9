"""Types of the configuration file (TOML), and its errors.

All errors are found in one pass and reported with their place (line and key). Unknown keys are
errors.
"""

# Long: it explains every key of the configuration file, section by section, in the order of the
# file.

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, field

from common.contract.jackpot import Authorisation, Fraction
from common.errors import NovamasError
from common.money import AMOUNT_META

Slug = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\Z",
        max_length=48,
        description="1 to 48 characters a-z, 0-9 and single hyphens between them",
    ),
]
Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        pattern=r"^[^\x00]*\Z",
        description="a non-empty string of at most 4096 characters, without NUL",
    ),
]
Days = Annotated[int, Meta(ge=1, le=36_500, description="whole days, 1 to 36500")]
Size = Annotated[int, Meta(ge=1, le=1 << 40, description="bytes, 1 to 1099511627776")]
Files = Annotated[int, Meta(ge=1, le=10_000, description="a whole number from 1 to 10000")]
ResponseTopic = Annotated[
    str,
    Meta(
        pattern=r"^(?!novamas(-sim)?(/|\Z))[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,7}\Z",
        max_length=128,
        description="the beginning of a topic outside novamas/: 1 to 8 levels of letters, digits, "
        "dots, dashes and underscores, at most 128 characters",
    ),
]
KeepAlive = Annotated[int, Meta(ge=1, le=65535, description="whole seconds, 1 to 65535")]
Seconds = Annotated[float, Meta(gt=0, le=86400, description="seconds, above 0 and at most 86400")]
Speed = Annotated[float, Meta(gt=0, le=1000, description="a factor above 0 and at most 1000")]
Language = Literal["en", "es", "ca", "eu", "gl"]
Languages = Annotated[
    tuple[Language, ...],
    Meta(max_length=5, description="a list of en, es, ca, eu and gl, the first one before all"),
]


class _ConfigSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class SiteConfig(_ConfigSection, frozen=True):
    """``[site]``: the casino and this daemon. ``id`` and ``node`` become parts of topics: ``a-z 0-9
    -``.

    ``decree`` and ``languages``: defaults for the tables. ``currency``: currency of the amounts in
    the settings of tables, and of sessions that are opened without one. ``letterhead``: the lines
    at the head of receipts: name, address, tax number.
    """

    id: Slug
    node: Slug = "node-1"
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}\Z", description="ISO 4217, as EUR")] = "EUR"
    decree: Name | None = None
    languages: Languages = ()
    letterhead: tuple[Name, ...] = ()


class JournalConfig(_ConfigSection, frozen=True):
    """``[journal]``: one SQLite file per daemon. Default: ``$STATE_DIRECTORY/journal.sqlite3``.

    Finished days are sealed and stored for ``keep_days``. Checkpoints are signed with the key in
    the systemd credential ``key_credential``, or else with a key created beside the file.
    ``read_back_every``: seconds between two checks that read the whole file back from the disk.
    """

    path: Name = "journal.sqlite3"
    keep_days: Days = 30
    key_credential: Name | None = None
    read_back_every: Seconds = 21_600.0


class ClockConfig(_ConfigSection, frozen=True):
    """``[clock]``: the machine's clock. ``bound``: seconds by which the site lets it be wrong;
    events whose time may be wrong by more state the bound. Without it the clock is not checked.

    ``chrony``: address of chrony on this machine; ``""``: do not query it.
    """

    bound: (
        Annotated[float, Meta(ge=0.0001, le=3600, description="seconds, 0.0001 to 3600")] | None
    ) = None
    chrony: str = "127.0.0.1:323"


class SurveillanceConfig(_ConfigSection, frozen=True):
    """``[surveillance]``: the only reader of face-down cards. ``public_key``: an X25519 key,
    hexadecimal or base64.

    ``secret_credential``: the systemd credential with the daemon's own key, which encrypts the
    saved state of such tables; without it, the key is created beside the journal.
    """

    public_key: Name | None = None
    secret_credential: Name | None = None


class RecordingsConfig(_ConfigSection, frozen=True):
    """``[recordings]``: the raw bytes of each device. On by default and bounded: a new file begins
    each day, and when one is full.
    """

    enabled: bool = True
    path: Name = "recordings"
    max_bytes: Size = 16_000_000
    max_files: Files = 60
    max_days: Days = 30


class BrokerConfig(_ConfigSection, frozen=True):
    """``[broker]``: where results are published. ``url``: ``mqtt://host:port``,
    ``mqtts://host:port`` or ``embedded://127.0.0.1:port``; for a cluster
    ``mqtt://host:port,host:port``. ``wildcards_retained``: whether the broker delivers retained
    messages to subscriptions with wildcards; RabbitMQ does not.

    The password is read from ``password_file`` or from the systemd credential
    ``password_credential``. ``response_topics``: prefixes of the MQTT 5 response topics that are
    accepted besides ``reply/``.
    """

    url: Name = "mqtt://127.0.0.1:1883"
    client_id: Name | None = None
    username: Name | None = None
    password_file: Name | None = None
    password_credential: Name | None = None
    ca_file: Name | None = None
    cert_file: Name | None = None
    key_file: Name | None = None
    protocol: Literal["5", "3.1.1"] = "5"
    keepalive: KeepAlive = 10
    wildcards_retained: bool = True
    response_topics: Annotated[
        tuple[ResponseTopic, ...],
        Meta(max_length=16, description="at most 16 topic prefixes"),
    ] = ()


class PeopleConfig(_ConfigSection, frozen=True):
    """``[people]``: who may give commands. ``file``: the people file, signed by the site's key;
    ``key``: the public part of that key, as printed by ``novamas people key``.

    ``required``: whether commands must be signed. ``two_persons``: commands that need two people.
    ``may``: for each command named here, the roles that keep the right to give it.
    """

    file: Name | None = None
    key: Name | None = None
    required: bool | Literal["accept-the-risk"] = True
    two_persons: tuple[Name, ...] = ("result.correct", "round.confirm", "round.void")
    may: dict[str, tuple[Name, ...]] = {}


class WebConfig(_ConfigSection, frozen=True):
    """``[web]``: the displays in the browser. ``listen``: ``host:port``; ``names``: other names by
    which browsers reach the server; ``displays``: open to everybody, or only to people who have
    signed in.

    ``tls``: ``"proxy"`` where TLS ends at a reverse proxy. ``proxies``: addresses and networks of
    trusted reverse proxies, whose statements about the client are believed. ``base``: the path
    prefix under which a proxy serves the pages, as ``/novamas``.

    ``day_begins``: start of the gaming day, in local time: ``HH:MM``.

    ``username`` and the others: the server's own user at the broker (default: the daemon's).
    ``streams``: maximum number of browsers with live pictures. ``theme``: a style sheet of the
    site. ``path``: the server's data directory. ``house``: its name on the displays; ``logo``: a
    picture instead of it; ``media``: a folder of pictures for idle tables; ``also``: the second
    language of the displays; ``dealer``: they name the croupier.

    ``pin_keys``: directory of the keys that PINs unlock; it enables the console. ``pepper_file`` or
    the systemd credential ``pepper_credential``: the secret needed besides the PIN to unlock a key.
    ``keypads``: the USB keypad of a table: ``{ "ruleta-1" = "/dev/input/by-id/...-event-kbd" }``.
    ``idle`` and ``longest``: seconds after which a session ends, without input or in total.
    ``badge_signs``: a signed-in person may sign a grave command with the badge instead of the PIN.
    ``receipt_printer``: the device file of a thermal printer for the receipts of jackpots.
    """

    listen: Name = "127.0.0.1:8080"
    names: tuple[Name, ...] = ()
    cert_file: Name | None = None
    key_file: Name | None = None
    tls: Literal["proxy"] | None = None
    proxies: tuple[Name, ...] = ()
    base: Annotated[
        str,
        Meta(
            pattern=r"^(/[A-Za-z0-9][A-Za-z0-9._-]*)*\Z",
            max_length=200,
            description="a prefix of addresses, as /novamas, without a slash at its end",
        ),
    ] = ""
    displays: Literal["open", "signed-in"] | None = None
    streams: Files = 500
    theme: Name | None = None
    house: Name | None = None
    logo: Name | None = None
    media: Name | None = None
    also: Literal["en", "es", "ca", "eu", "gl"] | None = None
    dealer: bool = False
    path: Name = "web"
    day_begins: Annotated[
        str, Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d\Z", description="a time of day, as 06:00")
    ] = "06:00"
    username: Name | None = None
    password_file: Name | None = None
    password_credential: Name | None = None
    broker_cert_file: Name | None = None
    broker_key_file: Name | None = None
    pin_keys: Name | None = None
    pepper_file: Name | None = None
    pepper_credential: Name | None = None
    idle: Seconds = 300.0
    longest: Seconds = 1800.0
    badge_signs: bool = False
    receipt_printer: Name | None = None
    keypads: dict[Slug, Name] = {}


class ApiConfig(_ConfigSection, frozen=True):
    """``[api]``: the read-only HTTP API of the web server. ``tokens``: the file of its tokens,
    which ``novamas token`` writes; without it there is no API. ``origins``: the sites whose pages
    may read it in a browser, as ``https://shop.example``. ``streams``: maximum number of streams of
    events, ``token_streams``: of one token. ``days`` and ``events``: for how long events are stored
    so that streams can resume, and how many at most.

    ``recall_key``: key of a reader among the people, ``recall_person``, used to request missed
    events from tables, and the file or systemd credential with its passphrase.
    """

    tokens: Name | None = None
    origins: tuple[Name, ...] = ()
    streams: Files = 1000
    token_streams: Files = 100
    days: Days = 7
    events: Annotated[
        int,
        Meta(ge=10_000, le=100_000_000, description="a whole number from 10000 to 100000000"),
    ] = 500_000
    recall_key: Name | None = None
    recall_passphrase_file: Name | None = None
    recall_passphrase_credential: Name | None = None
    recall_person: Name | None = None


Money = Annotated[
    int,
    Meta(
        ge=0,
        le=1_000_000_000_000,
        description="an amount from 0 to 1000000000000 minor units",
        extra=AMOUNT_META,
    ),
]


class CarrouselConfig(_ConfigSection, frozen=True):
    """``[carrousel]``: the jackpot controller. ``path``: its ledger file; ``node``: its own node;
    ``elsewhere``: linked tables served by other daemons.

    ``keepalive``: seconds between two statements; each is valid for three times as long.
    ``clock_bound``: maximum difference between the clocks of two nodes, in seconds.

    ``username`` and the others: its own user at the broker (default: the daemon's). ``key``: file
    of the key that signs its checkpoints (default: created beside the ledger). ``recall_key``: key
    of a reader among the people, used to request missed events from tables, and the file or systemd
    credential with its passphrase. ``listen``: ``host:port`` of its metrics.

    ``standby``: it is one of two controllers, and its lease and the log of its ledger are stored
    where ``[standby]`` says. ``standby_keys``: public keys of both, whose signatures in the store
    are trusted (default: any key).
    """

    path: Name = "carrousel.sqlite3"
    node: Slug = "carrousel"
    elsewhere: tuple[Slug, ...] = ()
    keepalive: Annotated[float, Meta(ge=0.5, le=60, description="seconds, 0.5 to 60")] = 5.0
    clock_bound: Annotated[float, Meta(ge=0.001, le=10, description="seconds, 0.001 to 10")] = 0.1
    username: Name | None = None
    password_file: Name | None = None
    password_credential: Name | None = None
    broker_cert_file: Name | None = None
    broker_key_file: Name | None = None
    key: Name | None = None
    recall_key: Name | None = None
    recall_passphrase_file: Name | None = None
    recall_passphrase_credential: Name | None = None
    listen: Name | None = None
    standby: bool = False
    standby_keys: tuple[CheckpointKey, ...] = ()


class JackpotConfig(_ConfigSection, frozen=True):
    """``[[jackpot]]``: a jackpot over linked tables: those of its authorisation. ``title``: its
    name, by language. All other keys are its terms; a change waits until the jackpot is won while
    it holds money.
    """

    id: Slug
    decree: Literal["BAL05", "ARA02", "EUS96"]
    games: Annotated[tuple[Name, ...], Meta(min_length=1, description="at least one game")]
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}\Z", description="ISO 4217, as EUR")]
    title: dict[str, str] = {}
    simulated: bool = False
    authorisation: Authorisation | None = None
    kind: Literal["progressive", "fixed"] = "progressive"
    entry: Literal["coins", "plays"] = "coins"
    stake: Money | None = None
    boxes: Annotated[int, Meta(ge=1, le=20, description="a whole number from 1 to 20")] | None = (
        None
    )
    seed: Money = 0
    least: Money = 0
    reserve: Fraction = (0, 1)
    limit: Money | None = None
    remainder: Literal["meter", "first"] = "meter"
    shown: Annotated[int, Meta(ge=0, le=86_400, description="seconds, 0 to 86400")] = 600
    out_of_play: Literal["refuse", "mark"] = "refuse"


KeptDays = Annotated[int, Meta(ge=30, le=36500, description="whole days, 30 to 36500")]
Archived = Literal["event", "sealed", "alert", "reply", "checkpoint", "finding", "access"]
"""Kinds of records that may be removed from an archive."""
ARCHIVE_DAYS = 3660
"""Days after recording that a record is stored unless ``keep_days`` sets another term: ten years,
the term of Ley 10/2010, art. 25. The decrees' catalogues of games set none.
"""


CheckpointKey = Annotated[
    str,
    Meta(
        pattern=r"^[0-9a-f]{64}\Z",
        description="64 hexadecimal digits in small letters, `key` in <journal>.checkpoint",
    ),
]


class ArchiveSite(_ConfigSection, frozen=True):
    """``[[archive.site]]``: another site to archive, and its broker, as in ``[broker]``. ``keys``
    and ``standby_keys``: by node, as in ``[archive]``.
    """

    id: Slug
    url: Name
    username: Name | None = None
    password_file: Name | None = None
    password_credential: Name | None = None
    ca_file: Name | None = None
    cert_file: Name | None = None
    key_file: Name | None = None
    wildcards_retained: bool = True
    keys: dict[Slug, CheckpointKey] = {}
    standby_keys: dict[Slug, CheckpointKey] = {}


class ArchiveConfig(_ConfigSection, frozen=True):
    """``[archive]``: the archive of surveillance. ``path``: its file; ``database``: a PostgreSQL
    database, by address, instead of a file. ``node``: the recorder's own node, and the name of its
    session at each broker.

    ``username`` and the others: its own user at the broker of this file (default: the daemon's).
    ``recall_key``: key of a reader among the people, ``recall_person``, used to request missed
    events from tables, and the file or systemd credential with its passphrase. ``listen``:
    ``host:port`` of its health. ``keep_days``: by kind, the number of days after recording when a
    record is removed (default: ``ARCHIVE_DAYS`` for each kind; if set, kinds not in it are stored
    for ever). ``keys``: by node, the public key that must have signed its checkpoints (default: the
    first key seen is trusted); ``standby_keys``: that of the other daemon of a pair. ``cards_key``:
    the private key of surveillance, which opens sealed cards.
    """

    path: Name = "archive.sqlite3"
    database: Name | None = None
    node: Slug = "surveillance"
    username: Name | None = None
    password_file: Name | None = None
    password_credential: Name | None = None
    broker_cert_file: Name | None = None
    broker_key_file: Name | None = None
    recall_key: Name | None = None
    recall_person: Name | None = None
    recall_passphrase_file: Name | None = None
    recall_passphrase_credential: Name | None = None
    listen: Name | None = None
    keep_days: dict[Archived, KeptDays] = field(
        default_factory=lambda: dict.fromkeys(get_args(Archived), ARCHIVE_DAYS)
    )
    keys: dict[Slug, CheckpointKey] = {}
    standby_keys: dict[Slug, CheckpointKey] = {}
    cards_key: Name | None = None
    site: tuple[ArchiveSite, ...] = ()


class StandbyConfig(_ConfigSection, frozen=True):
    """``[standby]``: two daemons with the same tables, one of which serves them. ``servers``: the
    NATS cluster that stores their lease; ``instance``: name of this daemon (default: the host
    name); ``lease``: seconds after which the other takes over; ``bucket`` and ``replicas``: where
    the lease is stored, and in how many copies.

    ``keys``: public keys of both daemons, whose signatures in the store are trusted (default: any
    key).

    ``creds_file`` or the systemd credential ``creds_credential``: the NATS user.
    """

    servers: Annotated[
        tuple[Name, ...], Meta(min_length=1, max_length=16, description="1 to 16 addresses")
    ]
    instance: Slug | None = None
    lease: Annotated[float, Meta(ge=1, le=300, description="seconds, 1 to 300")] = 10.0
    bucket: Slug = "novamas-standby"
    replicas: Literal[1, 3, 5] = 3
    keys: tuple[CheckpointKey, ...] = ()
    creds_file: Name | None = None
    creds_credential: Name | None = None
    ca_file: Name | None = None
    cert_file: Name | None = None
    key_file: Name | None = None


class MetricsConfig(_ConfigSection, frozen=True):
    """``[metrics]``: the daemon's metrics. ``listen``: ``host:port`` (default: not served)."""

    listen: Name | None = None


class ExtensionsConfig(_ConfigSection, frozen=True):
    """``[extensions]``: drivers and webhook adapters of installed packages, by name. Nothing else
    of other packages is loaded.
    """

    drivers: tuple[Slug, ...] = ()
    webhooks: tuple[Slug, ...] = ()


class LogConfig(_ConfigSection, frozen=True):
    """``[log]``: the log on standard error. ``json`` for machines, ``console`` for people."""

    format: Literal["json", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


Plate = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^(?!\s)[^\x00-\x1f\x7f]*(?<!\s)\Z",
        description="1 to 64 characters on one line, without blanks at its ends",
    ),
]


ANSWER_SECONDS = 10.0
"""Seconds in which a second witness reports a round that has ended, unless it is configured."""


class DeviceConfig(_ConfigSection, frozen=True):
    """``[[table.device]]``: one device of a table. ``link`` is an address:
    ``serial:///dev/serial/by-id/...?baud=9600``.

    ``tap``: another system has the device, and nothing is ever written to it. ``maker``, ``model``
    and ``serial``: as on its type plate. ``usb_serial``: the serial number that the device or its
    adapter must report over USB, if it differs from ``serial`` (default: ``serial`` for a
    ``usb://`` device, otherwise the number reported first).

    ``witness``: a second witness of the table, which gives no result and delays none;
    ``answers_within``: the seconds in which it reports a round that has ended (default: 10).
    """

    id: Slug
    driver: Name
    link: Name
    commands: bool = False
    tap: bool = False
    witness: bool = False
    answers_within: Seconds | None = None
    stale_after: Seconds = 5.0
    maker: Plate | None = None
    model: Plate | None = None
    serial: Plate | None = None
    usb_serial: Plate | None = None
    options: dict[str, Any] = {}

    @property
    def witness_seconds(self) -> float | None:
        """The seconds in which a second witness reports a round that has ended, else None."""
        if not self.witness:
            return None
        return ANSWER_SECONDS if self.answers_within is None else self.answers_within


class WitnessKeypadConfig(_ConfigSection, frozen=True):
    """``[table.witness_keypad]``: the people at the table report as a second witness what they have
    seen of a round. ``answers_within``: the seconds after its end in which they may.
    """

    answers_within: Seconds = ANSWER_SECONDS


class TableConfig(_ConfigSection, frozen=True):
    """``[[table]]``: one gaming table. ``speed`` makes the clock of a simulated table run faster; a
    real table has 1. ``jackpot``: id of the linked jackpot. ``languages``: languages of the people
    there (default: those of the site, else of the decree). ``witness_keypad``: absent if the people
    there are no second witness.
    """

    id: Slug
    game: Name
    decree: Name
    languages: Languages = ()
    simulated: bool = False
    speed: Speed = 1.0
    settings: dict[str, Any] = {}
    jackpot: Slug | None = None
    witness_keypad: WitnessKeypadConfig | None = None
    device: tuple[DeviceConfig, ...] = ()


class SignConfig(_ConfigSection, frozen=True):
    """``[[sign]]``: an LED sign of the Alpha protocol at the serial port ``port`` that shows the
    meter of ``jackpot``. ``format``: data bits, parity and stop bits. ``simulated``: whether the
    tables of the jackpot are simulated.
    """

    port: Name
    jackpot: Slug
    language: Language = "es"
    baud: Annotated[int, Meta(ge=1200, le=115_200)] = 9600
    format: Literal["7E1", "7E2", "8N1"] = "7E1"
    simulated: bool = False


class OutputConfig(_ConfigSection, frozen=True):
    """``[[output]]``: an output that speaks as the display port of a Cammegh SS2, fed by a roulette
    table. ``port``: a serial port, or ``tcp://host:port`` of a device server. ``simulated``:
    whether the table is simulated.
    """

    port: Name
    table: Slug
    baud: Annotated[int, Meta(ge=1200, le=115_200)] = 9600
    simulated: bool = False


LightChannel = Annotated[
    str,
    Meta(
        pattern=r"^([1-9][0-9]?|[1-4][0-9]{2}|50[0-9]|51[0-2])\Z",
        description="a channel, 1 to 512",
    ),
]
LightLevels = dict[LightChannel, Annotated[int, Meta(ge=0, le=255, description="0 to 255")]]
WheelNumberInt = Annotated[int, Meta(ge=0, le=36, description="a number, 0 to 36")]


class LightScene(_ConfigSection, frozen=True):
    """``[[light.scene]]``: what a light shows for ``seconds``: on a hit of ``jackpot``, or on one
    of the ``numbers`` of ``table``. Channels that are not named are 0; a relay has no channels.
    """

    seconds: Annotated[float, Meta(ge=0.1, le=3600, description="seconds, 0.1 to 3600")]
    jackpot: Slug | None = None
    table: Slug | None = None
    numbers: tuple[WheelNumberInt, ...] = ()
    channels: LightLevels = {}


class LightConfig(_ConfigSection, frozen=True):
    """``[[light]]``: one universe of sACN or Art-Net, or one relay at a serial port. ``address``:
    of the receiver (default with sACN: multicast); of a relay its port. ``interface``: the address
    of this machine to send from. ``rest``: the channels without a scene. ``simulated``: whether
    the tables and jackpots of its scenes are simulated.
    """

    id: Slug
    protocol: Literal["sacn", "artnet", "relay"]
    address: Name | None = None
    interface: Name | None = None
    universe: Annotated[int, Meta(ge=0, le=63_999)] = 1
    priority: Annotated[int, Meta(ge=0, le=200)] = 100
    line: Literal["rts", "dtr"] = "rts"
    rest: LightLevels = {}
    scene: tuple[LightScene, ...] = ()
    simulated: bool = False


BookmarkedEvent = Literal[
    "round.result", "round.void", "round.unresolved", "result.corrected", "irregularity",
    "alert.raised", "round.opened", "bets.closed", "award.qualified",
]  # fmt: skip


class BookmarkConfig(_ConfigSection, frozen=True):
    """``[[bookmark]]``: a video system that receives events. ``address``: ``tcp://host:port`` or
    ``udp://host:port`` of Milestone, ``tcp://host:port`` of a recorder with point-of-sale text
    input, ``http://`` or ``https://`` of Frigate and webhooks.

    ``tables``: default all tables of ``site``, whose default is the site of the file; ``cameras``:
    the camera name of each table in that system; ``events``: the types to send. ``late_after``:
    seconds after which a bookmark is late; ``pace``: maximum number sent per second.

    ``echo``: what a Milestone data source replies. ``encoding``, ``newline``: of text; ``begin``,
    ``end``: lines before and after a point-of-sale text. ``before``, ``after``: seconds of video
    around an event at Frigate. ``secret_file`` or the systemd credential ``secret_credential``: the
    key that signs requests to a webhook, or Frigate's token.
    """

    id: Slug
    kind: Literal["milestone", "frigate", "pos", "webhook"]
    address: Name
    site: Slug | None = None
    tables: tuple[Slug, ...] = ()
    cameras: dict[Slug, Name] = {}
    events: Annotated[
        tuple[BookmarkedEvent, ...], Meta(min_length=1, description="at least one type of event")
    ] = (
        "round.result", "round.void", "round.unresolved", "result.corrected", "irregularity",
        "alert.raised",
    )  # fmt: skip
    language: Language = "es"
    late_after: Seconds = 5.0
    pace: Annotated[float, Meta(ge=0.1, le=1000, description="a second, 0.1 to 1000")] = 20.0
    echo: Literal["none", "all", "statistics"] = "none"
    encoding: Name = "utf-8"
    newline: Literal["\r\n", "\n", "\r"] = "\r\n"
    begin: str = ""
    end: str = ""
    before: Seconds = 10.0
    after: Seconds = 10.0
    ca_file: Name | None = None
    secret_file: Name | None = None
    secret_credential: Name | None = None


class WebhooksConfig(_ConfigSection, frozen=True):
    """``[webhooks]``: the service that sends events to web addresses. ``path``: its outbox;
    ``node``: its own node.

    ``username`` and the others: its own user at the broker (default: the daemon's). ``recall_key``:
    key of a reader among the people, ``recall_person``, used to request missed events from tables,
    and the file or systemd credential with its passphrase. ``listen``: ``host:port`` of its health.
    """

    path: Name = "webhooks.sqlite3"
    node: Slug = "webhooks"
    username: Name | None = None
    password_file: Name | None = None
    password_credential: Name | None = None
    broker_cert_file: Name | None = None
    broker_key_file: Name | None = None
    recall_key: Name | None = None
    recall_person: Name | None = None
    recall_passphrase_file: Name | None = None
    recall_passphrase_credential: Name | None = None
    listen: Name | None = None


class WebhookConfig(_ConfigSection, frozen=True):
    """``[[webhook]]``: a web address that receives events. ``address``: ``https://`` or ``http://``;
    ``address_file`` or the systemd credential ``address_credential`` instead, if the address is
    itself a secret.

    ``tables``: default all; ``events``: types, default all; ``simulated``: it receives the events
    of simulated tables instead of those of real ones. ``secret_file`` or the systemd credential
    ``secret_credential``: the keys that sign. ``parallel``: tables whose events are sent at the
    same time. ``give_up_after``: hours after which an event that cannot be sent is a dead letter.
    ``adapter``: an extension that makes the body of each request.
    """

    id: Slug
    address: Name | None = None
    address_file: Name | None = None
    address_credential: Name | None = None
    tables: tuple[Slug, ...] = ()
    events: tuple[Name, ...] = ()
    simulated: bool = False
    secret_file: Name | None = None
    secret_credential: Name | None = None
    ca_file: Name | None = None
    parallel: Annotated[int, Meta(ge=1, le=32, description="a whole number from 1 to 32")] = 4
    give_up_after: Annotated[float, Meta(ge=0.01, le=720, description="hours, 0.01 to 720")] = 72.0
    adapter: Slug | None = None


class VideoConfig(_ConfigSection, frozen=True):
    """``[video]``: where camera recordings are. ``pattern``: the path of a recording below
    ``folder``: ``{camera}``, and its start in the notation of ``strftime``, by the clock ``clock``.

    ``cameras``: table -> its camera (default: the table's id). ``margin``: seconds by which a clip
    starts before its round and ends after it. ``longest``: maximum length of a recording in
    seconds.
    """

    folder: Name | None = None
    pattern: Name = "{camera}/%Y-%m-%d/%H-%M-%S.mp4"
    clock: Literal["utc", "local"] = "utc"
    cameras: dict[Slug, Name] = {}
    margin: Annotated[float, Meta(ge=0, le=600, description="seconds, 0 to 600")] = 5.0
    longest: Seconds = 3600.0


class Configuration(_ConfigSection, frozen=True):
    """The whole configuration."""

    site: SiteConfig
    table: tuple[TableConfig, ...] = ()
    journal: JournalConfig = JournalConfig()
    clock: ClockConfig = ClockConfig()
    surveillance: SurveillanceConfig = SurveillanceConfig()
    recordings: RecordingsConfig = RecordingsConfig()
    broker: BrokerConfig = BrokerConfig()
    people: PeopleConfig | None = None
    web: WebConfig = WebConfig()
    api: ApiConfig = ApiConfig()
    carrousel: CarrouselConfig = CarrouselConfig()
    jackpot: tuple[JackpotConfig, ...] = ()
    sign: tuple[SignConfig, ...] = ()
    output: tuple[OutputConfig, ...] = ()
    light: tuple[LightConfig, ...] = ()
    bookmark: tuple[BookmarkConfig, ...] = ()
    video: VideoConfig = VideoConfig()
    webhooks: WebhooksConfig = WebhooksConfig()
    webhook: tuple[WebhookConfig, ...] = ()
    archive: ArchiveConfig = ArchiveConfig()
    standby: StandbyConfig | None = None
    extensions: ExtensionsConfig = ExtensionsConfig()
    metrics: MetricsConfig = MetricsConfig()
    log: LogConfig = LogConfig()


BROKER_FILES = ("password_file", "ca_file", "cert_file", "key_file")
"""Keys of ``[broker]`` that name a file."""


class Mistake(msgspec.Struct, frozen=True):
    """One error: its ``place``, such as ``line 12: table[0].device[0].link``, and ``what`` is
    wrong. ``file``: set if it is not in the main file.
    """

    place: str
    what: str
    file: str = ""

    def of(self, path: object) -> str:
        """Format it as one line. ``path``: the main file."""
        return f"{self.file or path}: {self.place}: {self.what}"


class ConfigurationError(NovamasError, ValueError):
    """The configuration is invalid. ``mistakes``: all its errors."""

    def __init__(self, path: str, mistakes: tuple[Mistake, ...]) -> None:
        super().__init__("\n".join(mistake.of(path) for mistake in mistakes))
        self.path = path
        self.mistakes = mistakes
