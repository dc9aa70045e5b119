// EKS access entries for the listing beside aws-auth. A call that the cloud refuses is reported
// with the missing permission, never as an error: a user who may read only the map sees the map.
// Changes nothing.

import type { AccessPolicyFacts } from '../api/cloud-provisioning.ts';
import { type CloudApi, CloudError, type ProvisioningApi } from '../ports/index.ts';

export interface ShownEntry {
  readonly cluster: string;
  readonly principalArn: string;
  readonly type: string;
  readonly username: string;
  readonly groups: readonly string[];
  readonly policies: readonly string[];
}

export interface ShownEntries {
  readonly entries: readonly ShownEntry[];
  /** Why some entries are missing, each a sentence without a full stop. */
  readonly notLookedAt: readonly string[];
}

interface EntrySources {
  readonly api: Pick<ProvisioningApi, 'listAccessEntries'>;
  readonly cloud: Pick<CloudApi, 'describeCluster'>;
  readonly clusters: () => Promise<readonly string[]>;
  readonly signal: AbortSignal;
}

const scopeText = ({ policyArn, scope, namespaces }: AccessPolicyFacts): string =>
  `${policyArn.slice(policyArn.lastIndexOf('/') + 1)}${scope === 'cluster' ? '' : `@${namespaces.join('+')}`}`;

/** A CloudError begins with the name of the operation. */
const whyNot = ({ code, message }: CloudError): string => {
  const operation = /^(\w+): /.exec(message)?.[1];
  if (code !== 'AccessDenied' || operation === undefined) return message;
  return `the right eks:${operation} is missing (${message})`;
};

const entriesOf = async (
  { api, cloud, signal }: EntrySources,
  cluster: string,
): Promise<readonly ShownEntry[]> => {
  const described = await cloud.describeCluster(cluster, { signal });
  if ((described?.authenticationMode ?? 'CONFIG_MAP') === 'CONFIG_MAP') return [];
  const found = (await api.listAccessEntries(cluster, { signal })) ?? [];
  return found.map(({ username = '', policies, ...entry }) => ({
    cluster,
    ...entry,
    username,
    policies: policies.map(scopeText),
  }));
};

/**
 * Entries of the clusters whose authentication mode has them. In mode API, only entries authorize.
 */
export const accessEntriesOf = async (sources: EntrySources): Promise<ShownEntries> => {
  const notLookedAt: string[] = [];
  const unlessRefused = async <T>(
    where: string,
    ask: () => Promise<readonly T[]>,
  ): Promise<readonly T[]> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CloudError)) throw error;
      notLookedAt.push(`${where}${whyNot(error)}`);
      return [];
    }
  };
  const entries: ShownEntry[] = [];
  for (const cluster of await unlessRefused('', sources.clusters)) {
    const ask = () => entriesOf(sources, cluster);
    entries.push(...(await unlessRefused(`cluster ${cluster}: `, ask)));
  }
  return { entries, notLookedAt };
};
