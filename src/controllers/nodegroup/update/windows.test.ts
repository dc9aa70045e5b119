// A Windows group in a cluster that cannot run Windows nodes is refused before any launch; other
// groups and clusters are not affected.
import { describe, expect, it } from 'vitest';
import { aGroupSpec, setUpControllers } from '../../../../test/builders/controllers.ts';
import type { ClusterAccess } from '../../../api/cloud.ts';
import type { NodeGroup } from '../../../api/nodegroup.ts';
import { checkWindows } from './windows.ts';

const { signal } = new AbortController();

const checked = (amiType: string, serviceCidr: string): Promise<void> => {
  const { cloud } = setUpControllers();
  cloud.describeCluster = async (): Promise<ClusterAccess> => ({
    endpoint: 'https://e',
    certificateAuthority: '',
    serviceCidr,
  });
  const group: NodeGroup = {
    apiVersion: 'drover.dev/v1alpha1',
    kind: 'NodeGroup',
    metadata: {
      name: 'win',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: aGroupSpec({ amiType }),
  };
  return checkWindows({ cloud }, group, signal);
};

describe('a group', () => {
  it('of Windows nodes is refused in a cluster with IPv6, and says why', async () => {
    await expect(checked('WINDOWS_CORE_2022_x86_64', 'fd00::/108')).rejects.toThrow(
      /Windows nodes have no IPv6 addresses.*nothing is launched\. Use a cluster of the IPv4 family/,
    );
  });

  it.each([
    ['WINDOWS_CORE_2022_x86_64', '10.100.0.0/16'],
    ['AL2023_x86_64_STANDARD', 'fd00::/108'],
  ])('of %s is made in a cluster with %s', async (amiType, serviceCidr) => {
    await expect(checked(amiType, serviceCidr)).resolves.toBeUndefined();
  });
});
