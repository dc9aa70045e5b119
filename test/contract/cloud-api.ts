// The contract of the cloud port, as cases that run against a working cloud: a world in process, a
// world over HTTP, moto_server. Plain calls only; `lacks` names what an independent implementation
// does not support.
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import type { CloudApi } from '../../src/ports/index.ts';

/** A cloud with its initial resources and a way to let its time pass. */
export interface Cloud {
  readonly cloud: CloudApi;
  readonly subnetId: string;
  readonly vpcId: string;
  readonly imageId: string;
  readonly roleName: string;
  readonly queueUrl: string;
  readonly send: (body: string) => Promise<void>;
  /** Advances the cloud's time by `seconds`. */
  readonly advance: (seconds: number) => Promise<void>;
}

export type Lack =
  /** CompleteLifecycleAction. */
  | 'lifecycle-actions'
  /** NotificationMetadata of hooks. */
  | 'hook-metadata'
  /** Answers the deletion of a missing object as EC2 and Auto Scaling do. */
  | 'absence';

const tags = { 'kubernetes.io/cluster/c': 'owned' };
const hook = {
  name: 'h',
  transition: 'autoscaling:EC2_INSTANCE_TERMINATING',
  heartbeatTimeoutSeconds: 300,
  defaultResult: 'CONTINUE',
  metadata: 'theirs',
} as const;

const newTemplate = async ({ cloud, imageId }: Cloud, name: string): Promise<string> => {
  const data = { ImageId: imageId, InstanceType: 'm5.large' };
  await cloud.createLaunchTemplate({ name, tags, data });
  return (await cloud.findLaunchTemplate({ name, version: '$Latest' }))?.id ?? '';
};

const newGroup = async (given: Cloud, name: string, desired: number): Promise<string> => {
  const id = await newTemplate(given, `${name}-template`);
  await given.cloud.createGroup({
    name,
    minSize: 0,
    maxSize: 3,
    desiredCapacity: desired,
    subnets: [given.subnetId],
    launchTemplate: { id, version: '1' },
    spot: false,
    tags,
    ownTags: { own: 'yes' },
    hooks: [],
  });
  return id;
};

const templates = (start: () => Promise<Cloud>): void => {
  it('makes launch templates, finds them by name and id, and adds versions to them', async () => {
    const given = await start();
    const { cloud, imageId } = given;
    const id = await newTemplate(given, 'lt-one');
    const first = await cloud.findLaunchTemplate({ name: 'lt-one', version: '1' });
    expect(first).toMatchObject({ id, name: 'lt-one', version: '1', tags });
    expect(first?.data).toMatchObject({ ImageId: imageId, InstanceType: 'm5.large' });
    const overlay: JsonObject = { InstanceType: 'c5.large' };
    expect(await cloud.addLaunchTemplateVersion({ id, source: '1', data: overlay })).toBe('2');
    const second = await cloud.findLaunchTemplate({ id, version: '$Latest' });
    expect(second).toMatchObject({ version: '2', data: { InstanceType: 'c5.large' } });
    expect(await cloud.describeLaunchTemplate({ id, version: '1' })).toEqual({
      instanceType: 'm5.large',
      imageId,
    });
    expect(await cloud.findLaunchTemplate({ name: 'lt-none', version: '1' })).toBeUndefined();
    expect(await cloud.deleteLaunchTemplate('lt-one')).toBe(true);
  });
};

const groups = (start: () => Promise<Cloud>, lacks: ReadonlySet<Lack>): void => {
  it('makes groups, changes and describes them', async () => {
    const given = await start();
    const { cloud } = given;
    const id = await newGroup(given, 'g-sizes', 0);
    const found = await cloud.describeGroups(['g-sizes', 'g-unknown']);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      name: 'g-sizes',
      minSize: 0,
      maxSize: 3,
      desiredCapacity: 0,
      instances: [],
      tags: { ...tags, own: 'yes' },
      subnets: [given.subnetId],
      launchTemplate: { id, version: '1' },
    });
    expect(Number.isNaN(Date.parse(found[0]?.createdAt ?? ''))).toBe(false);
    await cloud.updateGroup({ name: 'g-sizes', minSize: 0, maxSize: 5 });
    await cloud.tagGroup('g-sizes', { own: 'no', more: '1' });
    await cloud.untagGroup('g-sizes', ['more']);
    const change = { name: 'g-sizes', processes: ['AZRebalance'], suspended: true };
    await cloud.setProcesses(change);
    const [changed] = await cloud.describeGroups(['g-sizes']);
    expect(changed).toMatchObject({ maxSize: 5, suspendedProcesses: ['AZRebalance'] });
    expect(changed?.tags).toEqual({ ...tags, own: 'no' });
    await cloud.setProcesses({ ...change, suspended: false });
    expect((await cloud.describeGroups(['g-sizes']))[0]?.suspendedProcesses).toEqual([]);
    expect(await cloud.deleteGroup('g-sizes')).toBe(true);
    await given.advance(120);
    expect(await cloud.describeGroups(['g-sizes'])).toEqual([]);
  });

  it('refuses a group and a template that exist', async () => {
    const given = await start();
    await newGroup(given, 'g-twice', 0);
    const again = newTemplate(given, 'g-twice-template');
    await expect(again).rejects.toMatchObject({ code: 'InvalidRequest', retry: 'never' });
  });

  it.skipIf(lacks.has('absence'))('says false of what is gone already', async () => {
    const { cloud } = await start();
    expect(await cloud.deleteGroup('g-none')).toBe(false);
    expect(await cloud.removeHook('g-none', 'h')).toBe(false);
    expect(await cloud.deleteLaunchTemplate('lt-none')).toBe(false);
  });

  it('installs hooks, describes and removes them', async () => {
    const given = await start();
    const { cloud } = given;
    await newGroup(given, 'g-hooks', 0);
    await cloud.installHook('g-hooks', hook);
    const [found] = await cloud.describeHooks('g-hooks');
    const { metadata, ...kept } = hook;
    expect(found).toMatchObject({ ...kept, autoScalingGroupName: 'g-hooks' });
    if (!lacks.has('hook-metadata')) expect(found?.metadata).toBe(metadata);
    expect(found?.globalTimeoutSeconds).toBeGreaterThan(0);
    expect(await cloud.removeHook('g-hooks', 'h')).toBe(true);
    expect(await cloud.describeHooks('g-hooks')).toEqual([]);
  });

  it.skipIf(lacks.has('lifecycle-actions'))('knows what waits in no hook', async () => {
    const given = await start();
    await newGroup(given, 'g-waits', 0);
    await given.cloud.installHook('g-waits', hook);
    const call = { autoScalingGroupName: 'g-waits', hookName: 'h' };
    const instanceId = 'i-07e9ea9eb19a67337';
    const completed = given.cloud.completeHook({ ...call, instanceId, result: 'CONTINUE' });
    await expect(completed).rejects.toMatchObject({ code: 'NoActiveLifecycleAction' });
  });
};

const instances = (start: () => Promise<Cloud>): void => {
  it('describes the instances of a group and terminates one', async () => {
    const given = await start();
    const { cloud } = given;
    await newGroup(given, 'g-runs', 1);
    await given.advance(60);
    const [group] = await cloud.describeGroups(['g-runs']);
    const member = group?.instances[0];
    expect(member).toMatchObject({
      autoScalingGroupName: 'g-runs',
      lifecycleState: 'InService',
      healthStatus: 'Healthy',
      launchTemplateVersion: '1',
      protectedFromScaleIn: false,
    });
    const id = member?.instanceId ?? '';
    const found = await cloud.describeInstances([id, 'i-07e9ea9eb19a67337']);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      instanceId: id,
      state: 'running',
      instanceType: 'm5.large',
      isSpot: false,
      imageId: given.imageId,
      availabilityZone: member?.availabilityZone,
      network: { subnetId: given.subnetId, vpcId: given.vpcId },
    });
    expect(found[0]?.addresses).toContain(found[0]?.network?.privateAddress);
    expect(Date.parse(found[0]?.launchTime ?? '')).toBeGreaterThan(0);
    await cloud.terminateInGroup(id, { decrementDesired: true });
    await given.advance(120);
    expect((await cloud.describeGroups(['g-runs']))[0]).toMatchObject({
      desiredCapacity: 0,
      instances: [],
    });
    expect(await cloud.deleteGroup('g-runs')).toBe(true);
  });
};

const others = (start: () => Promise<Cloud>): void => {
  it('receives messages, keeps them and takes them away', async () => {
    const given = await start();
    await given.send('hello');
    await given.advance(1);
    const wait = { waitSeconds: 0, visibilitySeconds: 60 };
    const [message] = await given.cloud.receiveMessages(given.queueUrl, wait);
    expect(message).toMatchObject({ body: 'hello', receiveCount: 1 });
    expect(message?.sentAt).toBeGreaterThan(0);
    const receipt = message?.receiptHandle ?? '';
    await given.cloud.changeVisibility(given.queueUrl, receipt, 0);
    await given.advance(1);
    const [again] = await given.cloud.receiveMessages(given.queueUrl, wait);
    expect(again).toMatchObject({ id: message?.id, receiveCount: 2 });
    await given.cloud.deleteMessage(given.queueUrl, again?.receiptHandle ?? '');
    await given.advance(120);
    expect(await given.cloud.receiveMessages(given.queueUrl, wait)).toEqual([]);
  });

  it('makes an instance profile with its role once, and takes it away', async () => {
    const { cloud, roleName } = await start();
    const profile = { name: 'p-one', roleName, tags };
    await cloud.ensureInstanceProfile(profile);
    await cloud.ensureInstanceProfile(profile);
    const found = await cloud.findInstanceProfile('p-one');
    expect(found).toMatchObject({ name: 'p-one', roles: [roleName], tags });
    expect(found?.roleArn).toMatch(/^arn:aws:iam::\d+:role\//);
    expect(await cloud.deleteInstanceProfile('p-one')).toBe(true);
    expect(await cloud.deleteInstanceProfile('p-one')).toBe(false);
    expect(await cloud.findInstanceProfile('p-one')).toBeUndefined();
  });

  it('finds subnets, types and images, and leaves unknown ones out', async () => {
    const { cloud, subnetId, vpcId, imageId } = await start();
    const subnets = await cloud.describeSubnets([subnetId, 'subnet-0123456789abcdef0']);
    expect(subnets).toMatchObject([{ id: subnetId, vpcId }]);
    expect(subnets[0]?.freeAddresses).toBeGreaterThan(0);
    const types = await cloud.describeInstanceTypes(['m5.large', 'm5.none']);
    expect(types).toEqual([
      {
        name: 'm5.large',
        interfaces: 3,
        addressesPerInterface: 10,
        vcpus: 2,
        architectures: ['x86_64'],
      },
    ]);
    expect(await cloud.findImage(imageId)).toMatchObject({ id: imageId });
    expect(await cloud.findImage('ami-0123456789abcdef0')).toBeUndefined();
    expect(await cloud.hasKeyPair('none')).toBe(false);
  });

  it('makes a security group, allows a port twice, and takes it away', async () => {
    const { cloud, vpcId } = await start();
    const group = { name: 'sg-one', description: 'd', vpcId, tags };
    const id = await cloud.createSecurityGroup(group);
    const rule = { port: 22, groups: [], cidrs: ['10.0.0.0/8'] };
    await cloud.allowIngress(id, rule);
    await cloud.allowIngress(id, rule);
    const [found] = await cloud.findSecurityGroups({ name: 'sg-one' });
    expect(found).toMatchObject({ id, vpcId, tags });
    expect(found?.ingress).toEqual([
      {
        protocol: 'tcp',
        fromPort: 22,
        toPort: 22,
        cidrs: ['10.0.0.0/8'],
        groups: [],
        hasPrefixLists: false,
      },
    ]);
    expect(await cloud.deleteSecurityGroup(id)).toBe(true);
    expect(await cloud.deleteSecurityGroup(id)).toBe(false);
  });

  it('knows clusters, stacks and events that exist, and no others', async () => {
    const { cloud } = await start();
    expect(await cloud.describeCluster('none')).toBeUndefined();
    expect(await cloud.describeScheduledEvents()).toEqual([]);
    expect(await cloud.describeImpairedInstances()).toEqual([]);
    expect((await cloud.time()) % 1000).toBe(0);
  });
};

/**
 * Registers the cases. `start` returns the cloud; it may return the same one each time, since each
 * name is used once.
 */
export const cloudContract = (
  start: () => Promise<Cloud>,
  lacks: ReadonlySet<Lack> = new Set(),
): void => {
  templates(start);
  groups(start, lacks);
  instances(start);
  others(start);
};
