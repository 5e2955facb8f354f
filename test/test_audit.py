"""What `make audit` says of each answer that pip-audit gives, in the form of its JSON."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent
SPEC = importlib.util.spec_from_file_location('audit', ROOT / 'tools' / 'audit.py')
audit = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(audit)

SKIPPED = {'name': 'numba', 'skip_reason': 'Dependency not found on PyPI'}
CLEAN = {'name': 'numpy', 'version': '2.4.6', 'vulns': []}
VULNERABLE = {
    'name': 'jinja2',
    'version': '2.4.1',
    'vulns': [{'id': 'PYSEC-2014-8', 'fix_versions': ['2.7.2'], 'aliases': [], 'description': ''}],
}


def test_a_vulnerable_package_is_named_with_the_version_that_mends_it():
    status, said = audit.verdict([CLEAN, VULNERABLE, SKIPPED])
    assert status == 1
    assert 'jinja2 2.4.1 has PYSEC-2014-8, mended in 2.7.2' in said
    assert '2 of 3 packages looked up, 1 vulnerabilities' in said


def test_packages_without_vulnerabilities_pass():
    assert audit.verdict([CLEAN]) == (0, 'audit: 1 of 1 packages looked up, 0 vulnerabilities')


def test_where_nothing_could_be_looked_up_it_does_not_say_that_all_is_well():
    for answer in ([], [SKIPPED]):
        assert audit.verdict(answer) == (
            0,
            'audit: the list of vulnerabilities can not be reached, nothing was audited',
        )
