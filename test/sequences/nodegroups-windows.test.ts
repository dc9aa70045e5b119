// A Windows group in a cluster whose VPC CNI is not configured for Windows (article 003). Its nodes
// join, its pods get no address, and `drover explain nodegroup` reports that as the first cause.
// With the ConfigMap, recreated pods run.
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { resourceTypes } from '../../src/api/kube.ts';
import { explained } from '../support/explained.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const addPod = (life: GroupLife, name: string): void => {
  const containers = [{ name: 'iis', image: 'mcr.microsoft.com/windows/servercore/iis' }];
  const nodeSelector = { 'kubernetes.io/os': 'windows' };
  const metadata = { name, namespace: 'default', labels: { app: name } };
  life.make(resourceTypes.pods, 'default', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers, nodeSelector },
  });
};

const where = { namespace: 'kube-system', name: 'amazon-vpc-cni' };
const map = (data: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: where,
  data,
});

it('names the missing switch first, until it is there', async () => {
  const life = await GroupLife.begin();
  await life.create({
    amiType: 'WINDOWS_CORE_2022_x86_64',
    nodeRole: life.createRole('win'),
    scalingConfig: { minSize: 0, maxSize: 2, desiredSize: 1 },
  });
  await life.until('the group is ACTIVE', () => life.isActive(1));
  expect(life.mapRoles()).toContain('eks:kube-proxy-windows');
  addPod(life, 'early');
  await life.driver.advance(180);
  expect(life.runningPods('early')).toBe(0);
  const [absent, ...others] = await explained(life);
  expect(others).toEqual([]);
  expect(absent).toMatchObject({
    code: 'WindowsAddresses',
    evidence: ['there is no ConfigMap kube-system/amazon-vpc-cni'],
    remedy: [
      expect.stringContaining('create configmap'),
      expect.stringContaining('recreate the pods'),
    ],
  });

  life.make(resourceTypes.configmaps, 'kube-system', map({ 'enable-windows-ipam': 'false' }));
  expect((await explained(life))[0]?.remedy[0]).toContain('patch configmap');
  const patch = { type: 'merge', body: { data: { 'enable-windows-ipam': 'true' } } } as const;
  expect(life.user.patch(resourceTypes.configmaps, where, patch).kind).not.toBe('error');
  expect(await explained(life)).toEqual([]);
  addPod(life, 'late');
  await life.until('its pod runs', () => life.runningPods('late') === 1, 120);
  expect(life.runningPods('early')).toBe(0);

  // Removes the group that kube-proxy needs from the role's mapping (containers-roadmap#1977).
  life.putMapRoles(life.mapRoles().replace(/\n *- eks:kube-proxy-windows/, ''));
  expect(await explained(life)).toMatchObject([
    { code: 'RoleMappedWrongly', what: expect.stringContaining('eks:kube-proxy-windows') },
  ]);
  await life.end();
});
