"""A table gives the numbers it holds, whatever its columns are called."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.measure import csv_log
from safe_sysid.measure.csv_log import Columns, read_csv
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice

AB = ('a', 'b')
USUAL = Columns()


def table(path, names, rows, delimiter=','):
    lines = [delimiter.join(names), *(delimiter.join(str(x) for x in row) for row in rows)]
    path.write_text('\n'.join(lines) + '\n')
    return path


@pytest.mark.parametrize('delimiter', [',', ';', '\t', ' '])
@pytest.mark.parametrize(
    'names',
    [
        ['time', 'b.position', 'a.position', 'a.effort', 'b.effort', 'b.velocity', 'a.velocity'],
        ['t', 'q_b', 'q_a', 'tau_a', 'tau_b', 'qd_b', 'qd_a'],
        ['__time', 'x/b/position', 'x/a/position', 'x/a/effort', 'x/b/effort', 'x/b/velocity',
         'x/a/velocity'],
    ],
)  # fmt: skip
def test_columns_are_found_by_name_in_any_order(names, delimiter, rng, tmp_path):
    rows = np.column_stack([np.arange(5) * 0.01, rng.normal(size=(5, 6))])
    recording = read_csv(table(tmp_path / 'x.csv', names, rows.tolist(), delimiter), AB, USUAL)
    np.testing.assert_array_equal(recording.stamp, np.arange(5) * 10_000_000)
    np.testing.assert_array_equal(recording.position, rows[:, [2, 1]])
    np.testing.assert_array_equal(recording.effort, rows[:, [3, 4]])
    np.testing.assert_array_equal(recording.velocity, rows[:, [6, 5]])


@pytest.mark.parametrize('first', [0, 1])
def test_numbered_columns_may_count_from_zero_or_one(first, rng, tmp_path):
    names = [f'{x}_{first + i}' for x in ('q', 'tau') for i in range(2)]
    rows = rng.normal(size=(5, 4))
    path = table(tmp_path / 'x.csv', names, rows.tolist())
    recording = read_csv(path, AB, Columns(rate=100.0))
    np.testing.assert_array_equal(recording.position, rows[:, :2])
    np.testing.assert_array_equal(recording.effort, rows[:, 2:])
    assert recording.velocity is None
    assert 'no velocity: central differences of the positions' in recording.remarks
    np.testing.assert_array_equal(recording.stamp, np.arange(5) * 10_000_000)


@pytest.mark.parametrize('delimiter', [',', ' '])
@pytest.mark.parametrize(
    ('above', 'mark', 'below'),
    [
        (['# written by somebody, on a day', '# of the arm'], '', []),
        (['# written by somebody'], '# ', ['# s rad Nm']),
        ([], '# ', ['# s, rad, Nm']),
    ],
)
def test_remarks_may_be_above_and_below_the_names(above, mark, below, delimiter, rng, tmp_path):
    rows = np.column_stack([np.arange(5) * 0.01, rng.normal(size=(5, 4))])
    names = [f'{mark}time', 'q_a', 'q_b', 'tau_a', 'tau_b']
    path = table(tmp_path / 'x.csv', names, rows.tolist(), delimiter)
    named, *others = path.read_text().splitlines()
    path.write_text('\n'.join([*above, named, *below, *others]) + '\n')
    recording = read_csv(path, AB, USUAL)
    np.testing.assert_array_equal(recording.position, rows[:, [1, 2]])
    np.testing.assert_array_equal(recording.effort, rows[:, [3, 4]])
    assert not any('not rows of numbers' in remark for remark in recording.remarks)


def test_patterns_name_unusual_columns(rng, tmp_path):
    rows = rng.normal(size=(4, 4))
    names = ['angle of a', 'angle of b', 'i1', 'i2']
    columns = Columns(None, 'angle of {joint}', None, 'i{n}', rate=50.0)
    recording = read_csv(table(tmp_path / 'x.csv', names, rows.tolist()), AB, columns)
    np.testing.assert_array_equal(recording.position, rows[:, :2])


def test_stamps_are_exact_to_the_nanosecond(tmp_path):
    stamps = ['1681917731.162894712', '1681917731.165356001', '1681917731.167881999']
    rows = [(s, i, i, i, i) for i, s in enumerate(stamps)]
    path = table(tmp_path / 'x.csv', ['time', 'q_a', 'q_b', 'tau_a', 'tau_b'], rows)
    assert read_csv(path, AB, USUAL).stamp.tolist() == [
        1681917731162894712, 1681917731165356001, 1681917731167881999
    ]  # fmt: skip
    whole = [(s.replace('.', ''), *rest) for s, *rest in rows]
    path = table(tmp_path / 'y.csv', ['time', 'q_a', 'q_b', 'tau_a', 'tau_b'], whole)
    assert read_csv(path, AB, USUAL).stamp.tolist()[0] == 1681917731162894712


def test_times_that_become_too_long_for_a_float_are_exact_all_the_same(tmp_path, monkeypatch):
    """Blocks of short times are kept as numbers, those after them as text."""
    monkeypatch.setattr(csv_log, 'BLOCK', 64)
    stamps = [2**20 * 10**9 + i * 123_456_789 for i in range(-20, 20)]
    rows = [(f'{s // 10**9}.{s % 10**9:09d}', i, i, i, i) for i, s in enumerate(stamps)]
    path = table(tmp_path / 'x.csv', ['time', 'q_a', 'q_b', 'tau_a', 'tau_b'], rows)
    recording = read_csv(path, AB, USUAL)
    assert recording.stamp.tolist() == stamps
    assert recording.position[:, 0].tolist() == list(range(40))


def test_lines_that_are_no_numbers_are_left_out_and_counted(rng, tmp_path):
    rows = np.column_stack([np.arange(30) * 0.01, rng.normal(size=(30, 4))]).tolist()
    path = table(tmp_path / 'x.csv', ['time', 'q_a', 'q_b', 'tau_a', 'tau_b'], rows)
    lines = path.read_text().splitlines()
    lines[5], lines[9], lines[12] = 'pause', '', '0.11,nan,0,0,0'
    path.write_text('\n'.join(lines) + '\n0.30,0.1,0.')  # ends in the middle of a row
    recording = read_csv(path, AB, USUAL)
    assert len(recording) == 27
    assert recording.timing.not_finite == 1
    assert '2 lines are not rows of numbers, the first is 6' in recording.remarks
    np.testing.assert_array_equal(recording.position[0], rows[0][1:3])
    np.testing.assert_array_equal(recording.position[-1], rows[-1][1:3])


@pytest.mark.parametrize(
    ('names', 'columns', 'sentence'),
    [
        (['time', 'q_a', 'q_b'], USUAL, r'no columns for the effort .* --columns effort='),
        (['q_a', 'q_b', 'tau_a', 'tau_b'], USUAL, 'no column for the time'),
        (['t', 'q_a', 'tau_a'], USUAL, r"position of \['a', 'b'\]; its columns are \['t'"),
        (['t', 'x'], Columns(position='pos{joint}'), r"no columns 'pos\{joint\}'"),
        (['t', 'x'], Columns(position='pos{arm}'), 'may hold {joint}, {i} and {n}'),
        (['t', 'x'], Columns(position='{n:>999999999}'), 'may hold {joint}, {i} and {n}'),
        (['t', 'x'], Columns(position='{n.__class__}'), 'may hold {joint}, {i} and {n}'),
        (['t', 'q_a', 'q_b', 'tau_a', 'tau_b'], Columns(time='when'), "no column 'when'"),
        (['t', 'q_a', 'q_b', 'tau_a', 'tau_b', 'q_a'], USUAL, "'q_a' is there 2 times"),
    ],
)
def test_missing_columns_are_named_with_a_way_out(names, columns, sentence, tmp_path):
    path = table(tmp_path / 'x.csv', names, [range(len(names))] * 3)
    with pytest.raises(MeasurementError, match=sentence):
        read_csv(path, AB, columns)


def test_a_table_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(MeasurementError, match=r'nowhere\.csv: cannot be read'):
        read_csv(tmp_path / 'nowhere.csv', AB, USUAL)
    (tmp_path / 'x.csv').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(MeasurementError, match='cannot be read: it is not text in UTF-8'):
        read_csv(tmp_path / 'x.csv', AB, USUAL)
    with pytest.raises(MeasurementError, match=r'x\.csv\.gz: is a packed file; unpack it'):
        recording_of_choice(RecordingChoice(tmp_path / 'x.csv.gz'), AB)
    with pytest.raises(MeasurementError, match='rate is -1'):
        Columns(rate=-1.0)


@pytest.mark.parametrize('torn', ['1e282', 'inf', '9e300'])
@pytest.mark.parametrize('column', ['time', 'q_0', 'tau_0'])
def test_a_torn_number_costs_its_row_only(torn, column, tmp_path):
    names = ['time', 'q_0', 'tau_0']
    rows = [[f'{0.01 * i:.2f}', '0.5', '1.5'] for i in range(50)]
    rows[20][names.index(column)] = torn
    path = tmp_path / 'log.csv'
    path.write_text('\n'.join(','.join(row) for row in [names, *rows]), encoding='utf-8')
    recording = read_csv(path, ('a',), Columns())
    assert len(recording) == 49
    assert recording.timing.not_finite == 1


@pytest.mark.parametrize('first', [1_700_000_000_005, 10**12])
def test_times_that_are_no_seconds_end_in_a_sentence(first, tmp_path):
    """Milliseconds since 1970: as seconds they have no stamp."""
    rows = [[str(first + 10 * i), '0.5', '1.5'] for i in range(50)]
    path = tmp_path / 'log.csv'
    path.write_text('\n'.join(','.join(row) for row in [['time', 'q_0', 'tau_0'], *rows]))
    with pytest.raises(MeasurementError):
        read_csv(path, ('a',), Columns())


def test_decimal_commas_are_read_between_semicolons(tmp_path):
    lines = ['time;q_0;tau_0', *(f'0,{i:02d};0,5;1,25' for i in range(30))]
    path = tmp_path / 'log.csv'
    path.write_text('\n'.join(lines), encoding='utf-8')
    recording = read_csv(path, ('a',), Columns())
    assert recording.position[3, 0] == 0.5
    assert recording.effort[3, 0] == 1.25
    assert recording.timing.period == pytest.approx(0.01)


@pytest.mark.parametrize('delimiter', [',', ';', '\t'])
def test_decimal_commas_in_quotes_are_read(delimiter, tmp_path):
    rows = [('time', 'q_0', 'tau_0'), *((f'0,{i:02d}', '0,5', '1,25') for i in range(30))]
    path = tmp_path / 'log.csv'
    lines = [delimiter.join(f'"{cell}"' for cell in row) for row in rows]
    path.write_text('\r\n'.join(lines), encoding='utf-8')
    recording = read_csv(path, ('a',), Columns())
    assert recording.effort[3, 0] == 1.25
    assert recording.timing.period == pytest.approx(0.01)


@pytest.mark.parametrize('first', ['0,00,', '0,'])  # a whole number has no comma
def test_decimal_commas_between_commas_are_named(first, tmp_path):
    rows = [f'{first}0,5,1,25', *(f'0,{i:02d},0,5,1,25' for i in range(1, 30))]
    lines = ['time,q_0,tau_0', *rows]
    path = tmp_path / 'log.csv'
    path.write_text('\n'.join(lines), encoding='utf-8')
    with pytest.raises(MeasurementError, match='decimal commas'):
        read_csv(path, ('a',), Columns())


def written(tmp_path, header, rows):
    path = tmp_path / 'log.csv'
    path.write_text('\n'.join([header, *rows]), encoding='utf-8')
    return path


@pytest.mark.parametrize(
    ('name', 'step', 'begin'),
    [
        *[('time_ns', 10_000_000, 0), ('stamp_ns', 10_000_000, 5), ('Time_MS', 10, 0)],
        *[('timestamp_us', 10_000, 0), ('time_s', 0.01, 0), ('time_ms', 10, 1_700_000_000_000)],
        *[('time', 10_000_000, 10**18), ('time_us', 10_000, 1_700_000_000_000_000)],
    ],
)
def test_times_count_what_their_name_says(name, step, begin, tmp_path):
    rows = [f'{begin + i * step},0.5,1.5' for i in range(50)]
    recording = read_csv(written(tmp_path, f'{name},q_0,tau_0', rows), ('a',), Columns())
    np.testing.assert_array_equal(np.diff(recording.stamp), 10_000_000)


def test_a_column_that_is_named_says_what_it_counts(tmp_path):
    rows = [f'{10 * i},0.5,1.5' for i in range(50)]
    path = written(tmp_path, 'robot clock [ms],q_0,tau_0', rows)
    recording = read_csv(path, ('a',), Columns(time='robot clock [ms]'))
    assert recording.timing.period == pytest.approx(0.01)


@pytest.mark.parametrize('step', [10, 10_000, 1e-6])
def test_steps_that_no_recording_has_ask_for_a_unit(step, tmp_path):
    rows = [f'{i * step:.9f},0.5,1.5' for i in range(50)]
    with pytest.raises(MeasurementError, match=r'a sample comes every .* time_ms, time_us or'):
        read_csv(written(tmp_path, 'time,q_0,tau_0', rows), ('a',), Columns())


def test_dates_are_named(tmp_path):
    rows = [f'2026-01-01T00:00:0{i},0.5,1.5' for i in range(9)]
    sentence = "in line 2 '2026-01-01T00:00:00' in column time is no number"
    with pytest.raises(MeasurementError, match=sentence):
        read_csv(written(tmp_path, 'time,q_0,tau_0', rows), ('a',), Columns())


def test_a_header_with_a_name_less_than_columns_is_refused(tmp_path):
    """As R writes it, whose first column has numbers of rows and no name."""
    rows = [f'{i},{0.01 * i:.2f},0.5,1.5' for i in range(50)]
    with pytest.raises(MeasurementError, match='rows have 4 cells and its header 3'):
        read_csv(written(tmp_path, 'time,q_0,tau_0', rows), ('a',), Columns())
    ended = [f'{0.01 * i:.2f},0.5,1.5,' for i in range(50)]  # a delimiter at the end names nothing
    assert len(read_csv(written(tmp_path, 'time,q_0,tau_0', ended), ('a',), Columns())) == 50
