"""Generate and compile safe_sysid_interfaces from the ROS wheels of this environment."""

from pathlib import Path
import sys

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'test'))

from ros.generated_messages import missing_tool, modules_of  # noqa: E402

if __name__ == '__main__':
    if missing_tool():
        sys.exit(missing_tool())
    modules = modules_of('safe_sysid_interfaces', ROOT / 'safe_sysid_interfaces')
    sys.stdout.write(f'export PYTHONPATH="{modules}${{PYTHONPATH:+:$PYTHONPATH}}"\n')
