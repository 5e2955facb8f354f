"""Settings of a motion that no search could begin with are refused in a sentence."""

from dataclasses import replace
import re

import pytest

from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError
from safe_sysid.excite.settings import read_settings
from safe_sysid.share import share_directory

REFUSED = [
    ('duration: 0.001', 'duration is 0.001, it has to be at least 0.01'),
    ('duration: 1e9', 'at most 600'),
    ('duration: 0.05', 'duration is 0.05 s and sample_rate is 20 Hz, which makes 1 samples'),
    ('duration: 0.1', 'duration is 0.1 s and check_rate is 10 Hz, which makes 1 samples'),
    ('sample_rate: 1e9', 'sample_rate is 1000000000.0, it has to be above 0 and at most 10000'),
    ('sample_rate: 1e4', 'which makes 100000 samples; 2 to 20000'),
    ('check_rate: 0.01', 'check_rate is 0.01 Hz, which makes 0 samples; 2 to 20000 are needed'),
    ('command_rate: 0.01', 'command_rate is 0.01 Hz'),
    ('torque_noise: [1e-300, 1e300]', 'torque_noise is .* at least 1e-06 and at most 1e.06'),
    ('smooth: 1e-300', 'smooth is 1e-300'),
    ('order: 1000000', 'order is 1000000'),
]


@pytest.mark.parametrize(('line', 'said'), REFUSED)
def test_what_no_search_can_begin_with_is_refused(line, said, tmp_path, capsys):
    text = (share_directory() / 'config' / 'excitation.yaml').read_text(encoding='utf-8')
    path = tmp_path / 'settings.yaml'
    path.write_text(re.sub(rf'(?m)^{line.partition(":")[0]}: .*$', line, text), encoding='utf-8')
    with pytest.raises(ConfigError, match=f'settings.yaml: .*{said}'):
        read_settings(path)
    assert main(['excite', 'two_link', '--settings', str(path)]) == 2
    assert re.search(said, capsys.readouterr().err)


def test_the_fewest_and_the_most_are_allowed():
    few = replace(read_settings(), sample_rate=0.2, check_rate=0.2, command_rate=0.2)
    assert replace(few, duration=600.0, sample_rate=30.0).duration == 600.0
