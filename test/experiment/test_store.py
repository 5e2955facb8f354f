"""Rows on disk: cut lines, rows in two files, other results, other writers."""

import json
from pathlib import Path

from full_disk import files_of_at_most
import pytest

from safe_sysid.experiment.store import CampaignError, Store, read_rows
from safe_sysid.experiment.trial import Trial, result_of, row_of, seed_of

pytest.importorskip('pyarrow')


def _half(_):
    return {'x': 0.5}


def _fails(_):
    return {'x': 1 / 0}


def rows(count):
    return [row_of(_half, Trial('made_up', {'i': i}, i))[0] for i in range(count)]


def written(folder, some):
    with Store(folder) as store:
        for row in some:
            store.add(row)


def keys(folder):
    return [row['key'] for row in read_rows(folder)]


def test_rows_come_back_from_the_journal_and_from_parts(tmp_path):
    some = rows(5)
    written(tmp_path, some[:3])
    with Store(tmp_path) as store:
        store.close_part()
        store.add(some[3])
        store.add(some[4])
    assert len(list(tmp_path.glob('part-*.parquet'))) == 1
    expected = sorted(some, key=lambda row: row['key'])
    assert read_rows(tmp_path) == expected


def test_a_line_that_a_crash_cut_off_is_left_out_and_the_next_row_is_not(tmp_path):
    some = rows(3)
    written(tmp_path, some[:2])
    journal = tmp_path / 'journal.jsonl'
    journal.write_bytes(journal.read_bytes()[:-20])
    assert keys(tmp_path) == [some[0]['key']]
    written(tmp_path, [some[2]])
    assert set(keys(tmp_path)) == {some[0]['key'], some[2]['key']}


def test_rows_that_a_crash_left_in_both_files_count_once(tmp_path):
    some = rows(3)
    written(tmp_path, some)
    before = (tmp_path / 'journal.jsonl').read_bytes()
    with Store(tmp_path) as store:
        store.close_part()
    (tmp_path / 'journal.jsonl').write_bytes(before)  # as if killed before it was cut
    assert len(keys(tmp_path)) == 3
    with Store(tmp_path) as store:
        store.close_part()
    assert len(keys(tmp_path)) == 3


def test_a_trial_that_comes_out_differently_is_refused_but_not_for_its_times(tmp_path):
    (row,) = rows(1)
    written(tmp_path, [row])
    written(tmp_path, [{**row, 'wall_s': 99.0, 'host': 'elsewhere', 'pid': 1}])
    with pytest.raises(CampaignError, match='differently'):
        written(tmp_path, [{**row, 'x': 0.25}])


def test_a_part_that_is_cut_in_half_is_named(tmp_path):
    written(tmp_path, rows(3))
    with Store(tmp_path) as store:
        store.close_part()
    (part,) = tmp_path.glob('part-*.parquet')
    part.write_bytes(part.read_bytes()[:-300])
    with pytest.raises(CampaignError, match=r'part-00000\.parquet'):
        read_rows(tmp_path)


def test_a_cut_part_is_put_aside_by_a_writer_and_other_parts_are_kept(tmp_path):
    some = rows(4)
    for row in some[:2]:  # a part each
        with Store(tmp_path) as store:
            store.add(row)
            store.close_part()
    first = tmp_path / 'part-00000.parquet'
    first.write_bytes(first.read_bytes()[:-300])
    with Store(tmp_path) as store:
        assert 'part-00000.parquet.cut, its trials run again' in store.set_aside[0]
        assert some[0]['key'] not in store and some[1]['key'] in store
        for row in (some[0], *some[2:]):
            store.add(row)
        store.close_part()
    assert set(keys(tmp_path)) == {row['key'] for row in some}


def test_a_full_disk_ends_a_campaign_with_a_sentence(tmp_path):
    some = rows(2)
    written(tmp_path, some[:1])
    with Store(tmp_path) as store:
        store.close_part()
    with Store(tmp_path) as store, Path('/dev/full').open('ab', buffering=0) as full:
        store._journal = full
        with pytest.raises(CampaignError, match=r'takes no more rows .*--r'):
            store.add(some[1])
    assert keys(tmp_path) == [some[0]['key']]


def test_of_a_part_that_a_full_disk_does_not_take_nothing_stays(tmp_path):
    written(tmp_path, rows(40))
    before = {path.name for path in tmp_path.iterdir()}
    with Store(tmp_path) as store:
        with files_of_at_most(100), pytest.raises(OSError, match='too large') as refusal:
            store.close_part()
        assert refusal.value.filename == str(tmp_path / 'part-00000.parquet')
        with files_of_at_most(10), pytest.raises(OSError, match='too large'):
            store.agree({'experiment': 'made up'})
    assert {path.name for path in tmp_path.iterdir()} == before
    assert len(keys(tmp_path)) == 40


def test_a_row_with_what_is_not_a_number_is_an_error_that_names_it():
    row, _ = row_of(lambda _: {'x': 1.0, 'y': float('nan')}, Trial('made_up', {}, 1))
    assert (row['status'], 'y' in row) == ('error', False)
    assert row['reason'].startswith('ValueError: y is not a number')


def test_a_trial_whose_needed_one_failed_is_refused_with_its_reason():
    first = Trial('made_up', {}, 1)
    failed = row_of(_fails, first)[0]
    row, _ = row_of(_half, Trial('made_up', {'b': 1}, 1, first).with_row(failed))
    assert row['status'] == 'refused' and 'ZeroDivisionError' in row['reason']
    assert Trial('made_up', {'b': 1}, 1, first).key != Trial('made_up', {'b': 1}, 1).key


def test_a_trial_that_never_ends_is_a_row():
    def never_ends(_):
        while True:
            pass

    row, _ = row_of(never_ends, Trial('made_up', {}, 1), longest=0.05)
    assert row['status'] == 'timeout'
    assert row['reason'].startswith('TookTooLong: it took more than 0.05 s of processor time')


def test_two_writers_are_refused(tmp_path):
    with Store(tmp_path), pytest.raises(CampaignError, match='is being written by process'):
        Store(tmp_path).__enter__()


def test_a_folder_of_another_campaign_is_refused(tmp_path):
    with Store(tmp_path) as store:
        store.agree({'experiment': 'table3', 'trials': 5})
        store.agree({'experiment': 'table3', 'trials': 5})
        with pytest.raises(CampaignError, match='trials 5, asked for is 6'):
            store.agree({'experiment': 'table3', 'trials': 6})


def test_columns_of_mixed_kinds_and_missing_ones_can_be_written(tmp_path):
    first, second, third = rows(3)
    written(tmp_path, [{**first, 'v': 1}, {**second, 'v': 0.5, 'w': None}, {**third, 'v': 'x'}])
    with Store(tmp_path) as store:
        store.close_part()
    assert {row.get('v') for row in read_rows(tmp_path)} == {1, 0.5, 'x'}


def test_a_failure_is_a_row_with_its_reason_and_traceback(tmp_path):
    row, text = row_of(_fails, Trial('made_up', {}, 1))
    assert row['status'] == 'error'
    assert row['reason'].startswith('ZeroDivisionError: ')
    with Store(tmp_path) as store:
        store.add(row, text)
    kept = (tmp_path / 'tracebacks' / f'{row["traceback"]}.txt').read_text()
    assert 'ZeroDivisionError' in kept


def test_keys_tell_settings_and_seeds_apart_and_nothing_else():
    keys = {Trial('e', {'a': a, 'b': 1}, seed).key for a in (0.1, 0.2) for seed in (1, 2)}
    assert len(keys) == 4
    assert Trial('e', {'b': 1, 'a': 0.1}, 1).key in keys
    assert Trial('other', {'a': 0.1, 'b': 1}, 1).key not in keys


def test_seeds_are_those_of_cell_and_number():
    seeds = {seed_of(1, (cell,), number) for cell in 'abc' for number in range(50)}
    assert len(seeds) == 150
    assert seed_of(1, ('a',), 7) in seeds
    assert seed_of(2, ('a',), 7) not in seeds


def test_a_row_is_json():
    (row,) = rows(1)
    assert json.loads(json.dumps(row)) == row
    assert 'wall_s' not in json.loads(result_of(row))
