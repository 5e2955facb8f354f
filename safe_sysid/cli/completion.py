"""`safe-sysid completion`: a script for the shell, made from what the command line declares."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
import shlex

from safe_sysid.share import robot_names

HELP = 'print the script for completion of commands and options: bash, zsh or fish'
PROGRAM = 'safe-sysid'
SHELLS = ('bash', 'zsh', 'fish')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument('shell', choices=SHELLS, help='the shell that reads the script')
    parser.epilog = (
        'In bash and zsh: eval "$(safe-sysid completion bash)", in a start-up file to keep it. '
        'In fish: safe-sysid completion fish | source'
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid completion`."""
    script = {'bash': _bash, 'zsh': _zsh, 'fish': _fish}[options.shell]
    print(script(list(completed(options.command_line))), end='')
    return 0


@dataclass(frozen=True)
class Completed:
    """What can follow a subcommand."""

    name: str
    purpose: str
    options: tuple[str, ...]
    words: tuple[str, ...]  # choices of what is no option
    values: dict[str, tuple[str, ...]]  # option: its values, where they can be listed


def completed(command_line: argparse.ArgumentParser) -> Iterator[Completed]:
    """Every subcommand."""
    (choices,) = (a for a in command_line._actions if isinstance(a, argparse._SubParsersAction))
    current = {id(parser): name for name, parser in reversed(choices.choices.items())}
    for name, parser in choices.choices.items():
        if current[id(parser)] != name:
            continue  # a former name
        actions = parser._actions
        yield Completed(
            name,
            parser.description,
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


def _bash(commands: list[Completed]) -> str:
    cases = []
    for each in commands:
        lines = [
            f'        {each.name}/{option}) words={shlex.quote(" ".join(values))} ;;'
            for option, values in each.values.items()
        ]
        every = shlex.quote(' '.join((*each.words, *each.options)))
        cases += [*lines, f'        {each.name}/*) words={every} ;;']
    names = shlex.quote(' '.join(each.name for each in commands))
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


def _zsh(commands: list[Completed]) -> str:
    """zsh reads scripts of bash."""
    load = (f'autoload -U +X {name} && {name}' for name in ('compinit', 'bashcompinit'))
    return '\n'.join([*load, _bash(commands)])


def _fish(commands: list[Completed]) -> str:
    lines = []
    for each in commands:
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
