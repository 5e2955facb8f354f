"""Ctrl-C at the moments in which Python drops exceptions."""

import signal
import threading

import pytest

from safe_sysid.interruption import Interruption


class Interrupted:
    """Ctrl-C comes while it is finalized."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.filterwarnings('ignore::pytest.PytestUnraisableExceptionWarning')
def test_ctrl_c_that_python_drops_is_raised_again():
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        interruption.raise_again()  # nobody has asked
        thing = Interrupted()
        del thing  # Python says "Exception ignored"
        with pytest.raises(KeyboardInterrupt):
            interruption.raise_again()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_waits_where_it_would_break_in_and_a_second_one_does_not_wait():
    with Interruption() as interruption:
        interruption.postpone()
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            interruption.raise_again()


def test_a_thread_leaves_handlers_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def carry_out():
        with Interruption() as interruption:
            interruption.raise_again()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=carry_out)
    thread.start()
    thread.join()
    assert seen == [before]
