// EKS' access entries with their policies, as the command line makes and lists them. Only translates.
import { type AccessEntryFacts, type AccessPolicyFacts, CloudError } from '../../ports/index.ts';
import { allPages, type CallOptions, type Clients, call } from './clients.ts';

const policiesOf = async (
  clients: Clients,
  which: { readonly clusterName: string; readonly principalArn: string },
  options: CallOptions,
): Promise<readonly AccessPolicyFacts[]> => {
  const { sdk, client } = await clients.eks();
  const policies = await allPages(async (nextToken) => {
    const command = new sdk.ListAssociatedAccessPoliciesCommand({
      ...which,
      ...(nextToken === undefined ? {} : { nextToken }),
    });
    const page = await call('ListAssociatedAccessPolicies', options, (http) =>
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

const listed = async (
  clients: Clients,
  clusterName: string,
  options: CallOptions,
): Promise<readonly AccessEntryFacts[]> => {
  const { sdk, client } = await clients.eks();
  const arns = await allPages(async (nextToken) => {
    const command = new sdk.ListAccessEntriesCommand({
      clusterName,
      ...(nextToken === undefined ? {} : { nextToken }),
    });
    const page = await call('ListAccessEntries', options, (http) => client.send(command, http));
    return { items: page.accessEntries ?? [], next: page.nextToken };
  });
  return Promise.all(
    arns.map(async (principalArn) => {
      const which = { clusterName, principalArn };
      const command = new sdk.DescribeAccessEntryCommand(which);
      const { accessEntry } = await call('DescribeAccessEntry', options, (http) =>
        client.send(command, http),
      );
      const type = accessEntry?.type ?? '';
      return {
        principalArn,
        type,
        username: accessEntry?.username ?? '',
        groups: accessEntry?.kubernetesGroups ?? [],
        policies: type === 'STANDARD' ? await policiesOf(clients, which, options) : [],
      };
    }),
  );
};

export const entryCalls = (clients: Clients) => ({
  listAccessEntries: async (
    clusterName: string,
    options: CallOptions = {},
  ): Promise<readonly AccessEntryFacts[] | undefined> => {
    try {
      return await listed(clients, clusterName, options);
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
      ...(username === undefined ? {} : { username }),
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
