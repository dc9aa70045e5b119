// The entries of kube-system/aws-auth in comparable form. Judges nothing.
import { type JsonObject, objectOr } from '../../../../src/api/json.ts';
import { type AwsAuthEntry, awsAuthEntries } from '../../../../src/formats/index.ts';
import { textOf } from '../../state/read.ts';

/** Comparable form of a role ARN: an assumed role has no path, and case does not matter. */
export const comparable = (arn: string): string =>
  arn.toLowerCase().replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/, '$1/$2');

export const dataOf = (map: JsonObject): JsonObject => objectOr(map.data);
/** Undefined: unreadable. */
export const entriesOf = (map: JsonObject): readonly AwsAuthEntry[] | undefined =>
  awsAuthEntries(textOf(dataOf(map).mapRoles));
export const hasRole = (map: JsonObject, role: string): boolean =>
  entriesOf(map)?.some(({ arn }) => arn.toLowerCase() === role) === true;

export const covers = (after: AwsAuthEntry, before: AwsAuthEntry): boolean =>
  comparable(after.arn) === comparable(before.arn) &&
  after.username === before.username &&
  before.groups.every((group) => after.groups.includes(group));
