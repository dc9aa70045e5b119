// Runs one version update of a drawn cluster in virtual time, with the real controllers. Measures
// duration, launches, evictions and the lowest readiness of the applications. Judges nothing.

import type { Result, WorldClient } from '../../../world/contracts.ts';
import {
  createWorld,
  nodeManagerAgent,
  nodeManagerUser,
  seedCluster,
  type World,
} from '../../../world/index.ts';
import { microsPerSecond, Tables } from '../../../world/kernel/index.ts';
import { type EpochMs, parseTime } from '../../api/brand.ts';
import { defined } from '../../api/defined.ts';
import { type JsonObject, objectOr } from '../../api/json.ts';
import { newUpdate } from '../../api/new-update.ts';
import type {
  NodeGroupUpdate,
  NodeGroupUpdateSpec,
  UpdateStrategy,
} from '../../api/nodegroup-update.ts';
import type { CloudApi, KubeApi, Log } from '../../ports/index.ts';
import { Driver, type Settle } from '../driver.ts';
import { ControllerProcess } from '../lives/process.ts';
import { noFaults } from '../ports/network.ts';
import { createInProcessPorts } from '../ports/ports.ts';
import type { RolloutCluster } from './cluster.ts';
import { Readiness } from './readiness.ts';
import {
  agentNamespace,
  appNamespace,
  nodeAgents,
  rolloutGroup,
  rolloutVersion,
  type WorkloadObject,
  workloadOf,
} from './workload.ts';

/** The cluster as an external client sees it. */
export interface RolloutSources {
  readonly kube: KubeApi;
  readonly cloud: CloudApi;
  readonly now: EpochMs;
}

export interface RolloutOptions {
  readonly cluster: RolloutCluster;
  readonly strategy: UpdateStrategy;
  readonly seed: number;
  readonly settle: Settle;
  /** Instance type of its nodes; default m5.large. */
  readonly instanceType?: string;
  /** Additional objects, created before the wait for its pods. */
  readonly objects?: readonly WorkloadObject[];
  /** The group's `updateConfig` besides maxUnavailable. */
  readonly updateConfig?: JsonObject;
  /** Additional fields of the update's spec. */
  readonly asked?: Partial<Pick<NodeGroupUpdateSpec, 'force' | 'change' | 'waivers'>>;
  /** Changes to the cluster once everything is Ready, before the update is planned. */
  readonly prepare?: (world: World, user: WorldClient) => void;
  /** Called every two seconds of the update, with the seconds since its request. */
  readonly look?: (world: World, seconds: number) => void;
  /**
   * Called once everything is Ready, before the update is requested. Returning `enough` ends the
   * run.
   */
  readonly before?: (sources: RolloutSources) => Promise<'enough' | undefined>;
}

export interface Evicted {
  /** namespace/name. */
  readonly pod: string;
  readonly node: string;
  readonly seconds: number;
}

export interface RolloutOutcome {
  /** The update status in EKS' terms. */
  readonly status: string;
  readonly message: string;
  /** From the request to the end, including the removal of the surplus. */
  readonly makespanSeconds: number;
  readonly launches: number;
  /** Pods on old nodes that a drain must move. */
  readonly pods: number;
  readonly evictions: number;
  /** Each eviction with its time and node. */
  readonly evicted: readonly Evicted[];
  /** Start of each phase. */
  readonly phases: readonly { readonly phase: string; readonly seconds: number }[];
  /** Error codes of EKS. */
  readonly codes: readonly string[];
  /** Evictions of pods that were created during the update: pods moved twice. */
  readonly reEvictions: number;
  /** Drains that reached their deadline. */
  readonly lateDrains: number;
  /** The node whose drain failed the update, and the time of the failure. */
  readonly failed?: { readonly node: string; readonly seconds: number };
  /** The lowest share of Ready replicas of any application with more than one replica. */
  readonly lowest: number;
  /** Number of world events during the update. */
  readonly events: number;
  /** Size of the update object at its end, bytes. */
  readonly updateBytes: number;
}

const silence: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silence,
};
const limitSeconds = 12 * 3600;
const lookEverySeconds = 2;
const updates = { group: 'drover.dev', resource: 'nodegroupupdates' } as const;
const startAt = Date.UTC(2026, 0, 1) * 1000;

class Rollout {
  readonly #options: RolloutOptions;
  readonly #world: World;
  readonly #driver: Driver;
  readonly #process: ControllerProcess;
  #failure: unknown;
  #isMeasuring = false;
  #launches = 0;
  readonly #evictions: Evicted[] = [];
  readonly #readiness: Readiness;
  #reEvictions = 0;
  #startedAt = 0;
  #startedSteps = 0;
  #lowest = 1;

  constructor(options: RolloutOptions) {
    this.#options = options;
    const { cluster, seed, settle } = options;
    this.#world = createWorld({
      seed,
      startAt,
      events: false,
      leases: 'implied',
      tables: new Tables({ saved: false }),
      managers: false,
      accountVolumes: false,
      onWrite: ({ resource, subresource, code, dryRun, namespace, name }) => {
        const isEviction = resource === 'pods' && subresource === 'eviction' && !dryRun;
        if (isEviction && code === 201) this.#evicted(namespace ?? '', name ?? '');
      },
    });
    this.#readiness = new Readiness(this.#world);
    const facts = seedCluster(this.#world, {
      clusterName: 'c',
      kubernetesVersion: `${rolloutVersion}.9`,
      groups: [
        {
          name: rolloutGroup,
          isManaged: true,
          min: 0,
          max: cluster.nodes * 2 + 10,
          desired: cluster.nodes,
          instanceType: options.instanceType ?? 'm5.large',
          zones: cluster.zones,
          isZonal: true,
          releasesBehind: 1,
        },
      ],
      addons: false,
      workload: false,
    });
    this.#driver = new Driver(this.#world.kernel, settle);
    this.#process = new ControllerProcess({
      world: this.#world,
      identity: { user: nodeManagerUser, userAgent: nodeManagerAgent },
      compat: 'eks',
      queueUrl: this.#world.aws.queueUrl(facts.noticeQueueName),
      faults: noFaults,
      log: silence,
      onCloudCall: () => {},
      onFailure: (error) => {
        this.#failure ??= error;
      },
    });
    this.#world.kube.onChange({ group: '', resource: 'nodes' }, ({ type }) => {
      if (type === 'ADDED' && this.#isMeasuring) this.#launches += 1;
    });
  }

  #user(): WorldClient {
    return this.#world.kube.as({
      user: { username: 'somebody', groups: ['system:masters'] },
      userAgent: 'kubectl',
    });
  }

  #must(result: Result): void {
    if (result.kind === 'error') throw new Error(result.status.message);
  }

  #evicted(namespace: string, name: string): void {
    if (!this.#isMeasuring) return;
    const pod = this.#world.kube.read({ group: '', resource: 'pods' }, { namespace, name });
    const node = String(objectOr(objectOr(pod).spec).nodeName ?? '');
    this.#evictions.push({ pod: `${namespace}/${name}`, node, seconds: this.#seconds() });
    const made = Date.parse(String(objectOr(objectOr(pod).metadata).creationTimestamp ?? ''));
    if (made * 1000 > this.#startedAt) this.#reEvictions += 1;
  }

  /** Seconds since the update was requested. */
  #seconds(): number {
    return (this.#world.kernel.now() - this.#startedAt) / microsPerSecond;
  }

  #secondsAt(time: string): number {
    return ((parseTime(time) ?? 0) * 1000 - this.#startedAt) / microsPerSecond;
  }

  #allReady(): boolean {
    return this.#options.cluster.apps.every(
      ({ name, replicas }) => this.#readiness.readyOf(name) >= replicas,
    );
  }

  /** Pods of applications that no drain moves. */
  #daemons(): number {
    const daemons = this.#options.cluster.apps.filter(({ kind }) => kind === 'DaemonSet');
    return daemons.reduce((sum, { replicas }) => sum + replicas, 0);
  }

  #lookAtApps(): void {
    for (const { name, kind, replicas } of this.#options.cluster.apps) {
      if (kind === 'DaemonSet' || kind === 'Pod' || replicas < 2) continue;
      this.#lowest = Math.min(this.#lowest, this.#readiness.readyOf(name) / replicas);
    }
  }

  #update(): NodeGroupUpdate | undefined {
    const [update] = [...this.#world.kube.readAll(updates)];
    return update as unknown as NodeGroupUpdate | undefined;
  }

  #isOver(): boolean {
    if (this.#failure !== undefined) throw this.#failure;
    const { status } = this.#update()?.status ?? {};
    return status !== undefined && status !== 'InProgress';
  }

  async #until(what: string, holds: () => boolean, seconds: number): Promise<void> {
    const options = { limitSeconds: seconds, everySeconds: lookEverySeconds };
    if (await this.#driver.until(holds, options)) return;
    throw new Error(`${this.#options.cluster.name}: not within ${seconds} s: ${what}`);
  }

  #configure(): void {
    const { maxUnavailable } = this.#options.cluster;
    const groups = { group: 'drover.dev', resource: 'nodegroups' };
    const { updateConfig = {} } = this.#options;
    const atOnce = 'maxUnavailablePercentage' in updateConfig ? {} : { maxUnavailable };
    const body = { spec: { updateConfig: { ...atOnce, ...updateConfig } } };
    this.#must(this.#user().patch(groups, { name: rolloutGroup }, { type: 'merge', body }));
  }

  #ask(): void {
    const { strategy, asked = {}, updateConfig } = this.#options;
    const spec = {
      nodeGroup: rolloutGroup,
      type: 'VersionUpdate' as const,
      strategy,
      // Without a soak, the measured time is that of the update itself.
      ...(strategy === 'BLUE_GREEN' && updateConfig?.blueGreen === undefined
        ? { policies: { blueGreen: { soakSeconds: 0 } } }
        : {}),
      params: [],
      change: {},
      ...asked,
    };
    this.#must(this.#user().create(updates, undefined, newUpdate({ name: 'update', spec })));
  }

  async run(): Promise<RolloutOutcome> {
    const { cluster } = this.#options;
    this.#process.start();
    // Waits for all nodes: otherwise most pods would be scheduled to the nodes that are Ready
    // first.
    await this.#until('its nodes are Ready', () => this.#readiness.nodes === cluster.nodes, 600);
    this.#configure();
    for (const { resource, object } of nodeAgents) {
      this.#must(this.#user().create(resource, agentNamespace, object));
    }
    const { objects = [] } = this.#options;
    for (const { resource, object } of [...workloadOf(cluster.apps), ...objects]) {
      this.#must(this.#user().create(resource, appNamespace, object));
    }
    await this.#until('its pods are Ready', () => this.#allReady(), 1200);
    await this.#driver.advance(30);
    const { prepare, look } = this.#options;
    if (prepare !== undefined) {
      prepare(this.#world, this.#user());
      await this.#driver.advance(30);
    }
    const pods = this.#readiness.pods - this.#daemons();
    if ((await this.#show()) === 'enough') return this.#outcome(0, 0);
    this.#isMeasuring = true;
    this.#startedAt = this.#world.kernel.now();
    this.#startedSteps = this.#world.kernel.steps;
    this.#ask();
    await this.#until(
      'the update is over',
      () => {
        this.#lookAtApps();
        look?.(this.#world, this.#seconds());
        return this.#isOver();
      },
      limitSeconds,
    );
    return this.#outcome(pods, this.#seconds());
  }

  async #show(): Promise<'enough' | undefined> {
    const { before } = this.#options;
    if (before === undefined) return undefined;
    const identity = {
      user: { username: 'somebody', groups: ['system:masters'] },
      userAgent: 'drover',
    };
    const { kube, cloud, clock } = createInProcessPorts(this.#world, {
      component: 'somebody',
      identity,
    });
    const answer = before({ kube, cloud, now: clock.now() });
    let isDone = false;
    const finish = (): void => {
      isDone = true;
    };
    answer.then(finish, finish);
    // Calls take world time.
    while (!isDone) await this.#driver.advance(0.01);
    return answer;
  }

  #failed(): RolloutOutcome['failed'] {
    const { phases = [], failedNodes } = this.#update()?.status ?? {};
    const after = phases[phases.findIndex(({ phase }) => phase === 'Rolling') + 1];
    const node = failedNodes?.[0]?.node;
    if (after === undefined || node === undefined) return undefined;
    return { node, seconds: this.#secondsAt(after.at) };
  }

  async #outcome(pods: number, makespanSeconds: number): Promise<RolloutOutcome> {
    const { status, message = '', errors = [], phases = [] } = this.#update()?.status ?? {};
    const disruptions = { group: 'drover.dev', resource: 'nodedisruptions' };
    const lateDrains = [...this.#world.kube.readAll(disruptions)].filter(({ status: of }) =>
      ['Failed', 'Forced'].includes(String(objectOr(of).outcome)),
    ).length;
    const failed = this.#failed();
    this.#process.kill();
    await this.#driver.advance(1);
    return {
      status: String(status),
      message,
      makespanSeconds,
      launches: this.#launches,
      pods,
      evictions: this.#evictions.length,
      evicted: this.#evictions,
      phases: phases.map(({ phase, at }) => ({ phase, seconds: this.#secondsAt(at) })),
      codes: errors.map(({ code }) => code),
      reEvictions: this.#reEvictions,
      lateDrains,
      ...defined({ failed }),
      lowest: this.#lowest,
      events: this.#world.kernel.steps - this.#startedSteps,
      updateBytes: JSON.stringify(this.#update() ?? {}).length,
    };
  }
}

/** Throws if the cluster does not become Ready, or if a controller fails: always a defect. */
export const runRollout = (options: RolloutOptions): Promise<RolloutOutcome> =>
  new Rollout(options).run();
