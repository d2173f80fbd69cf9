"""A jackpot at the pit console: awards are paid, disputed and settled by touching, in a real
browser, with the real controller and its ledger.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from common.contract.messages.messages import LANGUAGES
from common.contract.times import format_utc
from subscribers.carrousel.amounts import format_amount
from subscribers.money import money
from tests.support.carrousel.floor import STAKE, accounts
from tests.support.pdf import pdf_text
from tests.support.web.pit import PINS, Client, confirm, sign_in
from tests.web.carrousel import JACKPOT, TABLES, PayingFloor
from tests.web.test_accessible import faults


@pytest.fixture
def other(browser: Browser) -> Iterator[Page]:
    """A second screen: a tablet."""
    context = browser.new_context(viewport={"width": 1024, "height": 768})
    yield context.new_page()
    context.close()


def waits(page: Page, text: str) -> Any:
    """The entries of the work list."""
    return page.locator(".work .item", has_text=text)


def euros(amount: int, language: str = "en") -> str:
    return money(amount, "EUR", language)


@pytest.mark.essential
def test_two_persons_pay_an_award_once_though_both_touch_twice(
    tmp_path: Path, ending: ExitStack, page: Page, other: Page
) -> None:
    floor = PayingFloor(tmp_path, ending)
    sign_in(page, floor.web.address, "m-lasa")
    expect(page.locator(".nothing")).to_be_visible()
    due = floor.hit()
    award = waits(page, "Award 1: to be paid")
    expect(award).to_contain_text(euros(due))
    award.locator("button.main[data-command='award.pay']").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("A second person must say the same.")
    for digit in "271828":
        dialog.locator(f".again [data-key='{digit}']").click()
    dialog.locator("[data-do=send]").dblclick()
    expect(dialog).to_have_count(0)
    assert accounts(floor.controller.ledger).get(("paid", "1")) is None
    expect(waits(page, "asks for a second person").locator("button")).to_have_count(0)

    sign_in(other, floor.web.address, "a-riera", "es")
    called = waits(other, "M. Lasa pide una segunda persona: pagar un premio")
    expect(called).to_contain_text(euros(due, "es"))
    expect(called).to_contain_text("escalera de color")
    called.locator("button.main").click()
    dialog = other.locator("dialog[open]")
    expect(dialog).to_contain_text(f"importe: {euros(due, 'es')} · escalera de color")
    for digit in "314159":
        dialog.locator(f".again [data-key='{digit}']").click()
    dialog.locator("[data-do=send]").dblclick()
    for screen, said in ((page, "Receipt 1"), (other, "Recibo 1")):
        expect(screen.locator(".notice.paid")).to_contain_text(said)
        expect(screen.locator(".notice.paid")).to_contain_text(
            "novamas carrousel receipt LEDGER --jackpot linked --number 1"
        )
        expect(screen.locator(".work .item")).to_have_count(0)
    assert floor.sent("award.pay") == 2
    assert accounts(floor.controller.ledger)["paid", "1"] == due
    page.locator(".notice.paid button").click()
    expect(page.locator(".notice")).to_have_count(0)


def test_the_receipt_is_printed_from_the_console(
    tmp_path: Path, ending: ExitStack, page: Page, other: Page
) -> None:
    printer = tmp_path / "printer"
    ledger = tmp_path / "carrousel" / "ledger.sqlite3"
    house = ["Casino Mayor, S.A.", "NIF A-12345678"]
    pit = {"ledger": str(ledger), "receipt_printer": str(printer)}
    floor = PayingFloor(tmp_path, ending, pit=pit, letterhead=house)
    sign_in(page, floor.web.address, "m-lasa")
    sign_in(other, floor.web.address, "a-riera", "es")
    due = floor.hit()
    order(page, waits(page, "Award 1: to be paid"), "award.pay", "m-lasa", ".main")
    order(other, waits(other, "pide una segunda persona"), "award.pay", "a-riera")
    paid = other.locator(".notice.paid")
    expect(paid).to_contain_text("Recibo 1")
    paid.locator("[data-do=print]").click()
    expect(paid.get_by_role("status")).to_have_text("Impreso.")
    assert house[1].encode() in printer.read_bytes()
    client = Client(floor.web.address)
    path = "/pit/receipt/linked/1"
    assert client.ask("GET", path)[0] == 401
    client.sign_in("m-lasa", PINS["m-lasa"])
    data = bytes(other.evaluate(FETCHED, path))
    assert said_in_pdf(data, format_amount(due, "EUR", "es"))
    assert said_in_pdf(data, house[0])
    for wrong in ("/pit/receipt/linked/2", "/pit/receipt/linked/0", "/pit/receipt/other/1"):
        assert client.ask("GET", wrong)[0] == 404


FETCHED = """path => fetch(path).then((answer) => answer.arrayBuffer())
    .then((bytes) => [...new Uint8Array(bytes)])"""


def said_in_pdf(data: bytes, wanted: str) -> bool:
    return "".join(wanted.split()) in "".join(pdf_text(data).split())


def order(page: Page, item: Any, command: str, who: str | None = None, style: str = "") -> None:
    """The two touches of an order that has nothing to fill in."""
    item.locator(f"button{style}[data-command='{command}']").click()
    confirm(page, who)
    expect(page.locator("dialog[open]")).to_have_count(0)


def amount(page: Page, item: Any, told: str, who: str) -> None:
    """A part of an award is asked to be paid."""
    item.locator("button.soft[data-command='award.pay']").click()
    for digit in told:
        page.locator(f"[data-field=amount] [data-key='{digit}']").click()
    confirm(page, who)


def test_a_part_is_paid_the_rest_is_disputed_upheld_and_paid(
    tmp_path: Path, ending: ExitStack, page: Page, other: Page
) -> None:
    floor = PayingFloor(tmp_path, ending)
    due = floor.hit()
    sign_in(page, floor.web.address, "m-lasa")
    sign_in(other, floor.web.address, "a-riera")
    amount(page, waits(page, "Award 1"), "100", "m-lasa")
    order(other, waits(other, "asks for a second person"), "award.pay", "a-riera")
    left = waits(page, "Still due")
    expect(left).to_contain_text(euros(due - 10_000))
    assert accounts(floor.controller.ledger)["paid", "1"] == 10_000

    order(page, left, "award.dispute")
    disputed = waits(page, "Award 1: disputed")
    expect(disputed).to_contain_text("for: gaming inspector, gaming director")
    expect(disputed.locator("button")).to_have_count(0)
    upheld = waits(other, "Award 1: disputed")
    expect(upheld.locator("[data-command='award.withdraw']")).to_have_count(0)  # a part was paid
    order(other, upheld, "award.uphold", "a-riera")
    sign_out(page)
    sign_in(page, floor.web.address, "t-vidal")
    order(page, waits(page, "A. Riera asks for a second person"), "award.uphold", "t-vidal")

    order(page, waits(page, "Still due"), "award.pay", "t-vidal", ".main")
    order(other, waits(other, "T. Vidal asks for a second person"), "award.pay", "a-riera")
    expect(other.locator(".notice.paid", has_text="Receipt 2")).to_be_visible()
    expect(other.locator(".work .item")).to_have_count(0)
    assert accounts(floor.controller.ledger)["paid", "1"] == due


def sign_out(page: Page) -> None:
    page.locator(".out").click()
    expect(page.locator("#who")).to_be_visible()


def test_the_controllers_refusal_is_shown_to_both(
    tmp_path: Path, ending: ExitStack, page: Page, other: Page
) -> None:
    floor = PayingFloor(tmp_path, ending)
    due = floor.hit()
    sign_in(page, floor.web.address, "m-lasa")
    sign_in(other, floor.web.address, "a-riera", "es")
    page.locator(".tile").click()
    amount(page, waits(page, "Award 1"), "9000", "m-lasa")
    expect(page.locator(".done .waiting")).to_be_visible()
    called = waits(other, "pide una segunda persona")
    expect(called).to_contain_text(euros(900_000, "es"))
    called.locator("button.main").click()
    confirm(other, "a-riera")
    told = f"del premio 1 faltan por pagar {euros(due, 'es')}, y no {euros(900_000, 'es')}"
    expect(other.locator("dialog .told")).to_contain_text(told)
    told = f"{euros(due)} is due of award 1, and not {euros(900_000)}"
    expect(page.locator(".done .refused")).to_contain_text(told)
    expect(waits(page, "asks for a second person")).to_have_count(0)
    assert accounts(floor.controller.ledger).get(("paid", "1")) is None
    assert floor.state()["awards"][0]["paid"] == 0


def test_orders_about_the_whole_jackpot_name_what_the_person_sees(
    tmp_path: Path, ending: ExitStack, page: Page, other: Page
) -> None:
    """The page sends the generation by itself, and the controller refuses an order without it."""
    floor = PayingFloor(tmp_path, ending)
    sign_in(page, floor.web.address, "a-riera")
    page.locator(".tile").click()
    order(page, page.locator(".panel"), "jackpot.suspend")
    floor.until("suspended", lambda state: state["why"] == "suspended")
    order(page, page.locator(".panel"), "jackpot.resume", "a-riera")
    floor.in_play(*TABLES)
    assert floor.state()["generation"] == 3
    # an order names the generation that the page has
    expect(page.locator(".panel [data-command='jackpot.suspend']")).to_be_visible()

    page.locator(".panel [data-command='meter.adjust']").click()
    assert page.locator("dialog [data-field=generation]").count() == 0
    page.locator("[data-field=amount] [data-key='5']").click()
    page.locator("[data-field=note] input, [data-field=note] textarea").fill("a coin was found")
    confirm(page, "a-riera")
    expect(page.locator("dialog[open]")).to_have_count(0)
    sign_in(other, floor.web.address, "t-vidal")
    order(other, waits(other, "asks for a second person"), "meter.adjust", "t-vidal")
    floor.until("it is put right", lambda state: state["generation"] == 4)
    assert accounts(floor.controller.ledger)["adjusted", ""] == -500


def test_a_first_signature_ends_with_the_award_as_it_was(
    tmp_path: Path, ending: ExitStack, page: Page, other: Page
) -> None:
    floor = PayingFloor(tmp_path, ending)
    floor.hit()
    sign_in(page, floor.web.address, "m-lasa")
    sign_in(other, floor.web.address, "a-riera")
    amount(page, waits(page, "Award 1"), "100", "m-lasa")
    expect(waits(other, "asks for a second person").locator("button.main")).to_be_visible()
    order(other, waits(other, "Award 1: to be paid"), "award.dispute")
    expect(waits(other, "asks for a second person")).to_have_count(0)
    page.locator(".tile").click()
    expect(page.locator(".done .refused")).to_contain_text("has changed or ended before a second")


def test_two_hits_at_once_are_put_in_order_and_axe_finds_nothing(
    tmp_path: Path, ending: ExitStack, page: Page, other: Page
) -> None:
    floor = PayingFloor(tmp_path, ending, nodes=2)
    pairs = [*zip(floor.dealers, TABLES, strict=True)]
    for dealer, table in pairs:
        dealer.coin(table)
    now = format_utc(time.time())
    for dealer, table in pairs:
        dealer.award(table, time=now)
    for dealer, table in pairs:
        dealer.staked(table, STAKE)
    state = floor.until("both", lambda state: state.get("unordered"))
    (group,) = state["unordered"]
    second = next(award for award in state["awards"] if award["hit"] == group[1])
    for language in LANGUAGES:
        sign_in(page, floor.web.address, "a-riera", language)
        page.locator(".tile").click()
        expect(page.locator(".work .item")).to_have_count(1)
        expect(page.locator(".panel .item")).to_have_count(2)
        assert faults(page, (1024, 768), (390, 844)) == []
        page.locator(".work button.main").first.click()
        assert faults(page, (1024, 768)) == []
        page.keyboard.press("Escape")
        page.locator(".panel [data-command='meter.adjust']").click()
        assert faults(page, (1024, 768)) == []
        page.keyboard.press("Escape")
        sign_out(page)
    sign_in(page, floor.web.address, "a-riera")
    sign_in(other, floor.web.address, "t-vidal")
    first = f"Hit {second['hit']} first: {second['table']}"
    waits(page, "Which hit was first?").locator("button", has_text=first).click()
    confirm(page, "a-riera")
    called = waits(other, "A. Riera asks for a second person: say which hit was first")
    order(other, called, "hits.order", "t-vidal")
    state = floor.until(
        "both are payable",
        lambda state: {award["status"] for award in state["awards"]} == {"payable"},
    )
    value = {award["award"]: award["value"] for award in state["awards"]}
    assert value[second["award"]] == max(value.values())
    expect(waits(other, "to be paid")).to_have_count(2)


@pytest.mark.usefixtures("programs")
def test_a_client_that_sends_what_it_likes_orders_nothing(
    tmp_path: Path, ending: ExitStack
) -> None:
    floor = PayingFloor(tmp_path, ending, director=("ruleta-9",))
    due = floor.hit()
    pay = {"award": 1, "amount": due, "paid": 0}
    foreign = Client(floor.web.address)
    assert foreign.sign_in("t-vidal", PINS["t-vidal"])[1]["ok"]
    assert foreign.page["tables"] == []
    number = foreign.number("0123456789")
    assert foreign.command(number, JACKPOT, "award.pay", fields=pay, pin=PINS["t-vidal"])[0] == 404
    head = Client(floor.web.address)
    assert head.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]

    def given(
        name: str, command: str, fields: dict[str, Any], pin: str = PINS["m-lasa"]
    ) -> tuple[int, Any]:
        return head.command(head.number(name), JACKPOT, command, fields=fields, pin=pin)

    assert given("not-of-this-role", "hits.order", {"hits": [1, 2]})[0] == 403
    assert given("not-of-a-jackpot", "round.void", {"reason": "ball_out"})[0] == 403
    for fields in ({**pay, "amount": 0}, {**pay, "by": "x"}, {**pay, "at": 1.0}, {"award": 1}):
        assert given("not-to-be-read", "award.pay", fields)[0] == 400
    assert given("the-wrong-pin-0", "award.pay", pay, "000000")[1]["denied"] == "wrong"
    assert floor.sent("award.pay") == 0
    for _ in range(3):
        assert given("asked-for-again", "award.pay", pay)[1]["how"] == "waiting"
    assert given("asked-for-again", "award.pay", {**pay, "amount": 1})[0] == 409
    assert floor.sent("award.pay") == 1
    assert accounts(floor.controller.ledger).get(("paid", "1")) is None
