"""The keypads of the tables: a page for each, and the USB keypads of this machine. A table has one
keypad, used by the person who unlocked it last.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping
from typing import get_args

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from common import clock
from common.contract.messages.messages import ENGLISH, LANGUAGES, text
from subscribers.console.forms import PIN_COMMANDS
from subscribers.console.outcomes import refusal_text
from subscribers.console.rights import role_for
from subscribers.console.sessions import Session
from subscribers.display.pages import not_found_page
from subscribers.essential import essential
from subscribers.feed.floor import Floor
from subscribers.keypad.keys import Meaning, Slot, current_meanings, duty_key, witness_key
from subscribers.keypad.pad import DIGITS, Order, Pad, Press, on_reply, on_timeout, press, unlock
from subscribers.keypad.pages import keypad_page
from subscribers.keypad.view import KeypadView, keypad_view
from subscribers.web.beat import HEADER, age
from subscribers.web.files import static_files
from subscribers.web.pit import Pit

PAGE_KEYS: frozenset[str] = frozenset({*DIGITS, *get_args(Slot), "lock"})
"""The keys of the page."""
MAX_REMEMBERED_PRESSES = 50
"""Number of page key ids that are remembered, so that a repeated request is not a second key press.
"""


class PressBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key press of the page. ``id``: unique for this press."""

    id: str
    key: str


class _Keypad:
    def __init__(self) -> None:
        self.pad = Pad()
        self.session: Session | None = None
        self.meanings: dict[Slot, Meaning] = {}
        self.since = 0.0
        """When these meanings became valid, on the monotonic clock."""
        self.feedback_count = 0
        self.ids: deque[str] = deque(maxlen=MAX_REMEMBERED_PRESSES)
        self.orders: dict[int, str] = {}
        """Order -> the number of its touch."""
        self.usb: str | None = None


class Keypads:
    """The keypads of all tables. ``devices``: table -> its USB keypad."""

    def __init__(self, pit: Pit, floor: Floor, devices: Mapping[str, str]) -> None:
        self._pit, self._floor = pit, floor
        self._devices = devices
        self._keypads = {table: _Keypad() for table in floor.known}
        self._sending: set[asyncio.Task[None]] = set()

    @property
    def routes(self) -> list[Route | Mount]:
        """The routes of the keypad pages."""
        return [
            static_files("/keypad/static", "subscribers.keypad"),
            Route("/keypad/{table}", self._page),
            Route("/keypad/{table}/stream", self._stream),
            Route("/keypad/{table}/unlock", self._unlock, methods=["POST"]),
            Route("/keypad/{table}/press", self._press, methods=["POST"]),
        ]

    async def run(self) -> None:
        """Read the USB keypads."""
        async with asyncio.TaskGroup() as group:
            for table, path in self._devices.items():
                group.create_task(essential(f"keypad of {table}", self._listen(table, path)))

    async def _page(self, request: Request) -> Response:
        session = self._pit.door.session(request)
        table = request.path_params["table"]
        if table not in self._floor.known:
            language = request.query_params.get("lang") if session is None else session.language
            return not_found_page(language if language in LANGUAGES else ENGLISH)
        if session is None:
            return self._pit.sign_in(request)
        self._pit.require_table(session, table)
        return keypad_page(table, session, self._pit.base)

    async def _stream(self, request: Request) -> Response:
        session, table = self._pit.door.session(request), request.path_params["table"]
        if session is None:
            raise HTTPException(401)
        self._pit.require_table(session, table)
        return self._pit.streaming(
            request,
            (table,),
            lambda table: msgspec.json.encode(self.view(session, table)),
            lambda: session.alive,
        )

    async def _unlock(self, request: Request) -> Response:
        session, _ = await self._pit.door.authorize_recent(request, dict[str, object])
        table = request.path_params["table"]
        self._pit.require_table(session, table)
        self.unlock(table, session)
        return JSONResponse({"ok": True})

    def unlock(self, table: str, session: Session) -> None:
        """Give the keypad to the person of this session."""
        keypad = self._keypads[table]
        keypad.session = session
        self._put(table, unlock(keypad.pad))

    async def _press(self, request: Request) -> Response:
        session, body = await self._pit.door.authorize_recent(request, PressBody)
        table = request.path_params["table"]
        self._pit.require_table(session, table)
        if body.key not in PAGE_KEYS or not 8 <= len(body.id) <= 64:
            raise HTTPException(400)
        keypad = self._keypads[table]
        if keypad.session is not session:
            raise HTTPException(409)
        if body.id not in keypad.ids:
            keypad.ids.append(body.id)
            ago = age(request.headers.get(HEADER))
            self.press(table, msgspec.convert(body.key, Press), 0.0, ago)
        return JSONResponse({"ok": True})

    async def _listen(self, table: str, path: str) -> None:
        # imported here: few servers have a USB keypad, and evdev slows the start
        from subscribers.keypad.usb import KeyPress, key_presses

        keypad = self._keypads[table]
        keypad.usb = ""
        async with contextlib.aclosing(key_presses(path)) as keys:
            async for key in keys:
                if not isinstance(key, KeyPress):
                    keypad.usb = "keypad.unplugged"
                    self._floor.touch(table)
                    continue
                keypad.usb = ""
                if keypad.session is not None and keypad.session.alive:
                    self._pit.door.sessions.touch(keypad.session)
                self.press(table, key.key, max(0.0, clock.wall() - key.at))

    def press(self, table: str, key: Press, late: float, ago: float = 0.0) -> None:
        """Handle a key of the page or of the USB keypad. ``ago``: seconds since it was pressed; its
        meaning must have been stable at that time.
        """
        keypad = self._keypads[table]
        self._refresh(table)
        session = keypad.session
        stable_seconds = clock.monotonic() - keypad.since - max(late, ago)
        pad, order = press(keypad.pad, key, keypad.meanings, stable_seconds, late)
        self._put(table, pad)
        if order is not None and session is not None:
            task = asyncio.create_task(self._send(table, session, order))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _send(self, table: str, session: Session, order: Order) -> None:
        """Send an order once, and show the person its outcome."""
        keypad, context = self._keypads[table], self._pit.table_context(session, table)
        role, state = role_for(context, order.command), context.known.state
        if role is None or state is None or not session.alive:
            self._put(table, on_reply(keypad.pad, order.number, self._text("locked", session)))
            return
        number = f"{session.tag}-k{order.number:08}"
        keypad.orders[order.number] = number
        await self._pit.sending.send_and_wait(
            session,
            number,
            table,
            order.command,
            dict(order.fields),
            role,
            (state.boot, state.seq),
        )
        self._settle(table)
        self._put(table, on_timeout(keypad.pad, order.number))

    def _settle(self, table: str) -> None:
        """Pass the outcome of the pending order to the keypad."""
        keypad = self._keypads[table]
        order = keypad.pad.pending or keypad.pad.unknown
        touch = (
            None
            if order is None
            else self._pit.sending.touches.get(keypad.orders.get(order.number, ""))
        )
        if order is None or touch is None or keypad.session is None:
            return
        language = keypad.session.language
        match touch.how:
            case "followed":
                keypad.pad = on_reply(keypad.pad, order.number, None)
            case "refused" | "waiting":
                keypad.pad = on_reply(keypad.pad, order.number, refusal_text(touch, language) or "")
            case "unsent":
                refusal = text("trouble.no_broker", language)
                keypad.pad = on_reply(keypad.pad, order.number, refusal)
            case _:
                return
        keypad.feedback_count += 1
        keypad.orders.pop(order.number, None)

    def _refresh(self, table: str) -> None:
        """Update the meanings of the keys for the person who has the keypad, and check that the
        person's session is still valid.
        """
        keypad = self._keypads[table]
        self._pit.door.sessions.sweep()
        if keypad.session is None or not keypad.session.alive:
            keypad.session = None
            if not keypad.pad.locked:
                keypad.pad = press(keypad.pad, "lock", {}, 0.0)[0]
        self._settle(table)
        meanings = self._meanings(table, keypad.session)
        if meanings != keypad.meanings:
            keypad.meanings, keypad.since = meanings, clock.monotonic()

    def _meanings(self, table: str, session: Session | None) -> dict[Slot, Meaning]:
        known = self._floor.known[table]
        if session is None or known.state is None or self._floor.outdated[table] is not None:
            return {}
        context = self._pit.table_context(session, table)
        accepted = [command for command in known.state.takes if command not in PIN_COMMANDS]
        allowed = [command for command in accepted if role_for(context, command) is not None]
        view, person = str(known.state.shown.__struct_config__.tag), context.person.name
        role = role_for(context, "staff.on")
        duty = duty_key(view, person, role, known.state.staff, allowed)
        witness = witness_key(view, known.state.witness_round, allowed)
        return {**duty, **witness, **current_meanings(view, accepted, allowed)}

    def view(self, session: Session, table: str) -> KeypadView:
        """Return the keypad as this person sees it."""
        self._refresh(table)
        keypad = self._keypads[table]
        mine = keypad.session is session
        return keypad_view(
            self._floor.known[table],
            self._floor.outdated[table],
            keypad.pad if mine else Pad(),
            keypad.meanings if mine else {},
            session.language,
            feedback_count=keypad.feedback_count,
            last=keypad.ids[-1] if keypad.ids else "",
            usb=text(keypad.usb, session.language) if keypad.usb else keypad.usb,
        )

    def _put(self, table: str, pad: Pad) -> None:
        keypad = self._keypads[table]
        if pad.feedback != keypad.pad.feedback or pad.feedback.sound != "none":
            keypad.feedback_count += 1
        keypad.pad = pad
        self._floor.touch(table)

    def _text(self, name: str, session: Session) -> str:
        return text(f"keypad.{name}", session.language)
