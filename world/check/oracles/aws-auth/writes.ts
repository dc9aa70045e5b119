// A write of the controller keeps every entry of others, is based on the version that it read, and
// removes no role of a group that still has nodes.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import type { Context } from '../../oracle.ts';
import type { Request } from '../../state/book.ts';
import { textOf } from '../../state/read.ts';
import { comparable, covers, dataOf, entriesOf } from './entries.ts';
import type { Roles } from './roles.ts';

const judge = (
  { saw, report }: Context,
  roles: Roles,
  { before, after, body }: Readonly<Record<'before' | 'after' | 'body', JsonObject>>,
): void => {
  const tell = (message: string): void => report({ subject: 'aws-auth', message });
  saw();
  if (textOf(objectOr(body.metadata).resourceVersion) === '') {
    tell('written without the version that was read');
  }
  for (const [key, value] of Object.entries(dataOf(before))) {
    if (key !== 'mapRoles' && dataOf(after)[key] !== value) tell(`${key} was changed`);
  }
  const had = entriesOf(before);
  const has = entriesOf(after) ?? [];
  if (had === undefined) {
    tell('written over what nobody can read');
    return;
  }
  for (const entry of had) {
    if (has.some((one) => covers(one, entry))) continue;
    const role = comparable(entry.arn);
    const user = roles.userOf(role);
    if (!roles.added.has(role)) tell(`lost ${entry.arn}, which is not ours`);
    else if (user !== undefined) {
      tell(`took out ${entry.arn}, which node group ${user} has nodes of`);
    }
  }
  for (const { arn } of has) {
    if (had.some((one) => comparable(one.arn) === comparable(arn))) continue;
    roles.added.add(comparable(arn));
  }
};

export const checkWrite = (context: Context, roles: Roles, request: Request): void => {
  const written = roles.written(request);
  if (written !== undefined) judge(context, roles, { ...written, body: objectOr(request.body) });
};
