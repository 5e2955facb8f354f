"""What the doctor looks at in a URDF that has no settings yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from safe_sysid.cli.doctor.findings import DoctorFinding, failed, passed, warning
from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_files import mesh_file
from safe_sysid.model.description.chain import chosen_chain
from safe_sysid.model.description.doubtful_figures import (
    BARRING,
    friction_doubts,
    inertia_doubts,
    joint_figures,
    limit_doubts,
)
from safe_sysid.model.description.static_torques import described_static_torques
from safe_sysid.model.urdf_tree import read_urdf


def description_findings(urdf: Path, package_paths: Sequence[Path]) -> Iterator[DoctorFinding]:
    """Everything there is to say about a URDF alone."""
    try:
        root = read_urdf(urdf)
        chain = chosen_chain(root, urdf, None, None, {})
        static = described_static_torques(root, urdf, chain)
    except ModelError as error:
        yield failed('URDF', str(error), f'mend {urdf}, or choose: safe-sysid new-arm {urdf} ...')
        return
    yield passed('URDF', f'{urdf}: joints {", ".join(chain.joints)}; ends at {chain.tip}')
    yield _meshes(root, urdf, package_paths)
    figures = joint_figures(root, chain.joints)
    links = {str(link.get('name')) for link in root.findall('link')}
    doubts = [*friction_doubts(figures), *limit_doubts(figures, static)]
    for doubt in [*doubts, *inertia_doubts(root, links, {})]:
        if doubt.rule in BARRING:
            option = f'--{doubt.rule.partition("-")[0]} {doubt.name}=VALUE'
            yield failed('figures', str(doubt), f'give that of the data sheet: new-arm {option}')
        else:
            yield warning('figures', str(doubt), 'counts as unknown until a calibration finds it')
    yield warning(
        'settings',
        'none: capsules, pairs, sensors and drives are not described',
        f'safe-sysid new-arm {urdf} --kind torque-sensor|current|direct --out DIR writes them; or '
        'name those that there are with --config YAML',
    )


def _meshes(root: ElementTree.Element, urdf: Path, package_paths: Sequence[Path]) -> DoctorFinding:
    """Name the meshes that are nowhere."""
    missing, found = [], 0
    for name in sorted({mesh.get('filename', '') for mesh in root.iter('mesh')}):
        try:
            mesh_file(name, urdf, package_paths)
            found += 1
        except ModelError as error:
            missing.append(str(error))
    if missing:
        more = f'; and {len(missing) - 1} more' if len(missing) > 1 else ''
        return failed('meshes', missing[0] + more, 'say where packages are with --package-path')
    return passed('meshes', f'{found} files, all of them there')
