// Node groups of every image family in virtual time. Amazon's families have their own user data
// formats; a launch template may also bring its own image and bootstrap script.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const labelsOf = (node: JsonObject): Readonly<Record<string, unknown>> =>
  objectOr(objectOr(node.metadata).labels);
const taintsOf = (node: JsonObject): readonly unknown[] => {
  const { taints } = objectOr(node.spec);
  return Array.isArray(taints) ? taints : [];
};
const asked = {
  labels: { team: 'a', 'example.com/tier': 'web' },
  taints: [
    { key: 'k', value: 'v', effect: 'NO_SCHEDULE' },
    { key: 'k', value: 'v', effect: 'NO_EXECUTE' },
    { key: 'bare', effect: 'PREFER_NO_SCHEDULE' },
  ],
};
const askedTaints = [
  { key: 'k', value: 'v', effect: 'NoSchedule' },
  { key: 'k', value: 'v', effect: 'NoExecute' },
  { key: 'bare', effect: 'PreferNoSchedule' },
];
const sorted = (taints: readonly unknown[]): readonly string[] =>
  taints
    .map((taint) => {
      const { key, value, effect } = objectOr(taint);
      return `${String(key)}=${String(value ?? '')}:${String(effect)}`;
    })
    .toSorted();

describe('the nodes of a group', () => {
  it.each([
    ['AL2_x86_64', 'Amazon Linux 2', '1.32.'],
    ['AL2023_x86_64_STANDARD', 'Amazon Linux 2023', '1.32.'],
    ['BOTTLEROCKET_x86_64', 'Bottlerocket', '1.'],
    ['WINDOWS_CORE_2022_x86_64', 'Windows', '1.32-'],
  ])('of %s register with its labels and taints', async (amiType, system, release) => {
    const life = await GroupLife.begin();
    // The kubelet registers with them; a later patch would let pods be scheduled in between.
    const firstSeen: JsonObject[] = [];
    life.world.kube.onChange({ group: '', resource: 'nodes' }, ({ type, object }) => {
      if (type === 'ADDED') firstSeen.push(object);
    });
    await life.create({ amiType, ...asked });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    expect(firstSeen).toHaveLength(2);
    for (const node of firstSeen) {
      expect(labelsOf(node)).toMatchObject({
        ...asked.labels,
        'eks.amazonaws.com/nodegroup': 'ng',
        'eks.amazonaws.com/nodegroup-image': life.group()?.status?.imageId,
      });
      expect(sorted(taintsOf(node))).toEqual(expect.arrayContaining([...sorted(askedTaints)]));
    }
    const [node] = life.nodes();
    const { osImage, operatingSystem } = objectOr(objectOr(node?.status).nodeInfo);
    expect(String(osImage)).toContain(system);
    const os = system === 'Windows' ? 'windows' : 'linux';
    expect(operatingSystem).toBe(os);
    expect(node && labelsOf(node)).toMatchObject({
      'kubernetes.io/os': os,
      'beta.kubernetes.io/os': os,
    });
    // Windows has one interface: 10 addresses less its own, and no extra for host network pods.
    expect(objectOr(objectOr(node?.status).allocatable).pods).toBe(os === 'windows' ? '9' : '29');
    expect(life.group()?.status?.releaseVersion?.startsWith(release)).toBe(true);
    // Further passes change nothing: the template matches the spec.
    await life.driver.advance(120);
    expect(life.called('CreateLaunchTemplateVersion')).toBe(0);
    await life.end();
  });
});

const script = (cluster: string, flags: string): string =>
  [
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="B"',
    '',
    '--B',
    'Content-Type: text/x-shellscript',
    '',
    '#!/bin/bash',
    `/etc/eks/bootstrap.sh ${cluster} --kubelet-extra-args '${flags}'`,
    '--B--',
    '',
  ].join('\n');

/** Creates a user's launch template with its own image; returns its ID. */
const ownTemplate = (life: GroupLife, userData: string): string => {
  const base = life.group('base');
  const [image] = (
    life.world.aws.call('ec2', 'DescribeImages', {
      Filters: [{ Name: 'name', Values: ['amazon-eks-node-1.32-v*'] }],
    }) as { readonly Images: readonly { readonly ImageId: string }[] }
  ).Images;
  expect(base).toBeDefined();
  const made = life.world.aws.call('ec2', 'CreateLaunchTemplate', {
    LaunchTemplateName: 'own',
    LaunchTemplateData: {
      ImageId: image?.ImageId ?? '',
      InstanceType: 'm5.large',
      UserData: btoa(userData),
    },
  });
  return String(objectOr(objectOr(made).LaunchTemplate).LaunchTemplateId);
};

describe('a node group whose launch template has an image', () => {
  it('is CUSTOM, runs the template’s user data as it is, and gets its taints afterwards', async () => {
    const life = await GroupLife.begin();
    const userData = script('c', '--node-labels=eks.amazonaws.com/nodegroup=ng,own=yes');
    const id = ownTemplate(life, userData);
    const own = { launchTemplate: { id }, instanceTypes: [], ...asked };
    const bottlerocket = life.request({ ...own, amiType: 'BOTTLEROCKET_x86_64' });
    expect(await life.refused('CreateNodegroup', bottlerocket)).toContain('other than CUSTOM');
    const old = life.request({ ...own, version: '1.32' });
    expect(await life.refused('CreateNodegroup', old)).toContain('specify a kubernetes version');
    await life.create({ ...own, amiType: 'CUSTOM' });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    expect(life.group()?.spec.amiType).toBe('CUSTOM');
    const derived = `eks-${life.group()?.metadata.uid}`;
    const found = life.world.aws.call('ec2', 'DescribeLaunchTemplateVersions', {
      LaunchTemplateName: derived,
      Versions: ['$Latest'],
    }) as { readonly LaunchTemplateVersions: readonly JsonObject[] };
    const data = objectOr(found.LaunchTemplateVersions[0]?.LaunchTemplateData);
    expect(atob(String(data.UserData))).toBe(userData);
    expect(data.IamInstanceProfile).toEqual({ Name: derived });
    // EKS applies the group's labels and taints to nodes whose user data does not set them.
    const isMarked = () =>
      life
        .nodes()
        .every(
          (node) =>
            labelsOf(node).team === 'a' && sorted(taintsOf(node)).includes('k=v:NoSchedule'),
        );
    await life.until('its nodes are marked', isMarked, 60);
    expect(life.nodes().map((node) => labelsOf(node).own)).toEqual(['yes', 'yes']);
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 1200);
    expect(life.templates()).toContain('own');
    await life.end();
  });

  it('says so when its user data joins nothing', async () => {
    const life = await GroupLife.begin();
    const id = ownTemplate(life, '#!/bin/bash\necho nothing');
    await life.create({ launchTemplate: { id }, instanceTypes: [] });
    await life.until('it is told', () => life.state() === 'CREATE_FAILED', 1200);
    expect(life.group()?.status?.health).toMatchObject([{ code: 'NodeCreationFailure' }]);
    await life.end();
  });
});

describe('what can never change', () => {
  const cannot = (field: string): string => `${field} of a node group cannot be changed`;
  it.each([
    [
      'launchTemplate',
      { launchTemplate: { id: 'lt-1', version: '1' } },
      'made without a launch template cannot get one',
    ],
    ['remoteAccess', { remoteAccess: { ec2SshKey: 'k' } }, cannot('remoteAccess')],
    ['diskSizeGiB', { diskSizeGiB: 100 }, cannot('diskSizeGiB')],
  ])('%s is refused by the API server, not ignored', async (_field, spec, words) => {
    const life = await GroupLife.begin();
    await life.create();
    await life.until('the group is ACTIVE', () => life.isActive(2));
    expect(JSON.stringify(life.patch({ spec }))).toContain(words);
    expect(life.patch({ spec: { scaling: { desired: 1 } } }).kind).not.toBe('error');
    await life.end();
  });
});
