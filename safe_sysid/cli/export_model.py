"""`safe-sysid export-model`: an arm as files for CasADi, C or acados."""

import argparse

from safe_sysid.cli.inputs import add_config, new_folder, payload, robot, settings_file

HELP = 'write an arm as CasADi functions, C code or an acados model, theta free'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which arm holds what, in which format, and where to."""
    parser.add_argument(
        'robot',
        metavar='ROBOT',
        type=robot,
        help='an arm that comes with the package, its settings (YAML), or a URDF',
    )
    add_config(parser)
    parser.add_argument(
        '--payload',
        metavar='NAME|YAML',
        type=payload,
        help='what it holds, such as rod_tool; default: nothing',
    )
    parser.add_argument(
        '--format',
        choices=('casadi', 'c', 'acados'),
        default='casadi',
        help='casadi: a file for each function (default); c: source, header and CMake; acados: '
        'a Python module',
    )
    parser.add_argument(
        '--with-bounds',
        action='store_true',
        help='write the interval of theta too: that of the loop file, before anything is measured',
    )
    parser.add_argument(
        '--loop',
        metavar='YAML',
        type=settings_file,
        help='loop file with the prior, for --with-bounds; default: that of the arm',
    )
    parser.add_argument(
        '--out', metavar='DIR', type=new_folder, required=True, help='folder to write to'
    )


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid export-model`."""
    from safe_sysid.api.arms import load_arm
    from safe_sysid.api.model_export import export_model, prior_bounds

    arm = load_arm(options.robot, options.config)
    payload = options.payload
    bounds = prior_bounds(arm, options.loop, payload) if options.with_bounds else None
    for path in export_model(arm, options.out, options.format, payload, bounds):
        print(path)
    return 0
