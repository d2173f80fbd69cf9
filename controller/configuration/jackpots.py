"""Checks of the jackpots in a configuration: each jackpot names its tables, each table its one
jackpot, and they agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from common.places import KeyPath
from common.suggestions import unknown_word
from controller.configuration.settings import (
    CarrouselConfig,
    Configuration,
    JackpotConfig,
    TableConfig,
)

RESERVED_JACKPOT_IDS = ("alert", "command", "reply")
"""Ids that no jackpot may have. Otherwise a client with access to ``+/command/+``, meant for
tables, could publish in the name of the jackpot.
"""

Flaws = Iterator[tuple[KeyPath, str]]


def jackpots(configuration: Configuration) -> Flaws:
    """Yield all errors. In a file without jackpots, another machine links the tables."""
    yield from _carrousel(configuration)
    if not configuration.jackpot:
        return
    tables = {table.id: table for table in configuration.table}
    ids = [jackpot.id for jackpot in configuration.jackpot]
    jackpot_of: dict[str, str] = {}
    for j, jackpot in enumerate(configuration.jackpot):
        if jackpot.id in RESERVED_JACKPOT_IDS:
            problem = f"{jackpot.id!r} is reserved: its topics would be read as a table's"
            yield ("jackpot", j, "id"), f"{problem}; choose another id"
        if jackpot.authorisation is None:
            continue  # it does not start, and reports this
        place: KeyPath = ("jackpot", j, "authorisation", "tables")
        if not jackpot.authorisation.tables:
            yield place, "no table is linked; name the tables that are authorised"
        for index, name in enumerate(jackpot.authorisation.tables):
            if name in jackpot_of:
                other = (
                    "named twice"
                    if jackpot_of[name] == jackpot.id
                    else f"of {jackpot_of[name]} too"
                )
                yield (*place, index), f"{name} is {other}; a table has one jackpot"
            jackpot_of[name] = jackpot.id
            if name in tables:
                yield from _linked(tables[name], jackpot, (*place, index))
            elif name not in configuration.carrousel.elsewhere:
                yield (*place, index), _unknown(name, configuration)
    for t, table in enumerate(configuration.table):
        if table.jackpot is None:
            continue
        if table.jackpot not in ids:
            yield ("table", t, "jackpot"), unknown_word("jackpot", table.jackpot, sorted(ids))
        elif jackpot_of.get(table.id) != table.jackpot:
            problem = f"the authorisation of {table.jackpot} does not name {table.id}"
            yield ("table", t, "jackpot"), problem


def signs(configuration: Configuration) -> Flaws:
    """Yield signs that show an unknown jackpot. In a file without jackpots, signs show jackpots of
    another machine.
    """
    ids = {jackpot.id: jackpot.simulated for jackpot in configuration.jackpot}
    for s, sign in enumerate(configuration.sign):
        if ids and sign.jackpot not in ids:
            yield ("sign", s, "jackpot"), unknown_word("jackpot", sign.jackpot, sorted(ids))
        elif ids and ids[sign.jackpot] != sign.simulated:
            kind = "simulated" if ids[sign.jackpot] else "real"
            problem = f"{sign.jackpot} is of {kind} tables; set `simulated` as it has it"
            yield ("sign", s, "simulated"), problem


def _carrousel(configuration: Configuration) -> Flaws:
    carrousel: CarrouselConfig = configuration.carrousel
    file, credential = carrousel.recall_passphrase_file, carrousel.recall_passphrase_credential
    if file and credential:
        problem = "`recall_passphrase_file` is set too; remove one of them"
        yield ("carrousel", "recall_passphrase_credential"), problem
    if carrousel.recall_key and not (file or credential):
        problem = "`recall_passphrase_file` or `recall_passphrase_credential` is required too"
        yield ("carrousel", "recall_key"), problem
    for index, name in enumerate(carrousel.elsewhere):
        if name in {table.id for table in configuration.table}:
            problem = f"{name} is a table of this file; remove it here"
            yield ("carrousel", "elsewhere", index), problem
    if carrousel.standby and configuration.standby is None:
        problem = "requires [standby] with `servers`, which store the lease and the ledger's log"
        yield ("carrousel", "standby"), problem
    both = bool(configuration.jackpot and configuration.table)
    if both and carrousel.node == configuration.site.node:
        problem = f"{carrousel.node!r} is the daemon's own node; choose another id"
        yield ("carrousel", "node"), problem


def _unknown(name: str, configuration: Configuration) -> str:
    ids = sorted({*(table.id for table in configuration.table), *configuration.carrousel.elsewhere})
    return f"{unknown_word('table', name, ids)}; list other daemons' tables in carrousel.elsewhere"


def _linked(table: TableConfig, jackpot: JackpotConfig, at: KeyPath) -> Flaws:
    """Check that a table of this file fits the jackpot that it is linked to."""
    if table.jackpot != jackpot.id:
        yield at, f'{table.id} does not know it; set jackpot = "{jackpot.id}" at that table'
    if jackpot.games and table.game not in jackpot.games:
        yield at, f"{table.id} plays {table.game}; authorised: {', '.join(jackpot.games)}"
    if table.decree != jackpot.decree:
        yield at, f"{table.id} plays under {table.decree}, the jackpot under {jackpot.decree}"
    out_of_play = table.settings.get("out_of_play", "refuse")
    if out_of_play in ("refuse", "mark") and out_of_play != jackpot.out_of_play:
        problem = (
            f"{table.id} has out_of_play = {out_of_play!r}, the jackpot {jackpot.out_of_play!r}"
        )
        yield at, f"{problem}; set both as the authorisation says"
    if table.simulated != jackpot.simulated:
        kinds = {True: "simulated", False: "not simulated"}
        problem = f"{table.id} is {kinds[table.simulated]}, the jackpot {kinds[jackpot.simulated]}"
        yield at, f"{problem}; no simulated coin may feed a real meter"
