"""A browser to look at pages with, and a page to look at."""

import pytest
from report.browser import Browser, chromium
from report.made_up_run import made_up_story


@pytest.fixture
def story(rng):
    """What a page says about a made-up run."""
    return made_up_story(rng)


@pytest.fixture(scope='module')
def browser():
    """One Chromium for the tests of a file."""
    if chromium() is None:
        pytest.skip('no Chromium on PATH to look at pages with; install chromium to run this')
    opened = Browser()
    yield opened
    opened.close()
