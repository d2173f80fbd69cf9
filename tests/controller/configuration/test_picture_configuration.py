"""Video systems in the configuration: every mistake about them, with its text."""

from __future__ import annotations

import typing
from pathlib import Path

from controller.configuration import pictures, settings
from controller.configuration.file import load
from subscribers.video import bookmarks, names
from subscribers.video.settings import BookmarkSettings, VideoSettings
from tests.controller.configuration.test_configuration import mistakes
from tests.support.for_each import for_each

HEAD = """
[site]
id = "casino"
[broker]
url = "embedded://127.0.0.1:1883"
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"
simulated = true
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""
SOUND = (
    HEAD
    + """
[[bookmark]]
id = "milestone"
kind = "milestone"
address = "tcp://vms.example:1235"
echo = "statistics"
[[bookmark]]
id = "frigate"
kind = "frigate"
address = "http://frigate.example:5000"
tables = ["r1"]
cameras = { r1 = "wheel-1" }
secret_file = "frigate.token"
[[bookmark]]
id = "recorder"
kind = "pos"
address = "tcp://nvr.example:10000"
begin = "BEGIN"
end = "END"
encoding = "ascii"
[[bookmark]]
id = "hook"
kind = "webhook"
address = "https://hooks.example/novamas"
secret_credential = "hook"
events = ["round.void"]
[video]
folder = "pictures"
pattern = "%Y-%m-%d/%H/{camera}/%M.%S.mp4"
"""
)


def test_sound_ones_are_read_with_their_files_beside_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(SOUND)
    read = load(file)
    assert [each.kind for each in read.bookmark] == ["milestone", "frigate", "pos", "webhook"]
    assert read.bookmark[1].secret_file == str(tmp_path / "frigate.token")
    assert read.video.folder == str(tmp_path / "pictures")


@for_each(
    ("was", "given", "message"),
    [
        ('id = "frigate"', 'id = "milestone"', "another bookmark has the id milestone too"),
        ("tcp://vms.example:1235", "http://vms.example:1235", "needs an address as tcp"),
        ("tcp://vms.example:1235", "tcp://vms.example", "write tcp://host:port"),
        ("tcp://vms.example:1235", "tcp://vms.example:123456", "is not an address"),
        ("tcp://vms.example:1235", "udp://vms.example:1234", "UDP has no replies"),
        ("http://frigate", "http://u:p@frigate", "contains a user name or password"),
        ('begin = "BEGIN"', 'before = 3.0\nbegin = "BEGIN"', "applies only to frigate"),
        ('"ascii"', '"klingon"', "'klingon' is no encoding"),
        ('begin = "BEGIN"', r'begin = "BEGIN\n"', "has a control character"),
        ("r1 = ", "r2 = ", "r2 is not among `tables`"),
        ('secret_credential = "hook"', 'secret_credential = "h"\nsecret_file = "f"', "remove one"),
        ('events = ["round.void"]', 'events = ["card.dealt"]', "events"),
        ('events = ["round.void"]', "events = []", "at least one type of event"),
        ("%M.%S", "%M.%Q", "%Q is not allowed"),
        ("%M.%S", "%M", "%S is missing"),
        ("{camera}/", "", "{camera} is missing"),
        ("%Y-%m-%d/%H", "../%Y-%m-%d/%H", "must lie below `folder`"),
    ],
)
def test_each_mistake_is_reported(tmp_path: Path, was: str, given: str, message: str) -> None:
    assert was in SOUND
    found = mistakes(tmp_path, SOUND.replace(was, given, 1))
    assert any(message in each for each in found), found


def test_the_configuration_has_the_fields_and_defaults_of_its_users() -> None:
    assert typing.get_args(settings.BookmarkedEvent) == bookmarks.BOOKMARK_EVENT_TYPES
    usual = settings.BookmarkConfig(id="b", kind="pos", address="tcp://h:1")
    sent = BookmarkSettings(id="b", kind="pos", address="tcp://h:1", site="casino")
    shared = set(settings.BookmarkConfig.__struct_fields__) & set(
        BookmarkSettings.__struct_fields__
    )
    assert shared == set(BookmarkSettings.__struct_fields__)
    for name in shared - {"site", "language"}:
        assert getattr(usual, name) == getattr(sent, name), name
    shown = VideoSettings(folder="x")
    for name in set(VideoSettings.__struct_fields__) - {"folder"}:
        assert getattr(settings.VideoConfig(), name) == getattr(shown, name), name
    assert set(pictures.ALLOWED_DIRECTIVES) == set(names.FIELD_PATTERNS)
    assert tuple(pictures.REQUIRED_DIRECTIVES) == names.DATE_FIELDS
