// What adopting a group would do, as tables over tags, hooks and NodeGroups.
import { describe, expect, it } from 'vitest';
import type { LifecycleHook, ScalingGroup } from '../../api/cloud.ts';
import {
  type Adoption,
  type AdoptionInput,
  adoptionsOf,
  clusterNamesOf,
  nodeGroupNameFor,
  originOf,
} from './adoption.ts';

const aGroup = (more: Partial<ScalingGroup> = {}): ScalingGroup => ({
  name: 'nodes.example',
  minSize: 1,
  maxSize: 5,
  desiredCapacity: 2,
  createdAt: '2026-01-01T00:00:00Z',
  instances: [],
  tags: {},
  ...more,
});

const aHook = (more: Partial<LifecycleHook> = {}): LifecycleHook => ({
  name: 'theirs',
  autoScalingGroupName: 'nodes.example',
  transition: 'autoscaling:EC2_INSTANCE_TERMINATING',
  heartbeatTimeoutSeconds: 300,
  globalTimeoutSeconds: 30_000,
  defaultResult: 'ABANDON',
  ...more,
});

const nodeGroup = (name: string, spec: object = {}, uid = `uid-${name}`) =>
  ({ metadata: { name, uid }, spec }) as unknown as AdoptionInput['nodeGroups'][number];

const anInput = (more: Partial<AdoptionInput> = {}): AdoptionInput => ({
  group: aGroup(),
  hooks: [],
  nodeGroups: [],
  name: 'nodes',
  nodes: [{ name: 'n1' }],
  clusterNames: [],
  ...more,
});

const adoption = (more: Partial<AdoptionInput> = {}): Adoption => {
  const [one] = adoptionsOf([anInput(more)]);
  if (one === undefined) throw new Error('no adoption');
  return one;
};

const instances = (...states: readonly string[]) =>
  states.map((lifecycleState, nth) => ({
    instanceId: `i-${nth}`,
    lifecycleState,
  })) as unknown as ScalingGroup['instances'];

const inCluster = (name: string) => ({ [`kubernetes.io/cluster/${name}`]: 'owned' });

describe('who made a group', () => {
  const kops = { 'kops.k8s.io/instancegroup': 'nodes-a' };
  it.each([
    [{}, 'other'],
    [{ 'kubernetes.io/cluster/c': 'owned' }, 'other'],
    [{ 'alpha.eksctl.io/nodegroup-name': 'ng' }, 'eksctl'],
    [{ 'eks:nodegroup-name': 'ng', 'alpha.eksctl.io/nodegroup-name': 'ng' }, 'eks'],
    [{ 'eks:nodegroup-name': 'ng', 'drover.dev/nodegroup-uid': 'u' }, 'drover'],
    [kops, 'kops'],
    [{ ...kops, 'k8s.io/role/control-plane': '1' }, 'kops-control-plane'],
    [{ ...kops, 'k8s.io/role/master': '1' }, 'kops-control-plane'],
  ])('%j: %s', (tags, origin) => {
    expect(originOf({ tags })).toBe(origin);
  });
});

describe('the name of its NodeGroup', () => {
  it.each([
    ['My_ASG.example', {}, 'my-asg-example'],
    ['x', { 'kops.k8s.io/instancegroup': 'nodes-eu-west-1a' }, 'nodes-eu-west-1a'],
    ['x', { 'alpha.eksctl.io/nodegroup-name': 'ng' }, 'ng'],
    [`${'a'.repeat(62)}-b`, {}, 'a'.repeat(62)],
  ])('%s %j: %s', (name, tags, expected) => {
    expect(nodeGroupNameFor({ name, tags })).toBe(expected);
  });
});

describe('an adoption', () => {
  it('lists what is on the group, and adds its two hooks', () => {
    const group = aGroup({
      suspendedProcesses: ['AZRebalance', 'HealthCheck'],
      warmPool: { instances: 2, state: 'Active' },
      classicLoadBalancers: ['web', 'api'],
      capacityRebalance: true,
    });
    const refresh = { status: 'InProgress', percentage: 40 };
    const { found, adds, refusal, warnings } = adoption({ group, hooks: [aHook()], refresh });
    expect(refusal).toBeUndefined();
    expect(found).toEqual([
      'sizes 1 to 5, desired 2, instances 0',
      'no launch template: its nodes cannot be updated',
      'AZRebalance is suspended',
      'suspended processes: HealthCheck; they stay so',
      'capacity rebalance is on',
      'Classic Load Balancers web, api: Auto Scaling deregisters an instance that it terminates, ' +
        'and a drain does not wait for that',
      'a warm pool of 2 instances',
      'an instance refresh is InProgress at 40 %',
      'terminate hook theirs of others: waits 300 s, then ABANDON; it stays as it is',
    ]);
    expect(adds).toContain('lifecycle hook Terminate-LC-Hook (1800 s, CONTINUE)');
    expect(warnings).toEqual([
      'wait for the instance refresh, or cancel it: it replaces nodes beside an update',
    ]);
  });

  it('uses a hook that has its name already', () => {
    const { adds } = adoption({ hooks: [aHook({ name: 'Terminate-LC-Hook' })] });
    expect(adds[2]).toMatch(/^nothing for Terminate-LC-Hook/);
  });

  it('warns of others that act on the same nodes', () => {
    const tags = {
      'aws-node-termination-handler/managed': '',
      'k8s.io/cluster-autoscaler/enabled': 'true',
    };
    expect(adoption({ group: aGroup({ tags }) }).warnings).toHaveLength(2);
  });

  it.each([
    [
      'a NodeGroup has it',
      { nodeGroups: [nodeGroup('blue', { autoScalingGroupName: 'nodes.example' })] },
      /^NodeGroup blue has it already$/,
    ],
    [
      'a NodeGroup created it',
      {
        group: aGroup({ tags: { 'drover.dev/nodegroup-uid': 'uid-demo' } }),
        nodeGroups: [nodeGroup('demo')],
      },
      /^NodeGroup demo created it$/,
    ],
    [
      'another cluster has it',
      { group: aGroup({ tags: { 'drover.dev/nodegroup-uid': 'elsewhere' } }) },
      /uid elsewhere, which this cluster does not have/,
    ],
    [
      'EKS manages it',
      { group: aGroup({ tags: { 'eks:nodegroup-name': 'ng' } }) },
      /^EKS manages it/,
    ],
    [
      'it holds a control plane',
      { group: aGroup({ tags: { 'k8s.io/role/control-plane': '1' } }) },
      /kops rolling-update/,
    ],
    [
      'kubeadm made a control plane of it',
      { nodes: [{ name: 'n1', labels: { 'node-role.kubernetes.io/control-plane': '' } }] },
      /^its node n1 runs the control plane \(label node-role.*such as kubeadm$/,
    ],
    [
      'its tags name another cluster',
      { group: aGroup({ tags: inCluster('blue') }), nodes: [], clusterNames: ['red'] },
      /^its tags name cluster blue, and this one is red: .* with --context/,
    ],
    [
      'its instances are nodes elsewhere',
      { group: aGroup({ instances: instances('InService', 'Pending') }), nodes: [] },
      /^none of its 1 instances in service is a node of this cluster/,
    ],
    ['the name is taken', { nodeGroups: [nodeGroup('nodes')] }, /another name with --name/],
  ])('is refused where %s', (_, more, words) => {
    const { refusal, adds } = adoption(more);
    expect(refusal).toMatch(words);
    expect(adds).toEqual([]);
  });
});

describe('whose group it is', () => {
  it('is this cluster’s with a node here, whatever its tags name', () => {
    const group = aGroup({ tags: inCluster('blue') });
    expect(adoption({ group, clusterNames: ['red'] }).refusal).toBeUndefined();
  });

  it('is this cluster’s by its tag, before an instance has joined', () => {
    const group = aGroup({ tags: inCluster('red'), instances: instances('InService') });
    const { refusal, warnings } = adoption({ group, nodes: [], clusterNames: ['red'] });
    expect([refusal, warnings]).toEqual([undefined, []]);
  });

  it('is said to be unproven without instance and tag', () => {
    expect(adoption({ nodes: [] }).warnings).toEqual([expect.stringMatching(/they must$/)]);
  });

  it('is compared with the tags of groups whose nodes are here, not with kubeadm’s default', () => {
    const ofGroup = nodeGroup('a', { clusterName: 'kubernetes' });
    const tags = { KubernetesCluster: 'red', 'k8s.io/cluster-autoscaler/enabled': 'true' };
    expect(clusterNamesOf([ofGroup], [aGroup({ tags })])).toEqual(['red']);
  });
});

describe('several groups', () => {
  it('of one name are all refused; those that cannot be adopted anyway do not count', () => {
    const named = (name: string, tags = {}) => anInput({ group: aGroup({ name, tags }) });
    const eks = named('c', { 'eks:nodegroup-name': 'ng' });
    const [a, b, c] = adoptionsOf([named('a'), named('b'), eks]);
    expect(a?.refusal).toBe(
      'its NodeGroup would be called nodes, as that of b: adopt each with --asg NAME --name ' +
        'NODEGROUP',
    );
    expect(b?.refusal).toMatch(/as that of a:/);
    expect(c?.refusal).toMatch(/^EKS manages it/);
    expect(adoptionsOf([named('a'), eks])[0]?.refusal).toBeUndefined();
  });
});
