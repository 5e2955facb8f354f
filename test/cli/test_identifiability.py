"""`safe-sysid identifiability`: table, sentences, JSON and page of arms as users have them."""

from html.parser import HTMLParser
import json
import re
from xml.etree import ElementTree

from identifiability import reference_mechanisms as reference
import numpy as np
import pytest
from report.browser import Browser, chromium

from safe_sysid.bench import identifiability as bench_identifiability
from safe_sysid.bench.identifiability import chain
from safe_sysid.bench.settings import BenchSettings
from safe_sysid.cli.main import COMMANDS, main
from safe_sysid.identifiability.links import written
from safe_sysid.identifiability.parameter_classes import ParameterClass
from safe_sysid.identifiability.parameter_nullspace import (
    exact_nullspace,
    floating_nullspace,
)
from safe_sysid.model.facts import facts_path

DH = [
    ('0 0 0', 0),
    ('0 0 0', -1),
    ('0.2 0 0.4', 0),
    ('0.153 0.839 0', -1),
    ('0 0 0', 1),
    ('0 0 0', -1),
]


@pytest.fixture
def puma(tmp_path):
    """The PUMA 560 as files have it: right angles with four decimals."""
    links = ''.join(f'<link name="link{k}"/>' for k in range(7))
    joints = ''.join(
        f'<joint name="j{k + 1}" type="continuous"><parent link="link{k}"/>'
        f'<child link="link{k + 1}"/><origin xyz="{xyz}" rpy="{turn * 1.5708:.4f} 0 0"/>'
        '<axis xyz="0 0 1"/><limit effort="1" velocity="1"/></joint>'
        for k, (xyz, turn) in enumerate(DH)
    )
    path = tmp_path / 'puma560.urdf'
    path.write_text(f'<robot name="puma560">{links}{joints}</robot>')
    return path


def run(capsys, *arguments):
    assert main(['identifiability', *map(str, arguments)]) == 0
    return capsys.readouterr().out


def as_json(capsys, *arguments):
    return json.loads(run(capsys, *arguments, '--json'))


@pytest.mark.parametrize(
    ('arguments', 'count'),
    [
        ((), 36),
        (('--rotors', '5'), 40),
        (('--rotors', '1'), 36),
        (('--armature',), 40),
        (('--no-gravity',), 34),
        (('--no-gravity', '--rotors', '5'), 38),
        (('--static',), 10),
        (('--floating',), 10 + 6 * 7),
        (('--tolerance', '1e-7'), 36),
        (('--gravity', '1', '0', '0'), 38),
        (('--known', 'link6'), 29),
    ],
    ids=lambda value: ' '.join(value) if isinstance(value, tuple) else str(value),
)
def test_counts_of_the_puma(puma, capsys, arguments, count):
    assert as_json(capsys, puma, *arguments)['base_parameters'] == count


def test_classes_are_those_of_the_published_table(puma, capsys):
    answer = as_json(capsys, puma)
    symbols = {kind.value: kind.symbol for kind in ParameterClass}
    rows = reference.PUMA_TABLE.split('\n')[1:-2]
    order = ['m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Iyy', 'Izz', 'Iyz', 'Ixz', 'Ixy']
    for label, row in zip(order, rows, strict=True):
        place = answer['labels'].index(label)
        found = [symbols[classes[place]] for classes in answer['classes'].values()]
        assert ' '.join(found) == row
    assert list(answer['classes']) == [f'link{k}' for k in range(1, 7)]
    assert sum(answer['counts'].values()) == 60
    assert answer['dimensions']['link2'] == {'V': 5, 'K': 8, 'T': 3}


def test_the_user_is_told_what_was_snapped(puma, capsys):
    told = as_json(capsys, puma)['snapped']
    assert {'place': "joint 'j2', roll", 'given': -1.5708, 'meant': -np.pi / 2} in told
    assert len(told) == 4
    assert "joint 'j2', roll: -1.5708 is read as -1.5707963" in run(capsys, puma)
    assert as_json(capsys, 'kinova_gen3')['snapped'] == []


def test_coarser_rounding_is_not_mended_but_mentioned(puma, capsys):
    puma.write_text(puma.read_text().replace('1.5708', '1.571'))
    answer = as_json(capsys, puma)
    assert answer['snapped'] == []
    assert not any(
        note.startswith('Near') for note in as_json(capsys, 'kinova_gen3')['assumptions']
    )
    (doubt,) = [note for note in answer['assumptions'] if note.startswith('Near a multiple')]
    assert "joint 'j2', roll -1.571" in doubt and "joint 'j6'" in doubt


def test_the_table_and_the_sentences(puma, capsys):
    text = run(capsys, puma, '--rotors', '5')
    assert (
        'puma560.urdf: 40 combinations of 84 inertial parameters of 6 links can be known.' in text
    )
    assert re.search(r'^  Izz +●  ●  ●  ●  ●  ★$', text, re.M)
    assert re.search(r'^  Im +○  ○  ★  ★  ★  ★$', text, re.M)
    assert '  mcy, Ixy and Iyz can be known alone.' in text
    assert "m, mcz, m_r and mcz_r of link 6 can't be separated from mcy of link 5." not in text
    assert "mcz and mcz_r of link 6 can't be separated from mcy of link 5." in text
    assert "Im of link 2 can't be separated from Izz of link 2." in text
    assert 'mcy of link 5 is known only as mcy5 + mcz6 + mcz_r6.' in text
    assert 'open chains only' in text


def test_sentences_say_what_the_matrix_says(capsys, puma):
    """Every parameter is in exactly one kind of sentence of its link."""
    answer = as_json(capsys, puma)
    for link, classes in answer['classes'].items():
        sentence = answer['sentences'][link]
        number = answer['numbers'][link]
        none = re.search(r'([\w, ]+) ha(?:ve|s) no effect', sentence)
        silent = set(re.findall(r'[mI]\w*', none.group(1))) if none else set()
        pairs = list(zip(answer['labels'], classes, strict=True))
        assert silent == {label for label, kind in pairs if kind == 'none'}
        for label, kind in pairs:
            if kind == 'combined':
                assert f'{label} of link {number} is known only as {label}{number} ' in sentence


def test_combinations_have_all_their_terms(capsys, puma):
    answer = as_json(capsys, puma)
    first = next(c for c in answer['combinations'] if next(iter(c['terms'])) == 'mcx2')
    assert first['text'] == 'mcx2 + 0.2 (m3 + m4 + m5 + m6)'
    assert first['terms'] == pytest.approx({'mcx2': 1, 'm3': 0.2, 'm4': 0.2, 'm5': 0.2, 'm6': 0.2})
    assert len(answer['combinations']) == answer['base_parameters']


@pytest.mark.parametrize(
    ('terms', 'text'),
    [
        ([(1.0, 'Ixx2'), (-1.0, 'Iyy2')], 'Ixx2 - Iyy2'),
        ([(1.0, 'Izz1'), (1e4, 'Im1'), (-0.25, 'm2')], 'Izz1 + 10000 Im1 - 0.25 m2'),
        ([(1.0, 'a'), (2.0, 'b'), (-2.0, 'c'), (2.0, 'd')], 'a + 2 (b + d) - 2 c'),
        ([(1.0 + k, f'x{k}') for k in range(12)], None),
    ],
)
def test_how_a_combination_is_written(terms, text):
    if text is None:
        assert written(terms).endswith('+ 8 x7 + ... (12 parameters)')
    else:
        assert written(terms) == text


def test_known_links_are_marked_and_their_partners_freed(capsys, puma):
    before, after = as_json(capsys, puma), as_json(capsys, puma, '--known', 'link6')
    assert after['classes']['link6'] == ['known'] * 10
    assert after['parameters'] == 50
    place = before['labels'].index('mcy')
    assert before['classes']['link5'][place] == 'combined'
    assert after['classes']['link5'][place] == 'alone'
    assert any(note == 'Known: link6.' for note in after['assumptions'])
    assert 'The ten parameters of this link are known.' in after['sentences']['link6']


class Page(HTMLParser):
    """Tags that a page opens and has not closed, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.loads = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ('meta', 'link', 'br'):
            self.open.append(tag)
        asked = [value for key, value in attributes if key in ('src', 'href')]
        self.loads += [value for value in asked if not value.startswith('#')]  # of the page itself

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize(
    'arguments', [(), ('--rotors', '5'), ('--floating',), ('--known', 'link3')]
)
def test_the_page_needs_nothing_else_and_shows_every_parameter(puma, capsys, arguments):
    text = run(capsys, puma, *arguments, '--html')
    page = Page(text)
    assert page.open == [] and page.loads == []
    assert 'url(' not in text and '<script' not in text
    (svg,) = re.findall(r'<svg.*?</svg>', text, re.S)
    picture = ElementTree.fromstring(svg)
    titles = [title.text for title in picture.iter('{http://www.w3.org/2000/svg}title')]
    answer = as_json(capsys, puma, *arguments)
    expected = sum(len(c) for c in answer['classes'].values())
    expected += sum(len(c) for c in answer['rotor_classes'].values())
    assert len(titles) == expected
    assert 'NaN' not in svg and 'nan' not in svg
    for link, number in answer['numbers'].items():
        assert sum(f'of link {number}, {link}:' in title for title in titles) in (10, 14)


@pytest.mark.skipif(chromium() is None, reason='needs Chromium or Chrome on the path')
def test_a_browser_draws_the_page_without_a_complaint(puma, capsys, tmp_path):
    path = tmp_path / 'arm.html'
    path.write_text(run(capsys, puma, '--rotors', '5', '--html'))
    browser = Browser()
    try:
        browser.open(path)
        assert browser.complaints() == []
        assert browser.requests() == [path.resolve().as_uri()]
        assert browser.value("document.querySelectorAll('svg path title').length") == 84
        box = browser.value("document.querySelector('svg').getBoundingClientRect().height")
        assert box > 300
        wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        assert browser.value(wide) <= 0
    finally:
        browser.close()


def test_the_picture_stays_on_the_paper_and_has_the_colours_of_the_classes(puma, capsys):
    svg = re.search(r'<svg.*?</svg>', run(capsys, puma, '--html'), re.S).group(0)
    colours = dict(re.findall(r'fill="(#\w+)" stroke="#fff"[^>]*><title>[^:]*: ([^<]*)<', svg))
    assert len(colours) == 4
    for line in re.findall(r'<line x1="(.*?)" y1="(.*?)" x2="(.*?)" y2="(.*?)"', svg):
        xs, ys = map(float, line[::2]), map(float, line[1::2])
        assert all(0 <= x <= 640 for x in xs) and all(0 <= y <= 520 for y in ys)


def test_a_link_whose_name_is_markup_is_shown_as_text(tmp_path, capsys):
    path = tmp_path / 'arm.urdf'
    path.write_text(
        '<robot name="r"><link name="a"/><link name="b&lt;script&gt;"/><joint name="j" '
        'type="continuous"><parent link="a"/><child link="b&lt;script&gt;"/>'
        '<axis xyz="0 0 1"/><limit effort="1" velocity="1"/></joint></robot>'
    )
    text = run(capsys, path, '--html')
    assert 'b&lt;script&gt;' in text and '<script' not in text


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (('kinova_gen3', '--known', 'hand'), "no link 'hand' that moves"),
        (('kinova_gen3', '--gravity', '0', '0', '0'), 'gravity'),
        (('kinova_gen3', '--tolerance', '-1'), 'tolerance'),
    ],
)
def test_misuse_says_what_is_allowed(capsys, arguments, message):
    assert main(['identifiability', *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    'arguments', [('--rotors', '0'), ('--rotors', 'two'), ('--static', '--no-gravity')]
)
def test_arguments_that_make_no_sense_are_refused(capsys, arguments):
    with pytest.raises(SystemExit) as ending:
        main(['identifiability', 'kinova_gen3', *arguments])
    assert ending.value.code == 2
    capsys.readouterr()


def test_bench_prints_what_it_measures(monkeypatch):
    monkeypatch.setattr(bench_identifiability, 'SCALING', (10,))
    said = []
    figures = bench_identifiability.run(BenchSettings(3, 1, True, None), said.append)
    assert figures['random_trees'] == 3 and figures['disagreements'] == 0
    assert figures['base_parameters'] == 43
    assert figures['float_ms'] > 0 and figures['exact_ms'] > 0
    (row,) = figures['scaling']
    assert row.keys() == {'joints', 'float_ms', 'exact_ms'} and row['joints'] == 10
    assert said


def test_bench_counts_disagreements(monkeypatch):
    monkeypatch.setattr(bench_identifiability, 'SCALING', (10,))
    monkeypatch.setattr(bench_identifiability, 'trial', lambda seed: ['no'] if seed % 2 else [])
    figures = bench_identifiability.run(BenchSettings(4, 1, True, None), lambda _: None)
    assert figures['disagreements'] == 2
    assert figures['contradictions'][0] == {'seed': 1_000_001, 'said': 'no'}


def test_work_grows_with_the_length_of_a_chain_and_no_faster():
    """Each further pair of joints adds as much as the pair before it."""
    counts = [exact_nullspace(chain(n)).base_count for n in (10, 20, 40)]
    assert counts[1] - counts[0] == 70
    assert counts[2] - counts[1] == 140
    assert floating_nullspace(chain(40)).base_count == counts[2]


def test_loops_are_said_to_hide_more_than_the_table_tells(capsys):
    text = run(capsys, 'four_bar')
    assert 'holds for open chains only' in text
    assert 'four_bar has loops (closure)' in text
    assert 'the torque of its motor shows 8 combinations' in text
    assert 'with its loops: ' in text


def test_an_arm_of_which_all_is_known_is_refused_in_words(capsys):
    links = ('--known', 'link_1', 'link_2')
    assert main(['identifiability', 'two_link', *links]) == 2
    assert 'all links that move are known: no parameter is left' in capsys.readouterr().err
    assert as_json(capsys, 'two_link', *links, '--armature')['base_parameters'] == 2


def test_known_links_of_an_arm_that_shows_nothing_leave_nothing(capsys):
    turned = ('two_link', '--static', '--gravity', '0', '1', '0')
    assert as_json(capsys, *turned)['base_parameters'] == 0
    assert as_json(capsys, *turned, '--known', 'link_1')['base_parameters'] == 0


def test_settings_of_an_own_robot_answer_as_those_of_the_package(capsys, tmp_path):
    own = tmp_path / 'four_bar.yaml'
    own.write_bytes(facts_path('four_bar').read_bytes())
    assert run(capsys, own).replace(str(own), 'four_bar') == run(capsys, 'four_bar')
    count = as_json(capsys, own, '--known', 'coupler')['base_parameters']
    assert count == as_json(capsys, 'four_bar', '--known', 'coupler')['base_parameters']


def test_the_former_name_is_still_accepted(capsys):
    assert main(['observability', 'two_link']) == 0
    former = capsys.readouterr().out
    assert main(['identifiability', 'two_link']) == 0
    assert capsys.readouterr().out == former
    assert COMMANDS['identifiability'] and 'observability' not in COMMANDS
