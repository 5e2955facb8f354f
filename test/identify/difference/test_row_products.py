"""Products of rows, against the same of tables that hold every 0."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.identify.difference.row_products import (
    AddedColumns,
    JointTables,
    joint_grams,
    row_products,
)
from safe_sysid.identify.difference.rows import DifferenceRows

N, JOINTS, P = 90, 3, 14


def sparse_rows(rng, standing):
    """Rows of which no joint shows all columns, some of standing joints, some loaded."""
    Y = rng.normal(size=(N, JOINTS, P)) * (rng.uniform(size=(JOINTS, P)) < 0.5)
    counts = rng.uniform(size=(N, JOINTS)) >= standing
    return DifferenceRows(
        Y,
        rng.normal(size=(N, JOINTS, 10)),
        rng.normal(size=(N, JOINTS)),
        counts,
        np.arange(N) > N // 2,
        np.zeros(N, dtype=int),
        np.zeros(N, dtype=int),
        np.arange(N) / 25.0,
        25.0,
    )


def table_of(rows):
    """All columns and the torque, 0 where a joint stands."""
    held = rows.Y_L * rows.loaded[:, None, None]
    table = np.concatenate([rows.Y, held, rows.tau[:, :, None]], axis=2)
    return table * rows.counts[:, :, None]


@pytest.mark.parametrize('standing', [0.0, 0.4])
def test_products_are_those_of_whole_tables(standing):
    rng = np.random.default_rng(3)
    rows = sparse_rows(rng, standing)
    table, products = table_of(rows), row_products(rows)
    expected = np.array([table[:, j].T @ table[:, j] for j in range(JOINTS)])
    np.testing.assert_allclose(products.by_joint(), expected, atol=1e-12)
    np.testing.assert_allclose(joint_grams(rows), expected, atol=1e-12)
    root = rng.normal(size=(JOINTS, JOINTS))
    spread = root @ root.T + np.eye(JOINTS)
    total = np.zeros((P + 11, P + 11))
    for row, counts in zip(table, rows.counts, strict=True):
        some = np.ix_(counts, counts)
        total += row[counts].T @ np.linalg.inv(spread[some]) @ row[counts]
    np.testing.assert_allclose(products.weighted(spread), total, atol=1e-11)


@pytest.mark.parametrize('standing', [0.0, 0.4])
def test_added_columns_are_as_if_they_had_been_there(standing):
    rng = np.random.default_rng(5)
    rows = sparse_rows(rng, standing)
    part = rng.uniform(size=N) < 0.3
    tables = JointTables(rows, [slice(None), part])
    columns = rng.normal(size=(N, JOINTS, 2))
    empty = np.stack([np.flatnonzero(~row.any(axis=0))[0] for row in rows.Y.swapaxes(0, 1)])
    places = np.stack([empty, P + np.arange(JOINTS)], axis=1)  # one of Y, one after it
    Y = np.concatenate([rows.Y, np.zeros((N, JOINTS, JOINTS))], axis=2)
    Y[:, np.arange(JOINTS)[:, None], places] = columns
    table = table_of(replace(rows, Y=Y))
    added = AddedColumns(columns, places, P + JOINTS)
    for number, chosen in enumerate((slice(None), part)):
        some = table[chosen]
        expected = np.array([some[:, j].T @ some[:, j] for j in range(JOINTS)])
        np.testing.assert_allclose(tables.grams(added, number), expected, atol=1e-12)
    x = rng.normal(size=P + JOINTS)
    left = ((rows.tau - Y @ x) * rows.counts)[part]
    np.testing.assert_allclose(tables.residuals(x, part, added), left, atol=1e-12)
