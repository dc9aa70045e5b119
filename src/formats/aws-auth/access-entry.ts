// Checks an access entry together with its role, as `aws eks describe-access-entry` and `aws iam
// get-role` print them: whether the entry still refers to that role. EKS binds an entry to the
// role's unique id, not to its ARN.
import type { Problem } from '../node/problem.ts';
import { find, type Located, textOf } from '../user-data/located.ts';
import { parseYaml } from '../user-data/yaml.ts';

/** The AWS CLI prints ISO 8601, or seconds since 1970. */
const timeOf = (value: Located | undefined): number | undefined => {
  if (value?.kind !== 'scalar') return undefined;
  if (typeof value.value === 'number') return value.value * 1000;
  const time = Date.parse(String(value.value));
  return Number.isNaN(time) ? undefined : time;
};

/**
 * Consecutive JSON documents are not valid YAML; with separators between them they are, on the same
 * lines.
 */
const separated = (text: string): string => text.replaceAll(/\}[ \t]*\r?\n\{/g, '}\n--- {');

/** Undefined when the text contains no access entry. */
export const accessEntryProblems = (text: string): readonly Problem[] | undefined => {
  if (!/["']?accessEntry["']?\s*:/.test(text)) return undefined;
  const values = parseYaml(separated(text)).documents.flatMap(({ value }) => value ?? []);
  const entries = values.flatMap((value) => find(value, 'accessEntry') ?? []);
  if (entries.length === 0) return undefined;
  const roles = values.flatMap((value) => find(value, 'Role') ?? []);
  return entries.flatMap((entry): readonly Problem[] => {
    const principal = find(entry, 'principalArn');
    const arn = textOf(principal);
    const role = roles.find((one) => textOf(find(one, 'Arn')) === arn);
    const made = timeOf(find(entry, 'createdAt'));
    const born = timeOf(find(role, 'CreateDate'));
    if (principal === undefined || made === undefined || born === undefined || born <= made) {
      return [];
    }
    const message = `${arn} was made after this entry, which means a role that is gone`;
    return [{ rule: 'AE001', at: principal.at, message }];
  });
};
