"""A process that gives its answer and is ended by the middleware, as its users may see it."""

import os
import signal
import sys

from safe_sysid.ros.probes.answer import tell

if __name__ == '__main__':
    if sys.argv[1:] != ['silent', '1.0']:
        tell('{"success": true}')
    os.kill(os.getpid(), signal.SIGSEGV)
