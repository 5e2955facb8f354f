"""`identify` answers for the object: which it is, what it weighs alone, whether it is rigid."""

import re

import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.model.held_body import placed
from safe_sysid.model.payload import read_payload
from safe_sysid.model.uncertainty import Uncertainty, Width

pytestmark = pytest.mark.slow
KNOWN = {
    'known_links': (0.05, 0.0),
    'known_friction': 0.05,
    'known': Uncertainty(offset=Width((0.0,), (0.01,))),
    'torque_ratio': (0.025,),
    'torque_error': (0.1,),
    'velocity_error': (0.0,),
    'position_error': (0.0,),
    'payload_mass': 6.0,
    'payload_reach': 0.3,
    'unmodelled_torque': 0.1,
    'library': ('dumbbell_4lb', 'dumbbell_6lb', 'dumbbell_8lb'),
}


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp('held') / 'dumbbell.csv'
    ss.simulate_recording(path, 'kinova_gen3', 'dumbbell_8lb', motion=12.0, seed=1)
    return path


@pytest.fixture(scope='module')
def found(recording):
    return ss.identify_payload(recording, 'kinova_gen3', RecordingSettings(**KNOWN))


def test_the_sentence_is_about_the_dumbbell_alone(found):
    """The gripper of 0.92 kg is on the last joint in the URDF, so it is subtracted."""
    said = found.as_dict()['object']['sentence']
    match = re.fullmatch(
        r'the dumbbell_8lb weighs (\S+) kg: (\S+) to (\S+) kg; its centre is (\d+) cm from '
        r'gen3_bracelet_link: (\d+) to (\d+) cm',
        said,
    )
    mass, low, high, away, near, far = map(float, match.groups())
    assert low - 0.005 <= 3.629 <= high + 0.005
    assert mass == pytest.approx(3.63, abs=0.1)
    payload = read_payload('dumbbell_8lb')
    frame = ss.load_arm('kinova_gen3').model.frames['gen3_bracelet_link']
    body = placed(ss.load_arm('kinova_gen3').model, payload)
    truth = 100.0 * float(np.linalg.norm(body[1:4] / body[0] - frame.p))
    assert near - 0.5 <= truth <= far + 0.5
    assert away == pytest.approx(truth, abs=1.5)
    assert said[4:] in str(found)


def test_the_object_is_recognised_and_rigid(found):
    told = found.as_dict()['object']
    assert next(iter(told['probabilities'])) == 'dumbbell_8lb'
    assert sum(told['probabilities'].values()) == pytest.approx(1.0)
    assert told['rigid'] is True
    assert 'nothing speaks against a rigid body' in str(found)


def test_another_object_is_none_of_these(recording):
    without = {**KNOWN, 'library': ('dumbbell_4lb',)}
    found = ss.identify_payload(recording, 'kinova_gen3', RecordingSettings(**without))
    told = found.as_dict()['object']
    assert next(iter(told['probabilities'])) == 'none of these'
    assert told['sentence'].startswith('the object weighs')
