"""Which processes every way of running starts; launch files and `safe-sysid run` both ask here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
import json
import os
from pathlib import Path
import re
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from safe_sysid.bringup.isolation import is_secured
from safe_sysid.bringup.settings_file import SettingsFile, settings_path
from safe_sysid.config import Positive
from safe_sysid.errors import ConfigError

if TYPE_CHECKING:
    from safe_sysid.loop_settings import LoopSettings

ROBOT = 'kinova_gen3'
LOOP = ('identifier', 'planner', 'controller', 'supervisor')
SIMULATORS = ('builtin_sim_bridge', 'drake_bridge', 'mujoco_bridge')
BRIDGES = (*SIMULATORS, 'ros2_control_bridge', 'lbr_fri_bridge', 'franka_bridge')
MANAGED = ('identifier', 'planner', 'controller')  # with every bridge: by the supervisor
NAMESPACE = re.compile(r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)
OBSERVERS = ('recorder', 'monitor')  # that never end a run
Parameters = Mapping[str, object]

# Where simulated time waits for answers, work ends by counts of its own: what is found does not
# depend on how fast or busy a machine is.
NO_CLOCK = 1000.0  # [s]
UNHURRIED: Mapping[str, Parameters] = {
    'identifier': {
        'identifier.solve.seconds': NO_CLOCK,
        'identifier.solve.fit_seconds': NO_CLOCK,
    },
    'planner': {
        'planner.pace': NO_CLOCK,
        'planner.search.ipopt_seconds': NO_CLOCK,
        'mission.route_seconds': NO_CLOCK,
    },
}
SIMULATED: Mapping[str, Parameters] = {
    'supervisor': {'autostart': True},  # nobody has to watch a simulated arm begin
}


@dataclass(frozen=True)
class BringupProfile:
    """A way of running: its nodes, and parameters that belong to it and not to an arm."""

    summary: str
    nodes: tuple[str, ...]
    parameters: Mapping[str, Parameters] = field(default_factory=dict)
    robot: str = ROBOT  # where none is named
    namespace: str = ''  # of the loop, where the driver has topics of the same names


BACKENDS = {
    'loop': BringupProfile('the loop alone; a bridge is started elsewhere', LOOP),
    'builtin_sim': BringupProfile(
        'the built-in simulator', (*LOOP, 'builtin_sim_bridge'), SIMULATED
    ),
    'drake_sim': BringupProfile(
        'Drake',
        (*LOOP, 'drake_bridge'),
        SIMULATED,
    ),
    'mujoco_sim': BringupProfile(
        'MuJoCo',
        (*LOOP, 'mujoco_bridge'),
        SIMULATED,
    ),
    'gazebo_sim': BringupProfile(
        'Gazebo through ros2_control',
        (*LOOP, 'ros2_control_bridge'),
        {'ros2_control_bridge': {'use_sim_time': True, 'probe.driver': 'trusted'}},
        namespace='safe_sysid',
    ),
    'kinova': BringupProfile(
        'a Kinova arm through ros2_control',
        (*LOOP, 'ros2_control_bridge'),
        namespace='safe_sysid',
    ),
    'lbr_fri': BringupProfile(
        'a KUKA LBR through FRI', (*LOOP, 'lbr_fri_bridge'), robot='lbr_med7'
    ),
    'franka': BringupProfile(
        'a Franka robot through libfranka', (*LOOP, 'franka_bridge'), robot='fr3'
    ),
    'replay': BringupProfile(
        'a recorded bag through the identifier alone',
        ('identifier', 'replay_bridge'),
        {'identifier': {'waits_for_mode': False}},
    ),
}


@dataclass(frozen=True)
class Choices:
    """What a user may choose; empty means what the settings file says."""

    robot: str = ''  # arm of config/robots; none: the one of the settings
    config: str = ''  # settings of the nodes; none: config/loop/<robot>.yaml
    world: str = ''  # obstacles, of config/worlds or a file; none: those of the settings
    payload: str = ''  # what the arm may hold, of config/payloads or a file; none: as config says
    record: str = ''  # record a bag into this folder; none: no recording
    bag: str = ''  # to replay: folder or file
    speed: Positive | None = None  # of a replay, times as fast as it was recorded; none: 1
    lockstep: bool = False  # simulators and replay: time waits for every answer, none is lost
    namespace: str = ''  # of all nodes and topics, for a second arm; none: that of the way
    once: bool = False  # end when the task is done, or with status 1 at a fault
    one_process: bool = False  # controller and bridge, so that no message is between them
    extra: tuple[str, ...] = ()  # other parameters as NAME:=VALUE or NODE:NAME:=VALUE


@dataclass(frozen=True)
class Process:
    """One node, its settings file, and parameters that come before those of the file."""

    node: str
    settings: Path
    parameters: Parameters
    namespace: str = ''
    clock: str = '/clock'  # topic of the time of the robot
    host: str = ''  # node in whose process this one lives; none: in one of its own

    @property
    def executable(self) -> str:
        """Name under which it is installed."""
        return executable_of(self.node)

    @property
    def enclave(self) -> str:
        """Path of its keys, where SROS 2 is in use."""
        return full_name(self.namespace, self.node)

    @property
    def module(self) -> str:
        """Python module that runs it."""
        folder = 'bridges' if self.executable == self.node else 'nodes'
        return f'safe_sysid.ros.{folder}.{self.executable}'


def executable_of(node: str) -> str:
    """Bridges are called by what they bridge, the rest by what they do."""
    return node if node in (*BRIDGES, 'replay_bridge') else f'{node}_node'


def full_name(namespace: str, node: str) -> str:
    """Return the name of a node in ROS."""
    return f'/{namespace}/{node}' if namespace else f'/{node}'


def nodes() -> list[str]:
    """All nodes that any way starts, and those that join on request."""
    every = dict.fromkeys(node for way in BACKENDS.values() for node in way.nodes)
    return [*every, *OBSERVERS]


def processes_of(name: str, choices: Choices) -> list[Process]:
    """Return processes of a way of running."""
    from safe_sysid.loop_settings import agreed_settings  # numerics; not for --help

    if name not in BACKENDS:
        raise ConfigError(f"no way to run '{name}', there are {list(BACKENDS)}")
    way = BACKENDS[name]
    namespace = namespace_of(choices.namespace) or way.namespace
    path = settings_path(choices.config, choices.robot or way.robot)
    known = {node: full_name(namespace, node) for node in nodes()}
    settings = SettingsFile.read(path, list(known.values()))
    in_file = {node: settings.of(name) for node, name in known.items()}
    if choices.record:
        _check_writable(Path(choices.record))
    started = [*way.nodes, *(['recorder'] if choices.record else []), 'monitor']
    _check_use(name, choices, started)
    given = {node: _parameters(way, node, choices, in_file[node]) for node in started}
    every = {node: {**in_file[node], **own} for node, own in given.items()}
    _check_bag(every)
    loop = agreed_settings(every)
    _check_time(name, loop)
    told = _of_readings(way, choices, every, loop)
    given['identifier'] = {**told, **given['identifier']}
    processes = [
        Process(
            node,
            path,
            given[node],
            namespace,
            # each simulator has a time of its own
            'clock' if choices.namespace and set(way.nodes) & {*SIMULATORS} else '/clock',
        )
        for node in started
    ]
    processes = [_with_names(process, started) for process in processes]
    return _hosted(name, processes) if choices.one_process else processes


def namespace_of(name: str) -> str:
    """Return a namespace of ROS without slashes at its ends, or say what is allowed."""
    bare = name.strip('/')
    if bare and not NAMESPACE.fullmatch(bare):
        raise ConfigError(
            f"namespace '{name}': each part between slashes has to be letters, digits and "
            'underscores, and begin with no digit'
        )
    return bare


def _hosted(way: str, processes: list[Process]) -> list[Process]:
    """Have the controller live in the process of the bridge."""
    if is_secured(os.environ):
        raise ConfigError(
            'one_process: with SROS 2 every node has keys of its own, so each is a process'
        )
    bridges = [each.node for each in processes if each.node in BRIDGES]
    if not bridges:
        raise ConfigError(
            f"one_process: '{way}' starts no bridge beside a controller; ways that do: "
            f'{[each for each, profile in BACKENDS.items() if set(profile.nodes) & {*BRIDGES}]}'
        )
    (bridge,) = bridges
    told = {'has_controller': True}
    return [
        replace(
            each,
            host=bridge if each.node == 'controller' else '',
            parameters={**each.parameters, **(told if each.node == bridge else {})},
        )
        for each in processes
    ]


def _with_names(process: Process, started: list[str]) -> Process:
    """Hand the parameters of all to the recorder, which finds them by their names."""
    if process.node != 'recorder':
        return process
    return replace(process, parameters={**process.parameters, 'started': started})


def _check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before anything moves."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        with TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise ConfigError(
            f'record: {folder} cannot be made, nothing can be written in {there} '
            f'({error.strerror}); nothing was started'
        ) from error


def _check_use(name: str, choices: Choices, started: list[str]) -> None:
    """Refuse what was chosen for a node that is not started."""
    has = f"'{name}' starts {started}"
    for text in choices.extra:
        whom, *_ = _parsed(text)
        if whom and whom not in started:
            cure = '; record starts it' if whom == 'recorder' else ''
            raise ConfigError(f"parameter '{text}': {has}, and no '{whom}'{cure}")
    for option, node in (
        ('world', 'planner'),
        ('bag', 'replay_bridge'),
        ('speed', 'replay_bridge'),
    ):
        if getattr(choices, option) and node not in started:
            raise ConfigError(f'{option}: is for the node {node}, and {has}')


def _check_bag(every: Mapping[str, Parameters]) -> None:
    """Refuse a replay of nothing."""
    if 'replay_bridge' in every and not every['replay_bridge'].get('bag'):
        raise ConfigError('bag: is not given, it has to be the folder or file of a recording')


def _check_time(name: str, loop: LoopSettings) -> None:
    """Refuse lockstep where a driver has a time of its own."""
    for driver in set(BACKENDS[name].nodes) & {*BRIDGES} - {*SIMULATORS}:
        if loop.is_lockstep:
            raise ConfigError(
                f"timing is lockstep, and '{name}' has a driver behind its {driver}, whose time "
                f'waits for nobody; lockstep is for {[*SIMULATORS, "replay_bridge"]}'
            )


def _parameters(
    way: BringupProfile, node: str, choices: Choices, in_file: Parameters
) -> dict[str, object]:
    """On top of the settings file: what the way needs and what was chosen."""
    said, options = _said(node, choices), _options(node, choices)
    for name in said.keys() & options.keys():
        if said[name] != options[name]:
            raise ConfigError(
                f"'{name}' of node '{node}' is {options[name]!r} by an option of its own and "
                f'{said[name]!r} by -p; give one of them'
            )
    own = dict(way.parameters.get(node, {}))
    if {'timing': '', **in_file, **said, **options}['timing'] == 'lockstep':
        unhurried = UNHURRIED.get(node, {})
        own |= {name: value for name, value in unhurried.items() if name not in in_file}
    if 'supervisor' in way.nodes and node in (*MANAGED, *BRIDGES):
        own['waits_to_be_activated'] = True
    if set(way.nodes) & set(SIMULATORS):
        own['simulated'] = True  # only then anything is assumed of the arm
    return {**own, **said, **options}


def _said(node: str, choices: Choices) -> dict[str, object]:
    """Parameters of a node that were chosen one by one."""
    said: dict[str, object] = {}
    for text in choices.extra:
        whom, name, value = _parsed(text)
        if whom in ('', node):
            said[name] = value
    return said


def _of_readings(
    way: BringupProfile,
    choices: Choices,
    every: Mapping[str, Parameters],
    loop: LoopSettings,
) -> dict[str, object]:
    """Return how the samples of a simulator are, in parameters of the identifier beside it."""
    for bridge in set(way.nodes) & set(SIMULATORS):
        from safe_sysid.bringup.told_readings import told_of_readings

        asked, chosen = (bridge, every[bridge]), _said('identifier', choices)
        return told_of_readings(loop, asked, every['identifier'], chosen)
    return {}


def _options(node: str, choices: Choices) -> dict[str, object]:
    """Parameters of a node that have an option of their own, where it was given."""
    given: dict[str, object] = {'robot': choices.robot, 'payload': choices.payload}
    given['timing'] = 'lockstep' if choices.lockstep else ''
    recorded: Parameters = {'recorded': bool(choices.record)}
    own: Mapping[str, Parameters] = {
        'planner': {'world': choices.world},
        'recorder': {'folder': choices.record},
        'replay_bridge': {'bag': choices.bag, 'speed': choices.speed, **recorded},
        **dict.fromkeys(SIMULATORS, recorded),
        'monitor': {'once': choices.once},
    }
    return {name: value for name, value in {**given, **own.get(node, {})}.items() if value}


def _parsed(text: str) -> tuple[str, str, object]:
    """Node, name and value of a parameter that was given one by one; no node is all of them."""
    left, mark, right = text.partition(':=')
    whom, _, name = left.rpartition(':')
    if not mark or not name or not right:
        raise ConfigError(f"parameter '{text}' is not NAME:=VALUE or NODE:NAME:=VALUE")
    if whom and whom not in nodes():
        raise ConfigError(f"parameter '{text}': no node '{whom}', there are {nodes()}")
    try:
        return whom, name, json.loads(right)
    except json.JSONDecodeError as error:  # a text without quotes
        if right[0] in '[{':
            raise ConfigError(
                f"parameter '{text}': {right} is no list or mapping in JSON ({error.msg}); each "
                'text in one has double quotes'
            ) from error
        return whom, name, right


def started_alone(processes: list[Process]) -> list[Process]:
    """Return those that are processes of their own."""
    return [process for process in processes if not process.host]


def write_choices(processes: list[Process], path: Path) -> Path:
    """Parameters of all processes as a parameter file of ROS; JSON is YAML.

    ROS ranks what is said of all nodes below what a file says of one, so that options on a command
    line could not change a settings file; a second file that names each node can.
    """
    blocks = {
        f'/**/{process.node}': {'ros__parameters': process.parameters}
        for process in processes
        if process.parameters
    }
    path.write_text(json.dumps(blocks or {'/**': {'ros__parameters': {'use_sim_time': False}}}))
    return path
