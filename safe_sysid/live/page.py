"""Pages that `safe-sysid watch` serves: of a loop while it runs, and of a recorded one."""

from __future__ import annotations

from dataclasses import replace
import json
from pathlib import Path

from safe_sysid.audit.loop_of_bag import RecordedLoop, loop_of_bag
from safe_sysid.reach.certificate import ASSUMPTIONS, EXACT
from safe_sysid.report.arm_scene import loop_scene
from safe_sysid.report.html_page import DRAWING_SCENE, PARTS, Page, document
from safe_sysid.report.loop_page import LoopStory, loop_page
from safe_sysid.report.page_scene import PageScene

TITLE = 'The loop, as it runs'


def live_page(where: str) -> str:
    """Return the page of a loop that is heard `where`."""
    data = {'title': TITLE, 'waiting': f'Waiting for a loop {where}.'}
    return document(TITLE, json.dumps(data), (*DRAWING_SCENE, *PARTS, 'live.js'))


def recorded_page(bag: Path) -> Page:
    """Return the page of a loop in a bag, its plans certified again."""
    loop = loop_of_bag(bag)
    settings = loop.settings
    return loop_page(
        LoopStory(
            f'{settings.model.name}: a recorded run',
            f'Read from {bag}; its plans are certified again from what is in it.',
            loop.record,
            _scene(loop),
            rests_on=ASSUMPTIONS if settings.sampling is not None else (*ASSUMPTIONS, EXACT),
            settings={'bag': str(bag), 'arm': settings.model.name},
        )
    )


def _scene(loop: RecordedLoop) -> PageScene:
    settings = loop.settings
    scene = loop_scene(settings.model, loop.record, settings.obstacle_set, loop.plans, None)
    last = float(loop.record.time[-1])
    return replace(scene, marks=tuple(each for each in loop.modes if 0.0 <= each[0] <= last))
