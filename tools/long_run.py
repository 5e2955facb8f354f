"""Let a loop of processes learn for long, and say whether any of them grows.

    python tools/long_run.py MINUTES [--settle MINUTES] [arguments of `safe-sysid run`]

Without further arguments it is the two-link arm on the built-in simulator, with a recording, that
goes on learning until it is ended; controller and bridge are one process, as two cores are short
at 1 kHz otherwise. Memory is what each process has of its own (RssAnon), looked
at once a second: pages of libraries come with the first use of each, however late, and are not
kept for it. What is compiled and filled in the first minutes (`--settle`, 5) does not count. Ends
with 1 when a process has grown by more than 5 MB since, or was started again.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

ALLOWED = 5.0  # [MB]
PARTS = 6  # of the time that counts, at whose ends memory is printed
FOR_EVER = (
    *('builtin_sim', '--robot', 'two_link', '--one-process'),
    *('-p', 'planner:mission.exciting:=1000000', '-p', 'supervisor:task_follows:=false'),
    *('-p', 'planner:mission.shrinking:=0.0'),
)


def main() -> int:
    """Run, look, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('minutes', type=float, help='how long to run [min]')
    parser.add_argument('--settle', type=float, default=5.0, help='before it counts [min]')
    asked, arguments = parser.parse_known_args()
    with TemporaryDirectory(prefix='long_run_') as folder:
        run = [*(arguments or FOR_EVER), '--record', f'{folder}/bag']
        with subprocess.Popen([sys.executable, '-m', 'safe_sysid.cli', 'run', *run]) as loop:
            try:
                memory = looked_at(loop, 60.0 * asked.minutes)
            finally:
                loop.send_signal(signal.SIGINT)
        recorded = sum(path.stat().st_size for path in Path(folder).rglob('*.mcap'))
    sys.stdout.write(f'recorded {recorded / 1e6:.1f} MB; status of the run {loop.returncode}\n')
    was_ended = loop.returncode == 128 + signal.SIGINT
    return int(not grown(memory, 60.0 * asked.settle) or not was_ended)


Memory = dict[tuple[str, int], list[tuple[float, float]]]  # of name and pid: [s], [MB]


def looked_at(loop: subprocess.Popen[bytes], seconds: float) -> Memory:
    """Memory of all processes of a run, while it goes on."""
    memory: Memory = defaultdict(list)
    begin = time.monotonic()
    while loop.poll() is None and (age := time.monotonic() - begin) < seconds:
        for pid in descendants(loop.pid):
            name, resident = process(pid)
            if name:
                memory[name, pid].append((age, resident))
        time.sleep(1.0)
    return memory


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    try:
        started = Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii').split()
    except OSError:
        return []
    return [each for child in map(int, started) for each in (child, *descendants(child))]


def process(pid: int) -> tuple[str, float]:
    """Return the module that a process runs, and its own memory [MB]; empty: it is gone."""
    try:
        words = Path(f'/proc/{pid}/cmdline').read_text(encoding='utf-8').split('\0')
        status = Path(f'/proc/{pid}/status').read_text(encoding='utf-8')
        own = int(status.partition('RssAnon:')[2].split()[0])  # [kB]
    except (OSError, IndexError):
        return '', 0.0
    module = next((word for word in words if word.startswith('safe_sysid.')), '')
    return module.rpartition('.')[2], own * 1024 / 1e6


def grown(memory: Memory, settle: float) -> bool:
    """Print what every process came to; whether none has grown too much."""
    is_flat = True
    for (name, pid), seen in sorted(memory.items()):
        counted = [(age, size) for age, size in seen if age >= settle]
        if len(counted) < 2:
            continue
        (begin, first), (end, last) = counted[0], counted[-1]
        moments = [counted[len(counted) * i // PARTS][1] for i in range(1, PARTS)]
        course = ' '.join(f'{size:.1f}' for size in (first, *moments, last))
        is_flat &= last - first <= ALLOWED and begin < settle + 5.0
        sys.stdout.write(
            f'{name:20} {pid:7} {begin / 60:.1f} to {end / 60:.1f} min: {course} MB, '
            f'most {max(size for _, size in counted):.1f}: {last - first:+.1f}\n'
        )
    return is_flat


if __name__ == '__main__':
    sys.exit(main())
