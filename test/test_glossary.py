"""Words of README, tutorial and --help that are not everybody's are explained."""

import argparse
from pathlib import Path
import re

import pytest

from safe_sysid.cli.main import COMMANDS, parser

ROOT = Path(__file__).parent.parent
GLOSSARY = (ROOT / 'docs' / 'glossary.md').read_text(encoding='utf-8')
ROWS = re.findall(r'^\| ([^|]+) \| ([^|]+) \|$', GLOSSARY, re.MULTILINE)[1:]
# Words of the field and of this project; one that a page says has to be explained.
JARGON = (
    'armature', 'base parameters', 'capsule', 'certified', 'condition number', 'coulomb',
    'excitation trajectory', 'first moment', 'flange', 'identifiable', 'lockstep', 'momentum',
    'nominal', 'passivity', 'payload', 'reachable set', 'receding', 'regressor', 'rotor inertia',
    'set-membership', 'set membership', 'smallest margin', 'undetermined', 'viscous', 'offset',
    'dual', 'bridge', 'supervisor', 'rosbag', 'effort', 'interval', 'assumption', 'refusal',
)  # fmt: skip


def helps():
    """Help of the program and of every command."""
    yield parser([]).format_help()
    for name in COMMANDS:
        choices = parser([name])._actions
        subcommands = next(a for a in choices if isinstance(a, argparse._SubParsersAction))
        yield subcommands.choices[name].format_help()


def test_the_words_of_the_front_pages_are_explained():
    pages = [(ROOT / name).read_text('utf-8') for name in ('README.md', 'docs/tutorial.md')]
    text = ' '.join(' '.join([*pages, *helps()]).lower().split())
    explained = ' '.join(word.lower() for word, _ in ROWS).replace('-', ' ')
    used = [word for word in JARGON if word in text]
    assert len(used) > 25
    assert [word for word in used if word.replace('-', ' ') not in explained] == []


@pytest.mark.parametrize('page', ['README.md', 'docs/tutorial.md'])
def test_the_front_pages_lead_to_the_glossary(page):
    assert 'glossary.md)' in (ROOT / page).read_text(encoding='utf-8')


def test_the_glossary_is_in_order():
    words = [word.lower() for word, _ in ROWS]
    assert words == sorted(words)
    assert all(len(meaning) > 20 for _, meaning in ROWS)
