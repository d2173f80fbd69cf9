"""The pit console as people use it: by touching only, in a real browser, with the real daemon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from subscribers.console.forms import forms
from tests.support.daemon.play import until_open, until_said
from tests.support.programs import with_constants
from tests.support.waiting import until
from tests.support.web.floor import CARDS, ROULETTE, Floor
from tests.support.web.pit import PINS, confirm, console, correct, sign_in
from tests.support.web.server import Teller
from tests.web.conftest import Serve
from tests.web.test_web import LEAF, state

BURN, COUP = ("2h", "Kc", "Kd"), ("9h", "2c")
LONGER = with_constants("common.people.signed_command", CLOCK_TOLERANCE_SECONDS=20.0)
"""Seconds in which a daemon that has just started accepts no signed command: enough for a starved
browser.
"""


@pytest.fixture
def other(browser: Browser) -> Iterator[Page]:
    """A second screen: a tablet."""
    context = browser.new_context(viewport={"width": 1024, "height": 768})
    yield context.new_page()
    context.close()


def work(page: Page, title: str) -> Any:
    return page.locator(".item", has_text=title)


def said(floor: Floor, kind: str, count: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = until_said(floor.subscriber, kind, count)[-1]
    return found


def test_an_amount_is_money_of_its_currency(tmp_path: Path, ending: ExitStack, page: Page) -> None:
    floor = Floor(tmp_path, ending)
    sign_in(page, floor.web.address, "m-lasa", "es")
    page.locator(".tile[data-table=r1]").click()
    page.locator(".panel [data-command='session.open']").click()
    minimum = page.locator("[data-field=minimum] input")
    currency = page.locator("[data-field=currency] input")
    expect(currency).to_have_value("EUR")
    for wrong in ("1.000", "5.0", "5,005", "cinco", "1.000,00"):
        minimum.fill(wrong)
        page.locator("[data-do=send]").click()
        expect(page.locator(".told")).to_contain_text("escríbalo como 5.00 (EUR)")
    minimum.fill("50")
    currency.fill("JPY")
    confirm(page)
    opened = said(floor, "session.opened")
    assert (opened["minimum"], opened["currency"]) == (50, "JPY")
    expect(page.locator(".done")).to_contain_text("mínimo: 50\u00a0JPY")


@pytest.mark.essential
def test_a_head_of_table_opens_a_table_and_solves_a_null_spin(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending)
    sign_in(page, floor.web.address, "m-lasa", "es")
    expect(page.locator(".nothing")).to_have_text("No hay nada pendiente.")
    page.locator(".tile[data-table=r1]").click()
    page.locator(".panel [data-command='session.open']").click()
    for key in "50":
        page.locator(f"[data-field=minimum] [data-key='{key}']").click()
    page.locator("[data-field=currency] input").fill("EUR")
    confirm(page)
    opened = said(floor, "session.opened")
    assert (opened["minimum"], opened["currency"], opened["by"]) == (5000, "EUR", "M. Lasa")
    expect(page.locator(".panel")).to_contain_text("50,00")
    floor.wheel.show(2, 1, "  ")
    said(floor, "round.opened")
    floor.wheel.show(3, 1, "  ", warning="2")
    spin = work(page, "bola en el sentido del cilindro")
    expect(spin).to_contain_text("art. 3")
    spin.locator("summary").first.click()
    expect(spin.locator("blockquote")).not_to_be_empty()
    spin.locator("summary").last.click()
    expect(spin.locator("code").last).to_contain_text("*X;3;001")
    spin.locator("button.main[data-command='round.void']").click()
    confirm(page, "m-lasa")
    void = said(floor, "round.void")
    assert (void["reason"], void["round"]) == ("ball_with_rotor", 1)
    assert [each["id"] for each in void["signed_by"]] == ["m-lasa"]
    expect(page.locator(".item")).to_have_count(0)
    assert floor.sent() == ["session-open", "round-void"]


def test_a_misdealt_card_is_decided_by_touching(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending, cards=True)
    until_open(floor.subscriber, floor.daemon, "b1", "shoe")
    sign_in(page, floor.web.address, "m-lasa")
    page.locator(".tile[data-table=b1]").click()
    page.locator(".panel [data-command='session.open']").click()
    confirm(page)
    said(floor, "session.opened")
    page.locator(".panel [data-command='shoe.start']").click()
    page.locator("[data-field=shoe] input").fill("S1")
    confirm(page)
    said(floor, "shoe.started")
    floor.deal(*BURN, *COUP)
    until(
        "two cards", lambda: len(floor.subscriber.latest(f"{CARDS}/state")["shown"]["hands"]) == 2
    )
    floor.deal(COUP[-1])  # the scanner reads one card twice
    asked = work(page, "card to be looked at")
    asked.locator("button.main[data-command='card.decide']").first.click()
    confirm(page)
    said(floor, "card.removed")
    expect(page.locator(".item")).to_have_count(0)
    floor.scanner.say(b"NOREAD\r\n")
    work(page, "card not read").locator("button.soft[data-command='card.decide']").click()
    page.locator("[data-field=action] [data-value=read]").click()
    page.locator("[data-field=card] [data-rank=K]").click()
    page.locator("[data-field=card] [data-suit=d]").click()
    confirm(page)
    floor.deal("3s")
    assert said(floor, "round.result")["outcome"]["winner"] == "player"


def test_after_a_restart_the_round_waits_and_the_console_counts_down(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    sign_in(page, floor.web.address, "m-lasa")
    floor.spin("17", 1)
    said(floor, "round.result")
    floor.wheel.show(2, 2, "17")
    said(floor, "round.opened", 2)
    floor.daemon.kill()
    expect(page.locator(".tile")).to_contain_text("offline")
    expect(page.locator(".panel [data-command]")).to_have_count(0)
    floor.wheel.show(5, 2, "22")
    floor.daemon.program = ("-c", LONGER + floor.daemon.program[1])
    floor.daemon.start()
    waiting = work(page, "Round 2: result unresolved")
    waiting.locator("button.main[data-command='round.confirm']", has_text="22").click()
    confirm(page, "m-lasa")
    expect(page.locator("dialog .told")).to_contain_text("just started: again in")
    expect(page.locator("dialog [data-do=send]")).to_have_text(re.compile(r"Confirm · \d+ s"))
    expect(page.locator("dialog [data-do=send]")).to_be_enabled()
    confirm(page)  # the PIN was kept
    result = said(floor, "round.result", 2)
    assert (result["round"], result["outcome"]["number"]) == (2, 22)
    assert result["confirmed_by"].startswith("M. Lasa")
    expect(page.locator(".item")).to_have_count(0)
    assert floor.sent().count("round-confirm") == 2  # the first was refused, and shows it


def test_a_message_meanwhile_removes_no_button_from_under_the_finger(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    sign_in(page, floor.web.address, "m-lasa")
    page.locator(".tile").click()
    page.locator(".panel [data-command='last_rounds.announce']").hover()
    page.mouse.down()
    state = page.locator(".panel p.soft").first.inner_text()
    floor.wheel.show(2, 1, "  ")
    expect(page.locator(".panel p.soft").first).not_to_have_text(state)
    page.mouse.up()
    confirm(page)
    assert said(floor, "last_rounds")["by"] == "M. Lasa"


@pytest.mark.essential
def test_the_second_person_is_called_on_the_other_screen(
    tmp_path: Path, ending: ExitStack, page: Page, other: Page
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    sign_in(page, floor.web.address, "m-lasa")
    sign_in(other, floor.web.address, "t-vidal", "ca")
    floor.spin("17", 1)
    said(floor, "round.result")
    correct(page, "r1", 12)
    expect(page.locator("dialog .change")).to_have_text("before17→after12")
    confirm(page, "m-lasa")
    expect(work(page, "second person").locator("button")).to_have_count(0)  # not the same one
    called = work(other, "M. Lasa demana una segona persona")
    expect(called.locator(".change .result")).to_have_text(["17", "12"])
    expect(called).to_contain_text("queden")
    called.locator("button.main").click()
    confirm(other, "t-vidal")
    corrected = said(floor, "result.corrected")
    assert corrected["outcome"]["number"] == 12
    assert [each["id"] for each in corrected["signed_by"]] == ["m-lasa", "t-vidal"]
    expect(page.locator(".item")).to_have_count(0)
    expect(other.locator(".item")).to_have_count(0)


def test_only_commands_that_the_role_may_give_now_are_offered(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending)
    sign_in(page, floor.web.address, "a-riera", "gl")
    page.locator(".tile").click()
    expect(page.locator(".panel h2")).to_be_visible()
    expect(page.locator(".panel [data-command='session.close']")).to_have_count(0)
    floor.open()
    floor.wheel.show(2, 1, "  ")
    floor.wheel.show(3, 1, "  ", warning="2")
    asked = work(page, "bóla no sentido do cilindro").or_(page.locator(".item.ask"))
    expect(asked.first).to_contain_text("xefe de mesa")
    commands = page.locator(".panel [data-command]")
    shown: set[str] = set()

    def only_what_it_takes() -> bool:
        shown.clear()
        shown.update(commands.evaluate_all("all => all.map(e => e.dataset.command)"))
        return shown <= set(floor.subscriber.latest(f"{ROULETTE}/state")["takes"])

    until("the page and the table agree", only_what_it_takes)
    assert "session.close" not in shown


def test_a_wrong_pin_at_a_grave_command_sends_nothing(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    sign_in(page, floor.web.address, "m-lasa")
    page.locator(".tile").click()
    page.locator(".panel [data-command='session.close']").click()
    page.locator("[data-field=locked] [data-value=true]").click()
    for key in "000000":
        page.locator(f".again [data-key='{key}']").click()
    page.on("console", lambda _: None)
    page.locator("dialog [data-do=send]").click()
    expect(page.locator("dialog .told")).to_have_text("Name or PIN is wrong.")
    assert floor.sent() == ["session-open"]
    assert "wrong PIN" in floor.web.log()
    assert not set(PINS.values()) & set(floor.web.log().split('"'))


def test_every_command_has_a_form_that_fingers_can_fill_in(
    serve: Serve, teller: Teller, tmp_path: Path, page: Page
) -> None:
    page.set_viewport_size({"width": 1024, "height": 768})
    names = [name for name in forms("en") if name != "alert.acknowledge"]
    told = {**state(17), "takes": names, "staff": {"croupier": ["A. Riera"]}}
    about = {"commands": {name: {"roles": ["table_head"]} for name in names}}
    teller.tell("ruleta-1", "info", {**LEAF, "about": about})
    teller.tell("ruleta-1", "state", told)
    pit = console(tmp_path / "pit", "casino-mayor")
    server = serve([("ruleta-1", False)], pit=pit)
    sign_in(page, server.address, "m-lasa", "eu")
    page.locator(".tile").click()
    expect(page.locator(".panel [data-command]")).to_have_count(len(names))
    expect(page.locator(".panel")).to_contain_text("A. Riera")
    for name in names:
        page.locator(f".panel [data-command='{name}']").click()
        dialog = page.locator("dialog[open]")
        asked = [field.name for field in forms("en")[name].fields]
        there = "all => all.map((each) => each.dataset.field)"
        assert dialog.locator("[data-field]").evaluate_all(there) == asked
        for field in dialog.locator("details[data-field] > summary").all():
            field.click()
        small = dialog.locator("button:visible, input:visible, summary:visible").evaluate_all(
            "all => all.filter((each) => each.getBoundingClientRect().height < 44)"
            ".map((each) => each.outerHTML)"
        )
        assert small == [], name
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_table_that_changes_under_the_finger_is_touched_all_the_same(
    serve: Serve, teller: Teller, tmp_path: Path, page: Page
) -> None:
    told: dict[str, Any] = {**state(17), "takes": [], "staff": {}}
    teller.tell("ruleta-1", "info", {**LEAF, "about": {"commands": {}}})
    teller.tell("ruleta-1", "state", told)
    pit = console(tmp_path / "pit", "casino-mayor")
    server = serve([("ruleta-1", False)], pit=pit)
    sign_in(page, server.address, "m-lasa")
    tile = page.locator(".tile")
    tile.hover()
    page.mouse.down()
    shown = {**told["shown"], "round": told["shown"]["round"] + 1}
    page.evaluate(
        """(round) => {
          const own = new EventSource("/pit/stream");
          window.heard = new Promise((done) => own.addEventListener("picture", ({ data }) => {
            if (JSON.parse(data).round === round) done(own.close());
          }));
        }""",
        shown["round"],
    )
    teller.tell("ruleta-1", "state", {**told, "shown": shown})
    page.evaluate("window.heard.then(() => new Promise((done) => setTimeout(done, 300)))")
    page.mouse.up()
    expect(page.locator(".panel h2")).to_be_visible()
    expect(tile).to_contain_text(f"round {shown['round']}")


def test_amounts_are_written_as_spanish_where_the_browser_knows_no_basque(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    sign_in(page, floor.web.address, "m-lasa", "eu")
    page.locator(".tile[data-table=r1]").click()
    expect(page.locator(".panel")).to_contain_text("5,00\u00a0€")
