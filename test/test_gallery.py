"""Pictures of the documentation are made by commands, of the examples as they are today."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LARGEST = {'docs/demo.webp': 3_000_000}  # bytes; of others
OTHERS = 250_000


@pytest.fixture(scope='module')
def gallery():
    """The command that makes the pictures of examples."""
    spec = importlib.util.spec_from_file_location('gallery', ROOT / 'tools' / 'gallery.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_of_examples_are_of_their_text_of_today(gallery):
    made = json.loads(gallery.MADE_OF.read_text(encoding='utf-8'))
    assert set(made) == set(gallery.FILES)
    old = [name for name in gallery.FILES if made[name] != gallery.text_of(name)]
    assert not old, f'changed since their picture was made: {old}; python tools/gallery.py'


def test_every_picture_has_a_command_and_every_command_its_picture(gallery):
    there = {path.stem for path in gallery.GALLERY.iterdir() if path.suffix != '.json'}
    assert there == set(gallery.FILES)
    for example, file in gallery.FILES.items():
        text = (ROOT / 'examples' / f'{example}.py').read_text(encoding='utf-8')
        assert file.partition('/')[0] in text


def test_pictures_are_small():
    pictures = [*ROOT.glob('docs/*.webp'), *ROOT.glob('docs/gallery/*.*')]
    assert len(pictures) > 3
    for path in pictures:
        most = LARGEST.get(path.relative_to(ROOT).as_posix(), OTHERS)
        assert path.stat().st_size <= most, path
