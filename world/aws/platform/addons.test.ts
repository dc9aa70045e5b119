// An add-on over the API: role, tags, versions, updates with their parameters, and deletion.
import { describe, expect, it } from 'vitest';
import { aTestWorld, type TestWorld } from '../../../test/builders/world-aws.ts';

const named = { clusterName: 'c', addonName: 'coredns' };
const role = 'arn:aws:iam::111111111111:role/dns';
const addonOf = (world: TestWorld) => world.call('eks', 'DescribeAddon', named).addon;

const begin = (): TestWorld => {
  const world = aTestWorld();
  world.call('eks', 'CreateCluster', {
    name: 'c',
    roleArn: 'arn:aws:iam::111111111111:role/eks',
    resourcesVpcConfig: { subnetIds: world.foundation.publicSubnets.map((one) => one.subnetId) },
  });
  world.advance(180);
  const tags = { team: 'a' };
  const more = { serviceAccountRoleArn: role, resolveConflicts: 'OVERWRITE', tags };
  world.call('eks', 'CreateAddon', { ...named, ...more });
  expect(addonOf(world)?.status).toBe('CREATING');
  world.advance(180);
  return world;
};

describe('an add-on', () => {
  it('keeps its role and tags, and is listed', () => {
    const world = begin();
    expect(addonOf(world)).toMatchObject({
      status: 'ACTIVE',
      serviceAccountRoleArn: role,
      tags: { team: 'a' },
    });
    expect(world.call('eks', 'ListAddons', { clusterName: 'c' }).addons).toEqual(['coredns']);
    const resourceArn = String(addonOf(world)?.addonArn);
    world.call('eks', 'TagResource', { resourceArn, tags: { cost: '1' } });
    world.call('eks', 'UntagResource', { resourceArn, tagKeys: ['team'] });
    expect(addonOf(world)?.tags).toEqual({ cost: '1' });
  });

  it('is updated with all that was asked, which the update tells', () => {
    const world = begin();
    const versions = world.call('eks', 'DescribeAddonVersions', { addonName: 'coredns' });
    const addonVersion = String(versions.addons?.[0]?.addonVersions?.[1]?.addonVersion);
    const asked = { addonVersion, resolveConflicts: 'PRESERVE' };
    const { update } = world.call('eks', 'UpdateAddon', { ...named, ...asked });
    expect(update).toMatchObject({
      status: 'InProgress',
      type: 'AddonUpdate',
      params: [
        { type: 'AddonVersion', value: addonVersion },
        { type: 'ResolveConflicts', value: 'PRESERVE' },
      ],
    });
    expect(world.refusal('eks', 'UpdateAddon', named)).toMatch(/^ResourceInUseException: /);
    world.advance(180);
    const told = { name: 'c', addonName: 'coredns', updateId: String(update?.id) };
    expect(world.call('eks', 'DescribeUpdate', told).update?.status).toBe('Successful');
    expect(addonOf(world)).toMatchObject({ status: 'ACTIVE', addonVersion });
  });

  it('names the service account and the policies that it needs, or that it needs none', () => {
    const world = begin();
    const asked = (addonName: string) => {
      const { addons } = world.call('eks', 'DescribeAddonVersions', { addonName });
      const version = addons?.[0]?.addonVersions?.[0];
      const addonVersion = version?.addonVersion;
      const input = { addonName, addonVersion };
      const { podIdentityConfiguration } = world.call('eks', 'DescribeAddonConfiguration', input);
      return [version?.requiresIamPermissions, podIdentityConfiguration];
    };
    expect(asked('coredns')).toEqual([false, []]);
    expect(asked('vpc-cni')).toEqual([
      true,
      [
        {
          serviceAccount: 'aws-node',
          recommendedManagedPolicies: ['arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy'],
        },
      ],
    ]);
  });

  it('is refused twice, unknown, and in a version that there is not; and it goes', () => {
    const world = begin();
    expect(world.refusal('eks', 'CreateAddon', named)).toMatch(/^ResourceInUseException: /);
    const unknown = { clusterName: 'c', addonName: 'nobody' };
    expect(world.refusal('eks', 'CreateAddon', unknown)).toBe(
      'InvalidParameterException: Addon nobody specified is not supported',
    );
    const wrong = { ...named, addonVersion: 'v0.0.1' };
    expect(world.refusal('eks', 'UpdateAddon', wrong)).toBe(
      'InvalidParameterException: Addon version specified is not supported: v0.0.1',
    );
    expect(world.call('eks', 'DeleteAddon', named).addon?.status).toBe('DELETING');
    world.advance(180);
    expect(world.refusal('eks', 'DescribeAddon', named)).toBe(
      'ResourceNotFoundException: No addon: coredns found in cluster: c',
    );
  });
});
