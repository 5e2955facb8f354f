"""Names of the formats that identified bodies can be exported to, for the command line."""

FORMATS = {
    'urdf': 'the URDF of the arm with the identified body as inertia of its last link',
    'mjcf': 'MJCF body of the payload, to be attached at the flange',
    'ur': 'URScript set_target_payload',
    'franka': 'libfranka setLoad',
    'kuka': 'KRL LOAD_DATA',
    'abb': 'RAPID loaddata',
}
