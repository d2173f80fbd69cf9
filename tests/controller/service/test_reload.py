"""A daemon that has placed no table yet re-reads its configuration."""

from __future__ import annotations

import asyncio
from pathlib import Path

from common.contract.node import ReloadHealth
from controller.configuration.file import load
from controller.service.reload import Reload

SITE = '[site]\nid = "palma"\nnode = "pit-1"\ndecree = "BAL05"\n'
BROKER = '[broker]\nurl = "mqtt://127.0.0.1:1883"\n[people]\nrequired = "accept-the-risk"\n'
KEY = f'[surveillance]\npublic_key = "{"9" * 64}"\nsecret_credential = "table.secret"\n'


def table(id: str, game: str, driver: str) -> str:  # noqa: A002
    device = f'[[table.device]]\nid = "d"\ndriver = "{driver}"\nlink = "tcp://{id}:4001"\n'
    return f'[[table]]\nid = "{id}"\ngame = "{game}"\n{device}'


def written(folder: Path, *more: str) -> Path:
    file = folder / "novamas.toml"
    file.write_text("".join((SITE, BROKER, KEY, *more)))
    return file


WHEEL = table("r1", "roulette-french", "cammegh-ss2")


async def reloaded(file: Path, text: str) -> tuple[Reload, ReloadHealth]:
    """After one reload with that text."""
    told: asyncio.Queue[ReloadHealth] = asyncio.Queue()
    reload = Reload(
        configuration=load(file), file=file, report=lambda each, _: told.put_nowait(each)
    )
    again = asyncio.Event()
    written(file.parent, text)
    running = asyncio.create_task(reload.run(again))
    again.set()
    try:
        return reload, await told.get()
    finally:
        running.cancel()
        await asyncio.wait([running])


def test_tables_of_the_last_file_are_taken_over(tmp_path: Path) -> None:
    file = written(tmp_path, WHEEL)
    other = table("r2", "roulette-french", "cammegh-ss2")
    reload, told = asyncio.run(reloaded(file, other + '[metrics]\nlisten = "127.0.0.1:9100"\n'))
    assert (told.added, told.removed, told.restart) == (("r2",), ("r1",), ("metrics.listen",))
    assert [each.id for each in reload.now.table] == ["r2"]
    assert reload.now.metrics.listen is None


def test_a_missing_key_is_reported_before_it_is_needed(tmp_path: Path) -> None:
    file = written(tmp_path, WHEEL)
    hidden = table("p1", "punto-banca", "angel-eye")
    reload, told = asyncio.run(reloaded(file, WHEEL + hidden))
    assert "add LoadCredential=table.secret:FILE to the unit" in str(told.trouble)
    assert [each.id for each in reload.now.table] == ["r1"]


def test_an_interrupted_reload_is_left_to_the_next_server(tmp_path: Path) -> None:
    """The lease was lost meanwhile: the daemon that serves re-reads the file."""
    file, told = written(tmp_path, WHEEL), []

    async def cut_short() -> bool:
        again = asyncio.Event()
        again.set()
        reload = Reload(
            configuration=load(file), file=file, report=lambda each, _: told.append(each)
        )
        running = asyncio.create_task(reload.run(again))
        await asyncio.sleep(0)
        assert not again.is_set(), "it is being read"
        running.cancel()
        await asyncio.wait([running])
        return again.is_set()

    assert asyncio.run(cut_short())
    assert told == []
