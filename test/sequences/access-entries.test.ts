// Node groups in clusters with access entries, in virtual time: the entries that EKS creates for
// managed groups, and which nodes can join by them.
import { describe, expect, it } from 'vitest';
import { type JsonObject, objectOr } from '../../src/api/json.ts';
import { GroupLife } from '../support/nodegroup-world.ts';

const account = 'arn:aws:iam::111111111111:role/';

const eks = (life: GroupLife, operation: string, input: JsonObject = {}): JsonObject =>
  objectOr(life.world.aws.call('eks', operation, { clusterName: 'c', ...input }));

const setMode = async (life: GroupLife, authenticationMode: string): Promise<void> => {
  eks(life, 'UpdateClusterConfig', { name: 'c', accessConfig: { authenticationMode } });
  await life.driver.advance(30);
};

const inMode = async (...modes: readonly string[]): Promise<GroupLife> => {
  const life = await GroupLife.begin();
  for (const mode of modes) await setMode(life, mode);
  life.world.aws.call('iam', 'CreateRole', {
    RoleName: 'own',
    Path: '/team/',
    AssumeRolePolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: [] }),
  });
  return life;
};

const entries = (life: GroupLife): unknown => eks(life, 'ListAccessEntries').accessEntries;
const mapRoles = (life: GroupLife): string => {
  const map = life.world.kube.read(
    { group: '', resource: 'configmaps' },
    { namespace: 'kube-system', name: 'aws-auth' },
  );
  return String(objectOr(map?.data).mapRoles);
};

describe('a cluster that begins to know access entries', () => {
  it('has one for each role of its managed groups at once, and aws-auth stays as it is', async () => {
    const life = await GroupLife.begin();
    const before = mapRoles(life);
    const role = life.facts.managed[0]?.spec.nodeRole;
    await setMode(life, 'API_AND_CONFIG_MAP');
    expect(entries(life)).toEqual([role]);
    const { accessEntry } = eks(life, 'DescribeAccessEntry', { principalArn: role });
    expect(accessEntry).toMatchObject({
      type: 'EC2_LINUX',
      username: 'system:node:{{EC2PrivateDNSName}}',
      kubernetesGroups: ['system:nodes'],
    });
    expect(mapRoles(life)).toBe(before);
    await life.end();
  });

  it('has one for a role that EKS passed over, made by the controller that sees the new mode', async () => {
    const life = await GroupLife.begin();
    const role = life.facts.managed[0]?.spec.nodeRole ?? '';
    eks(life, 'UpdateClusterConfig', {
      name: 'c',
      accessConfig: { authenticationMode: 'API_AND_CONFIG_MAP' },
    });
    await life.until('EKS has made it', () => JSON.stringify(entries(life)).includes(role), 60);
    eks(life, 'DeleteAccessEntry', { principalArn: role });
    await life.until('it is there', () => JSON.stringify(entries(life)).includes(role), 600);
    // EKS creates the entry again once per authentication mode; a second deletion is taken as
    // intended.
    eks(life, 'DeleteAccessEntry', { principalArn: role });
    await life.driver.advance(1200);
    expect(entries(life)).toEqual([]);
    await life.end();
  });
});

describe('access policies', () => {
  const policyArn = 'arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy';
  const accessScope = { type: 'cluster' };
  const associated = async (type: string): Promise<unknown> => {
    const life = await inMode('API_AND_CONFIG_MAP');
    const principalArn = `${account}team/own`;
    eks(life, 'CreateAccessEntry', { principalArn, type });
    eks(life, 'AssociateAccessPolicy', { principalArn, policyArn, accessScope });
    const found = eks(life, 'ListAssociatedAccessPolicies', { principalArn });
    await life.end();
    return found.associatedAccessPolicies;
  };

  it('go with entries of type EC2, as EKS Auto Mode needs them (eksctl#8098)', async () => {
    expect(await associated('EC2')).toMatchObject([{ policyArn, accessScope }]);
  });

  it.each(['EC2_LINUX', 'EC2_WINDOWS', 'HYBRID_LINUX'])('go with none of type %s', async (type) => {
    await expect(associated(type)).rejects.toThrow(/with a type of "STANDARD"/);
  });
});

describe('a node group in a cluster with access entries', () => {
  it.each([
    ['both', ['API_AND_CONFIG_MAP']],
    ['entries alone', ['API_AND_CONFIG_MAP', 'API']],
  ])(
    'has its role authorized by an entry, and out of aws-auth, where there are %s',
    async (_, modes) => {
      const life = await inMode(...modes);
      const before = mapRoles(life);
      const nodeRole = `${account}team/own`;
      await life.create({ nodeRole });
      await life.until('it is ACTIVE', () => life.isActive(2));
      expect(entries(life)).toContain(nodeRole);
      expect(mapRoles(life)).toBe(before);
      const order = life.calls.map(({ operation }) => operation);
      expect(order.indexOf('CreateAccessEntry')).toBeLessThan(
        order.indexOf('CreateAutoScalingGroup'),
      );
      await life.delete();
      await life.until('it is gone', () => life.group() === undefined, 600);
      expect(entries(life)).not.toContain(nodeRole);
      await life.end();
    },
  );

  it('keeps an entry that it did not make', async () => {
    const life = await inMode('API_AND_CONFIG_MAP');
    const nodeRole = `${account}team/own`;
    eks(life, 'CreateAccessEntry', { principalArn: nodeRole, type: 'EC2_LINUX' });
    await life.create({ nodeRole });
    await life.until('it is ACTIVE', () => life.isActive(2));
    await life.delete();
    await life.until('it is gone', () => life.group() === undefined, 600);
    expect(entries(life)).toContain(nodeRole);
    await life.end();
  });

  it('is not begun where the entry of its role is a person’s, and says so', async () => {
    const life = await inMode('API_AND_CONFIG_MAP');
    const nodeRole = `${account}team/own`;
    eks(life, 'CreateAccessEntry', { principalArn: nodeRole });
    await life.create({ nodeRole });
    await life.until('it is told', () => (life.group()?.status?.health ?? []).length > 0, 60);
    const [issue] = life.group()?.status?.health ?? [];
    expect(issue?.code).toBe('AccessDenied');
    expect(issue?.message).toMatch(/is of type STANDARD, nodes of this group need EC2_LINUX/);
    expect(life.called('CreateAutoScalingGroup')).toBe(0);
    await life.end();
  });

  it('has no new node when its role was made again: the entry is of the one before', async () => {
    const life = await inMode('API_AND_CONFIG_MAP', 'API');
    const nodeRole = `${account}team/own`;
    await life.create({ nodeRole });
    await life.until('it is ACTIVE', () => life.isActive(2));
    const uid = life.group()?.metadata.uid ?? '';
    const profile = { InstanceProfileName: `eks-${uid}`, RoleName: 'own' };
    life.world.aws.call('iam', 'RemoveRoleFromInstanceProfile', profile);
    life.world.aws.call('iam', 'DeleteRole', { RoleName: 'own' });
    life.world.aws.call('iam', 'CreateRole', {
      RoleName: 'own',
      Path: '/team/',
      AssumeRolePolicyDocument: '{"Version":"2012-10-17","Statement":[]}',
    });
    life.world.aws.call('iam', 'AddRoleToInstanceProfile', profile);
    await life.updateConfig({ scalingConfig: { minSize: 0, maxSize: 4, desiredSize: 3 } });
    await life.until(
      'the new instance is known as one that does not join',
      () =>
        life.group()?.status?.health?.some(({ code }) => code === 'NodeCreationFailure') === true,
      1800,
    );
    await life.end();
  });
});
