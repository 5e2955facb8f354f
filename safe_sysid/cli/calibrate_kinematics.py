"""`safe-sysid calibrate-kinematics`: poses of the tip in, geometry of the arm as URDF out."""

import argparse

from safe_sysid.cli.calibrate import add_arm, settings_option
from safe_sysid.cli.inputs import new_folder, table
from safe_sysid.cli.output import print_figures
from safe_sysid.cli.values import share
from safe_sysid.output_file import filled_folder

HELP = 'identify the geometry of an arm from measured poses or points of its tip'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which poses of which arm, how exact they are, and where the result goes."""
    from safe_sysid.calibrate.settings import PoseNoise
    from safe_sysid.cli.setting_options import add_setting

    parser.add_argument(
        'poses', metavar='POSES', type=table,
        help='CSV with a column per joint (its name, or q_0 ...), x, y, z [m] of a marker on the '
        'tip in any fixed frame, and qx, qy, qz, qw of its orientation; without these four only '
        'points are used',
    )  # fmt: skip
    add_arm(parser)
    parser.add_argument(
        '--marker', metavar='LINK', help='link near which the marker is; default: the tip'
    )
    add_setting(parser, PoseNoise, 'position', '--position-noise')
    add_setting(parser, PoseNoise, 'rotation', '--rotation-noise')
    parser.add_argument(
        '--hold-out', metavar='SHARE', type=share, default=0.2,
        help='of the poses, which judge the fit; default: 20%%',
    )  # fmt: skip
    parser.add_argument('--out', metavar='DIR', type=new_folder, help='write the URDF into DIR')
    parser.add_argument('--json', action='store_true', help='one JSON object instead of a table')


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid calibrate-kinematics`; status 1 if poses determine too little."""
    from safe_sysid.calibrate.fitted_geometry import fitted_geometry
    from safe_sysid.calibrate.pose_table import read_poses
    from safe_sysid.calibrate.settings import PoseNoise
    from safe_sysid.cli.output import print_to_error
    from safe_sysid.cli.setting_options import chosen
    from safe_sysid.export.arm_urdf import write_geometry
    from safe_sysid.export.replaced_urdf import check_geometry_may_replace
    from safe_sysid.model.arm import arm_of

    noise = PoseNoise(**chosen(options, PoseNoise))
    with print_to_error():
        arm = arm_of(options.robot, options.config)
        if options.out is not None:
            settings = settings_option(options, arm)
            check_geometry_may_replace(options.out, arm, options.robot, settings)
        poses = read_poses(options.poses, arm.model.layout.joint_names)
        found = fitted_geometry(arm, poses, noise, options.marker, options.hold_out)
    print_figures(found.figures, for_programs=options.json)
    if options.out is not None:
        with filled_folder(options.out):
            write_geometry(found.model, arm.urdf, options.out / f'{arm.model.name}.urdf')
    return 0 if found.warning is None else 1
