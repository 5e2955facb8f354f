"""What one input may take: of the processor, of real time where something blocks, of memory."""

import contextlib
import resource
import signal

LONGEST = 10.0  # [s] of CPU
PATIENCE = 120.0  # [s] of real time: a busy machine is slow, what blocks does so for ever
MOST_MEMORY = 2**21  # [kB] that it may add to what the tests hold
TIMERS = ((signal.SIGPROF, signal.ITIMER_PROF), (signal.SIGALRM, signal.ITIMER_REAL))


class _TooLong(BaseException):
    """Nothing that reads a file catches this."""


def _give_up(number, _):
    raise _TooLong(f'{signal.Signals(number).name}: it takes too long')


@contextlib.contextmanager
def soon(processor=LONGEST, real=PATIENCE, memory=MOST_MEMORY):
    """End what takes longer, and refuse what takes more memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    usual = [signal.signal(number, _give_up) for number, _ in TIMERS]
    for (_, timer), seconds in zip(TIMERS, (processor, real), strict=True):
        signal.setitimer(timer, seconds)
    try:
        yield
    except _TooLong as error:
        said = f'{error}: {processor} s of the processor, {real} s in all are allowed'
        raise AssertionError(said) from None
    finally:
        for (number, timer), handler in zip(TIMERS, usual, strict=True):
            signal.setitimer(timer, 0.0)
            signal.signal(number, handler)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < memory
