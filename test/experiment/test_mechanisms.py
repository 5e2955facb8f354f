"""Published mechanisms: counts and symbols as printed, and what a fixed torso cannot teach."""

from safe_sysid.experiment import mechanisms
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import row_of

QUICK = ExperimentSettings(quick=True)


def test_counts_and_symbols_are_the_published_ones():
    rows = [row_of(mechanisms.trial, each)[0] for each in mechanisms.trials(QUICK)]
    assert {row['status'] for row in rows} == {'ok'}, [row['reason'] for row in rows]
    counts, *symbols, table6 = mechanisms.tables(rows)
    assert all(row[1] == row[2] and row[3] == row[4] for row in counts.rows)
    assert [row[5] for row in counts.rows] == ['–', '–', '0', '0', '0', '0']
    assert len(symbols) == 4
    ours = {row[0]: row[1] for row in table6.rows}
    zero = [name for name, error in ours.items() if error == '0']
    assert zero == ['knee']  # as published, where the motor of the knee sits at the hip


def test_a_symbol_that_differs_is_counted():
    assert mechanisms._differences(['×○', '●★'], ['×●', '●★']) == 1
