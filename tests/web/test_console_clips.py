"""The clip of a round beside the question about it, and who may see it."""

from __future__ import annotations

import subprocess
from contextlib import ExitStack, closing
from pathlib import Path

from playwright.sync_api import Page, expect

from common.contract.times import parse_utc
from subscribers.surveillance.open_archive import open_archive
from tests.support.daemon.play import until_said
from tests.support.web.floor import Floor
from tests.support.web.pit import PINS, Client, sign_in
from tests.web.archived import archive_records
from tests.web.test_accessible import faults

PLAYING = "(video) => video.readyState >= 2 && video.loop && video.currentTime > 0"


def film(folder: Path, begin: int) -> None:
    """A recording of the camera of ``r1`` that begins at this second."""
    path = folder / "r1" / f"{begin}.mkv"
    path.parent.mkdir(parents=True)
    source = ("-f", "lavfi", "-i", "testsrc=size=64x48:rate=2:duration=300", "-c:v", "libx264")
    subprocess.run(["ffmpeg", "-v", "error", *source, "-pix_fmt", "yuv420p", str(path)], check=True)


def test_the_clip_plays_beside_the_question_and_nowhere_else(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    floor.wheel.show(2, 1, "  ")
    [opened] = until_said(floor.subscriber, "round.opened", 1)
    floor.wheel.show(3, 1, "  ", warning="2")
    until_said(floor.subscriber, "irregularity", 1)
    archive, films = tmp_path / "archive.sqlite", tmp_path / "films"
    with closing(open_archive(str(archive))) as opened_archive:
        opened_archive.store(archive_records(floor.subscriber.messages))
    floor.web.kill()
    floor.serve(archive=str(archive), video={"folder": str(films), "pattern": "{camera}/%s.mkv"})
    floor.until_up("r1")
    sign_in(page, floor.web.address, "m-lasa")
    button = page.locator(".item [data-do=clip]")
    button.click()
    status = page.locator(".item .clip [role=status]")
    expect(status).to_have_text(
        "There is no video of this round yet. Try again, or ask surveillance."
    )
    assert str(films) not in page.content()
    film(films, int(parse_utc(opened["time"])) - 10)
    button.click()
    video = page.locator(".item .clip video")
    expect(video).to_have_attribute("aria-label", "Video of round 1")
    page.wait_for_function(f"() => ({PLAYING})(document.querySelector('video'))")
    assert faults(page, (390, 844), (1280, 800)) == []

    address = "/pit/clip?table=r1&session={}&round={}"
    stranger, head = Client(floor.web.address), Client(floor.web.address)
    assert stranger.ask("GET", address.format(1, 1))[0] == 401
    croupier = Client(floor.web.address)
    assert croupier.sign_in("a-riera", PINS["a-riera"])[1]["ok"]
    assert croupier.ask("GET", address.format(1, 1))[0] == 404  # may not decide about it
    assert head.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]
    for session, number, status_code in ((1, 2, 404), (2, 1, 404), (1, "x", 400)):
        assert head.ask("GET", address.format(session, number))[0] == status_code
    assert head.ask("GET", "/pit/clip?table=nowhere&session=1&round=1")[0] == 404
