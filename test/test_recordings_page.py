"""Every command of docs/recordings.md runs in a clean folder with the files that it names."""

from pathlib import Path
import re
import shlex
import shutil

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest

from safe_sysid.cli.main import main
from safe_sysid.model import inertia

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r'^```bash\n(.*?)^```', re.MULTILINE | re.DOTALL)
KNOWN = inertia.from_mass_com_inertia(
    np.array(1.0), np.array([0.1, 0.02, 0.0]), np.diag([0.002, 0.002, 0.002])
)


@pytest.mark.slow
def test_every_command_of_the_page_runs(tmp_path, monkeypatch, capsys):
    arm = TwoLinks(np.random.default_rng(1))
    header = ','.join(['time', 'q_0', 'q_1', 'tau_0', 'tau_1'])
    bodies = {'empty': 0.0 * PAYLOAD, 'loaded': PAYLOAD, 'with_1kg': KNOWN}
    for name, payload in bodies.items():
        log = arm.log(payload, 40.0)
        table = np.column_stack([np.arange(len(log.q)) / log.rate, log.q, log.tau])
        np.savetxt(tmp_path / f'{name}.csv', table, '%.9g', ',', header=header, comments='')
    shutil.copy(ROOT / 'urdf' / 'two_link.urdf', tmp_path / 'my_arm.urdf')
    monkeypatch.chdir(tmp_path)
    page = (ROOT / 'docs' / 'recordings.md').read_text('utf-8')
    lines = ''.join(BLOCK.findall(page)).splitlines()
    assert len(lines) >= 6
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program == 'safe-sysid'
        assert main(arguments) == 0, line
        said = capsys.readouterr().out
        if arguments[0] == 'identify':
            mass = float(re.search(r'payload weighs ([\d.]+) kg', said).group(1))
            assert mass == pytest.approx(PAYLOAD[0], abs=0.1), line
    for made in ('payload.html', 'payload.script', 'gains.yaml', 'calibrated/my_arm.promise.npz'):
        assert (tmp_path / made).exists()
