"""Names that no file can have are refused like those of files that are not there."""

import pytest

import safe_sysid as ss
from safe_sysid.model.facts import facts_path

TOO_LONG = 400 * 'a'
READERS = {
    'arm': ss.load_arm,
    'recording': lambda name: ss.identify_payload(name, 'two_link'),
    'loop': lambda name: ss.plan('two_link', loop=name),
    'settings': lambda name: ss.load_arm('two_link', config=name),
    'payload': lambda name: ss.simulate_recording('moved.csv', 'two_link', name),
    'world': lambda name: ss.plan('two_link', world=name),
}


@pytest.mark.parametrize('end', ['', '.urdf', '.yaml', '.csv', '.mcap', '/in_a_folder'])
@pytest.mark.parametrize('read', READERS.values(), ids=READERS)
def test_a_name_that_is_too_long_for_any_file_is_refused_in_a_sentence(read, end):
    with pytest.raises(ss.SafeSysidError, match='a{40}'):
        read(f'{TOO_LONG}{end}')


def test_settings_that_name_such_a_urdf_are_refused(tmp_path):
    settings, shipped = tmp_path / 'arm.yaml', facts_path('two_link').read_text()
    settings.write_text(shipped.replace('urdf: two_link', f'urdf: {TOO_LONG}', 1))
    with pytest.raises(ss.SafeSysidError, match='too long'):
        ss.load_arm(settings)
