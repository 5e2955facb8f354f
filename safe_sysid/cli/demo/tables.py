"""What the demo prints in the end: wrong claims, parameters with their bounds, and promises."""

from __future__ import annotations

from safe_sysid.audit.ledger import Ledger
from safe_sysid.cli.demo.belief import Claim
from safe_sysid.cli.demo.outcome import DemoOutcome
from safe_sysid.cli.demo.taught import taught_text
from safe_sysid.model.inertia import LABELS, UNITS


def tables(outcome: DemoOutcome) -> str:
    """All that is to be said in the end."""
    errand = outcome.errand
    answer = f'\n{outcome.thing.sentence("The dumbbell")} (gripper subtracted).'
    known = taught_text(outcome.lessons), _parameter_text(outcome), answer
    return '\n'.join([_claim_text(errand.claim), *known, _ledger_text(errand.ledger)])


def _claim_text(claim: Claim) -> str:
    verdict = 'all would have been' if claim.would_hold else 'not all would have been'
    lines = [
        f'\nThe motions with the dumbbell, certified for an empty gripper ({verdict}):',
        '',
        f'  {"joint":9} {"applied [N m]":>18} {"claimed [N m]":>18}   outside   by up to',
    ]
    for j in claim.worst:
        applied = f'{claim.tau[:, j].min():.1f} … {claim.tau[:, j].max():.1f}'
        claimed = f'{claim.lower[:, j].min():.1f} … {claim.upper[:, j].max():.1f}'
        lines.append(
            f'  {claim.joint_names[j]:9} {applied:>18} {claimed:>18} '
            f'{100.0 * claim.outside[j]:7.0f} % {claim.beyond[j]:8.1f} N m'
        )
    return '\n'.join(lines)


def _parameter_text(outcome: DemoOutcome) -> str:
    last, truth = outcome.errand.known, outcome.errand.truth
    lower, nominal, upper = last.lower[-1], last.nominal[-1], last.upper[-1]
    lines = [
        '\nWhat the gripper with its dumbbell is, about the frame of the last joint\n',
        f'  {"":4} {"lower":>10} {"nominal":>10} {"upper":>10} {"truth":>10}',
    ]
    for i, (label, unit) in enumerate(zip(LABELS, UNITS, strict=True)):
        row = ' '.join(f'{x[i]:10.4g}' for x in (lower, nominal, upper, truth))
        is_inside = lower[i] <= truth[i] <= upper[i]
        lines.append(f'  {label:4} {row}  {unit:6} {"inside" if is_inside else "OUTSIDE"}')
    return '\n'.join(lines)


def _ledger_text(ledger: Ledger) -> str:
    width = max(len(entry.promise) for entry in ledger.entries)
    rows = (
        f'  {"✓" if e.is_kept else "✗"} {e.promise:<{width}}  {e.finding}' for e in ledger.entries
    )
    return '\n'.join(['\nWhat was promised\n', *rows])
