"""Tries a program from outside: starts it beside a simulated floor, and judges what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack

from controller.configuration.settings import BrokerConfig
from controller.conform.candidate import CandidateError
from controller.conform.report import TrialFinding
from controller.conform.requirements import to_try
from controller.conform.scenarios import ANYWHERE, DECIDED_BY, SCENARIOS, prepare
from controller.conform.scene import Scene
from controller.conform.stage import PAGE_EVENTS, ProgramEndedError, Stage, StoppedError
from controller.mqtt.embedded_broker import broker_to_publish_to

EMBEDDED = "embedded://127.0.0.1:0"
MAX_SECONDS = 115.0
"""Seconds after which what is left is not tried."""
MAX_STARTS = 5
"""Starts of a program that ends in the middle of scenarios."""


async def try_program(
    command: Sequence[str],
    *,
    broker: str | None,
    display: bool,
    seed: int,
    patience: float,
    only: Collection[str] = (),
) -> list[TrialFinding]:
    """Try each requirement, or ``only`` some. ``broker``: the URL of one that accepts every client
    without a password; None: one is started. Raises :class:`StoppedError` if the broker cannot be
    used.
    """
    wanted = [each for each in to_try("subscriber", display=display) if not only or each in only]
    async with AsyncExitStack() as stack:
        config = await stack.enter_async_context(
            broker_to_publish_to(BrokerConfig(url=broker or EMBEDDED))
        )
        stage = Stage(config, command, seed, patience)
        stack.push_async_callback(stage.close)
        await stage.open()
        untried: dict[str, str] = {}
        needed = [
            each
            for each in SCENARIOS
            if each in wanted or any(DECIDED_BY.get(other) == each for other in wanted)
        ]
        try:
            async with asyncio.timeout(MAX_SECONDS):
                await _play_all(stage, needed, untried, display=display)
        except TimeoutError:
            pass
        tried = stage.tried
        begun = stage.starts > 0 and bool(tried)
        findings = []
        for requirement in wanted:
            decisive = DECIDED_BY.get(requirement, requirement)
            if problems := stage.problems.get(requirement):
                findings.append(TrialFinding.of(requirement, problems))
            elif requirement in ANYWHERE and begun:
                findings.append(TrialFinding.of(requirement, []))
            elif decisive in untried or decisive not in tried:
                reason = untried.get(decisive, "the trial had ended before")
                findings.append(TrialFinding.not_tried(requirement, reason))
            else:
                findings.append(TrialFinding.of(requirement, []))
        return findings


async def _play_all(
    stage: Stage, needed: Sequence[str], untried: dict[str, str], *, display: bool
) -> None:
    """Play the scenarios. ``untried``: receives those that could not be played, and why."""
    scenes = {each: Scene(stage, each, display=display) for each in needed}
    if "SUB-RETAINED" in scenes:
        await prepare(scenes["SUB-RETAINED"])
    if not await _start(stage):
        return
    for requirement, scene in scenes.items():
        stage.refuse_recalls, stage.page_events = False, PAGE_EVENTS
        try:
            await SCENARIOS[requirement](scene)
            stage.tried.append(requirement)
            if requirement == "SUB-RESULT" and stage.problems.get(requirement):
                for other in scenes.keys() - stage.tried:
                    untried[other] = "needs SUB-RESULT"
                return
        except StoppedError as error:
            untried[requirement] = str(error)
        except ProgramEndedError as error:
            stage.fail(requirement, str(error))
            stage.tried.append(requirement)
            await stage.clear()
            if stage.starts == MAX_STARTS or not await _start(stage):
                return


async def _start(stage: Stage) -> bool:
    try:
        await stage.start_program()
    except (ProgramEndedError, CandidateError) as error:
        stage.fail("SUB-START", str(error))
        return False
    except StoppedError:
        return False
    return True
