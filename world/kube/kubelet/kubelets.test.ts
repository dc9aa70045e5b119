// Machines and pods on simulated kubelets, with the real API server and controllers.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { conditionOf, resources } from '../actors/index.ts';
import { aMachine, SmallWorld } from '../controllers/small-world.ts';
import { podAnnotations } from './index.ts';

const aPod = (name: string, annotations: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'demo', annotations },
  spec: { containers: [{ name: 'c', image: 'nginx:latest' }], ...spec },
});

const withPod = (annotations: JsonObject = {}, spec: JsonObject = {}): SmallWorld => {
  const world = new SmallWorld();
  world.ready(1);
  world.must(world.admin.create(resources.pods, 'demo', aPod('p1', annotations, spec)));
  return world;
};

const p1 = (world: SmallWorld) => world.pods().find((pod) => pod.metadata.name === 'p1');
const running = (world: SmallWorld): boolean => p1(world)?.status?.phase === 'Running';
const ready = (world: SmallWorld): boolean =>
  conditionOf(p1(world)?.status?.conditions, 'Ready')?.status === 'True';
const remove = (world: SmallWorld, gracePeriodSeconds?: number): void => {
  const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  world.must(world.admin.delete(resources.pods, { namespace: 'demo', name: 'p1' }, options));
};
const goneAfter = (world: SmallWorld): number => world.until(60, () => p1(world) === undefined);

describe('a machine', () => {
  it('boots in steps that its console tells, registers and becomes Ready', () => {
    const world = new SmallWorld();
    world.start(aMachine(1));
    const text = () => world.kubelets.consoleOutput(aMachine(1).instanceId);
    expect(text()).toBe('');
    const seconds = world.until(
      15,
      () => world.kube.read(resources.nodes, { name: 'n1' }) !== undefined,
    );
    expect(seconds).toBeGreaterThan(2);
    expect(text()).toContain('kubelet: registered node n1');
    const ready1 = () => conditionOf(world.node('n1').status?.conditions, 'Ready');
    expect(ready1()).toMatchObject({ status: 'False', reason: 'KubeletNotReady' });
    world.until(5, () => ready1()?.status === 'True');
    expect(world.events('NodeReady', 'default')).toEqual(['Node n1 status is now: NodeReady']);
    expect(world.node('n1').status?.nodeInfo?.kubeletVersion).toBe('v1.32.9-eks-113cf36');
  });

  it.each([
    ['its bootstrap fails', aMachine(1, { joins: false }), undefined],
    ['a fault says so', aMachine(1), { group: 'demo-ng' }],
  ])('never becomes a node when %s', (_name, machine, fault) => {
    const world = new SmallWorld();
    if (fault !== undefined) world.faults.inject('never-join', fault);
    world.start(machine);
    world.advance(60);
    expect(world.kube.read(resources.nodes, { name: 'n1' })).toBeUndefined();
    expect(world.kubelets.consoleOutput(machine.instanceId)).toContain('Unauthorized');
  });

  it.each([
    [
      { kind: 'endpoint', endpoint: 'https://e.eks.amazonaws.com' },
      'lookup e.eks.amazonaws.com: no such host',
    ],
    [
      { kind: 'endpoint', endpoint: 'https://10.0.0.1:6443' },
      'dial tcp 10.0.0.1:6443: connect: connection refused',
    ],
    [{ kind: 'noCredentials' }, 'NoCredentialProviders: no valid providers in chain'],
    [{ kind: 'unknownCluster', cluster: 'd' }, 'No cluster found for name: d.'],
  ] as const)('says at the end of its console why it is not authorized: %j', (refusal, words) => {
    const world = new SmallWorld({ kubelets: { gate: () => refusal } });
    world.start(aMachine(1));
    world.advance(60);
    expect(world.kube.read(resources.nodes, { name: 'n1' })).toBeUndefined();
    const lines = world.kubelets.consoleOutput(aMachine(1).instanceId).trim().split('\n');
    expect(lines.at(-1)).toContain(words);
  });

  it('takes over the name of a machine that is gone, as a new node', () => {
    const world = new SmallWorld();
    world.ready(1);
    const old = world.node('n1').metadata.uid;
    world.kubelets.powerOff(aMachine(1).instanceId);
    world.start(aMachine(9, { privateDnsName: 'n1' }));
    world.advance(10);
    expect(world.node('n1').metadata.uid).not.toBe(old);
    expect(conditionOf(world.node('n1').status?.conditions, 'Ready')?.status).toBe('True');
  });

  it('runs its pods again after a reboot', () => {
    const world = withPod();
    world.until(10, () => ready(world));
    const bootId = world.node('n1').status?.nodeInfo?.bootID;
    world.kubelets.reboot(aMachine(1).instanceId);
    world.until(20, () => p1(world)?.status?.containerStatuses?.[0]?.restartCount === 1);
    expect(ready(world)).toBe(true);
    world.advance(5);
    expect(world.node('n1').status?.nodeInfo?.bootID).not.toBe(bootId);
  });
});

describe("a kubelet's lease", () => {
  const renewals = (world: SmallWorld): number => {
    let count = 0;
    world.kube.onChange(resources.leases, () => {
      count++;
    });
    world.advance(100);
    return count;
  };

  it('is renewed each 10 s in small worlds', () => {
    const world = new SmallWorld();
    world.ready(2);
    expect(renewals(world)).toBe(20);
  });

  it('is implied where asked for, and silence still shows', () => {
    const world = new SmallWorld({ kubelets: { leases: 'implied' } });
    world.ready(2);
    expect(renewals(world)).toBe(0);
    world.faults.inject('kubelet-stop', { node: 'n2' });
    const unknown = () => conditionOf(world.node('n2').status?.conditions, 'Ready')?.status;
    const seconds = world.until(60, () => unknown() === 'Unknown');
    expect(seconds).toBeGreaterThan(49);
    expect(seconds).toBeLessThan(53);
    expect(conditionOf(world.node('n1').status?.conditions, 'Ready')?.status).toBe('True');
  });
});

describe('a kubelet without instance metadata', () => {
  it('falls silent when its token is 14 minutes old, and comes back with the rule gone', () => {
    const world = new SmallWorld({ kubelets: { leases: 'implied' } });
    world.ready(2);
    const ready = (name: string) =>
      conditionOf(world.node(name).status?.conditions, 'Ready')?.status;
    world.faults.inject('iptables-drop', { node: 'n2' });
    world.advance(14 * 60 - 5);
    expect(ready('n2')).toBe('True');
    const seconds = world.until(120, () => ready('n2') === 'Unknown');
    expect(seconds).toBeGreaterThan(49);
    expect(ready('n1')).toBe('True');
    world.faults.clear('iptables-drop');
    world.until(60, () => ready('n2') === 'True');
  });
});

describe('a pod', () => {
  it('waits for an address and says why', () => {
    const world = new SmallWorld();
    world.ready(1);
    world.cloud.freeAddresses = 0;
    world.must(world.admin.create(resources.pods, 'demo', aPod('p1')));
    world.advance(5);
    expect(p1(world)?.status?.phase).toBe('Pending');
    expect(world.events('FailedCreatePodSandBox')[0]).toContain(
      'failed to assign an IP address to container',
    );
    world.cloud.freeAddresses = 5;
    world.until(30, () => ready(world));
    expect(p1(world)?.status?.podIP).toMatch(/^192\.168\./);
  });

  it('gives its address back when it is gone', () => {
    const world = withPod();
    world.until(10, () => ready(world));
    expect(world.cloud.held.size).toBe(1);
    remove(world);
    goneAfter(world);
    expect(world.cloud.held.size).toBe(0);
  });

  it('starts, becomes ready and stops when its annotations say', () => {
    const world = withPod({
      [podAnnotations.start]: '3',
      [podAnnotations.ready]: '2',
      [podAnnotations.stop]: '1',
    });
    expect(world.until(10, () => running(world))).toBeCloseTo(3, 1);
    expect(world.until(10, () => ready(world))).toBeCloseTo(2, 1);
    remove(world);
    expect(goneAfter(world)).toBeCloseTo(1, 1);
  });

  it('is not Ready before the delay of its readiness probe', () => {
    const containers = [
      { name: 'c', image: 'i', readinessProbe: { initialDelaySeconds: 5, tcpSocket: { port: 1 } } },
    ];
    const world = withPod({}, { containers });
    world.until(10, () => running(world));
    const seconds = world.until(10, () => ready(world));
    expect(seconds).toBeGreaterThan(5);
    expect(seconds).toBeLessThan(6);
  });

  it('that is never ready runs nevertheless', () => {
    const world = withPod({ [podAnnotations.neverReady]: 'true' });
    world.until(10, () => running(world));
    world.advance(60);
    expect(ready(world)).toBe(false);
  });

  const stops: [string, JsonObject, number | undefined, string | undefined, [number, number]][] = [
    ['never outlives its grace', { [podAnnotations.stop]: '90' }, undefined, undefined, [29, 31]],
    ['stops within a shortened grace', { [podAnnotations.stop]: '90' }, 5, undefined, [4.9, 5.1]],
    ['uses its whole grace when termination is slow', {}, undefined, 'slow', [29, 31]],
    ['stops in 0.5 to 2 s otherwise', {}, undefined, undefined, [0.5, 2.1]],
  ];
  it.each(stops)('%s', (_name, annotations, grace, fault, [least, most]) => {
    const world = withPod(annotations);
    world.until(10, () => ready(world));
    if (fault === 'slow') world.faults.inject('slow-termination', { node: 'n1' });
    remove(world, grace);
    const seconds = goneAfter(world);
    expect(seconds).toBeGreaterThanOrEqual(least);
    expect(seconds).toBeLessThanOrEqual(most);
  });

  it('fails at its active deadline, also when that is set later', () => {
    const world = new SmallWorld();
    world.ready(1);
    const status = (name: string) =>
      world.kube.read(resources.pods, { namespace: 'demo', name })?.status as JsonObject;
    const make = (name: string, more: JsonObject): void => {
      const containers = [{ name: 'c', image: 'nginx:latest' }];
      const spec = { restartPolicy: 'Never', containers, ...more };
      const metadata = { name, namespace: 'demo' };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
      world.must(world.admin.create(resources.pods, 'demo', pod));
    };
    make('at-once', { activeDeadlineSeconds: 20 });
    make('later', {});
    world.advance(15);
    expect(status('at-once').phase).toBe('Running');
    const body = { spec: { activeDeadlineSeconds: 30 } };
    const later = { namespace: 'demo', name: 'later' };
    world.must(world.admin.patch(resources.pods, later, { type: 'merge', body }));
    world.advance(6);
    expect(status('at-once')).toMatchObject({
      phase: 'Failed',
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
      containerStatuses: [{ ready: false, state: { terminated: { exitCode: 137 } } }],
    });
    expect(world.events('DeadlineExceeded')).toHaveLength(1);
    expect(status('later').phase).toBe('Running');
    world.advance(10);
    expect(status('later').phase).toBe('Failed');
    expect(world.cloud.held.size).toBe(0);
  });

  it('stays while termination is stuck, goes when it is not, or by force', () => {
    const world = withPod();
    world.until(10, () => ready(world));
    world.faults.inject('stuck-termination', {});
    remove(world);
    world.advance(120);
    expect(p1(world)).toBeDefined();
    world.faults.clear();
    expect(world.until(10, () => p1(world) === undefined)).toBeLessThanOrEqual(5);
    const other = withPod();
    other.until(10, () => ready(other));
    other.faults.inject('stuck-termination', {});
    remove(other, 0);
    expect(p1(other)).toBeUndefined();
  });

  it('is left as it is by a kubelet that stopped, and picked up when it is back', () => {
    const world = withPod();
    world.until(10, () => ready(world));
    world.faults.inject('kubelet-stop', { node: 'n1' });
    world.advance(2);
    remove(world);
    world.advance(40);
    expect(p1(world)).toBeDefined();
    world.faults.clear();
    expect(goneAfter(world)).toBeLessThan(4);
  });
});
