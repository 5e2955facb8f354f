"""URDFs that are written are XML that others read, with what belongs to their source."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.export.arm_urdf import write_dynamics, write_geometry
from safe_sysid.export.gazebo import write_gazebo
from safe_sysid.export.payload_simulators import mjcf, urdf
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.model.arm import arm_of
from safe_sysid.sets.interval import Interval

LICENCE = ' Müller: a <robot name="old"> was here, see LICENSE '
MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual></link>'
TETRAHEDRON = 'solid a\n' + 4 * (
    'facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n'
)


@pytest.fixture
def arm(tmp_path):
    """The two-link arm in Latin-1, with a licence, hyphens, and meshes beside the file."""
    source = tmp_path / 'there' / 'odd.urdf'
    (source.parent / 'meshes').mkdir(parents=True)
    (source.parent / 'meshes' / 'a b.stl').write_text(TETRAHEDRON)
    text = arm_of('two_link', None).urdf.read_text(encoding='utf-8')
    body = text[text.index('<robot') :].replace('joint_2', 'joint---2')
    for name in ('meshes/a b.stl', 'package://elsewhere/b.stl', 'meshes/none.stl'):
        body = body.replace('</link>', MESH.format(name), 1)
    head = f'<?xml version="1.0" encoding="ISO-8859-1"?>\n<!--{LICENCE}-->\n'
    source.write_bytes((head + body).encode('latin-1'))
    return arm_of(str(source), None)


def payload_urdf(arm, path):
    nominal = arm.model.theta[arm.model.layout.end_effector]
    path.write_text(urdf(arm, Body('', nominal, Interval.of(nominal))), encoding='utf-8')


def gazebo(arm, path):
    write_gazebo(arm, 'jazzy', 0.001, path.parent)[0].rename(path)


WRITERS = {
    'payload': payload_urdf,
    'gazebo': gazebo,
    'dynamics': lambda arm, path: write_dynamics(arm.model, {}, arm.urdf, path),
    'geometry': lambda arm, path: write_geometry(arm.model, arm.urdf, path),
}


@pytest.mark.parametrize('write', WRITERS.values(), ids=WRITERS)
def test_what_is_written_is_read_by_others(arm, tmp_path, write):
    path = tmp_path / 'here' / 'new.urdf'
    path.parent.mkdir()
    write(arm, path)
    ElementTree.parse(path)
    read = pin.buildModelFromUrdf(str(path))
    assert list(read.names)[1:] == ['joint_1', 'joint---2']
    for i, inertia in enumerate(read.inertias[1:]):
        phi = arm.model.theta[arm.model.layout.inertial(i)]
        np.testing.assert_allclose(inertia.toDynamicParameters(), phi, atol=1e-9)
    assert path.read_text(encoding='utf-8').count(f'<!--{LICENCE}-->') == 1


@pytest.mark.parametrize('write', WRITERS.values(), ids=WRITERS)
def test_meshes_are_found_from_the_new_folder(arm, tmp_path, write):
    path = tmp_path / 'here' / 'new.urdf'
    path.parent.mkdir()
    write(arm, path)
    there, package, none = [x.get('filename') for x in ElementTree.parse(path).iter('mesh')]
    assert Path(there).is_absolute() and Path(there).read_text() == TETRAHEDRON
    assert (package, none) == ('package://elsewhere/b.stl', 'meshes/none.stl')


@pytest.mark.parametrize('frame', ['a--b', 'a---b', '----'])
def test_hyphens_in_names_end_no_comment(frame):
    nominal = pin.Inertia.FromSphere(2.0, 0.1).toDynamicParameters()
    body = Body(frame, nominal, Interval.of(nominal))
    assert ElementTree.fromstring(mjcf(body)).find('worldbody/body/inertial') is not None
