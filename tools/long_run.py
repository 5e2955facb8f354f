"""Let a loop of processes learn for long, and say whether any of them grows or becomes slow.

    python tools/long_run.py MINUTES [--settle MINUTES] [arguments of `safe-sysid run`]

Without further arguments it is the two-link arm on the built-in simulator, with a recording, that
goes on learning until it is ended; controller and bridge are one process, as two cores are short
at 1 kHz otherwise. Memory is what each process has of its own (RssAnon), looked
at once a second: pages of libraries come with the first use of each, however late, and are not
kept for it. What is compiled and filled in the first minutes (`--settle`, 5) does not count. Ends
with 1 when a process has had more than 5 MB more at any time since, or was started again, when
the median cycle of the controller, as the recorded diagnostics have it, has doubled, or when the
recording has not gone on in a second file.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
import signal
import statistics
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from typing import TypeVar

from safe_sysid.errors import SafeSysidError
from safe_sysid.measure.bag.messages import bag_messages

T = TypeVar('T')

ALLOWED = 5.0  # [MB]
SLOWER = 2.0  # times the median cycle of the first part
PARTS = 6  # of the time that counts, of which memory and cycles are printed
MEDIAN, LONGEST = 'cycle median [us]', 'cycle longest [us]'  # figures of the controller
FOR_EVER = (
    *('builtin_sim', '--robot', 'two_link', '--one-process'),
    *('-p', 'planner:mission.exciting:=1000000', '-p', 'supervisor:task_follows:=false'),
    *('-p', 'planner:mission.shrinking:=0.0', '-p', 'recorder:file_size:=32.0'),
)


def main() -> int:
    """Run, look, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
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
        sizes = [path.stat().st_size for path in Path(folder).rglob('*.mcap')]
        cycles = recorded_cycles(Path(folder) / 'bag')
    sys.stdout.write(
        f'recorded {sum(sizes) / 1e6:.1f} MB in {len(sizes)} files; status of the run '
        f'{loop.returncode}\n'
    )
    settled = 60.0 * asked.settle
    is_well = is_flat(memory, settled), is_as_quick(cycles, settled), len(sizes) > 1
    return int(not all(is_well) or loop.returncode != 128 + signal.SIGINT)


Memory = dict[tuple[str, int], list[tuple[float, float]]]  # of name and pid: [s], [MB]
Cycles = list[tuple[float, float, float]]  # [s], median and longest [us] of the last 1000


def recorded_cycles(bag: Path) -> Cycles:
    """Return what the controller said of its cycles; nothing where nobody has recorded that."""
    found = []
    try:
        for message in bag_messages(bag, ('/diagnostics',)):
            for status in message.data.status:
                said = {each.key: each.value for each in status.values}
                if MEDIAN in said:
                    told = float(said[MEDIAN]), float(said[LONGEST])
                    found.append((message.received * 1e-9, *told))
    except SafeSysidError as error:
        sys.stdout.write(f'{error}\n')
    return [(age - found[0][0], median, longest) for age, median, longest in found]


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


def parts(counted: Sequence[T]) -> list[Sequence[T]]:
    """Return what counts in parts of the same length, none of them empty."""
    ends = [len(counted) * i // PARTS for i in range(PARTS + 1)]
    return [counted[i:j] for i, j in pairwise(ends) if i < j]


def is_flat(memory: Memory, settle: float) -> bool:
    """Print the most that every process had in each part; whether none has ever grown too much."""
    has_grown = False
    for (name, pid), seen in sorted(memory.items()):
        counted = [(age, size) for age, size in seen if age >= settle]
        if len(counted) < 2:
            continue
        (begin, first), (end, _) = counted[0], counted[-1]
        most = [max(size for _, size in part) for part in parts(counted)]
        has_grown |= max(most) - first > ALLOWED or begin >= settle + 5.0
        course = ' '.join(f'{size:.1f}' for size in (first, *most))
        sys.stdout.write(
            f'{name:20} {pid:7} {begin / 60:.1f} to {end / 60:.1f} min: {course} MB, '
            f'at most {max(most) - first:+.1f}\n'
        )
    return not has_grown


def is_as_quick(cycles: Cycles, settle: float) -> bool:
    """Print medians and longest cycles of each part; whether the last median is as the first."""
    told = parts([each for each in cycles if each[0] >= settle])
    medians = [statistics.median(median for _, median, _ in part) for part in told]
    for part, median in zip(told, medians, strict=True):
        longest = max(longest for _, _, longest in part)
        sys.stdout.write(
            f'cycles from {part[0][0] / 60:.1f} min: median {median:.0f} us, longest '
            f'{longest:.0f} us\n'
        )
    return not medians or medians[-1] <= SLOWER * max(medians[0], 1.0)


if __name__ == '__main__':
    sys.exit(main())
