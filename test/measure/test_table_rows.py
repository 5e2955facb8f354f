"""Rows that are not like the first one are noticed, and joints are those that a table names."""

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.csv_log import Columns, read_csv
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice

AB = ('a', 'b')
USUAL = Columns()
HEADER = 'time,q_a,q_b,tau_a,tau_b'


def numbers(rng, count=40):
    return np.column_stack([np.arange(count) * 0.01, rng.normal(size=(count, 4))])


def written(path, header, rows):
    path.write_text('\n'.join([header, *rows]) + '\n', encoding='utf-8')
    return path


def text(row):
    return ','.join(f'{x:.9g}' for x in row)


@pytest.mark.parametrize('change', ['a cell more', 'a cell less'])
@pytest.mark.parametrize('share', [0.1, 0.5])
def test_rows_whose_cells_move_are_refused(change, share, rng, tmp_path):
    """A logger that begins to write a gripper moves every column after it."""
    rows = [f'{text(row[:3])},{text(row[3:])},{i}' for i, row in enumerate(numbers(rng, 100))]
    for i in range(round(100 * (1.0 - share)), 100):
        cells = rows[i].split(',')
        rows[i] = ','.join(cells[:3] + ([] if change == 'a cell less' else ['7']) + cells[3:])
        rows[i] = ','.join(cells[:2] + cells[3:]) if change == 'a cell less' else rows[i]
    path = written(tmp_path / 'x.csv', HEADER + ',count', rows)
    bad, wide = round(100 * share), 7 if change == 'a cell more' else 5
    said = f'{bad} of 100 lines are no rows .* is {102 - bad}: it has {wide} cells, .* header 6'
    with pytest.raises(MeasurementError, match=said):
        read_csv(path, AB, USUAL)


def test_a_few_such_rows_are_left_out_and_counted(rng, tmp_path):
    rows = [text(row) for row in numbers(rng)]
    rows[7] = '9,' + rows[7]
    recording = read_csv(written(tmp_path / 'x.csv', HEADER, rows), AB, USUAL)
    assert len(recording) == 39
    assert '1 lines are not rows of numbers, the first is 9' in recording.remarks


@pytest.mark.parametrize('behind', ['', ',', ',,'])
def test_empty_cells_behind_a_row_are_nothing(behind, rng, tmp_path):
    expected = numbers(rng)
    rows = [text(row) + behind * (i % 3) for i, row in enumerate(expected)]
    recording = read_csv(written(tmp_path / 'x.csv', HEADER, rows), AB, USUAL)
    np.testing.assert_allclose(recording.position, expected[:, 1:3], rtol=1e-8)


@pytest.mark.parametrize('again', [HEADER, 'time,q_b,q_a,tau_a,tau_b'])
def test_tables_that_were_joined_are_read_where_their_columns_are_the_same(again, rng, tmp_path):
    rows = [text(row) for row in numbers(rng)]
    path = written(tmp_path / 'x.csv', HEADER, [*rows[:20], again, *rows[20:]])
    if again == HEADER:
        assert len(read_csv(path, AB, USUAL)) == 40
    else:
        with pytest.raises(MeasurementError, match='columns are named again in another order'):
            read_csv(path, AB, USUAL)


@pytest.mark.parametrize('size', [10, 200_000])
def test_a_quote_that_nobody_closes_ends_with_its_line(size, rng, tmp_path):
    rows = [f'{text(row)},' for row in numbers(rng)]
    rows[0] += '"picked ' + size * 'x'
    recording = read_csv(written(tmp_path / 'x.csv', HEADER + ',note', rows), AB, USUAL)
    assert len(recording) == 40


@pytest.mark.parametrize('torn', ['1e999999', '1e99999999999999999999', '-1e7777777777'])
@pytest.mark.parametrize('begin', [0.0, 1.7e9])
def test_a_time_that_no_number_can_hold_costs_its_row_only(torn, begin, tmp_path):
    rows = [f'{begin + 0.01 * i:.2f},0.5,0.5,1.5,1.5' for i in range(40)]
    rows[20] = f'{torn},0.5,0.5,1.5,1.5'
    recording = read_csv(written(tmp_path / 'x.csv', HEADER, rows), AB, USUAL)
    assert len(recording) == 39


NUMBERED = ('position_{}', 'effort_{}')


def of_numbers(first, last, names=NUMBERED):
    return ','.join(['time', *(name.format(i) for name in names for i in range(first, last + 1))])


@pytest.mark.parametrize('first', [0, 1])
def test_numbers_of_more_joints_than_the_arm_has_are_refused_with_the_way_out(first, tmp_path):
    """A linear axis may be the first of them, or a gripper the last: nobody knows."""
    rows = [f'{0.01 * i:.2f},1,2,3,4,5,6' for i in range(40)]
    path = written(tmp_path / 'x.csv', of_numbers(first, first + 2), rows)
    with pytest.raises(MeasurementError) as refused:
        read_csv(path, AB, USUAL)
    pattern = 'position_{i}' if first == 0 else 'position_{n}'
    said = f'position_{first} to position_{first + 2} are of more joints than the 2 of the arm'
    assert said in str(refused.value)
    assert f"--columns position='{pattern}'" in str(refused.value)
    told = Columns(position=pattern, effort=pattern.replace('position', 'effort'))
    assert read_csv(path, AB, told).effort[0].tolist() == [4.0, 5.0]
    without_first = Columns(position='position_{n}', effort='effort_{n}')
    if first == 0:
        assert read_csv(path, AB, without_first).effort[0].tolist() == [5.0, 6.0]


def test_quantities_that_are_numbered_differently_are_refused(tmp_path):
    rows = [f'{0.01 * i:.2f},1,2,3,4' for i in range(40)]
    path = written(tmp_path / 'x.csv', 'time,position_0,position_1,effort_1,effort_2', rows)
    said = 'numbered from 1 in effort and from 0 in position; say with --columns which'
    with pytest.raises(MeasurementError, match=said):
        read_csv(path, AB, USUAL)


@pytest.mark.parametrize('names', ['name_{}', 'name[{}]', 'joint_names_{}'])
@pytest.mark.parametrize('rail', [False, True])
def test_joints_that_rows_name_are_taken_by_their_names(names, rail, rng, tmp_path):
    """As `ros2_control` sorts them, say; other joints may be among them."""
    joints = ['b', 'rail', 'a'] if rail else ['b', 'a']
    count = len(joints)
    columns = (names, 'position_{}', 'effort_{}')
    values = rng.normal(size=(40, 2 * count))
    rows = [
        ','.join([f'{0.01 * i:.2f}', *(f'"{x}"' for x in joints), *(f'{x:.9g}' for x in row)])
        for i, row in enumerate(values)
    ]
    header = of_numbers(0, count - 1, columns)
    recording = read_csv(written(tmp_path / 'x.csv', header, rows), AB, USUAL)
    order = [joints.index(joint) for joint in AB]
    np.testing.assert_allclose(recording.position, values[:, order], rtol=1e-8)
    np.testing.assert_allclose(recording.effort, values[:, np.add(order, count)], rtol=1e-8)
    rows[30] = rows[30].replace('"a"', '"x"').replace('"b"', '"a"').replace('"x"', '"b"')
    with pytest.raises(MeasurementError, match='line 32 names other joints than the first row'):
        read_csv(written(tmp_path / 'x.csv', header, rows), AB, USUAL)


@pytest.mark.parametrize('what', ['position', 'effort', 'names'])
def test_a_pattern_that_is_the_same_for_several_joints_is_refused(what, tmp_path):
    path = written(tmp_path / 'x.csv', HEADER, ['0.00,1,2,3,4', '0.01,1,2,3,4', '0.02,1,2,3,4'])
    with pytest.raises(MeasurementError, match="'q_a' gives several joints the same name"):
        if what == 'names':
            recording_of_choice(RecordingChoice(path, names='q_a'), AB)
        else:
            read_csv(path, AB, Columns(**{what: 'q_a'}))


@pytest.mark.parametrize(
    'line', ['2.000,b,', '# stopped, then, went on', '', 'HEADER', 'pause'], ids=lambda x: x[:9]
)
def test_a_line_that_is_no_row_names_no_joints(line, rng, tmp_path):
    header = of_numbers(0, 1, ('name_{}', *NUMBERED))
    rows = [f'{0.01 * i:.2f},b,a,{text(row)}' for i, row in enumerate(rng.normal(size=(40, 4)))]
    rows[20:20] = [header if line == 'HEADER' else line]
    assert len(read_csv(written(tmp_path / 'x.csv', header, rows), AB, USUAL)) == 40


def test_columns_that_are_stated_by_number_are_those_of_the_joints_that_rows_name(tmp_path):
    """Else positions would go by name, and torques by the order of the URDF."""
    header = of_numbers(0, 1, ('name_{}', 'position_{}', 'tau_J_{}'))
    rows = [f'{0.01 * i:.2f},b,a,1,2,3,4' for i in range(40)]
    path = written(tmp_path / 'x.csv', header, rows)
    recording = read_csv(path, AB, Columns(effort='tau_J_{i}'))
    assert (recording.position[0].tolist(), recording.effort[0].tolist()) == ([2, 1], [4, 3])
    again = read_csv(path, AB, Columns(position='position_{i}', effort='tau_J_{i}'))
    assert again.position[0].tolist() == [2, 1]


def test_a_first_row_that_is_torn_decides_nothing(rng, tmp_path):
    rows = [text(row) for row in numbers(rng)]
    rows[0] = '0.5,0.3'
    recording = read_csv(written(tmp_path / 'x.csv', HEADER, rows), AB, USUAL)
    assert len(recording) == 39


@pytest.mark.parametrize('notes', [[0], [25], [0, 25]])
@pytest.mark.parametrize('note', ['begins', '"picked, then placed"'])
def test_a_note_behind_some_rows_is_nothing_to_the_others(notes, note, rng, tmp_path):
    rows = [text(row) for row in numbers(rng)]
    for i in notes:
        rows[i] += f',{note}'
    recording = read_csv(written(tmp_path / 'x.csv', HEADER + ',note', rows), AB, USUAL)
    assert len(recording) == 40


def test_rows_without_a_time_are_said_to_have_none(rng, tmp_path):
    rows = [',' + text(row[1:]) if i % 2 else text(row) for i, row in enumerate(numbers(rng))]
    with pytest.raises(
        MeasurementError, match='20 of 40 lines .* the first of them is 3: it has no time'
    ):
        read_csv(written(tmp_path / 'x.csv', HEADER, rows), AB, USUAL)
