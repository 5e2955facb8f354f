"""Ctrl-C on a terminal while a command works: status 130, and no word of its insides."""

import fcntl
import os
import signal
import subprocess
import sys
import termios

import pytest
from tiers import slow_after

from safe_sysid.api.simulated_recording import simulate_recording
from safe_sysid.cli import warm_up, watch
from safe_sysid.cli.main import main

CTRL_C = b'\x03'
MOTION = 60.0  # [s] recorded
COMMAND = """
import sys
import time
from safe_sysid.cli.__main__ import start

def tell(event, arguments):
    if event == 'open' and str(arguments[0]).endswith('.csv'):
        print('reading', file=sys.stderr, flush=True)
        time.sleep(60.0)  # a small table would be read before the key is pressed

sys.addaudithook(tell)
sys.exit(start())
"""


class Terminal:
    """A command whose terminal we are: Ctrl-C goes to all of its processes."""

    def __init__(self, *words):
        self._keyboard, screen = os.openpty()
        self._process = subprocess.Popen(
            [sys.executable, '-c', COMMAND, *words],
            stdin=screen,
            stdout=screen,
            stderr=screen,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(screen)
        self.shown = b''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._keyboard)

    def wait_for(self, word):
        """Read until a word is there."""
        while word not in self.shown:
            seen = self._read()
            assert seen, f'ended without {word}: {self.shown}'

    def press_ctrl_c(self):
        os.write(self._keyboard, CTRL_C)

    def status(self):
        """Of the command, once none of its processes has the terminal any more."""
        while self._read():
            pass
        return self._process.wait()

    def _read(self):
        try:
            seen = os.read(self._keyboard, 4096)
        except OSError:  # nobody is at the other end
            seen = b''
        self.shown += seen
        return seen


@pytest.mark.parametrize(
    ('words', 'at'),
    slow_after(
        1,
        [
            (('identify', 'TABLE', '--robot', 'two_link'), b'reading'),
            (('identify', 'RECORDING', '--robot', 'two_link'), b'reading'),
            (('calibrate', 'TABLE', '--robot', 'two_link'), b'reading'),
            (('excite', 'two_link', '--seconds', '300'), b'searching'),
            (('bench', 'model', '--quick'), b'regressors of'),
        ],
    ),
)
def test_a_command_that_works_ends_with_130_and_no_traceback(words, at, tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text('time,joint_1.position\n', encoding='utf-8')
    if 'RECORDING' in words:
        simulate_recording(path, 'two_link', motion=MOTION)
    words = (str(path) if word in ('TABLE', 'RECORDING') else word for word in words)
    with Terminal(*words) as terminal:
        terminal.wait_for(at)
        terminal.press_ctrl_c()
        assert terminal.status() == 130
    after = terminal.shown.partition(at)[2]
    assert b'Traceback' not in after and b'KeyboardInterrupt' not in after
    assert b'Error' not in after


@pytest.mark.parametrize(('is_shown', 'status'), [(True, 0), (False, 130)])
def test_ctrl_c_is_the_usual_end_of_watch_once_there_is_a_page(
    is_shown, status, monkeypatch, tmp_path
):
    def watch_bag(_, say):
        if is_shown:
            say('http://127.0.0.1:1')
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(warm_up, 'warmed_up', lambda: None)
    monkeypatch.setattr(watch, '_watch_bag', watch_bag)
    (tmp_path / 'metadata.yaml').touch()
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert main(['watch', str(tmp_path)]) == status
    finally:
        signal.signal(signal.SIGTERM, before)
