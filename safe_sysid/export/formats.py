"""Names of the formats that identified bodies can be exported to, and who is told of what."""

FORMATS = {
    'urdf': 'the URDF of the arm with the identified body as inertia of its last link',
    'mjcf': 'MJCF body of the payload, to be attached at the flange',
    'ur': 'URScript set_target_payload',
    'franka': 'libfranka setLoad, of the object without what the URDF has there',
    'kuka': 'KRL LOAD_DATA',
    'abb': 'RAPID loaddata',
}
WHOLE = ('ur', 'ur-script', 'kuka', 'abb')  # are told of all that is behind the flange
ALONE = ('franka', 'moveit')  # know the gripper, and are told of the object without it
NO_OBJECT = 'the arm holds less than what its URDF has on the last joint'
