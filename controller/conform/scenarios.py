"""What happens to a program that is tried: one scenario for each requirement, each with its table.

A round that is played at the end of a scenario is the barrier: a program that reports it has
handled everything that was published before.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from controller.conform.scene import Scene, result_of
from controller.conform.simulated_table import TableStep
from controller.conform.stage import StoppedError

RECONNECT_FACTOR = 4
"""Patience with a program that reconnects, which may wait between two attempts."""


async def _results(scene: Scene) -> None:
    try:
        await scene.begin()
    except StoppedError as error:
        scene.fail(str(error))
        return
    for number in (0, 17, 36):
        step = scene.table.round(number)
        await scene.stage.publish(scene.table, step)
        await scene.expect(step)


async def _once(scene: Scene) -> None:
    await scene.begin()
    step = scene.table.round(scene.draw())
    for event in [*step.events, *step.events]:
        await scene.stage.event(scene.table, event)
        await scene.stage.event(scene.table, event)
    await scene.stage.publish(scene.table, step.without_events())
    await scene.barrier()
    key = result_of(step)["session"], result_of(step)["round"]
    said = [line for line in scene.stage.rounds(scene.table) if (line.session, line.round) == key]
    if len(said) != 1:
        scene.fail(f"round {key[1]} came four times, and was reported {len(said)} times")


async def _order(scene: Scene) -> None:
    await scene.begin()
    first, second = (scene.table.round(scene.draw()) for _ in range(2))
    both = first + second
    # The later result must come first: the answer to a recall may overtake any other event.
    for event in reversed(both.events):
        await scene.stage.event(scene.table, event)
    await scene.stage.publish(scene.table, both.without_events())
    for step in (first, second):
        await scene.expect(step)
    scene.expect_order(first, second)


async def _lose(scene: Scene, count: int = 1) -> list[TableStep]:
    """Lose the events of rounds, then play one."""
    lost = [scene.table.round(scene.draw()) for _ in range(count)]
    for step in lost:
        await scene.stage.publish(scene.table, step.without_events())
    return [*lost, await scene.play()]


async def _gap(scene: Scene) -> None:
    await scene.begin()
    steps = await _lose(scene)
    for step in steps:
        await scene.expect(step)
    scene.expect_order(*steps)


async def _recall(scene: Scene) -> None:
    await scene.begin()
    lost, later = await _lose(scene)
    stage, name = scene.stage, scene.table.name
    await scene.expect(later)
    first = lost.events[0]
    asked = [order for table, order in stage.recalls if table == name]
    if not asked:
        scene.fail("it missed events, and sent no valid recall")
    elif not any(each.boot == first["boot"] and each.first <= first["seq"] for each in asked):
        scene.fail(f"no recall asks for {first['seq']} of boot {first['boot']}")


async def _pages(scene: Scene) -> None:
    await scene.begin()
    scene.stage.page_events = 2
    steps = await _lose(scene, 3)
    for step in steps:
        await scene.expect(step)
    scene.expect_order(*steps)


async def _expect_gap(scene: Scene, why: str) -> None:
    if not await scene.stage.until(lambda: scene.stage.gaps(scene.table) > 0):
        scene.fail(f"{why}, and no gap was reported")


async def _refused(scene: Scene) -> None:
    await scene.begin()
    scene.stage.refuse_recalls = True
    await _lose(scene)
    await _expect_gap(scene, "a recall was refused")


async def _lost(scene: Scene) -> None:
    await scene.begin()
    step = scene.table.round(scene.draw())
    scene.table.forgotten |= {(event["boot"], event["seq"]) for event in step.events}
    await scene.stage.publish(scene.table, step.without_events())
    later = await scene.play()
    await _expect_gap(scene, "the daemon no longer has events")
    await scene.expect(later)


async def _historical(scene: Scene) -> None:
    await scene.begin()
    step = scene.table.round(scene.draw())
    for event in step.events:
        await scene.stage.event(scene.table, {**event, "historical": True})
    await scene.stage.publish(scene.table, step.without_events())
    live = await scene.play()
    for each, expected in ((step, False), (live, True)):
        line = await scene.expect(each)
        if line is not None and line.live is not expected:
            scene.fail(f"round {line.round} was reported with live={line.live}, not {expected}")


async def _restart(scene: Scene) -> None:
    await scene.begin()
    await _new_boot(scene)
    for _ in range(2):
        await scene.barrier()


async def _new_boot(scene: Scene) -> None:
    step = scene.table.restarted(f"{scene.stage.random.getrandbits(32):08x}")
    await scene.stage.status(scene.table, online=True)
    await scene.stage.publish(scene.table, step)


async def _tables(scene: Scene) -> None:
    other = scene.stage.table(f"{scene.name}-b", boot=scene.table.boot)
    await scene.begin()
    try:
        await scene.begin(other)
    except StoppedError as error:
        scene.fail(f"beside another table of this boot, {error}")
        return
    for _ in range(2):
        for table in (scene.table, other):
            await scene.expect(await scene.play(table), table=table)


async def _round(scene: Scene) -> None:
    await scene.begin()
    await scene.stage.publish(scene.table, scene.table.closed())
    await scene.stage.publish(scene.table, scene.table.command("session.open"))
    await scene.barrier()


async def _correct(scene: Scene) -> None:
    """Correct the last round."""
    step = scene.table.command("result.correct", round=scene.table.rounds, number=scene.draw())
    await scene.stage.publish(scene.table, step)
    await scene.expect(step, "corrected")


async def _corrected(scene: Scene) -> None:
    await scene.begin()
    await scene.barrier()
    await _correct(scene)


async def _boots(scene: Scene) -> None:
    await scene.begin()
    await scene.barrier()
    await _new_boot(scene)
    await _correct(scene)


async def _void(scene: Scene) -> None:
    await scene.begin()
    step = scene.table.bets() + scene.table.command("round.void", reason="ball_out")
    await scene.stage.publish(scene.table, step)
    await scene.expect(step, "void")
    await scene.barrier()
    scene.forbid(step, "void", "final", "corrected", why="a void round was reported with a result")


async def _unresolved(scene: Scene) -> None:
    await scene.begin()
    step = scene.table.bets() + scene.table.number(scene.draw(), late=True)
    await scene.stage.publish(scene.table, step)
    if not scene.display:
        await scene.expect(step, "unresolved")
    await scene.barrier()
    scene.forbid(
        step, "unresolved", "final", "corrected", why="a candidate was reported as a result"
    )


async def _confirmed(scene: Scene) -> None:
    await scene.begin()
    number = scene.draw()
    step = scene.table.bets() + scene.table.number(number, late=True)
    await scene.stage.publish(scene.table, step)
    step = scene.table.command("round.confirm", number=number)
    await scene.stage.publish(scene.table, step)
    await scene.expect(step)


async def _fields(scene: Scene) -> None:
    await scene.begin()
    more = {"polish": {"by": ["nobody"], "left": None}}
    step = scene.table.round(scene.draw())
    bodies = {
        leaf: msgspec.json.encode(msgspec.json.decode(body) | more) if body else body
        for leaf, body in step.retained.items()
    }
    await scene.stage.publish(
        scene.table, TableStep([{**event, **more} for event in step.events], bodies)
    )
    await scene.expect(step)
    await scene.barrier()


async def _types(scene: Scene) -> None:
    await scene.begin()
    await scene.stage.publish(scene.table, scene.table.of_unknown_type())
    await scene.barrier()
    asked = any(name == scene.table.name for name, _ in scene.stage.recalls)
    if asked or scene.stage.gaps(scene.table):
        scene.fail("an event of an unknown type was taken for a missing one")


async def _clock(scene: Scene) -> None:
    await scene.begin()
    await scene.stage.publish(scene.table, scene.table.clock_back(7200.0))
    steps = [await scene.barrier() for _ in range(2)]
    scene.expect_order(*steps)


async def _stale(scene: Scene) -> None:
    await scene.begin()
    for change, back, why in (
        (scene.table.stale, scene.table.up, "the wheel is silent"),
        (
            lambda: scene.table.fault("tried"),
            lambda: scene.table.fault(None),
            "the table is in fault",
        ),
    ):
        await scene.stage.publish(scene.table, change())
        await scene.expect_current(current=False, why=why)
        await scene.stage.publish(scene.table, back())
        await scene.expect_current(current=True, why=f"{why} no more")


async def _offline(scene: Scene) -> None:
    await scene.begin()
    await scene.stage.status(scene.table, online=False)
    await scene.expect_current(current=False, why="the daemon is offline")
    await scene.stage.status(scene.table, online=True)
    await scene.expect_current(current=True, why="the daemon is online")


async def _boot(scene: Scene) -> None:
    await scene.begin()
    boot = f"{scene.stage.random.getrandbits(32):08x}"
    await scene.stage.status(scene.table, online=True, boot=boot)
    await scene.expect_current(current=False, why="the state is of an earlier run of the daemon")
    await scene.stage.publish(scene.table, scene.table.restarted(boot))
    await scene.expect_current(current=True, why="the state is of this run")


async def _retained(scene: Scene) -> None:
    """The table was published before the program started (:func:`prepare`)."""
    await scene.expect_current(
        current=True, why="the retained topics show a table that is open", patience=2.0
    )
    if scene.display:
        await scene.expect(TableStep([scene.table.journal[-1]], {}))


async def prepare(scene: Scene) -> None:
    """Publish a table that has played."""
    await scene.stage.status(scene.table, online=True)
    await scene.stage.publish(scene.table, scene.table.opened())
    await scene.stage.publish(scene.table, scene.table.round(scene.draw()))


async def _empty(scene: Scene) -> None:
    other = scene.stage.table(f"{scene.name}-b")
    await scene.begin()
    await scene.begin(other)
    await scene.stage.message(other, "result", b"null", retain=True)
    for leaf in ("alert/wheel-link", "history", "result", "info", "state"):
        await scene.stage.message(other, leaf, b"", retain=True)
    await scene.barrier()


async def _sealed(scene: Scene) -> None:
    await scene.begin()
    box = base64.b64encode(scene.stage.random.randbytes(80)).decode()
    body = msgspec.json.encode({"sealed": box, "reading": 1})
    await scene.stage.message(scene.table, "sealed", body, retain=False)
    await scene.barrier()
    for wanted in scene.stage.door.filters:
        if "sealed" in wanted.split("/"):
            scene.fail(f"it subscribes to {wanted}, which is for surveillance only")


async def _reconnect(scene: Scene) -> None:
    """Cut the program off, play a round, and let it in again."""
    await scene.begin()
    own = scene.requirement
    await scene.stage.door.cut()
    scene.requirement = "SUB-CUT"
    await scene.expect_current(current=False, why="the connection to the broker is lost")
    step = await scene.play()
    scene.stage.door.reopen()
    scene.requirement = own
    await scene.expect_current(current=True, why="the broker is back", patience=RECONNECT_FACTOR)
    scene.requirement = own if scene.display else "SUB-MISSED"
    await scene.expect(step, patience=RECONNECT_FACTOR)  # it may not have shown the cut
    scene.requirement = own
    await scene.barrier()


Play = Callable[[Scene], Awaitable[None]]
SCENARIOS: Mapping[str, Play] = {
    "SUB-RETAINED": _retained,
    "SUB-RESULT": _results,
    "SUB-ONCE": _once,
    "SUB-ORDER": _order,
    "SUB-GAP": _gap,
    "SUB-RECALL": _recall,
    "SUB-PAGES": _pages,
    "SUB-REFUSED": _refused,
    "SUB-LOST": _lost,
    "SUB-HISTORICAL": _historical,
    "SUB-RESTART": _restart,
    "SUB-TABLES": _tables,
    "SUB-ROUND": _round,
    "SUB-CORRECTED": _corrected,
    "SUB-BOOTS": _boots,
    "SUB-VOID": _void,
    "SUB-UNRESOLVED": _unresolved,
    "SUB-CONFIRMED": _confirmed,
    "SUB-FIELDS": _fields,
    "SUB-TYPES": _types,
    "SUB-CLOCK": _clock,
    "SUB-STALE": _stale,
    "SUB-OFFLINE": _offline,
    "SUB-BOOT": _boot,
    "SUB-EMPTY": _empty,
    "SUB-SEALED": _sealed,
    "SUB-RECONNECT": _reconnect,
}
"""What each requirement is tried with, in this order. The others are noticed in any scenario."""
DECIDED_BY: Mapping[str, str] = {"SUB-CUT": "SUB-RECONNECT", "SUB-MISSED": "SUB-RECONNECT"}
"""Requirements that the scenario of another one decides."""
ANYWHERE = ("SUB-START", "SUB-LINES", "SUB-WRITE", "SUB-NOT-RETAINED")
"""Requirements that any scenario can violate."""
