"""Fixed rotations lose the rounding of right angles and nothing else."""

import numpy as np
from scipy.spatial.transform import Rotation

from safe_sysid.model.symbolic.rotation import without_rounding


def test_right_angles_are_exact():
    turned = Rotation.from_euler('xyz', [np.pi / 2, -np.pi, np.pi / 2]).as_matrix()
    assert np.abs(turned - np.round(turned)).max() > 0.0
    np.testing.assert_array_equal(without_rounding(turned), np.round(turned))


def test_small_angles_and_rounded_numbers_of_a_urdf_stay():
    for angle in (1e-14, 1e-9, 1.5708, 1.57079632679):
        turned = Rotation.from_euler('x', angle).as_matrix()
        np.testing.assert_array_equal(without_rounding(turned)[1:, 1:] != 0.0, np.ones((2, 2)))
        np.testing.assert_allclose(without_rounding(turned), turned, rtol=0, atol=1e-15)
