"""The croupier's keypad in a real browser, with the real daemon: nothing is sent twice, and nothing
is lost without a message.
"""

from __future__ import annotations

import signal
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from common.contract.messages.messages import LANGUAGES, text
from tests.support.daemon.play import until_said
from tests.support.people.signing import give
from tests.support.programs import with_constants
from tests.support.web.floor import Floor
from tests.support.web.going import go
from tests.support.web.pit import BADGES, PINS, Client, touch_pin
from tests.web.raw import read_all, stream

CROUPIER = "a-riera"
BY_HAND = 'settings.phases = "person"\n'
"""The croupier opens and closes the bets, the wheel reports only the number."""
SLOW = 5.0
"""Seconds for which a meaning must have been shown before it is acted on, where a key must be
accepted sooner on a starved machine too.
"""
SLOW_KEYS = f"""
import runpy
{with_constants("subscribers.keypad.pad", MIN_STABLE_SECONDS=SLOW)}
runpy.run_module("subscribers.web", run_name="__main__")
"""
PRESS_ENTER_TWICE = """() => {
  window.told = [];
  const look = () => {
    const said = document.querySelector(".told").textContent.trim();
    if (!said || said === told.at(-1)) return;
    told.push(said);
    if (said === "sent") document.querySelector("[data-key=enter]").click();
  };
  new MutationObserver(look).observe(document.getElementById("main"), {
    childList: true, subtree: true, characterData: true,
  });
}"""
"""Presses Enter a second time as soon as the first one is sent, and records the keypad's messages.
It waits a few seconds for an answer; a browser that gets no processor may come later.
"""


def unlock(page: Page, floor: Floor, language: str = "es") -> None:
    """The croupier signs in at the keypad, and unlocks it."""
    go(page, f"{floor.web.address}/keypad/r1?lang={language}")
    page.locator("#who").fill(BADGES[CROUPIER])
    touch_pin(page, PINS[CROUPIER])
    page.locator("button.main").click()
    expect(page.locator(".keys.locked")).to_be_visible()
    page.locator("[data-key=lock]").click()
    expect(page.locator(".keys.locked")).to_have_count(0)


def bets_open(floor: Floor) -> None:
    floor.open()
    answer = give(floor.subscriber, CROUPIER, "bets.open", "croupier")
    assert answer["ok"], answer
    until_said(floor.subscriber, "round.opened", 1)


@pytest.mark.essential
def test_a_key_sends_no_more_bets_and_its_answer_is_seen(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending, settings=BY_HAND)
    unlock(page, floor)
    enter = page.locator("[data-key=enter]")
    expect(enter).to_be_disabled()
    bets_open(floor)
    expect(enter).to_contain_text("cerrar las apuestas")
    page.wait_for_timeout(800)  # a meaning takes effect after a while
    page.keyboard.press("Enter")
    expect(page.locator(".told")).to_have_text("hecho")
    expect(enter).to_be_disabled()  # so the keys are those of the state that followed
    [closed] = until_said(floor.subscriber, "bets.closed", 1)
    assert closed["by"] == "A. Riera"
    assert [each["id"] for each in closed["signed_by"]] == [CROUPIER]
    divide = page.locator("[data-key=divide]")
    expect(divide).to_contain_text("incorporarse a la mesa")
    page.wait_for_timeout(800)
    divide.click()
    [arrived] = until_said(floor.subscriber, "staff.arrived", 1)
    assert (arrived["person"], arrived["duty"], arrived["by"]) == (
        "A. Riera",
        "croupier",
        "A. Riera",
    )
    expect(divide).to_contain_text("dejar la mesa")
    page.locator("[data-key=lock]").click()
    expect(page.locator(".keys.locked")).to_be_visible()
    page.keyboard.press("Enter")
    page.locator("[data-key=lock]").click()  # it comes after the key
    expect(page.locator(".keys:not(.locked)")).to_be_visible()
    assert floor.sent() == ["session-open", "bets-open", "bets-close", "staff-on"]


def test_a_key_without_an_answer_is_reported_and_never_sent_again(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending, settings=BY_HAND)
    unlock(page, floor, "en")
    bets_open(floor)
    expect(page.locator("[data-key=enter]")).to_contain_text("close the bets")
    page.wait_for_timeout(800)
    floor.daemon.signal(signal.SIGSTOP)
    page.evaluate(PRESS_ENTER_TWICE)
    page.locator("[data-key=enter]").click()
    expect(page.locator(".told.unknown")).to_contain_text("no answer")
    said = page.evaluate("window.told")
    assert said[:2] == ["sent", "wait for the answer"]
    assert [each for each in said[2:] if "no answer" in each] == said[2:]
    page.locator("[data-key=enter]").click()
    expect(page.locator(".told.unknown")).to_contain_text("look at the table")
    floor.daemon.signal(signal.SIGCONT)
    until_said(floor.subscriber, "bets.closed", 1)
    expect(page.locator(".told.done")).to_have_text("done")
    assert floor.sent() == ["session-open", "bets-open", "bets-close"]


def test_a_message_meanwhile_removes_no_key_from_under_the_finger(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending, settings=BY_HAND)
    unlock(page, floor)
    page.locator("[data-key='7']").hover()
    page.mouse.down()
    bets_open(floor)
    expect(page.locator("[data-key=enter]")).to_contain_text("cerrar las apuestas")
    page.mouse.up()
    expect(page.locator(".typed")).to_have_text("7")


def test_an_unreachable_server_accepts_no_key(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending, settings=BY_HAND)
    unlock(page, floor, "en")
    bets_open(floor)
    expect(page.locator("[data-key=enter]")).to_contain_text("close the bets")
    floor.web.signal(signal.SIGSTOP)
    expect(page.locator(".told.unknown")).to_have_text("no display server")
    expect(page.locator("[data-key=enter]")).to_be_disabled()
    page.keyboard.press("Enter")
    floor.web.signal(signal.SIGCONT)
    expect(page.locator("[data-key=enter]")).to_be_enabled()
    assert floor.sent() == ["session-open", "bets-open"]


@pytest.mark.usefixtures("programs")
def test_only_its_holder_presses_and_a_key_that_comes_twice_is_one(
    tmp_path: Path, ending: ExitStack
) -> None:
    floor = Floor(tmp_path, ending, settings=BY_HAND)
    floor.web.kill()
    floor.serve(program=("-c", SLOW_KEYS))
    floor.until_up("r1")
    bets_open(floor)
    with closing(stream(floor.web, "?table=r1")) as shown:  # so the keys have their meaning
        assert read_all([shown], lambda told: b'"phase":{"id":"bets_open"' in told) == 0
    croupier, head = Client(floor.web.address), Client(floor.web.address)
    for client, who in ((croupier, CROUPIER), (head, "m-lasa")):
        assert client.sign_in(who, PINS[who])[0] == 200

    def ask(client: Client, path: str, body: object, token: str | None = None) -> int:
        token = client.page["token"] if token is None else token
        return client.ask("POST", f"/keypad/r1/{path}", body, {"X-Novamas-Token": token})[0]

    key = {"id": "one-press", "key": "enter"}
    assert ask(croupier, "press", key) == 409  # it is locked
    assert ask(croupier, "unlock", {}) == 200
    assert ask(head, "press", key) == 409
    assert ask(croupier, "press", key, "elsewhere") == 403
    assert ask(croupier, "press", {"id": "one-press", "key": "explode"}) == 400
    assert ask(croupier, "press", {"id": "x", "key": "enter"}) == 400
    assert Client(floor.web.address).ask("POST", "/keypad/r1/press", key)[0] == 401
    status, page, _ = croupier.ask("GET", "/keypad/nowhere")
    assert status == 404
    assert any(text("trouble.no_table", language) in page for language in LANGUAGES)
    for _ in range(20):
        assert ask(croupier, "press", key) == 200
    # all twenty are one key, and its meaning had not been shown long enough
    assert "bets-close" not in floor.sent()
    time.sleep(SLOW)
    for _ in range(20):
        assert ask(croupier, "press", {"id": "two-press", "key": "enter"}) == 200
    until_said(floor.subscriber, "bets.closed", 1)
    assert floor.sent().count("bets-close") == 1
    assert ask(head, "unlock", {}) == 200
    assert ask(croupier, "press", {"id": "other-press", "key": "enter"}) == 409


@pytest.mark.essential
def test_the_croupier_types_what_the_wheel_shows_and_is_named_as_a_witness(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    keypad = "[table.witness_keypad]\nanswers_within = 0.5\n"
    floor = Floor(tmp_path, ending, settings=BY_HAND + keypad)
    unlock(page, floor)
    plus = page.locator("[data-key=plus]")
    bets_open(floor)
    assert give(floor.subscriber, CROUPIER, "bets.close", "croupier")["ok"]
    expect(plus).to_contain_text("lo he visto: jugada 1")
    page.wait_for_timeout(800)  # a meaning takes effect after a while
    plus.click()
    expect(page.locator(".told")).to_have_text("primero el número que ha visto")
    for width, height in ((320, 480), (480, 800), (1024, 600)):
        page.set_viewport_size({"width": width, "height": height})
        box = plus.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
        assert box["x"] + box["width"] <= width
        page.screenshot(path=tmp_path / f"keypad-{width}.png")
    for key in ("1", "7", "plus"):
        page.locator(f"[data-key='{key}']").click()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
    [report] = until_said(floor.subscriber, "witness.reported", 1)
    assert (report["device"], report["round"], report["number"]) == ("keypad", 1, 17)
    assert (report["by"], report["role"]) == ("A. Riera", "croupier")
    assert [each["id"] for each in report["signed_by"]] == [CROUPIER]
    expect(page.locator(".told")).to_have_text("hecho")
