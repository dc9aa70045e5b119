// Permissions of a node group's nodes, in virtual time: the instance profile of its role, and the
// role in aws-auth that authorizes them to join.
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const begun = async (more: Parameters<GroupLife['create']>[0] = {}): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  await life.create(more);
  await life.until('the group is ACTIVE', () => life.isActive(2));
  return life;
};

describe('the instance profile of a node group', () => {
  it('carries the role, stands before the template and goes with the group', async () => {
    const life = await begun();
    const uid = life.group()?.metadata.uid ?? '';
    const role = life.group()?.spec.nodeRole ?? '';
    const profile = life.profiles().find((one) => one.InstanceProfileName === `eks-${uid}`);
    expect(profile?.Roles).toMatchObject([{ Arn: role }]);
    const order = life.calls.map(({ operation }) => operation);
    expect(order.indexOf('AddRoleToInstanceProfile')).toBeLessThan(
      order.indexOf('CreateLaunchTemplate'),
    );
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 600);
    life.expectNothingLeft('ng', uid);
    expect(life.called('DeleteInstanceProfile')).toBe(1);
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('is refused in EKS’ code when there is no such role, and made when there is', async () => {
    const life = await GroupLife.begin();
    await life.create({ nodeRole: 'arn:aws:iam::111111111111:role/later' });
    await life.until('it is told', () => life.state() === 'CREATE_FAILED', 60);
    expect(life.group()?.status?.health).toMatchObject([{ code: 'IamNodeRoleNotFound' }]);
    expect(life.called('CreateLaunchTemplate')).toBe(0);
    // The group has no Auto Scaling group, but the cluster is still in use.
    expect(await life.refused('DeleteCluster', { name: 'c' })).toBe(
      'ResourceInUseException: Cluster has nodegroups attached',
    );
    life.world.aws.call('iam', 'CreateRole', {
      RoleName: 'later',
      AssumeRolePolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: [] }),
    });
    await life.until('it is ACTIVE', () => life.isActive(2));
    await life.end();
  });

  it('of its name that is another actor’s is neither used nor deleted', async () => {
    const life = await GroupLife.begin();
    const away = (operation: string) => operation === 'CreateInstanceProfile';
    life.faults = {
      cloudCall: (operation) =>
        away(operation) ? { kind: 'refused', code: 'Throttled' } : { kind: 'ok' },
    };
    await life.create();
    const name = `eks-${life.group()?.metadata.uid}`;
    life.world.aws.call('iam', 'CreateInstanceProfile', { InstanceProfileName: name });
    life.faults = {};
    await life.until('it is told', () => (life.group()?.status?.health ?? []).length > 0, 60);
    expect(life.group()?.status?.health).toMatchObject([{ code: 'IamInstanceProfileNotFound' }]);
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 60);
    expect(JSON.stringify(life.profiles().map(objectOr))).toContain(name);
    await life.end();
  });
});

describe('the name of a node group', () => {
  const taken = 'ResourceInUseException: NodeGroup already exists with name ng and cluster name c';

  it('is taken while the group leaves, by the very request that made it too', async () => {
    const request = { clientRequestToken: 'once' };
    const life = await begun(request);
    expect(await life.create(request)).toMatchObject({ nodegroup: { status: 'ACTIVE' } });
    await life.delete();
    expect(await life.refused('CreateNodegroup', life.request(request))).toBe(taken);
    await life.until('it is gone', () => life.group() === undefined, 600);
    expect(await life.create(request)).toMatchObject({ nodegroup: { status: 'CREATING' } });
    await life.end();
  });

  it('that another cluster’s group has is refused with the reason', async () => {
    const life = await begun();
    const { apiVersion, kind, spec } = JSON.parse(JSON.stringify(life.group()));
    const metadata = { name: 'other' };
    life.createGroup({ apiVersion, kind, metadata, spec: { ...spec, clusterName: 'd' } });
    const request = life.request({ nodegroupName: 'other' });
    expect(await life.refused('CreateNodegroup', request)).toMatch(
      /^ResourceInUseException: The name other belongs to a node group of another cluster: /,
    );
    await life.end();
  });
});

/** The entry as article 002 prints it. */
const entryOf = (name: string, accountId: string): string =>
  `- groups:\n  - system:bootstrappers\n  - system:nodes\n  rolearn: arn:aws:iam::${accountId}:role/${name}\n  username: system:node:{{EC2PrivateDNSName}}\n`;

describe('the role of a node group in aws-auth', () => {
  it('comes with the first group that has it, without its path, and goes with the last', async () => {
    const life = await GroupLife.begin();
    const before = life.mapRoles();
    const nodeRole = life.createRole('shared');
    const accountId = nodeRole.split(':')[4] ?? '';
    await life.create({ nodeRole });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    expect(life.mapRoles()).toBe(before + entryOf('shared', accountId));
    await life.create({ nodeRole, nodegroupName: 'other' });
    await life.until('the other is ACTIVE', () => life.isActive(2, 'other'));
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 600);
    expect(life.mapRoles()).toBe(before + entryOf('shared', accountId));
    await life.eks('DeleteNodegroup', { clusterName: 'c', nodegroupName: 'other' });
    await life.until('the other is gone', () => life.group('other') === undefined, 600);
    expect(life.mapRoles()).toBe(before);
    const left = life.awsAuth()?.metadata.annotations;
    expect(left ?? {}).toEqual({});
    expect(life.check().violations).toEqual([]);
    await life.end();
  });

  it('goes once when two groups that have it are deleted at once', async () => {
    const life = await GroupLife.begin();
    const before = life.mapRoles();
    const nodeRole = life.createRole('shared');
    const scalingConfig = { minSize: 0, maxSize: 1, desiredSize: 0 };
    for (const nodegroupName of ['ng', 'other']) {
      await life.create({ nodeRole, nodegroupName, scalingConfig });
    }
    await life.until('both are', () => life.isActive(0) && life.isActive(0, 'other'));
    for (const nodegroupName of ['ng', 'other']) {
      await life.eks('DeleteNodegroup', { clusterName: 'c', nodegroupName });
    }
    const areGone = () => [life.group(), life.group('other')].every((one) => one === undefined);
    await life.until('both are gone', areGone, 120);
    expect(life.mapRoles()).toBe(before);
    await life.end();
  });

  it('that another actor authorized is neither written nor taken out', async () => {
    const life = await begun();
    const version = life.awsAuth()?.metadata.resourceVersion;
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 600);
    expect(life.awsAuth()?.metadata.resourceVersion).toBe(version);
    await life.end();
  });

  it('is not written over what no one can read: told as AccessDenied, tried until it is fixed', async () => {
    const life = await GroupLife.begin();
    const before = life.mapRoles();
    life.putMapRoles('a: [');
    await life.create({ nodeRole: life.createRole('mine') });
    await life.until('it is told', () => life.state() === 'CREATE_FAILED', 60);
    expect(life.group()?.status?.health).toMatchObject([
      { code: 'AccessDenied', resourceIds: ['aws-auth'] },
    ]);
    expect(life.called('CreateAutoScalingGroup')).toBe(0);
    expect(life.mapRoles()).toBe('a: [');
    life.putMapRoles(before);
    await life.until('it is ACTIVE', () => life.isActive(2));
    expect(life.mapRoles().startsWith(before)).toBe(true);
    await life.end();
  });

  it('stays when a self-managed group’s stack has it too', async () => {
    const life = await GroupLife.begin();
    const nodeRole = life.createRole('mine');
    await life.create({ nodeRole });
    await life.until('the group is ACTIVE', () => life.isActive(2));
    const launchTemplateId = life.autoScalingGroups()[0]?.LaunchTemplate;
    life.world.aws.call('cloudformation', 'CreateStack', {
      StackName: 'eksctl-c-nodegroup-self',
      TemplateBody: JSON.stringify({
        Resources: {
          Group: {
            Type: 'AWS::AutoScaling::AutoScalingGroup',
            Properties: {
              MinSize: '0',
              MaxSize: '1',
              VPCZoneIdentifier: [...(life.group()?.spec.subnets ?? [])],
              LaunchTemplate: {
                LaunchTemplateId: objectOr(launchTemplateId).LaunchTemplateId,
                Version: '1',
              },
            },
          },
        },
        Outputs: { InstanceRoleARN: { Value: nodeRole } },
      }),
    });
    await life.driver.advance(60);
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 600);
    expect(life.mapRoles()).toContain('role/mine');
    await life.end();
  });
});

describe('the definition of node groups', () => {
  it('that a user deletes is named by EKS’ operations, with the remedy, and its cluster can go', async () => {
    const life = await GroupLife.begin();
    const crds = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' } as const;
    for (const { metadata } of life.world.kube.readAll(crds)) {
      if (metadata.name === 'nodegroups.drover.dev') life.user.delete(crds, metadata);
    }
    await life.driver.advance(600);
    const clusterName = 'c';
    const named = /^ServiceUnavailableException: .*kubectl apply -f deploy\/crds/;
    expect(await life.refused('ListNodegroups', { clusterName })).toMatch(named);
    expect(await life.refused('CreateNodegroup', life.request())).toMatch(named);
    const answer = objectOr((await life.eks('DeleteCluster', { name: clusterName })).cluster);
    expect(answer.status).toBe('DELETING');
    await life.end();
  });
});
