// Why a plan is blocked and what can be done, as text for `plan` and for `update`. Pure.
import type { UpdatePlan } from '../../core/update/plan/index.ts';

/**
 * `by other-actor: remove the causes; ...`: blockers that cannot be waived are listed separately.
 */
export const blockedText = ({ findings }: Pick<UpdatePlan, 'findings'>): string => {
  const left = findings.filter(
    ({ severity, waived }) => severity === 'blocker' && waived === undefined,
  );
  const namesOf = (some: typeof left): string =>
    [...new Set(some.map(({ check }) => check))].join(', ');
  const refused = left.filter(({ isRefused }) => isRefused === true);
  const remedies = [
    refused.length === left.length
      ? 'remove the causes'
      : 'remove the causes, or accept them with --waive CHECK=reason',
    ...(refused.length === 0
      ? []
      : [`the update itself is refused by ${namesOf(refused)}, which no waiver changes`]),
  ];
  return `by ${namesOf(left)}: ${remedies.join('; ')}`;
};
