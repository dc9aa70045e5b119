// EKS' access entries with their policies, as the command line makes and lists them. A list is many
// calls: a few at a time, and throttled ones again; no other call is sent twice.

import { durationMs } from '../../api/brand.ts';
import type { AccessEntryFacts, AccessPolicyFacts } from '../../api/cloud-provisioning.ts';
import { defined } from '../../api/defined.ts';
import { type Clock, CloudError } from '../../ports/index.ts';
import { allPages, batchesOf, type CallOptions, type Clients, call } from './clients.ts';

/** EKS throttles an account's reads as a whole: others ask, too. */
const entriesAtOnce = 4;
const throttledWaitMs = 500;
/** 15.5 s of waiting in all, for somebody who looks at a terminal. */
const throttledTries = 6;

interface Listing {
  readonly clients: Clients;
  readonly clock: Clock;
  readonly options: CallOptions;
}

const isCode = (error: unknown, code: CloudError['code']): boolean =>
  error instanceof CloudError && error.code === code;

/** A read, so that asking again changes nothing. */
const asked = async <T>(
  what: string,
  { clock, options }: Listing,
  send: (http: { abortSignal?: AbortSignal }) => Promise<T>,
): Promise<T> => {
  for (let tries = 1, waitMs = throttledWaitMs; ; tries += 1, waitMs *= 2) {
    try {
      return await call(what, options, send);
    } catch (error) {
      if (!isCode(error, 'Throttled') || tries >= throttledTries) throw error;
    }
    await clock.sleep(durationMs(waitMs), options.signal);
  }
};

const policiesOf = async (
  listing: Listing,
  which: { readonly clusterName: string; readonly principalArn: string },
): Promise<readonly AccessPolicyFacts[]> => {
  const { sdk, client } = await listing.clients.eks();
  const policies = await allPages(async (nextToken) => {
    const command = new sdk.ListAssociatedAccessPoliciesCommand({
      ...which,
      ...defined({ nextToken }),
    });
    const page = await asked('ListAssociatedAccessPolicies', listing, (http) =>
      client.send(command, http),
    );
    return { items: page.associatedAccessPolicies ?? [], next: page.nextToken };
  });
  return policies.map(({ policyArn, accessScope }) => ({
    policyArn: policyArn ?? '',
    scope: accessScope?.type ?? 'cluster',
    namespaces: accessScope?.namespaces ?? [],
  }));
};

/** EKS' refusal to look where the mode is CONFIG_MAP. */
const knowsNone = (error: unknown): boolean =>
  error instanceof CloudError && /authentication mode must be set to one of/.test(error.message);

const entryOf = async (
  listing: Listing,
  which: { readonly clusterName: string; readonly principalArn: string },
): Promise<AccessEntryFacts> => {
  const { sdk, client } = await listing.clients.eks();
  const command = new sdk.DescribeAccessEntryCommand(which);
  const { accessEntry } = await asked('DescribeAccessEntry', listing, (http) =>
    client.send(command, http),
  );
  const type = accessEntry?.type ?? '';
  const policies = await policiesOf(listing, which).catch((error: unknown) => {
    // Only entries of type STANDARD take policies of their owners; of others EKS need not say any.
    if (type !== 'STANDARD' && isCode(error, 'InvalidRequest')) return [];
    throw error;
  });
  return {
    principalArn: which.principalArn,
    type,
    username: accessEntry?.username ?? '',
    groups: accessEntry?.kubernetesGroups ?? [],
    policies,
  };
};

const listed = async (
  listing: Listing,
  clusterName: string,
): Promise<readonly AccessEntryFacts[]> => {
  const { sdk, client } = await listing.clients.eks();
  const arns = await allPages(async (nextToken) => {
    const command = new sdk.ListAccessEntriesCommand({
      clusterName,
      ...defined({ nextToken }),
    });
    const page = await asked('ListAccessEntries', listing, (http) => client.send(command, http));
    return { items: page.accessEntries ?? [], next: page.nextToken };
  });
  const entries: AccessEntryFacts[] = [];
  for (const batch of batchesOf(arns, entriesAtOnce)) {
    const reads = batch.map((principalArn) => entryOf(listing, { clusterName, principalArn }));
    entries.push(...(await Promise.all(reads)));
  }
  return entries;
};

export const entryCalls = (clients: Clients, clock: Clock) => ({
  listAccessEntries: async (
    clusterName: string,
    options: CallOptions = {},
  ): Promise<readonly AccessEntryFacts[] | undefined> => {
    try {
      return await listed({ clients, clock, options }, clusterName);
    } catch (error) {
      if (knowsNone(error)) return undefined;
      throw error;
    }
  },
  createAccessEntry: async (
    clusterName: string,
    { principalArn, type, username, groups, policies }: AccessEntryFacts,
    options: CallOptions = {},
  ): Promise<void> => {
    const { sdk, client } = await clients.eks();
    const command = new sdk.CreateAccessEntryCommand({
      clusterName,
      principalArn,
      type,
      ...defined({ username }),
      ...(groups.length === 0 ? {} : { kubernetesGroups: [...groups] }),
    });
    await call('CreateAccessEntry', options, (http) => client.send(command, http));
    for (const { policyArn, scope, namespaces } of policies) {
      const associate = new sdk.AssociateAccessPolicyCommand({
        clusterName,
        principalArn,
        policyArn,
        accessScope: {
          type: scope,
          ...(scope === 'cluster' ? {} : { namespaces: [...namespaces] }),
        },
      });
      await call('AssociateAccessPolicy', options, (http) => client.send(associate, http));
    }
  },
});
