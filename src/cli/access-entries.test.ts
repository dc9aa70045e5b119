// Access entries beside aws-auth: a refused read is reported with the missing permission, never as
// an error.
import { describe, expect, it } from 'vitest';
import type { ClusterAccess } from '../api/cloud.ts';
import type { AccessEntryFacts } from '../api/cloud-provisioning.ts';
import { CloudError } from '../ports/index.ts';
import { accessEntriesOf } from './access-entries.ts';

const access: ClusterAccess = {
  authenticationMode: 'API_AND_CONFIG_MAP',
  endpoint: 'https://c.example',
  certificateAuthority: '',
};
const entry: AccessEntryFacts = {
  principalArn: 'arn:aws:iam::111122223333:role/r',
  type: 'STANDARD',
  username: 'u',
  groups: [],
  policies: [],
};
const denied = (operation: string): CloudError =>
  new CloudError('AccessDenied', `${operation}: User: me is not authorized`);

const read = (more: {
  readonly describe?: () => Promise<ClusterAccess>;
  readonly list?: (cluster: string) => Promise<readonly AccessEntryFacts[]>;
  readonly clusters?: () => Promise<readonly string[]>;
}) =>
  accessEntriesOf({
    cloud: { describeCluster: more.describe ?? (async () => access) },
    api: { listAccessEntries: more.list ?? (async () => [entry]) },
    clusters: more.clusters ?? (async () => ['c']),
    signal: new AbortController().signal,
  });

describe('access entries beside aws-auth', () => {
  it('are listed where the mode knows them, and not asked for where it knows none', async () => {
    expect(await read({})).toMatchObject({ entries: [{ cluster: 'c' }], notLookedAt: [] });
    const described = { ...access, authenticationMode: 'CONFIG_MAP' };
    const list = async () => Promise.reject(denied('ListAccessEntries'));
    expect(await read({ describe: async () => described, list })).toEqual({
      entries: [],
      notLookedAt: [],
    });
  });

  it.each(['ListAccessEntries', 'DescribeAccessEntry', 'ListAssociatedAccessPolicies'])(
    'that may not be read for want of %s are reported with that right',
    async (operation) => {
      const found = await read({ list: async () => Promise.reject(denied(operation)) });
      expect(found.entries).toEqual([]);
      expect(found.notLookedAt).toEqual([
        `cluster c: the right eks:${operation} is missing (${operation}: User: me is not authorized)`,
      ]);
    },
  );

  it('are reported with DescribeCluster or ListClusters where already that is refused', async () => {
    const describeCluster = async () => Promise.reject(denied('DescribeCluster'));
    expect((await read({ describe: describeCluster })).notLookedAt.join()).toMatch(
      /^cluster c: the right eks:DescribeCluster is missing/,
    );
    const clusters = async () => Promise.reject(denied('ListClusters'));
    expect((await read({ clusters })).notLookedAt.join()).toMatch(
      /^the right eks:ListClusters is missing/,
    );
  });

  it('of other clusters are listed nevertheless, and another failure is reported in its words', async () => {
    const busy = new CloudError('Throttled', 'ListAccessEntries: Rate exceeded');
    const found = await read({
      clusters: async () => ['a', 'b'],
      list: async (cluster) => (cluster === 'a' ? Promise.reject(busy) : [entry]),
    });
    expect(found.entries).toMatchObject([{ cluster: 'b' }]);
    expect(found.notLookedAt).toEqual(['cluster a: ListAccessEntries: Rate exceeded']);
  });

  it('fail loudly on what is no answer of the cloud', async () => {
    const list = async () => Promise.reject(new Error('a fault of ours'));
    await expect(read({ list })).rejects.toThrow('a fault of ours');
  });
});
