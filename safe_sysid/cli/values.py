"""Values of command line arguments: text in, or the sentence that says what is wrong with it."""

import argparse
import math
from pathlib import Path

from safe_sysid.cli.inputs import new_file
from safe_sysid.export.formats import FORMATS
from safe_sysid.model.parameter_kinds import KINDS

LAST_PORT = 65535
SLOWEST, FASTEST = 1e-3, 1e5  # [Hz] of motions and samples


def count(text: str) -> int:
    """Return a whole number of 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of 1 or more")
    return int(text)


def port(text: str) -> int:
    """Return a port of this computer."""
    if not 1 <= (value := count(text)) <= LAST_PORT:
        raise argparse.ArgumentTypeError(f"'{text}' is no port; there are 1 to {LAST_PORT}")
    return value


def number(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number")
    return value


def positive(text: str) -> float:
    """Return a number above 0."""
    value = number(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not above 0")
    return value


def frequency(text: str) -> float:
    """Return a frequency that a motion may have [Hz]."""
    value = positive(text)
    if not SLOWEST <= value <= FASTEST:
        raise argparse.ArgumentTypeError(f"'{text}' is not from {SLOWEST:g} to {FASTEST:g} Hz")
    return value


def period(text: str) -> float:
    """Return the time between two samples [s]."""
    value = positive(text)
    if not 1.0 / FASTEST <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not from {1 / FASTEST:g} to 1 s")
    return value


def share(text: str) -> float:
    """Return a share of 0 or more and below 1: 0.05 or 5%."""
    value = number(text.removesuffix('%')) / (100.0 if text.endswith('%') else 1.0)
    if not 0.0 <= value < 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 1, such as 5%")
    return value


def numbers(text: str) -> tuple[float, ...]:
    """Numbers of 0 or more, separated by commas."""
    values = tuple(number(part) for part in text.split(','))
    if min(values) < 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' has a number below 0")
    return values


def shares(text: str) -> tuple[float, ...]:
    """Shares, separated by commas."""
    return tuple(share(part) for part in text.split(','))


def signs(text: str) -> tuple[float, ...]:
    """1 or -1, or one for every joint, separated by commas."""
    values = tuple(number(part) for part in text.split(','))
    if not set(values) <= {1.0, -1.0}:
        raise argparse.ArgumentTypeError(f"'{text}' is not made of 1 and -1")
    return values


def known_links(text: str) -> tuple[float, float]:
    """Return a share, and a length [m] after a comma: 5% or 5%,0.01."""
    first, _, second = text.partition(',')
    length = number(second) if second else 0.0
    if length < 0.0:
        raise argparse.ArgumentTypeError(f"'{second}' m is below 0")
    return share(first), length


def known_friction(text: str) -> float | str:
    """Return a share, or the word unknown."""
    return text if text == 'unknown' else share(text)


def known_kind(text: str) -> tuple[str, tuple[float, ...], tuple[float, ...] | None]:
    """Kind of parameter, shares and absolute widths: coulomb=0.5, or armature=5%+0,5%+0.01."""
    kind, mark, entries = text.partition('=')
    if kind not in KINDS or not mark:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not KIND=WIDTH with one of {', '.join(KINDS)}"
        )
    ratio, absolute = zip(*(_width(entry) for entry in entries.split(',')), strict=True)
    if None not in absolute:
        return kind, ratio, absolute
    if set(absolute) != {None}:
        raise argparse.ArgumentTypeError(
            f"'{text}': some entries are a share alone, others have an absolute width; write 5%+0 "
            'where a joint has none'
        )
    return kind, ratio, None


def _width(text: str) -> tuple[float, float | None]:
    """Share and absolute width of 5%, 0.5 or 5%+0.5; of 5% no absolute one."""
    first, mark, second = text.partition('%')
    if mark and not (second == '' or second.startswith('+')):
        raise argparse.ArgumentTypeError(f"'{text}' is no width, such as 5%, 0.5 or 5%+0.5")
    ratio, absolute = (number(first) / 100.0, second[1:]) if mark else (0.0, first)
    value = None if mark and not second else number(absolute)
    if ratio < 0.0 or (value or 0.0) < 0.0:
        raise argparse.ArgumentTypeError(f"'{text}' is below 0")
    return ratio, value


COLUMNS = ('time', 'position', 'velocity', 'effort')


def column(text: str) -> tuple[str, str]:
    """Quantity and the name, or pattern of names, of its columns."""
    what, mark, pattern = text.partition('=')
    if what not in COLUMNS or not mark or not pattern:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not WHAT=PATTERN with one of {', '.join(COLUMNS)}"
        )
    return what, pattern


def export(text: str) -> tuple[str, Path]:
    """Format and file."""
    form, mark, path = text.partition('=')
    if form not in FORMATS or not mark or not path:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not FORMAT=FILE with one of {', '.join(FORMATS)}"
        )
    return form, new_file(path)
