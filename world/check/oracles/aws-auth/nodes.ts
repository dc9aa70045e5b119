// The role of a new group is in aws-auth before its nodes start, and no role of a deleted group is
// left at the end.
import { objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { Call } from '../../state/book.ts';
import { objectsOf, textOf } from '../../state/read.ts';
import { comparable, hasRole } from './entries.ts';
import type { Roles } from './roles.ts';

export const checkLaunch = (
  { book, saw, report }: Context,
  roles: Roles,
  { operation, input, error, userAgent }: Call,
): void => {
  if (operation !== 'CreateAutoScalingGroup' || error !== undefined) return;
  if (!book.isOurs({ userAgent }) || roles.map === undefined) return;
  const tag = objectsOf(input.Tags).find((one) => one.Key === 'eks:nodegroup-name');
  const name = textOf(tag?.Value);
  const group = roles.groups.get(name);
  if (group === undefined || book.now - roles.foreignAt < book.lagMicros) return;
  saw();
  const role = textOf(objectOr(group.spec).nodeRole);
  if (hasRole(roles.map, comparable(role))) return;
  report({ subject: name, message: `its nodes start before ${role} is in aws-auth` });
};

export const checkEnd = ({ book, report }: Context, { map, added, groups }: Roles): void => {
  if (!book.facts.settled || map === undefined) return;
  for (const role of added) {
    const isUsed = [...groups.values()].some(
      ({ spec }) => comparable(textOf(objectOr(spec).nodeRole)) === role,
    );
    if (isUsed || !hasRole(map, role)) continue;
    report({ subject: 'aws-auth', message: `${role} is left of a deleted group` });
  }
};
