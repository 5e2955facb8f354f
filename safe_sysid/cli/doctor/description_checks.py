"""What the doctor looks at in a URDF that has no settings yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from safe_sysid.cli.doctor.findings import DoctorFinding, failed, passed, warning
from safe_sysid.errors import ModelError
from safe_sysid.export.new_arm_loop import LINKS
from safe_sysid.model.collision.mesh_files import mesh_file
from safe_sysid.model.description.chain import ChosenChain, chosen_chain
from safe_sysid.model.description.doubtful_figures import (
    BARRING,
    IMPOSSIBLE,
    FigureDoubt,
    friction_doubts,
    inertia_doubts,
    joint_figures,
    limit_doubts,
)
from safe_sysid.model.description.static_torques import described_static_torques
from safe_sysid.model.urdf_tree import parents, read_urdf


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
    doubts = [*friction_doubts(figures), *limit_doubts(figures, static)]
    doubts += inertia_doubts(root, _moved_links(root, chain), {})
    yield from map(_doubted, doubts)
    yield warning(
        'settings',
        'none: capsules, pairs, sensors and drives are not described',
        f'safe-sysid new-arm {urdf} --kind torque-sensor|current|direct --out DIR writes them; or '
        'name those that there are with --config YAML',
    )


def _moved_links(root: ElementTree.Element, chain: ChosenChain) -> set[str]:
    """Links whose inertia counts: those that the first joint of the arm moves."""
    above, joint = parents(root), chain.joints[0]
    first = next(x for x in root.findall('joint') if x.get('name') == joint).find('child')
    moved = set() if first is None else {first.get('link', '')}
    while more := {link for link, under in above.items() if under in moved} - moved:
        moved |= more
    return moved


def _doubted(doubt: FigureDoubt) -> DoctorFinding:
    """Say what counts in the place of a doubtful figure."""
    kind, said = doubt.rule.partition('-')[0], str(doubt)
    if doubt.rule in BARRING:
        remedy = f'give that of the data sheet: new-arm --{kind} {doubt.name}=VALUE'
        return failed('figures', said, remedy)
    if doubt.rule == IMPOSSIBLE:
        return failed('figures', said, 'correct the <inertia> of the link: no body has it')
    if kind == 'inertia':
        return warning(
            'figures',
            said,
            'counts as it stands, in the loop of new-arm to '
            f'{100.0 * LINKS:g} %: correct it in the URDF, or calibrate the arm',
        )
    return warning('figures', said, 'counts as unknown until a calibration finds it')


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
