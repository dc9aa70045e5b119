// Two pods of one budget on a node that is terminated, with one failure at each write in turn.
// Either the process is killed after the write, or it stalls before the write while the other
// replica takes over. Every run must reach the same end state.
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { Driver } from '../../src/sim/driver.ts';
import { ControllerProcess } from '../../src/sim/lives/process.ts';
import { type NetworkFaults, noFaults } from '../../src/sim/ports/network.ts';
import { TraceRecorder } from '../../src/sim/trace/recorder.ts';
import { checkTrace } from '../../world/check/index.ts';
import {
  createWorld,
  nodeManagerAgent,
  nodeManagerUser,
  seedCluster,
  type World,
} from '../../world/index.ts';
import { microsPerSecond } from '../../world/kernel/index.ts';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const startAt = 1_664_110_800 * microsPerSecond;
const isWrite = (verb: string): boolean => !['get', 'list', 'watch'].includes(verb);
const gr = {
  nodes: { group: '', resource: 'nodes' },
  namespaces: { group: '', resource: 'namespaces' },
  deployments: { group: 'apps', resource: 'deployments' },
  budgets: { group: 'policy', resource: 'poddisruptionbudgets' },
  leases: { group: 'coordination.k8s.io', resource: 'leases' },
  disruptions: { group: 'drover.dev', resource: 'nodedisruptions' },
} as const;

interface Misfortune {
  /** The write's number, counted from the termination; 0 = never. */
  readonly killAfter?: number;
  readonly pauseBefore?: number;
}

interface End {
  readonly sent: number;
  readonly writes: number;
  readonly violations: readonly string[];
  readonly state: JsonObject;
  /** Number of terms of the Lease: its initial value, plus one for each takeover. */
  readonly terms: number;
}

const web = (name: string): JsonObject => ({ name, namespace: 'web' });

const isWeb = ({ metadata }: { readonly metadata: { readonly namespace?: string } }): boolean =>
  metadata.namespace === 'web';

const somebody = (world: World) =>
  world.kube.as({
    user: { username: 'somebody', groups: ['system:masters'] },
    userAgent: 'kubectl',
  });

const cordon = (world: World, name: string, unschedulable: true | null): void => {
  const patch = { type: 'merge', body: { spec: { unschedulable } } } as const;
  expect(somebody(world).patch(gr.nodes, { name }, patch).kind).toBe('ok');
};

const fill = (world: World): void => {
  const user = somebody(world);
  const labels = { app: 'web' };
  const containers = [{ name: 'web', image: 'nginx' }];
  const made = [
    user.create(gr.namespaces, undefined, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'web' },
    }),
    user.create(gr.deployments, 'web', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: web('web'),
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    }),
    user.create(gr.budgets, 'web', {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: web('web'),
      spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
    }),
  ];
  expect(made.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
};

/** The state that must be the same in every run: no times, and no random names or numbers. */
const endOf = (world: World, instanceId: string): JsonObject => {
  const disruption = world.kube.read(gr.disruptions, { name: instanceId }) as JsonObject;
  const status = disruption.status as JsonObject;
  const { phase, outcome, episode, podsRemaining, ownedMarks, hooks } = status;
  const members = [...world.kernel.tables.open<JsonObject>('aws/autoscaling/instances').values()];
  const app = world.kube.read(gr.deployments, { namespace: 'web', name: 'web' }) as JsonObject;
  return {
    phase,
    outcome,
    episode,
    podsRemaining,
    ownedMarks,
    // A process that lost the answer finds the hook Gone instead of Completed; both mean that it
    // ended.
    openHooks: (Array.isArray(hooks) ? hooks : []).filter(
      (hook) => !['Completed', 'Gone'].includes(String((hook as JsonObject).state)),
    ),
    causes: ((disruption.spec as JsonObject).causes as readonly JsonObject[]).map(
      ({ kind }) => kind,
    ),
    members: members.map(({ state }) => String(state)).toSorted(),
    ready: (app.status as JsonObject).readyReplicas,
    marked: [...world.kube.readAll(gr.nodes)].filter(
      ({ metadata }) =>
        metadata.labels?.['node.kubernetes.io/exclude-from-external-load-balancers'] !== undefined,
    ).length,
  } as JsonObject;
};

class Story {
  readonly world: World;
  readonly driver: Driver;
  readonly recorder: TraceRecorder = new TraceRecorder(() => this.world.kernel.now());
  readonly replicas: ControllerProcess[];
  readonly managed: string;
  /** Writes sent by all replicas; `writes` counts those that took effect. */
  sent = 0;
  writes = 0;
  counting = false;
  failure: unknown;
  readonly #misfortune: Misfortune;

  constructor(misfortune: Misfortune, compat: 'eks' | 'native') {
    this.#misfortune = misfortune;
    this.world = createWorld({
      seed: 7,
      startAt,
      events: false,
      leases: 'implied',
      trail: false,
      onWrite: (record) => this.recorder.request(record),
    });
    this.recorder.attach(this.world);
    this.driver = new Driver(this.world.kernel, settle);
    const zones = ['a'] as const;
    const group = { name: 'g1', isManaged: true, min: 0, max: 4, desired: 2, zones };
    const facts = seedCluster(this.world, {
      clusterName: 'story',
      kubernetesVersion: '1.32.9',
      groups: [{ ...group, instanceType: 'm5.large' }],
      addons: false,
      workload: false,
    });
    this.managed = facts.managed[0]?.spec.autoScalingGroupName ?? '';
    const leaderElect = misfortune.pauseBefore !== undefined;
    this.replicas = (leaderElect ? ['r1', 'r2'] : ['r1']).map((name) => {
      const process: ControllerProcess = new ControllerProcess({
        world: this.world,
        name,
        leaderElect,
        identity: { user: nodeManagerUser, userAgent: nodeManagerAgent },
        compat,
        queueUrl: this.world.aws.queueUrl(facts.noticeQueueName),
        faults: this.#faults(() => process),
        log: silence,
        onCloudCall: (call) => this.recorder.call({ userAgent: nodeManagerAgent, ...call }),
        onFailure: (error) => {
          this.failure ??= error;
        },
      });
      return process;
    });
  }

  #faults(process: () => ControllerProcess): NetworkFaults {
    const { killAfter, pauseBefore } = this.#misfortune;
    return {
      ...noFaults,
      kubeCall: ({ verb, resource }) => {
        if (
          this.counting &&
          isWrite(verb) &&
          resource !== 'leases' &&
          ++this.sent === pauseBefore
        ) {
          this.recorder.fault('F6-leader-paused', 'fired');
          process().pause(40);
        }
        return { kind: 'ok' };
      },
      afterWrite: ({ resource }) => {
        if (!this.counting || resource === 'leases') return;
        this.writes++;
        if (this.writes !== killAfter) return;
        this.recorder.fault('F3-crash-after-write', 'fired');
        process().restartAfter(3);
      },
    };
  }

  async run(compat: 'eks' | 'native'): Promise<End> {
    for (const replica of this.replicas) replica.start();
    await this.driver.advance(90);
    const [node, other] = [...this.world.kube.readAll(gr.nodes)];
    cordon(this.world, other?.metadata.name ?? '', true);
    fill(this.world);
    await this.driver.advance(60);
    cordon(this.world, other?.metadata.name ?? '', null);
    await this.driver.advance(10);
    expect([...this.world.kube.podsOnNode(node?.metadata.name ?? '')].filter(isWeb)).toHaveLength(
      2,
    );
    const instanceId = this.world.aws.instanceIdOfNode(node?.metadata.name ?? '') ?? '';
    this.counting = true;
    this.world.aws.call('autoscaling', 'TerminateInstanceInAutoScalingGroup', {
      InstanceId: instanceId,
      ShouldDecrementDesiredCapacity: true,
    });
    const phase = (): unknown =>
      (this.world.kube.read(gr.disruptions, { name: instanceId })?.status as JsonObject | undefined)
        ?.phase;
    const ended = await this.driver.until(() => phase() === 'Ended', { limitSeconds: 300 });
    expect(ended).toBe(true);
    await this.driver.advance(150);
    for (const replica of this.replicas) replica.retire();
    if (this.failure !== undefined) throw this.failure;
    const trace = this.recorder.finish({
      ownAgents: [nodeManagerAgent],
      managedGroups: [this.managed],
      compat,
      settled: true,
      endedAt: this.world.kernel.now(),
    });
    const violations = checkTrace(trace).violations.map(
      ({ oracle, subject, message }) => `${oracle} ${subject}: ${message}`,
    );
    const lease = this.world.kube.read(gr.leases, {
      namespace: 'kube-system',
      name: 'drover-controller',
    }) as JsonObject | undefined;
    const terms = Number((lease?.spec as JsonObject | undefined)?.leaseTransitions ?? 0);
    const { sent, writes } = this;
    return { sent, writes, violations, state: endOf(this.world, instanceId), terms };
  }
}

const silence = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silence,
};

const live = (misfortune: Misfortune, compat: 'eks' | 'native'): Promise<End> =>
  new Story(misfortune, compat).run(compat);

describe.each(['eks', 'native'] as const)('a drain of two pods, marks as %s', (compat) => {
  it('ends the same when the process is killed after any one write', async () => {
    const calm = await live({}, compat);
    expect(calm.state).toMatchObject({ phase: 'Ended', outcome: 'Drained', ready: 2 });
    expect(calm.violations).toEqual([]);
    expect(calm.writes).toBeGreaterThan(6);
    for (let killAfter = 1; killAfter <= calm.writes; killAfter++) {
      const { state, violations, writes } = await live({ killAfter }, compat);
      expect({ killAfter, state, violations }).toEqual({
        killAfter,
        state: calm.state,
        violations: [],
      });
      expect(writes).toBeGreaterThanOrEqual(killAfter);
    }
  });

  it('ends the same when the leader stalls before any one write and is replaced', async () => {
    const calm = await live({ pauseBefore: 0 }, compat);
    expect(calm.violations).toEqual([]);
    for (let pauseBefore = 1; pauseBefore <= calm.sent; pauseBefore++) {
      const { state, violations, terms } = await live({ pauseBefore }, compat);
      expect({ pauseBefore, terms }).toEqual({ pauseBefore, terms: calm.terms + 1 });
      expect({ pauseBefore, state, violations }).toEqual({
        pauseBefore,
        state: calm.state,
        violations: [],
      });
    }
  });
});
