"""Text in lines that fit: what goes on stands below its column, and no word is cut."""

import pytest

from safe_sysid.report.terminal_lines import columns_that_fit, terminal_width, wrapped

FINDING = 'PASS  middleware: two processes exchanged a message, the first after 0.06 s of waiting'
ROW = '  2.4 to  3.9 s  lift   mass 2.23 kg   mcz 82 %, Iyy 57 %, mcx 54 %, Ixx 51 %'
TABLE = """| joint | rms, filtered | rms, recorded | white? |
|---|---|---|---|
| shoulder | 0.01 N m | 0.02 N m | yes (p = 0.5) |
| elbow | 0.03 N m | 0.04 N m | no (p = 0.001) |"""


@pytest.mark.parametrize('text', ['', 'short', '\n\n', FINDING[:60], TABLE])
def test_what_fits_stays_as_it_is(text):
    assert wrapped(text, 80) == text


def test_a_sentence_goes_on_below_its_column():
    assert wrapped(FINDING, 60).splitlines() == [
        'PASS  middleware: two processes exchanged a message, the',
        '      first after 0.06 s of waiting',
    ]
    assert wrapped(ROW, 66).splitlines() == [
        '  2.4 to  3.9 s  lift   mass 2.23 kg   mcz 82 %, Iyy 57 %, mcx',
        '                                       54 %, Ixx 51 %',
    ]


def test_figures_go_on_below_the_first_one():
    assert wrapped('widths  1.25 kg  2.5 kg  3 kg  4 kg  5 kg  6 kg', 40).splitlines() == [
        'widths  1.25 kg  2.5 kg  3 kg  4 kg',
        '        5 kg  6 kg',
    ]


@pytest.mark.parametrize(
    ('line', 'below'),
    [('a ' * 30, '  a'), ('  - ' + 'b ' * 30, '    b'), ('# ' + 'c ' * 30, '# c')],
)
def test_sentences_remarks_and_lists_go_on_as_such(line, below):
    first, *others = wrapped(line, 40).splitlines()
    assert line.startswith(first.rstrip())
    assert others and all(each.startswith(below) for each in others)


def test_a_figure_stays_beside_its_unit():
    assert wrapped('x' * 37 + ' 12 N m and 3 %', 42).splitlines() == [
        'x' * 37,
        '  12 N m and 3 %',
    ]


def test_nothing_is_cut(rng):
    words = ['/a/path/' + 'x' * 90, 'it', '0.25 kg', 'lbr_iiwa_joint_4', '-55.9 of -56.7 N m', '|']
    for width in (1, 40, 57, 80):
        for _ in range(50):
            gaps = rng.choice([' ', '  ', '     '], 12)
            line = ''.join(w + g for w, g in zip(rng.choice(words, 12), gaps, strict=True))
            text = wrapped(line, width)
            assert text.split() == line.split()
            assert all(len(x) <= max(width, 40) or '/a/path' in x for x in text.splitlines())


def test_a_table_that_is_too_wide_becomes_several_with_the_same_first_column():
    first, second = wrapped(TABLE, 45).split('\n\n')
    assert first.splitlines()[0] == '| joint | rms, filtered | rms, recorded |'
    assert second.splitlines()[0] == '| joint | white? |'
    assert second.splitlines()[-1] == '| elbow | no (p = 0.001) |'


@pytest.mark.parametrize(
    ('width', 'tables'),
    [(None, [[0, 1, 2, 3]]), (80, [[0, 1, 2, 3]]), (24, [[0, 1, 2], [0, 3]]),
     (5, [[0, 1], [0, 2], [0, 3]])],
)  # fmt: skip
def test_columns_are_in_as_many_tables_as_it_takes(width, tables):
    assert columns_that_fit([8, 6, 6, 6], 2, width) == tables


@pytest.mark.parametrize(('stated', 'columns'), [('57', 57), ('', 80), ('wide', 80), ('0', 80)])
def test_the_terminal_has_as_many_columns_as_stated_or_80(stated, columns, monkeypatch):
    monkeypatch.setenv('COLUMNS', stated)
    monkeypatch.setattr('sys.__stdout__', None)  # not a terminal
    assert terminal_width() == columns
