"""A real Chromium without a window, driven through two pipes (null-separated JSON)."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
PATIENCE = 60.0  # [s] for one answer


def chromium():
    """Path of an installed browser, none if there is none."""
    return next((path for name in CHROMIUM if (path := shutil.which(name))), None)


class Browser:
    """One page at a time."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        ours, theirs = os.pipe(), os.pipe()  # to the browser, from it
        self._write, self._read = ours[1], theirs[0]

        # Copies, because the pipes may be 3 and 4 themselves, which dup2 leaves as they are.
        copies = [os.dup(fd) for fd in (ours[0], theirs[1])]

        def place_pipes():
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        self._process = subprocess.Popen(
            [
                chromium(), '--headless=new', '--no-sandbox',
                '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
                '--disable-dev-shm-usage', '--no-first-run', '--disable-extensions',
                '--disable-background-networking', '--disable-component-update',
                '--remote-debugging-pipe', f'--user-data-dir={self._folder.name}', 'about:blank',
            ],
            preexec_fn=place_pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for fd in (ours[0], theirs[1], *copies):
            os.close(fd)
        self._number, self._buffer = 0, b''
        self.events = []
        targets = self._call('Target.getTargets')['targetInfos']
        page = next(target for target in targets if target['type'] == 'page')
        attached = self._call('Target.attachToTarget', targetId=page['targetId'], flatten=True)
        self._session = attached['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(f'{domain}.enable')

    def close(self):
        """End the browser and everything it started."""
        try:
            self._call('Browser.close')
            self._process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()

    def open(self, path, width=1280, height=900, dark=False):
        """Load a file and wait until it is drawn."""
        self.open_address(path.resolve().as_uri(), width, height, dark)

    def open_address(self, address, width=1280, height=900, dark=False):
        """Load what is there and wait until it is drawn."""
        self.events.clear()
        self.call(
            'Emulation.setDeviceMetricsOverride',
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}
        self.call('Emulation.setEmulatedMedia', features=[scheme])
        self.call('Page.navigate', url=address)
        end = time.monotonic() + PATIENCE
        while not any(event['method'] == 'Page.loadEventFired' for event in self.events):
            if time.monotonic() > end:
                raise TimeoutError(f'{address} was not loaded')
            self.value('1')

    def value(self, expression):
        """Value of a JavaScript expression."""
        answer = self.call(
            'Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True
        )
        if 'exceptionDetails' in answer:
            raise AssertionError(answer['exceptionDetails'])
        return answer['result'].get('value')

    def complaints(self):
        """Everything the console says that is no ordinary message, and every uncaught error."""
        found = []
        for event in self.events:
            method, what = event['method'], event.get('params', {})
            if method == 'Runtime.exceptionThrown':
                found.append(what['exceptionDetails'])
            elif method == 'Log.entryAdded' and what['entry']['level'] in ('error', 'warning'):
                found.append(what['entry'])
            elif method == 'Runtime.consoleAPICalled' and what['type'] in ('error', 'warning'):
                found.append(what)
        return found

    def requests(self):
        """Addresses that the page asked for."""
        sent = (e for e in self.events if e['method'] == 'Network.requestWillBeSent')
        return [event['params']['request']['url'] for event in sent]

    def screenshot(self, path, whole=True):
        """The page as PNG."""
        answer = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer['data']))

    def call(self, method, **parameters):
        """Result of a command about the page."""
        return self._call(method, self._session, **parameters)

    def _call(self, method, session=None, **parameters):
        self._number += 1
        message = {'id': self._number, 'method': method, 'params': parameters}
        if session:
            message['sessionId'] = session
        os.write(self._write, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._receive()
            if answer.get('id') == self._number:
                if 'error' in answer:
                    raise AssertionError(f'{method}: {answer["error"]}')
                return answer['result']
            if 'method' in answer:
                self.events.append(answer)

    def _receive(self):
        while b'\0' not in self._buffer:
            if not select.select([self._read], [], [], PATIENCE)[0]:
                raise TimeoutError('the browser does not answer')
            part = os.read(self._read, 1 << 20)
            if not part:
                raise OSError('the browser has ended')
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b'\0')
        return json.loads(message)
