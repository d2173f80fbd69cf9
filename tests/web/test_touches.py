"""How many touches the decisions of a head of table take, counted by the page itself, on a touch
screen; and what a badge is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.chaos.report import tell
from tests.support.daemon.play import until_open, until_said
from tests.support.waiting import until
from tests.support.web.floor import Floor
from tests.support.web.pit import PINS, Client, read_badge, sign_in
from tests.web.carrousel import PayingFloor
from tests.web.test_accessible import faults
from tests.web.test_pit import BURN, COUP

COUNT_TOUCHES = """
addEventListener("pointerdown", () => {
  sessionStorage.setItem("touches", Number(sessionStorage.getItem("touches") ?? 0) + 1);
}, true);
addEventListener("focusin", ({ target }) => {
  if (target.matches("textarea, input:not([inputmode=none])")) {
    sessionStorage.setItem("keyboard", target.id || target.ariaLabel);
  }
}, true);
"""
"""Also notes a field whose focus would bring up the system's keyboard."""
Tablet = Callable[[], Page]


@pytest.fixture
def tablet(browser: Browser) -> Iterator[Tablet]:
    """Touch screens that count their touches."""
    with ExitStack() as ending:

        def make() -> Page:
            context = browser.new_context(viewport={"width": 1280, "height": 800}, has_touch=True)
            ending.callback(context.close)
            page = context.new_page()
            page.add_init_script(COUNT_TOUCHES)
            return page

        yield make


def touches(page: Page) -> int:
    """The touches since the last call."""
    taken = page.evaluate("Number(sessionStorage.getItem('touches') ?? 0)")
    page.evaluate("sessionStorage.setItem('touches', 0)")
    return int(taken)


def task(page: Page, name: str, most: int) -> None:
    """Print the touches of a task since the last one, which are at most so many, none of them on
    the system's keyboard.
    """
    taken = touches(page)
    tell(f"{name}: {taken} touches")
    assert taken <= most, name
    assert page.evaluate("sessionStorage.getItem('keyboard')") is None, name


def arrive(page: Page, floor: Floor, who: str) -> None:
    sign_in(page, floor.web.address, who)
    touches(page)


def pin_pad(page: Page, who: str) -> None:
    for digit in PINS[who]:
        page.locator(f"dialog .again [data-key='{digit}']").tap()
    page.locator("dialog [data-do=send]").tap()


def null_spin(floor: Floor, page: Page) -> Locator:
    """A ball that runs with the rotor; the answer that the console recommends."""
    floor.wheel.show(2, 1, "  ")
    until_said(floor.subscriber, "round.opened", 1)
    floor.wheel.show(3, 1, "  ", warning="2")
    return page.locator(".item button.main:not(.outlined)")


def start_correction(page: Page) -> None:
    page.locator(".tile").tap()
    page.locator(".panel [data-command='result.correct']").tap()
    page.locator("[data-field=number] [data-value='12']").tap()


def test_a_null_spin_is_one_touch_and_a_badge(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending, badge_signs=True)
    floor.open()
    page = tablet()
    arrive(page, floor, "m-lasa")
    recommended = null_spin(floor, page)
    expect(recommended).to_have_attribute("data-command", "round.void")
    recommended.tap()
    expect(page.locator("dialog legend")).to_contain_text("Badge or PIN")
    read_badge(page, "a-riera")
    expect(page.locator("dialog .told")).to_have_text("This is not your badge.")
    assert floor.sent() == ["session-open"]
    read_badge(page, "m-lasa")
    void = until_said(floor.subscriber, "round.void", 1)[-1]
    assert [each["id"] for each in void["signed_by"]] == ["m-lasa"]
    taken = touches(page)
    tell(f"a null spin: {taken} touch and a badge")
    assert taken <= 3


def test_a_correction_by_two_persons_is_four_touches_and_two_badges(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending, badge_signs=True)
    floor.open()
    page, other = tablet(), tablet()
    arrive(page, floor, "m-lasa")
    arrive(other, floor, "t-vidal")
    floor.spin("17", 1)
    until_said(floor.subscriber, "round.result", 1)
    start_correction(page)
    expect(page.locator("dialog .change .result")).to_have_text(["17", "12"])
    read_badge(page, "m-lasa")
    other.locator(".item.second button.main").tap()
    expect(other.locator("dialog .change .result")).to_have_text(["17", "12"])
    read_badge(other, "t-vidal")
    corrected = until_said(floor.subscriber, "result.corrected", 1)[-1]
    assert [each["id"] for each in corrected["signed_by"]] == ["m-lasa", "t-vidal"]
    taken = touches(page) + touches(other)
    tell(f"a correction by two persons: {taken} touches and two badges")
    assert taken <= 10


def test_by_default_a_badge_signs_nothing_and_the_pin_is_needed(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    page = tablet()
    arrive(page, floor, "m-lasa")
    recommended = null_spin(floor, page)
    recommended.tap()
    read_badge(page, "m-lasa")
    expect(page.locator("dialog .told")).to_contain_text("give the PIN")
    client = Client(floor.web.address)
    assert client.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]
    void = {"round": 1, "reason": "ball_with_rotor"}
    refused = client.command(
        client.number("badge-1"), "r1", "round.void", fields=void, badge="4711"
    )
    assert (refused[0], refused[1]["denied"]) == (200, "wrong")
    assert floor.sent() == ["session-open"]
    pin_pad(page, "m-lasa")
    until_said(floor.subscriber, "round.void", 1)
    tell(f"a null spin: {touches(page)} touches with the PIN")


def test_a_badge_read_at_the_sign_in_leaves_only_the_pin(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    page = tablet()
    page.goto(f"{floor.web.address}/pit?lang=es")
    page.locator("#who").wait_for()
    read_badge(page, "m-lasa")
    expect(page.locator("#who")).to_have_value("4711")
    for digit in PINS["m-lasa"]:
        page.locator(f".pad [data-key='{digit}']").tap()
    page.locator("button.main").tap()
    expect(page.locator(".bar")).to_be_visible()
    taken = touches(page)
    tell(f"signing in: {taken} touches and a badge")
    assert taken == len(PINS["m-lasa"]) + 1


def test_a_badge_number_and_a_pin_are_touched_on_the_page_s_own_pad(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    page = tablet()
    page.goto(f"{floor.web.address}/pit?lang=es")
    for field, digits in (("#who", "4711"), ("#pin", PINS["m-lasa"])):
        page.locator(field).tap()
        for digit in digits:
            page.locator(f".pad [data-key='{digit}']").tap()
    for field in ("#who", "#pin"):  # no system keyboard covers the page
        expect(page.locator(field)).to_have_attribute("inputmode", "none")
    page.locator("button.main").tap()
    expect(page.locator(".bar")).to_be_visible()


def test_people_are_picked_and_a_croupier_comes_on_in_five_touches(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    page = tablet()
    arrive(page, floor, "m-lasa")
    page.locator(".tile").tap()
    page.locator(".panel [data-command='staff.on']").tap()
    page.locator("[data-field=person] [data-value='A. Riera']").tap()
    page.locator("[data-field=duty] [data-value=croupier]").tap()
    page.locator("dialog [data-do=send]").tap()
    arrived = until_said(floor.subscriber, "staff.arrived", 1)[-1]
    assert (arrived["person"], arrived["duty"]) == ("A. Riera", "croupier")
    expect(page.locator(".tile")).to_contain_text("A. Riera")
    taken = touches(page)
    tell(f"a croupier comes on: {taken} touches")
    assert taken == 5


def give(page: Page, command: str, *choices: tuple[str, str]) -> None:
    """A command of the chosen table: its button, the values of its fields, and the confirmation."""
    page.locator(f".panel [data-command='{command}']").tap()
    for field, value in choices:
        page.locator(f"dialog [data-field={field}] [data-value='{value}']").tap()
    page.locator("dialog [data-do=send]").tap()
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_the_common_tasks_at_a_roulette_take_few_touches(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    """With the PIN, as it is by default. The bounds are the counts of the first console."""
    floor = Floor(tmp_path, ending)
    page = tablet()
    arrive(page, floor, "m-lasa")
    page.locator(".tile").tap()
    touches(page)

    page.locator(".panel [data-command='session.open']").tap()
    page.locator("dialog [data-field=minimum] [data-key='5']").tap()
    page.locator("dialog [data-do=send]").tap()
    until_said(floor.subscriber, "session.opened", 1)
    task(page, "opening a table with its minimum", 9)

    give(page, "staff.on", ("duty", "table_head"))
    until_said(floor.subscriber, "staff.arrived", 1)
    task(page, "coming on", 3)
    give(page, "staff.off", ("duty", "table_head"))
    until_said(floor.subscriber, "staff.left", 1)
    task(page, "going off", 3)

    page.locator(".panel [data-command='limit.announce']").tap()
    shown = page.locator("dialog [data-field=minimum]")
    shown.locator("[data-key=clear]").tap()
    for key in "10":
        shown.locator(f"[data-key='{key}']").tap()
    page.locator("dialog [data-do=send]").tap()
    expect(page.locator(".tile")).to_contain_text("new minimum €10.00 · rounds before: 3")
    task(page, "announcing a new minimum", 6)

    page.locator(".panel [data-command='session.close']").tap()
    pin_pad(page, "m-lasa")
    expect(page.locator("dialog .told")).to_contain_text("lid locked")  # nobody presets it
    page.locator("dialog [data-field=locked] [data-value=true]").tap()
    page.locator("dialog [data-do=send]").tap()
    closed = until_said(floor.subscriber, "session.closed", 1)[-1]
    assert closed["locked"] is True
    expect(page.locator(".notice.paid")).to_contain_text("Session 1 · rounds: 0")
    assert faults(page, (390, 844), (1280, 800)) == []
    taken = touches(page) - 1  # one confirmation was in vain
    tell(f"closing the session: {taken} touches, one of them for the lid")
    assert taken <= 9


def test_a_round_after_a_restart_and_an_alert_take_few_touches(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    floor.spin("17", 1)
    until_said(floor.subscriber, "round.result", 1)
    floor.wheel.show(2, 2, "17")
    until_said(floor.subscriber, "round.opened", 2)
    page = tablet()
    arrive(page, floor, "m-lasa")
    floor.daemon.kill()
    expect(page.locator(".tile")).to_contain_text("offline")
    floor.wheel.show(5, 2, "22")
    floor.daemon.start()
    page.locator(".item.unresolved button.main[data-command='round.confirm']").tap()
    pin_pad(page, "m-lasa")
    again = page.locator("dialog [data-do=send]:enabled")
    until("an answer", lambda: again.count() > 0 or page.locator("dialog[open]").count() == 0)
    if again.count() > 0:  # the daemon had only just started; the PIN was kept
        again.tap()
    until_said(floor.subscriber, "round.result", 2)
    task(page, "settling a round after a restart", 15)

    floor.wheel.unplug()
    page.locator(".item [data-command='alert.acknowledge']").first.tap()
    page.locator("dialog [data-do=send]").tap()
    until_said(floor.subscriber, "alert.acknowledged", 1)
    task(page, "acknowledging an alert", 2)


def test_a_misdealt_card_and_an_unread_one_take_few_touches(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending, cards=True)
    until_open(floor.subscriber, floor.daemon, "b1", "shoe")
    page = tablet()
    arrive(page, floor, "m-lasa")
    page.locator(".tile[data-table=b1]").tap()
    give(page, "session.open")
    until_said(floor.subscriber, "session.opened", 1)
    page.locator(".panel [data-command='shoe.start']").tap()
    page.locator("[data-field=shoe] input").fill("S1")
    page.locator("dialog [data-do=send]").tap()
    until_said(floor.subscriber, "shoe.started", 1)
    floor.deal(*BURN, *COUP)
    until_said(floor.subscriber, "card.dealt", len(COUP))
    page.evaluate("sessionStorage.removeItem('keyboard')")  # a new shoe has a number to type
    touches(page)

    floor.deal(COUP[-1])  # the scanner reads one card twice
    asked = page.locator(".item", has_text="card to be looked at")
    asked.locator("button.main[data-command='card.decide']").first.tap()
    page.locator("dialog [data-do=send]").tap()
    until_said(floor.subscriber, "card.removed", 1)
    task(page, "a card that was read twice", 2)

    floor.scanner.say(b"NOREAD\r\n")
    unread = page.locator(".item", has_text="card not read")
    unread.locator("button.soft[data-command='card.decide']").tap()
    page.locator("[data-field=action] [data-value=read]").tap()
    page.locator("[data-field=card] [data-rank=K]").tap()
    page.locator("[data-field=card] [data-suit=d]").tap()
    page.locator("dialog [data-do=send]").tap()
    until_said(floor.subscriber, "card.dealt", len(COUP) + 1)
    task(page, "a card that was not read", 5)


def test_a_jackpot_is_paid_by_two_persons_in_sixteen_touches(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = PayingFloor(tmp_path, ending)
    page, other = tablet(), tablet()
    for screen, who in ((page, "m-lasa"), (other, "a-riera")):
        sign_in(screen, floor.web.address, who)
        touches(screen)
    floor.hit()
    page.locator(".item button.main[data-command='award.pay']").tap()
    pin_pad(page, "m-lasa")
    other.locator(".item.second button.main").tap()
    pin_pad(other, "a-riera")
    expect(other.locator(".notice.paid")).to_contain_text("Receipt 1")
    task(page, "paying a jackpot, the first person", 8)
    task(other, "paying a jackpot, the second person", 8)
