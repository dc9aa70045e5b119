// Problems in the ConfigMaps that authorize nodes and give Windows pods addresses, with their
// places. Changes nothing; index.ts resolves users as the authenticator does.

import type { Problem } from '../node/problem.ts';
import type { Position } from '../position.ts';
import { find, type Located, memberOf, textOf, textsOf } from '../user-data/located.ts';
import { parseYaml } from '../user-data/yaml.ts';

const problem = (rule: string, at: Position, message: string): Problem => ({ rule, at, message });

const windowsGroup = 'eks:kube-proxy-windows';
const nodeGroups = ['system:nodes', 'system:bootstrappers'];

/** Inner keys are case-insensitive, as in the authenticator. */
const fieldOf = (entry: Located, name: string): Located | undefined =>
  entry.kind === 'map'
    ? [...entry.members].find(([key]) => key.toLowerCase() === name)?.[1].value
    : undefined;

const arnPattern = /^arn:aws[\w-]*:iam::\d{12}:role\/(.+)$/;

interface Known {
  readonly seen: Map<string, Position>;
  /** In lower case, without paths. */
  readonly windowsRoles: ReadonlySet<string>;
}

const plainArn = (arn: string): string =>
  arn.toLowerCase().replace(/^(arn:[^:]*:iam::\d*:role)\/.*\/([^/]+)$/, '$1/$2');

const entryProblems = (entry: Located, { seen, windowsRoles }: Known): readonly Problem[] => {
  if (entry.kind !== 'map') return [problem('AUTH006', entry.at, 'an entry is not an object')];
  const arn = fieldOf(entry, 'rolearn');
  const text = textOf(arn) ?? '';
  if (arn === undefined || text === '') {
    return [problem('AUTH006', entry.at, 'an entry has no rolearn and is dropped')];
  }
  const found: Problem[] = [];
  const groups = fieldOf(entry, 'groups');
  if (groups !== undefined && groups.kind !== 'list') {
    found.push(
      problem('AUTH006', groups.at, 'groups is not a list: its text becomes one group, or none'),
    );
  }
  const path = arnPattern.exec(text)?.[1];
  if (/:instance-profile\//.test(text)) {
    found.push(problem('AUTH005', arn.at, `${text} is an instance profile`));
  } else if (path === undefined) {
    found.push(problem('AUTH006', arn.at, `${text} is no ARN of a role`));
  } else if (path.includes('/')) {
    found.push(
      problem(
        'AUTH001',
        arn.at,
        `${text} has the path ${path.slice(0, path.lastIndexOf('/') + 1)}`,
      ),
    );
  }
  const key = plainArn(text);
  const before = seen.get(key);
  if (before === undefined) seen.set(key, arn.at);
  else found.push(problem('AUTH002', arn.at, `${text} is mapped on line ${before.line} already`));
  const isInGroup = textsOf(groups).some((one) => one.text === windowsGroup);
  if (windowsRoles.has(key) && !isInGroup) {
    found.push(
      problem('AUTH004', groups?.at ?? entry.at, `${text} lacks the group ${windowsGroup}`),
    );
  }
  const isForNodes = textsOf(groups).some((one) => nodeGroups.includes(one.text));
  const user = fieldOf(entry, 'username');
  const name = textOf(user) ?? '';
  if (isForNodes && !/^system:node:.*\{\{\s*(?:EC2PrivateDNSName|SessionName)/.test(name)) {
    const said =
      user === undefined ? 'no username is given' : `username is ${JSON.stringify(name)}`;
    found.push(problem('AUTH003', user?.at ?? entry.at, `${said}, without {{EC2PrivateDNSName}}`));
  }
  return found;
};

const rolesProblems = (roles: Located, windows: readonly string[]): readonly Problem[] => {
  const text = textOf(roles);
  if (text === undefined) {
    // The list itself without the ConfigMap around it, as users often paste it.
    return roles.kind === 'list'
      ? roles.items.flatMap(withSeen(windows))
      : [problem('AUTH006', roles.at, 'mapRoles is not a text')];
  }
  const content = roles.kind === 'scalar' ? (roles.contentAt ?? roles.at) : roles.at;
  return mapRolesProblems(text, content, windows);
};

/** For the text of mapRoles alone, which starts at offset `content` of the file. */
export const mapRolesProblems = (
  text: string,
  content?: Position,
  windowsRoles: readonly string[] = [],
): readonly Problem[] => {
  const { documents, faults } = parseYaml(text, content);
  const [fault] = faults;
  if (fault !== undefined) {
    return [problem('AUTH006', fault.at, `mapRoles is no YAML: ${fault.message}`)];
  }
  const list = documents[0]?.value;
  if (list === undefined) return [];
  if (list.kind !== 'list') return [problem('AUTH006', list.at, 'mapRoles is not a list')];
  return list.items.flatMap(withSeen(windowsRoles));
};

const withSeen = (windows: readonly string[]): ((entry: Located) => readonly Problem[]) => {
  const known = { seen: new Map<string, Position>(), windowsRoles: new Set(windows.map(plainArn)) };
  return (entry) => entryProblems(entry, known);
};

const windowsProblems = (document: Located): readonly Problem[] => {
  const value = find(document, 'data', 'enable-windows-ipam');
  if (textOf(value) === 'true') return [];
  const at = value?.at ?? memberOf(document, 'data')?.keyAt ?? document.at;
  const said = value === undefined ? 'is not set' : 'is not the text "true"';
  return [problem('WIN005', at, `enable-windows-ipam ${said}`)];
};

/** Undefined when the text is neither aws-auth nor the VPC CNI's ConfigMap. */
export const authProblems = (
  text: string,
  windowsRoles: readonly string[] = [],
): readonly Problem[] | undefined => {
  if (!/\bmapRoles\b|\bamazon-vpc-cni\b/.test(text)) return undefined;
  // `kubectl describe` underlines the keys of data.
  const { documents, faults } = parseYaml(text.replaceAll(/^([ \t]*)----[ \t]*$/gm, '$1'));
  const found: Problem[] = [];
  let isOne = false;
  for (const { value } of documents) {
    if (value === undefined) continue;
    const name = textOf(find(value, 'metadata', 'name'));
    const roles = find(value, 'data', 'mapRoles') ?? find(value, 'mapRoles');
    if (roles !== undefined) {
      isOne = true;
      for (const one of rolesProblems(roles, windowsRoles)) found.push(one);
    } else if (name === 'amazon-vpc-cni') {
      isOne = true;
      found.push(...windowsProblems(value));
    }
  }
  if (!isOne) return undefined;
  const broken = faults.map(({ at, message }) => problem('AUTH006', at, message));
  return [...broken, ...found];
};
