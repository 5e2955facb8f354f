"""`safe-sysid completion`: a script for the shell, made from what the command line declares."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
import shlex

from safe_sysid.report.cli import commands, declaration
from safe_sysid.share import robot_names

PROGRAM = 'safe-sysid'


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid completion`."""
    print({'bash': _bash, 'zsh': _zsh, 'fish': _fish}[options.shell](), end='')
    return 0


@dataclass(frozen=True)
class Completed:
    """What can follow a subcommand."""

    name: str
    purpose: str
    options: tuple[str, ...]
    words: tuple[str, ...]  # choices of what is no option
    values: dict[str, tuple[str, ...]]  # option: its values, where they can be listed


def completed() -> Iterator[Completed]:
    """Every subcommand."""
    for name in commands():
        declared = declaration(name)
        parser = argparse.ArgumentParser(prog=PROGRAM)
        declared.add_arguments(parser)
        actions = parser._actions
        yield Completed(
            name,
            declared.HELP,
            tuple(option for a in actions for option in a.option_strings if option != '-h'),
            tuple(
                str(c) for a in actions if not a.option_strings and a.choices for c in a.choices
            ),
            {
                option: values
                for a in actions
                for option in a.option_strings
                if (values := _values(a))
            },
        )


def _values(action: argparse.Action) -> tuple[str, ...]:
    if action.choices:
        return tuple(str(choice) for choice in action.choices)
    return tuple(robot_names()) if '--robot' in action.option_strings else ()


def _bash() -> str:
    cases = []
    for each in completed():
        lines = [
            f'        {each.name}/{option}) words={shlex.quote(" ".join(values))} ;;'
            for option, values in each.values.items()
        ]
        every = shlex.quote(' '.join((*each.words, *each.options)))
        cases += [*lines, f'        {each.name}/*) words={every} ;;']
    names = shlex.quote(' '.join(commands()))
    return (
        '_safe_sysid() {\n'
        '    local words now=${COMP_WORDS[COMP_CWORD]}\n'
        f'    if [ "$COMP_CWORD" = 1 ]; then words={names}; else\n'
        '        case "${COMP_WORDS[1]}/${COMP_WORDS[COMP_CWORD-1]}" in\n'
        + '\n'.join(cases)
        + '\n        esac\n    fi\n'
        '    COMPREPLY=($(compgen -W "$words" -- "$now"))\n'
        '}\n'
        f'complete -o bashdefault -o default -F _safe_sysid {PROGRAM}\n'
    )


def _zsh() -> str:
    """zsh reads scripts of bash."""
    load = (f'autoload -U +X {name} && {name}' for name in ('compinit', 'bashcompinit'))
    return '\n'.join([*load, _bash()])


def _fish() -> str:
    lines = []
    for each in completed():
        head = f'complete -c {PROGRAM} -n '
        purpose = shlex.quote(each.purpose)
        lines.append(f'{head}__fish_use_subcommand -f -a {each.name} -d {purpose}')
        inside = f"{head}'__fish_seen_subcommand_from {each.name}'"
        for option in each.options:
            values = each.values.get(option)
            kind, word = ('-l', option[2:]) if option.startswith('--') else ('-s', option[1:])
            tail = f' -x -a {shlex.quote(" ".join(values))}' if values else ''
            lines.append(f'{inside} {kind} {word}{tail}')
        if each.words:
            lines.append(f'{inside} -a {shlex.quote(" ".join(each.words))}')
    return '\n'.join(lines) + '\n'
