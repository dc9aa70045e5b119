// EKS' access entries and their policies, for the commands that create and list them. A list needs
// many calls: a few at a time, with retries when throttled; no other call is retried.

import type { AwsOperation } from '../api/aws-operations.ts';
import { durationMs } from '../api/brand.ts';
import type { AccessEntryFacts, AccessPolicyFacts } from '../api/cloud-provisioning.ts';
import { defined } from '../api/defined.ts';
import { type JsonObject, objectOr } from '../api/json.ts';
import { type Clock, CloudError, type ProvisioningApi } from '../ports/index.ts';
import type { AwsCalls, CallOptions } from './calls.ts';
import { batchesOf, objects, textOf, textsOf } from './values.ts';

/** EKS throttles an account's reads as a whole, including those of other clients. */
const entriesAtOnce = 4;
const throttledWaitMs = 500;
/** A total of 15.5 s of waiting, acceptable on a terminal. */
const throttledTries = 6;

const service = 'eks';

interface Listing {
  readonly calls: AwsCalls;
  readonly clock: Clock;
  readonly options: CallOptions;
}

type Which = { readonly clusterName: string; readonly principalArn: string };

const isCode = (error: unknown, code: CloudError['code']): boolean =>
  error instanceof CloudError && error.code === code;

/** A read, therefore safe to retry. */
const asked = async (
  { calls, clock, options }: Listing,
  operation: AwsOperation<'eks'>,
  input: JsonObject,
): Promise<JsonObject> => {
  for (let tries = 1, waitMs = throttledWaitMs; ; tries += 1, waitMs *= 2) {
    try {
      return await calls.send(service, operation, input, options);
    } catch (error) {
      if (!isCode(error, 'Throttled') || tries >= throttledTries) throw error;
    }
    await clock.sleep(durationMs(waitMs), options.signal);
  }
};

const pagesOf = (
  listing: Listing,
  operation: AwsOperation<'eks'>,
  input: JsonObject,
): Promise<readonly JsonObject[]> =>
  listing.calls.pages('nextToken', (token) => asked(listing, operation, { ...input, ...token }));

const policiesOf = async (
  listing: Listing,
  which: Which,
): Promise<readonly AccessPolicyFacts[]> => {
  const pages = await pagesOf(listing, 'ListAssociatedAccessPolicies', which);
  return pages
    .flatMap((page) => objects(page.associatedAccessPolicies))
    .map(({ policyArn, accessScope }) => ({
      policyArn: textOf(policyArn),
      scope: objectOr(accessScope).type === 'namespace' ? 'namespace' : 'cluster',
      namespaces: textsOf(objectOr(accessScope).namespaces),
    }));
};

/** EKS' refusal when the authentication mode is CONFIG_MAP. */
const knowsNone = (error: unknown): boolean =>
  error instanceof CloudError && /authentication mode must be set to one of/.test(error.message);

const entryOf = async (listing: Listing, which: Which): Promise<AccessEntryFacts> => {
  const entry = objectOr((await asked(listing, 'DescribeAccessEntry', which)).accessEntry);
  const type = textOf(entry.type);
  const policies = await policiesOf(listing, which).catch((error: unknown) => {
    // Only entries of type STANDARD have policies; for others EKS may refuse the request.
    if (type !== 'STANDARD' && isCode(error, 'InvalidRequest')) return [];
    throw error;
  });
  return {
    principalArn: which.principalArn,
    type,
    username: textOf(entry.username),
    groups: textsOf(entry.kubernetesGroups),
    policies,
  };
};

const listed = async (
  listing: Listing,
  clusterName: string,
): Promise<readonly AccessEntryFacts[]> => {
  const pages = await pagesOf(listing, 'ListAccessEntries', { clusterName });
  const arns = pages.flatMap((page) => textsOf(page.accessEntries));
  const entries: AccessEntryFacts[] = [];
  for (const batch of batchesOf(arns, entriesAtOnce)) {
    const reads = batch.map((principalArn) => entryOf(listing, { clusterName, principalArn }));
    entries.push(...(await Promise.all(reads)));
  }
  return entries;
};

export const entryCalls = (
  calls: AwsCalls,
  clock: Clock,
): Pick<ProvisioningApi, 'createAccessEntry' | 'listAccessEntries'> => ({
  listAccessEntries: async (clusterName, options = {}) => {
    try {
      return await listed({ calls, clock, options }, clusterName);
    } catch (error) {
      if (knowsNone(error)) return undefined;
      throw error;
    }
  },
  createAccessEntry: async (clusterName, entry, options = {}) => {
    const { principalArn, type, username, groups, policies } = entry;
    const which = { clusterName, principalArn };
    const kubernetesGroups = groups.length === 0 ? undefined : groups;
    const input = { ...which, type, ...defined({ username, kubernetesGroups }) };
    await calls.send(service, 'CreateAccessEntry', input, options);
    for (const { policyArn, scope, namespaces } of policies) {
      const accessScope = { type: scope, ...(scope === 'cluster' ? {} : { namespaces }) };
      const association = { ...which, policyArn, accessScope };
      await calls.send(service, 'AssociateAccessPolicy', association, options);
    }
  },
});
