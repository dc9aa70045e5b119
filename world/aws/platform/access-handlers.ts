// EKS' access entry operations: create, read, update, delete, and the access policies of an entry.
// Makes EKS' checks, with its messages if they are known.
import {
  type AwsInput,
  optionalStructure,
  optionalText,
  text,
  textMap,
  texts,
} from '../../../src/aws-wire/index.ts';
import { refuse, type ServiceHandlers } from '../scope.ts';
import {
  type AccessEntries,
  type AccessEntryRow,
  type EntryType,
  entryTypes,
  type PolicyRow,
  renderEntry,
} from './access-entries.ts';
import { accessPolicies, policyPrefix } from './access-policies.ts';
import { invalidParameter, listed } from './cluster-handlers.ts';
import type { Clusters } from './clusters.ts';

interface Parts {
  readonly clusters: Clusters;
  readonly entries: AccessEntries;
}

const standardOnly = () =>
  invalidParameter(
    'This operation can only be performed on Access Entries with a type of "STANDARD".',
  );

/** The cluster; throws if its mode does not support access entries. */
const clusterOf = ({ clusters }: Parts, input: AwsInput): string => {
  const row = clusters.need(text(input, 'clusterName'));
  if (row.authenticationMode !== 'CONFIG_MAP') return row.name;
  throw refuse(
    'InvalidRequestException',
    "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to " +
      'perform ' +
      'this operation.',
  );
};

const entryOf = (parts: Parts, input: AwsInput): AccessEntryRow =>
  parts.entries.need(clusterOf(parts, input), text(input, 'principalArn'));

const reserved = ['system:', 'eks:', 'aws:', 'amazon:', 'iam:'];

const checkUsername = (username: string | undefined): void => {
  const prefix = reserved.find((one) => username?.startsWith(one));
  if (prefix !== undefined) {
    throw invalidParameter(`Access Entry username cannot start with "${prefix}".`);
  }
};

const checkGroups = (groups: readonly string[]): void => {
  const bad = groups.find((group) => reserved.some((prefix) => group.startsWith(prefix)));
  if (bad === undefined) return;
  throw invalidParameter(
    `The kubernetes group name ${bad} is invalid, it cannot start with system:`,
  );
};

const createEntry = (parts: Parts, input: AwsInput) => {
  const { entries } = parts;
  const cluster = clusterOf(parts, input);
  const principalArn = text(input, 'principalArn');
  const type = optionalText(input, 'type') ?? 'STANDARD';
  if (!(entryTypes as readonly string[]).includes(type)) {
    throw invalidParameter(`The type ${type} is invalid. Valid types: [${entryTypes.join(', ')}]`);
  }
  const [, account, kind] =
    /^arn:aws[a-z-]*:iam::(\d{12}):(role|user)\/.+$/.exec(principalArn) ?? [];
  if (account === undefined) {
    throw invalidParameter('The principalArn parameter format is not valid');
  }
  if (principalArn.includes(':role/aws-service-role/')) {
    throw invalidParameter(
      'The caller is not allowed to modify access entries with a principalArn value of a Service ' +
        'Linked Role',
    );
  }
  const username = optionalText(input, 'username');
  const groups = texts(input, 'kubernetesGroups');
  if (type !== 'STANDARD') {
    if (username !== undefined || groups.length > 0) throw standardOnly();
    if (kind !== 'role' || account !== entries.scope.account) {
      throw invalidParameter(
        `The principalArn of an access entry of type ${type} must be a role in account ` +
          `${entries.scope.account}.`,
      );
    }
  }
  checkUsername(username);
  checkGroups(groups);
  if (!entries.isThere(principalArn)) {
    throw invalidParameter('The specified principalArn is invalid: invalid principal.');
  }
  if (entries.get(cluster, principalArn) !== undefined) {
    throw refuse(
      'ResourceInUseException',
      'The specified access entry resource is already in use on this cluster.',
      409,
    );
  }
  const tags = textMap(input, 'tags');
  const row = { cluster, principalArn, type: type as EntryType, username, groups, tags };
  return { accessEntry: renderEntry(entries.create(row)) };
};

const updateEntry = (parts: Parts, input: AwsInput) => {
  const row = entryOf(parts, input);
  const username = optionalText(input, 'username');
  if (row.type !== 'STANDARD') throw standardOnly();
  checkUsername(username);
  const groups =
    input.kubernetesGroups === undefined ? row.groups : texts(input, 'kubernetesGroups');
  checkGroups(groups);
  const next = { ...row, groups, username: username ?? row.username };
  return { accessEntry: renderEntry(parts.entries.put(next)) };
};

const renderPolicy = (policy: PolicyRow) => ({
  policyArn: policy.policyArn,
  accessScope: { type: policy.scope, namespaces: policy.namespaces },
  associatedAt: policy.associatedAt,
  modifiedAt: policy.modifiedAt,
});

/**
 * EC2 entries take policies too: nodes of EKS Auto Mode get AmazonEKSAutoNodePolicy this way
 * (eksctl#8098, terraform-aws-eks#3281, aws-cdk#38782).
 */
const takesPolicies = ({ type }: AccessEntryRow): boolean => type === 'STANDARD' || type === 'EC2';

const associate = (parts: Parts, input: AwsInput) => {
  const { entries } = parts;
  const row = entryOf(parts, input);
  if (!takesPolicies(row)) throw standardOnly();
  const policyArn = text(input, 'policyArn');
  if (!accessPolicies.some(({ arn }) => arn === policyArn)) {
    throw refuse(
      'ResourceNotFoundException',
      `The specified policyArn could not be found. You can view your available policies with ` +
        `'aws eks list-access-policies'.`,
    );
  }
  const given = optionalStructure(input, 'accessScope') ?? {};
  const scope = optionalText(given, 'type') === 'namespace' ? 'namespace' : 'cluster';
  const namespaces = texts(given, 'namespaces');
  if ((scope === 'namespace') !== namespaces.length > 0) {
    throw invalidParameter(
      scope === 'namespace'
        ? 'The namespaces of an access scope of type namespace must be given.'
        : 'Namespaces can only be given with an access scope of type namespace.',
    );
  }
  const now = entries.scope.now();
  const before = row.policies.find((one) => one.policyArn === policyArn);
  const associatedAt = before?.associatedAt ?? now;
  const policy: PolicyRow = { policyArn, scope, namespaces, associatedAt, modifiedAt: now };
  const others = row.policies.filter((one) => one !== before);
  entries.put({ ...row, policies: [...others, policy] });
  return {
    clusterName: row.cluster,
    principalArn: row.principalArn,
    associatedAccessPolicy: renderPolicy(policy),
  };
};

const disassociate = (parts: Parts, input: AwsInput) => {
  const row = entryOf(parts, input);
  const policyArn = text(input, 'policyArn');
  const policies = row.policies.filter((one) => one.policyArn !== policyArn);
  if (policies.length === row.policies.length) {
    throw refuse(
      'ResourceNotFoundException',
      'The specified policyArn is not associated with the access entry.',
    );
  }
  parts.entries.put({ ...row, policies });
  return {};
};

export const accessEntryHandlers = (parts: Parts): ServiceHandlers => ({
  CreateAccessEntry: (input) => createEntry(parts, input),
  DescribeAccessEntry: (input) => ({ accessEntry: renderEntry(entryOf(parts, input)) }),
  UpdateAccessEntry: (input) => updateEntry(parts, input),
  DeleteAccessEntry: (input) => {
    parts.entries.remove(entryOf(parts, input));
    return {};
  },
  ListAccessEntries: (input) => {
    const policy = optionalText(input, 'associatedPolicyArn');
    const rows = parts.entries
      .of(clusterOf(parts, input))
      .filter(
        ({ policies }) => policy === undefined || policies.some((one) => one.policyArn === policy),
      );
    const page = listed(
      rows.map(({ principalArn }) => principalArn),
      input,
    );
    return { accessEntries: page.items, nextToken: page.nextToken };
  },
  ListAccessPolicies: (input) => {
    const page = listed(
      accessPolicies.map(({ name }) => name),
      input,
    );
    const items = page.items.map((name) => ({ name, arn: `${policyPrefix}${name}` }));
    return { accessPolicies: items, nextToken: page.nextToken };
  },
  AssociateAccessPolicy: (input) => associate(parts, input),
  DisassociateAccessPolicy: (input) => disassociate(parts, input),
  ListAssociatedAccessPolicies: (input) => {
    const row = entryOf(parts, input);
    const page = listed(
      row.policies.map(({ policyArn }) => policyArn),
      input,
    );
    const shown = row.policies.filter(({ policyArn }) => page.items.includes(policyArn));
    return {
      clusterName: row.cluster,
      principalArn: row.principalArn,
      associatedAccessPolicies: shown.map(renderPolicy),
      nextToken: page.nextToken,
    };
  },
});
