"""Passes each message from the broker to the part that handles it."""

from __future__ import annotations

from collections.abc import Mapping

from common import clock
from subscribers.carrousel.announcer import Announcer
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.order_desk import OrderDesk
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.table_feed import Routes
from subscribers.carrousel.unlinked_tables import UnlinkedTables


class MessageRouter:
    """``routes``: handlers of the topics of single tables; ``roots``: of all topics, by whether
    they are simulated.
    """

    def __init__(
        self,
        *,
        routes: Routes,
        roots: Mapping[bool, str],
        status: ControllerStatus,
        jackpots: Mapping[str, JackpotRuntime],
        desks: Mapping[str, OrderDesk],
        tables: LinkedTables,
        unlinked: UnlinkedTables,
        announcer: Announcer,
    ) -> None:
        self._routes, self._roots, self._status = routes, roots, status
        self._jackpots, self._desks = jackpots, desks
        self._tables, self._unlinked = tables, unlinked
        self._announcer = announcer

    def on_message(self, topic: str, body: bytes, retained: bool) -> None:
        """Handle a message."""
        route = self._routes.get(topic)
        if route is not None:
            route(body)
            return
        for simulated, root in self._roots.items():
            if topic.startswith(f"{root}/node/"):
                node, _, leaf = topic.removeprefix(f"{root}/node/").partition("/")
                nodes = self._tables.nodes[simulated]
                if nodes.on_message(node, leaf, body, clock.wall(), live=not retained):
                    self._status.check_tables_soon()
                return
            if topic.startswith(f"{root}/jackpot/"):
                name, _, leaf = topic.removeprefix(f"{root}/jackpot/").partition("/")
                jackpot = self._jackpots.get(name)
                if jackpot is not None and jackpot.settings.simulated == simulated:
                    self._on_jackpot_message(jackpot, leaf, body, retained=retained)
                return
            if topic.startswith(f"{root}/") and topic.endswith("/info"):
                table = topic.removeprefix(f"{root}/").removesuffix("/info")
                self._unlinked.on_info(simulated, table, body)
                return

    def _on_jackpot_message(
        self, jackpot: JackpotRuntime, leaf: str, body: bytes, *, retained: bool
    ) -> None:
        kind, _, name = leaf.partition("/")
        if leaf == "state":
            self._announcer.on_statement(jackpot, body, retained=retained)
        elif kind == "command" and body:
            self._desks[jackpot.id].on_order(name, body, retained=retained)
        elif kind == "alert":
            self._announcer.on_alert(jackpot, name, body, retained=retained)
