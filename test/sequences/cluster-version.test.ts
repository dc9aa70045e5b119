// A minor version upgrade from start to end, in virtual time: first the control plane, then a node
// group.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const served = (life: GroupLife): string => {
  const answer = life.world.kube.handle({
    method: 'GET',
    path: '/version',
    query: new URLSearchParams(),
    accept: 'application/json',
    contentType: '',
    user: { username: 'me', groups: ['system:masters'] },
    userAgent: 'kubectl',
    sourceIp: '127.0.0.1',
  });
  return answer.kind === 'object' ? String(objectOr(answer.body).gitVersion) : answer.kind;
};
const kubelets = (life: GroupLife): readonly string[] => [
  ...new Set(
    life.nodes().map((node) => String(objectOr(objectOr(node.status).nodeInfo).kubeletVersion)),
  ),
];
const upgrade = (life: GroupLife, version: string): Promise<JsonObject> =>
  life.eks('UpdateClusterVersion', { name: 'c', version });

describe('a minor version upgrade', () => {
  it('moves the API server, and then the nodes of a group that is asked for it', async () => {
    const life = await GroupLife.begin();
    await life.create({ amiType: 'AL2023_x86_64_STANDARD' });
    await life.driver.advance(300);
    const named = { clusterName: 'c', nodegroupName: 'ng' };
    const move = { ...named, version: '1.33' };
    expect(await life.refused('UpdateNodegroupVersion', move)).toMatch(
      /should be equal to Cluster kubernetes version 1\.32/,
    );
    expect(served(life)).toBe('v1.32.9-eks-113cf36');
    await upgrade(life, '1.33');
    await life.driver.advance(90);
    expect(served(life)).toBe('v1.33.5-eks-113cf36');
    expect(kubelets(life)).toEqual(['v1.32.9-eks-113cf36']);
    await life.eks('UpdateNodegroupVersion', move);
    await life.driver.advance(1800);
    expect(kubelets(life)).toEqual(['v1.33.5-eks-113cf36']);
    expect(await life.shown()).toMatchObject({
      status: 'ACTIVE',
      version: '1.33',
      releaseVersion: expect.stringMatching(/^1\.33\.5-/),
    });
    await life.end();
  });

  it('waits for groups that would be four minor versions behind', async () => {
    const life = await GroupLife.begin();
    const base = life.group('base');
    const spec = JSON.parse(JSON.stringify({ ...base?.spec, version: '1.29' })) as JsonObject;
    const kind = { apiVersion: 'drover.dev/v1alpha1', kind: 'NodeGroup' };
    life.createGroup({ ...kind, metadata: { name: 'ng' }, spec });
    await expect(
      life.refused('UpdateClusterVersion', { name: 'c', version: '1.33' }),
    ).resolves.toBe(
      'InvalidRequestException: Nodegroups ng must be updated to match cluster version 1.32 before updating cluster version',
    );
    expect(await life.refused('UpdateClusterVersion', { name: 'c', version: '1.34' })).toMatch(
      /^InvalidParameterException: Unsupported Kubernetes minor version update from 1\.32 to 1\.34/,
    );
    await life.end();
  });
});
